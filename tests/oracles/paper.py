"""The paper's algorithms 1 to 5 and sections 3 and 4, as literal loops over really repeated rows.

The twin of `sobercv.inference`: slow, obvious, and ignorant of counts except for `bag`, which writes the rows out. Scores
instead of losses throughout, so every argmin of the paper is an argmax here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from . import clinic, scores
from . import rows as by_rows

NAN = float("nan")
ORACLES = by_rows.ORACLES | scores.ORACLES | clinic.ORACLES


@dataclass
class Table:
    """What CVT (algorithm 2) leaves behind: the truth and the out-of-sample predictions Pi[N, C, R(, K)]."""

    y: np.ndarray
    p: np.ndarray
    seen: np.ndarray  # [N, R]
    folds: np.ndarray  # [N, R]
    metric: str
    weight: np.ndarray | None = None
    aggregate: str = "pooled"
    within_folds: bool = False

    @property
    def n_configurations(self) -> int:
        return self.p.shape[1]

    @property
    def rows(self) -> list[int]:
        """The samples that some fold has predicted; in incomplete CV the others are not in Pi."""
        return [i for i in range(len(self.y)) if self.seen[i].any()]

    def on(self, rows, j, r):
        """The truth, the predictions of configuration j in repeat r, and the weights, on these rows."""
        rows = np.asarray(rows, dtype=int)
        return self.y[rows], self.p[rows, j, r], None if self.weight is None else self.weight[rows]


def bag(counts) -> list[int]:
    """Pi^b of algorithm 5: row i written out counts[i] times."""
    return np.repeat(np.arange(len(counts)), counts).tolist()


def rest(table: Table, counts) -> list[int]:
    """The rows in Pi and not in Pi^b."""
    return [i for i in table.rows if counts[i] == 0]


# ---- the score of one configuration on some rows --------------------------------------------------------------------
def cv_score(table: Table, rows, j: int) -> float:
    """l(y, Pi(:, j)), within each repeat (section 3.2) or each fold (algorithm 1), averaged over what is defined."""
    total = weight = 0.0
    for r in range(table.seen.shape[1]):
        here = [i for i in rows if table.seen[i, r]]
        if table.aggregate == "fold":
            for k in sorted(set(table.folds[:, r])):
                score = loss_of(table, [i for i in here if table.folds[i, r] == k], j, r)
                if not math.isnan(score):
                    total, weight = total + score, weight + 1
        else:
            score = within_folds(table, here, j, r) if table.within_folds else loss_of(table, here, j, r)
            if not math.isnan(score):
                total, weight = total + len(here) * score, weight + len(here)
    return total / weight if weight else NAN


def loss_of(table: Table, rows, j: int, r: int) -> float:
    return ORACLES[table.metric](*table.on(rows, j, r)) if rows else NAN


def within_folds(table: Table, rows, j: int, r: int) -> float:
    """Only pairs of the same fold are compared (the caveat of section 3 about scales)."""
    wins = pairs = 0.0
    for k in sorted(set(table.folds[:, r])):
        here = [i for i in rows if table.folds[i, r] == k]
        if here:
            won, compared = by_rows.PAIRS[table.metric](*table.on(here, j, r))
            wins, pairs = wins + won, pairs + compared
    return by_rows.ratio(wins, pairs)


def all_scores(table: Table, rows) -> list[float]:
    return [cv_score(table, rows, j) for j in range(table.n_configurations)]


# ---- algorithm 2: CVT, and the css of section 3 ---------------------------------------------------------------------
def css(scores) -> int | None:
    """The first of the best, equal meaning equal up to rounding; None when nothing is defined."""
    defined = [s for s in scores if not math.isnan(s)]
    if not defined:
        return None
    top = max(defined)
    return next(j for j, s in enumerate(scores) if s >= top - 1e-12 * (1 + abs(top)))


def simplest_within(tolerance: float, complexity) -> Callable:
    """Section 3: criteria that consider also the complexity: the least complex that is nearly as good as the best."""

    def rule(scores):
        best = css(scores)
        if best is None:
            return None
        near = [j for j, s in enumerate(scores) if s >= scores[best] - tolerance - 1e-12 * (1 + abs(scores[best]))]
        least = min(complexity[j] for j in near)  # of equally simple ones the better, of equally good ones the first
        return css([s if j in near and complexity[j] == least else NAN for j, s in enumerate(scores)])

    return rule


def cvt(table: Table, select: Callable = css) -> tuple[int, float]:
    scores = all_scores(table, table.rows)
    winner = select(scores)
    return winner, scores[winner]


# ---- algorithm 3: NCV on predictions that are already there ---------------------------------------------------------
def ncv(table: Table) -> float:
    """Select on the other folds, score on this one; the mean over folds."""
    scores = []
    for k in sorted(set(table.folds[:, 0])):
        inner = [i for i in table.rows if table.folds[i, 0] != k]
        outer = [i for i in table.rows if table.folds[i, 0] == k]
        scores.append(cv_score(table, outer, css(all_scores(table, inner))))
    return float(np.nanmean(scores))


# ---- algorithm 4: TT ------------------------------------------------------------------------------------------------
def tt(table: Table) -> float:
    winner, naive = cvt(table)
    gaps = []
    for r in range(table.seen.shape[1]):
        for k in sorted(set(table.folds[:, r])):
            here = [i for i in table.rows if table.folds[i, r] == k and table.seen[i, r]]
            scores = [loss_of(table, here, j, r) for j in range(table.n_configurations)]
            if not math.isnan(scores[winner]):
                gaps.append(max(scores) - scores[winner])
    return naive - float(np.mean(gaps))


# ---- algorithm 5: BBC-CV --------------------------------------------------------------------------------------------
def bbc(table: Table, counts, select: Callable = css) -> tuple[np.ndarray, list[int | None]]:
    """L_b and the selected configuration of every bootstrap; the estimate is the mean of the defined L_b."""
    draws, winners = [], []
    for row in counts:
        inside = [i for i in bag(row) if table.seen[i].any()]
        winners.append(select(all_scores(table, inside)))
        draws.append(NAN if winners[-1] is None else cv_score(table, rest(table, row), winners[-1]))
    return np.array(draws), winners


def bbc_f(table: Table, counts) -> tuple[np.ndarray, list[int | None]]:
    """BBC-F (Paraschakis et al. 2024): folds are scored once, then folds are what is drawn."""
    names = sorted(set(table.folds[:, 0]))
    of_fold = [all_scores(table, [i for i in table.rows if table.folds[i, 0] == k]) for k in names]  # [K][C]
    draws, winners = [], []
    for row in counts:
        inside = [of_fold[k] for k in bag(row) if not math.isnan(of_fold[k][0])]
        means = [np.mean([s[j] for s in inside]) if inside else NAN for j in range(table.n_configurations)]
        winners.append(css(means))
        outside = [of_fold[k] for k in range(len(names)) if row[k] == 0 and not math.isnan(of_fold[k][0])]
        draws.append(np.mean([s[winners[-1]] for s in outside]) if outside and winners[-1] is not None else NAN)
    return np.array(draws), winners


def interval(draws, level: float) -> tuple[float, float]:
    """Section 3.1: [b_(a/2 B), b_((1 - a/2) B)], the order statistics counted from 1."""
    defined = sorted(d for d in draws if not math.isnan(d))
    alpha = 1 - Fraction(str(level))  # exact: 0.05 / 2 * 1000 is the 25th, not the 26th by a rounding error
    low, high = (max(1, math.ceil(q * len(defined))) for q in (alpha / 2, 1 - alpha / 2))
    return defined[low - 1], defined[high - 1]


def plus_632(naive: float, corrected: float, scores) -> float:
    """REFERENCES: BBC.632+, in the spirit of Efron and Tibshirani."""
    gap = naive - float(np.mean(scores))
    overfitting = min(1.0, max(0.0, (naive - corrected) / gap)) if gap > 1e-12 else 0.0
    w = 0.632 / (1 - 0.368 * overfitting)
    return (1 - w) * naive + w * corrected


# ---- section 4: the drop test of BCED-CV ----------------------------------------------------------------------------
def drop_probabilities(table: Table, counts) -> tuple[int, list[float]]:
    """p_theta: how often the configuration is worse than the current best in the same bootstrap."""
    best = css(all_scores(table, table.rows))
    worse = [[] for _ in range(table.n_configurations)]
    for row in counts:
        scores = all_scores(table, [i for i in bag(row) if table.seen[i].any()])
        if not math.isnan(scores[best]):
            for j, score in enumerate(scores):
                worse[j].append(score < scores[best] - 1e-12 * (1 + abs(scores[best])))
    return best, [float(np.mean(w)) for w in worse]


def with_repeat(table: Table, r: int) -> Table:
    """One repeat of the table on its own."""
    one = slice(r, r + 1)
    return replace(table, p=table.p[:, :, one], seen=table.seen[:, one], folds=table.folds[:, one])
