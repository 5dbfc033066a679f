"""CVST (Krueger, Panknin and Braun 2015): cross-validation on growing parts, as a race with splits of its own.

Takes complete tables and their data, gives what CVST would have trained and returned on the same rows, beside a full
cross-validation and the default race. Step s of ten trains on the first s N / 11 rows and tests on the others; whoever
is not among the best is marked, and leaves when Wald's sequential test says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

STEPS = 10
WINDOW = 3  # steps that are looked at for an early end, and for the winner
LEVEL = 0.05
#: Wald's test, pi0 = .5, pi1 = .5 ((1 - .1) / .01) ** (1 / 10): who was among the best so rarely after s steps, leaves.
LEAVES = {3: 0, 4: 0, 5: 1, 6: 2, 7: 2, 8: 3, 9: 4, 10: 4}


@dataclass(frozen=True)
class Outcome:
    """What CVST did.

    Attributes
    ----------
    winner : int
    models : int
        Models trained.
    rows : float
        Rows that they were trained on, all together.
    steps : int
    """

    winner: int
    models: int
    rows: float
    steps: int


def cvst(n: int, n_configurations: int, right: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Outcome:
    """Run CVST for classification.

    Parameters
    ----------
    n : int
        Rows, in random order.
    n_configurations : int
    right : callable
        ``right(train, test)`` -> whether each configuration is right on each test row [m, C].
    """
    live = np.arange(n_configurations)
    trace = np.zeros((n_configurations, 0), bool)
    ranks = np.zeros((n_configurations, 0))
    models, rows, step = 0, 0.0, 0
    for step in range(1, STEPS + 1):
        cut = step * n // (STEPS + 1)
        good = right(np.arange(cut), np.arange(cut, n))[:, live]
        models, rows = models + len(live), rows + len(live) * cut
        column, place = np.zeros(n_configurations, bool), np.full(n_configurations, np.nan)
        column[live] = among_the_best(good)
        place[live] = stats.rankdata(-good.mean(axis=0))
        trace, ranks = np.column_stack([trace, column]), np.column_stack([ranks, place])
        live = live[trace[live].sum(axis=1) > LEAVES.get(step, -1)]
        if len(live) == 0:  # nobody was among the best often enough: the best of this step go on
            live = np.flatnonzero(column)
        last = trace[live][:, -WINDOW:]
        if len(live) == 1 or (step >= WINDOW and cochran(last.T) > LEVEL):
            break
    mean = np.nanmean(ranks[live][:, -WINDOW:], axis=1)
    return Outcome(int(live[mean.argmin()]), models, rows, step)


def among_the_best(good: np.ndarray) -> np.ndarray:
    """Who is in the largest group of best ones that Cochran's test does not tell apart: bool [m, C] -> bool [C]."""
    order = np.argsort(-good.mean(axis=0), kind="stable")
    level = LEVEL / max(good.shape[1] - 1, 1)
    size = 1
    while size < len(order) and cochran(good[:, order[: size + 1]]) > level:
        size += 1
    out = np.zeros(len(order), bool)
    out[order[:size]] = True
    return out


def cochran(good: np.ndarray) -> float:
    """p-value of Cochran's Q: whether the columns of 0s and 1s [m, k] have the same mean."""
    k = good.shape[1]
    columns, by_row, total = good.sum(axis=0), good.sum(axis=1), good.sum()
    within = k * total - (by_row.astype(float) ** 2).sum()
    if k < 2 or within <= 0:
        return 1.0
    q = (k - 1) * (k * (columns.astype(float) ** 2).sum() - float(total) ** 2) / within
    return float(stats.chi2.sf(q, k - 1))
