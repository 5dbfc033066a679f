"""Early dropping replayed on a finished table, and races of others, which the study of races finds no better.

Dropping only ever skips models, so a replay and a real race agree to the bit. The races of others are tests of fold
scores, a paired test with power, configurations one after another, and CVST, which has splits of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from sobercv import BootstrapDrop, Predictions
from sobercv.inference import DropVerdict, Question
from sobercv.inference.selection import apply
from sobercv.rivals.drop_rules import row_losses

from .harness import Array


# ---- replay ----
class Replay(NamedTuple):
    """Outcome of a race."""

    survivors: Predictions
    counted: Predictions  # the same with what the dropped ones have predicted, which take part in the correction
    models: float  # share of all models of the cross-validation that was trained
    alive: list[float]  # share of the configurations that was alive after each fold


def replay(table: Predictions, rule: Any, question: Question) -> Replay:
    """Run through the folds of a table, repeat by repeat, and drop after each of them by a rule; None keeps all."""
    rule = rule.for_race() if hasattr(rule, "for_race") else rule or (lambda *_: None)
    per_repeat = int(table.fold_of.max()) + 1
    round_of = table.fold_of + per_repeat * np.arange(table.n_repeats)  # [N, R]
    n_folds = per_repeat * table.n_repeats
    survivors, dropped, running = table, [], []
    for k in range(n_folds):
        running.append(survivors.n_configurations)
        so_far = replace(survivors, seen=round_of <= k)
        verdict = rule(so_far, question, k)
        if verdict is not None and not verdict.keep.all():
            dropped.append(so_far.take_configurations(~verdict.keep))
            survivors = survivors.take_configurations(verdict.keep)
    return outcome(survivors, dropped, running)


def outcome(survivors: Predictions, dropped: list[Predictions], running: list[int]) -> Replay:
    """Put together what is left, what was dropped, and how many configurations were trained on each fold."""
    n, left = running[0], survivors.n_configurations
    survivors = replace(survivors, n_dropped=n - left)
    models, alive = sum(running) / (n * len(running)), [count / n for count in (*running[1:], left)]
    return Replay(survivors, replace(survivors, dropped=tuple(dropped)), models, alive)


# ---- races in rounds ----
def papers_rule(guard: int = 0) -> BootstrapDrop:
    """The paper's rule as we read it: drop what is strictly worse; from so many predictions on (its advice: 50)."""
    return BootstrapDrop(threshold=0.99, min_predictions=guard, n_bootstraps=1000)


LEVEL = 0.05
#: Scores of folds [K, C] -> which stay, None for all; and the best.
FoldTest = Callable[[Array], tuple[Array | None, int]]


def fold_scores(table: Predictions, question: Question) -> Array:
    """Score of each configuration on each fold that has been predicted [K, C]."""
    folds = table.fold_of[:, 0]
    counts = np.array([folds == k for k in np.unique(folds)], np.uint8)
    return np.asarray(question.bind(table).scores(counts))


def by_folds(
    test: FoldTest, burn_in: int, predictions: Predictions, question: Question, round_index: int
) -> DropVerdict:
    """A drop rule that tests the scores of folds, from some fold on."""
    table = predictions.only_seen()
    all_kept = DropVerdict.keep_all(table.n_configurations)
    if round_index + 1 < burn_in or table.n_configurations < 2:
        return all_kept
    scores = fold_scores(table, question.for_target(table.target))
    scores = scores[~np.isnan(scores).any(axis=1)]
    keep, best = (None, 0) if len(scores) < 2 else test(scores)
    return all_kept if keep is None else DropVerdict(keep, 1.0 - keep, best)


def _anova(scores: Array) -> tuple[Array | None, int]:
    k, c = scores.shape
    mean = scores.mean(axis=0)
    left = scores - mean - scores.mean(axis=1, keepdims=True) + scores.mean()
    error = np.sqrt((left**2).sum() / ((k - 1) * (c - 1)) * 2 / k)
    return mean.max() - mean <= stats.norm.ppf(1 - LEVEL / 2) * error, int(mean.argmax())


def _friedman(scores: Array) -> tuple[Array | None, int]:
    k, c = scores.shape
    if c == 2:  # Wilcoxon's signed ranks, as in irace
        ahead = scores[:, 0] - scores[:, 1]
        if not ahead.any() or stats.wilcoxon(ahead).pvalue >= LEVEL:
            return None, 0
        keep = np.array([ahead.mean() > 0, ahead.mean() < 0])
        return keep, int(np.argmax(keep))
    if not stats.friedmanchisquare(*scores.T).pvalue < LEVEL:  # NaN where all are tied on every fold
        return None, 0
    ranks = stats.rankdata(-scores, axis=1)  # 1 is the best
    sums = ranks.sum(axis=0)
    within = 2 * k * ((ranks**2).sum() - (sums**2).sum() / k) / ((k - 1) * (c - 1))
    far = stats.t.ppf(1 - LEVEL / 2, (k - 1) * (c - 1)) * np.sqrt(max(within, 0.0))
    return sums - sums.min() <= far, int(sums.argmin())


#: R's finetune: folds as blocks, a Wald interval of each difference to the best; from the third fold on. finetune fits
#: score ~ configuration + (1 | fold) and keeps a configuration if the normal interval (level 1 - alpha) of its
#: difference to the best contains 0. With all scores there, as in a race of rounds, the mixed model is the two-way
#: analysis of variance.
anova_race = partial(by_folds, _anova, 3)
#: irace: Friedman's test on ranks within folds, then Conover's comparison with the best; from the fifth fold on.
f_race = partial(by_folds, _friedman, 5)


