"""A race corrected with its dropped, as literal loops: the twin of `sobercv.inference.raced.race_table`.

D_b(c) = obs_c + f_c (difference to the winner in the bag, on the rows of c - obs_c), f_c = sqrt(n_c / N); who leads by
D_b is judged by the out-of-bag score of the winner and the same expression out of the bag.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .paper import NAN, Table, all_scores, bag, css, cv_score, rest


def bbc_of_race(table: Table, has: list[np.ndarray], counts) -> tuple[int, np.ndarray, list[int | None]]:
    """The winner, L_b and the selected configuration of every bootstrap; has[c] are the cells [N, R] that c predicted."""
    seen = np.logical_or.reduce(has)
    finished = [c for c in range(table.n_configurations) if (has[c] == seen).all()]
    whole = all_scores(table, table.rows)
    ref = css([s if c in finished else NAN for c, s in enumerate(whole)])
    draws, winners = [], []
    for row in counts:
        inside = [lead(table, has[c], ref, c, bag(row)) for c in range(table.n_configurations)]
        base = cv_score(table, bag(row), ref)
        winners.append(css([base + d for d in inside]))
        if winners[-1] is None:
            draws.append(NAN)
        else:
            absent = rest(table, row)
            c = winners[-1]
            ahead = 0.0 if c in finished else lead(table, has[c], ref, c, absent)
            if math.isnan(ahead):  # nothing is known but what was observed
                ahead = lead(table, has[c], ref, c, table.rows)
            draws.append(cv_score(table, absent, c if c in finished else ref) + ahead)
    return ref, np.array(draws), winners


def bbc_f_of_race(table: Table, has: list[np.ndarray], counts) -> tuple[int, np.ndarray, list[int | None]]:
    """The same with folds drawn: the lead of c is the mean over its folds that are there, as observed if there are none."""
    names = sorted(set(table.folds[table.rows, 0]))
    rows_of = [[i for i in table.rows if table.folds[i, 0] == k] for k in names]
    ran = [[k for k, rows in enumerate(rows_of) if has[c][rows].all()] for c in range(table.n_configurations)]
    finished = [c for c in range(table.n_configurations) if len(ran[c]) == len(names)]
    ref = css([s if c in finished else NAN for c, s in enumerate(all_scores(table, table.rows))])
    score = [all_scores(table, rows) for rows in rows_of]  # [K][C]
    draws, winners = [], []

    def ahead(c, folds):
        leads = [score[k][c] - score[k][ref] for k in folds if k in ran[c]]
        observed = np.mean([score[k][c] - score[k][ref] for k in ran[c]])
        return observed + math.sqrt(len(ran[c]) / len(names)) * (np.mean(leads) - observed) if leads else observed

    for row in counts:
        inside, outside = bag(row), [k for k in range(len(names)) if row[k] == 0]
        base = np.mean([score[k][ref] for k in inside])
        winners.append(css([base + ahead(c, inside) for c in range(table.n_configurations)]))
        draws.append(np.mean([score[k][ref] for k in outside]) + ahead(winners[-1], outside))
    return ref, np.array(draws), winners


def lead(table: Table, cells: np.ndarray, ref: int, c: int, rows) -> float:
    mine = replace(table, seen=cells)

    def difference(some) -> float:
        here = [i for i in some if cells[i].any()]
        return cv_score(mine, here, c) - cv_score(mine, here, ref)

    observed = difference(table.rows)
    share = math.sqrt(sum(cells.any(axis=1)) / len(table.rows))
    return observed + share * (difference(rows) - observed)