def paired_with_power(
    predictions: Predictions, question: Question, round_index: int, matters: float = 0.05, beta: float = 0.1
) -> DropVerdict:
    """Zheng and Bilenko: paired tests against the best drop what is worse, and what cannot be better by what matters.

    They compare two configurations at a time and ask for n = ((z_a + z_b) sd / difference)^2 samples until the test is
    significant or its power for a difference that matters is enough. In a race of rounds the samples come anyway: what
    is left of it is the decision. For means of losses, from 20 predictions on.
    """
    table = predictions.only_seen()
    n, c = table.n_samples, table.n_configurations
    question = question.for_target(table.target)
    if n < 20 or c < 2:
        return DropVerdict.keep_all(c)
    losses = row_losses(table, question)
    rule, scores = question.rule_for(table.configurations), 1.0 - losses.mean(axis=0)[None]
    top = int(apply(rule, scores, question.first.unit)[0])
    behind = losses - losses[:, [top]]
    mean, spread = behind.mean(axis=0), behind.std(axis=0, ddof=1)
    worse, power = stats.norm.ppf(1 - LEVEL), stats.norm.ppf(1 - beta)
    keep = mean * np.sqrt(n) <= worse * spread
    needed = ((worse + power) * spread / matters) ** 2
    keep &= ~((mean > 0) & (n >= needed))  # a difference that matters would have been seen
    keep |= mean <= 0
    return DropVerdict(keep, 1.0 - keep, top)


def in_turn(table: Predictions, question: Question, *, forgiving: bool = True) -> Replay:
    """Replay one configuration after another, each stopped early if it looks worse than the best that has finished.

    `forgiving` (Bergman et al., AutoML 2024): stop when the mean of the folds so far is below the worst fold of the
    incumbent; otherwise when it is below its mean ("aggressive"). A configuration that finishes with a better mean
    becomes the incumbent. The order is drawn from the question's seed.
    """
    scores = fold_scores(table, question.for_target(table.target))
    n_folds, c = scores.shape
    ran = np.full(c, n_folds)
    best, limit = -np.inf, -np.inf
    for at in np.random.default_rng([question.seed, 16]).permutation(c):
        so_far = np.nancumsum(scores[:, at]) / np.maximum(np.cumsum(~np.isnan(scores[:, at])), 1)
        below = np.flatnonzero(so_far < limit)
        if len(below) and below[0] + 1 < n_folds:
            ran[at] = below[0] + 1
        elif so_far[-1] > best:
            best = so_far[-1]
            limit = np.nanmin(scores[:, at]) if forgiving else best
    dropped = [
        replace(table, seen=table.fold_of < k).take_configurations(ran == k) for k in np.unique(ran[ran < n_folds])
    ]
    running = [int((ran > k).sum()) for k in range(n_folds)]
    return outcome(table.take_configurations(ran == n_folds), dropped, running)


# ---- CVST ----
STEPS = 10
WINDOW = 3  # steps that are looked at for an early end, and for the winner
#: Wald's test, pi0 = .5, pi1 = .5 ((1 - .1) / .01) ** (1 / 10): least times among the best, by step.
LEAVES = {3: 0, 4: 0, 5: 1, 6: 2, 7: 2, 8: 3, 9: 4, 10: 4}


class Outcome(NamedTuple):
    """What CVST did: models trained, rows that they were trained on in all, and steps."""

    winner: int
    models: int
    rows: float
    steps: int


def cvst(n: int, n_configurations: int, right: Callable[[Array, Array], Array]) -> Outcome:
    """CVST (Krueger, Panknin and Braun 2015) for classification: cross-validation on growing parts of n rows.

    Step s of ten trains on the first s N / 11 rows and tests on the others; a configuration that is not among the best
    is marked, and leaves when Wald's sequential test says so. ``right(train, test)`` tells whether each configuration
    is right on each test row [m, C]; the rows are in random order.
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
        if len(live) == 0:  # none was among the best often enough: the best of this step go on
            live = np.flatnonzero(column)
        last = trace[live][:, -WINDOW:]
        if len(live) == 1 or (step >= WINDOW and cochran(last.T) > LEVEL):
            break
    mean = np.nanmean(ranks[live][:, -WINDOW:], axis=1)
    return Outcome(int(live[mean.argmin()]), models, rows, step)


def among_the_best(good: Array) -> Array:
    """Which are in the largest group of best ones that Cochran's test does not tell apart: bool [m, C] -> bool [C]."""
    order = np.argsort(-good.mean(axis=0), kind="stable")
    level = LEVEL / max(good.shape[1] - 1, 1)
    size = 1
    while size < len(order) and cochran(good[:, order[: size + 1]]) > level:
        size += 1
    return np.isin(np.arange(len(order)), order[:size])


def cochran(good: Array) -> float:
    """p-value of Cochran's Q: whether the columns of 0s and 1s [m, k] have the same mean."""
    k = good.shape[1]
    columns, by_row, total = good.sum(axis=0), good.sum(axis=1), good.sum()
    within = k * total - (by_row.astype(float) ** 2).sum()
    if k < 2 or within <= 0:
        return 1.0
    q = (k - 1) * (k * (columns.astype(float) ** 2).sum() - float(total) ** 2) / within
    return float(stats.chi2.sf(q, k - 1))
