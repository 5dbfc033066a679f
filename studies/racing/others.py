"""Races of others, for the study: tests of fold scores, a paired test with power, and configurations one after another.

Takes predictions so far and a question, as every drop rule does; none of these is offered to users, because the study
finds none better. Facts by which each was written stand beside it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

import sobercv
from sobercv.inference import DropVerdict, Question
from sobercv.inference.dropping import best_so_far
from sobercv.rivals.drop_rules import row_losses

from ..race import Replay


def fold_scores(table: sobercv.Predictions, question: Question) -> np.ndarray:
    """Score of each configuration on each fold that has been predicted [K, C]."""
    folds = table.fold_of[:, 0]
    counts = np.array([folds == k for k in np.unique(folds)], np.uint8)
    return np.asarray(question.bind(table).scores(counts))


def _defined(table: sobercv.Predictions, question: Question) -> np.ndarray:
    """Scores of the folds [K, C] on which everybody has one."""
    scores = fold_scores(table, question.for_target(table.target))
    return scores[~np.isnan(scores).any(axis=1)]


class AnovaRace:
    """R's finetune: folds as blocks, a Wald interval of each difference to the best; from the third fold on.

    finetune fits score ~ configuration + (1 | fold) and keeps who has 0 in the normal interval (level 1 - alpha) of its
    difference to the best. With all scores there, as in a race of rounds, the mixed model is the two-way analysis of
    variance.
    """

    def __init__(self, alpha: float = 0.05, burn_in: int = 3) -> None:
        self.alpha, self.burn_in = alpha, burn_in

    def __call__(self, predictions: sobercv.Predictions, question: Question, round_index: int) -> DropVerdict:
        table = predictions.only_seen()
        c, k = table.n_configurations, round_index + 1
        if k < self.burn_in or c < 2:
            return DropVerdict.keep_all(c)
        scores = _defined(table, question)
        k = len(scores)
        if k < 2:
            return DropVerdict.keep_all(c)
        mean = scores.mean(axis=0)
        left = scores - mean - scores.mean(axis=1, keepdims=True) + scores.mean()
        error = np.sqrt((left**2).sum() / ((k - 1) * (c - 1)) * 2 / k)
        lead = mean.max() - mean
        keep = lead <= stats.norm.ppf(1 - self.alpha / 2) * error
        return DropVerdict(keep, 1.0 - keep, int(mean.argmax()))


class FRace:
    """irace: Friedman's test on ranks within folds, then Conover's comparison with the best; from the fifth fold on."""

    def __init__(self, alpha: float = 0.05, burn_in: int = 5) -> None:
        self.alpha, self.burn_in = alpha, burn_in

    def __call__(self, predictions: sobercv.Predictions, question: Question, round_index: int) -> DropVerdict:
        table = predictions.only_seen()
        c = table.n_configurations
        if round_index + 1 < self.burn_in or c < 2:
            return DropVerdict.keep_all(c)
        scores = _defined(table, question)
        k = len(scores)
        if k < 2:
            return DropVerdict.keep_all(c)
        if c == 2:  # Wilcoxon's signed ranks, as in irace
            ahead = scores[:, 0] - scores[:, 1]
            if not ahead.any() or stats.wilcoxon(ahead).pvalue >= self.alpha:
                return DropVerdict.keep_all(c)
            keep = np.array([ahead.mean() > 0, ahead.mean() < 0])
            return DropVerdict(keep, 1.0 - keep, int(np.argmax(keep)))
        ranks = stats.rankdata(-scores, axis=1)  # 1 is the best
        sums, squares = ranks.sum(axis=0), (ranks**2).sum()
        even = k * c * (c + 1) ** 2 / 4
        spread = squares - even  # 0 where all are tied on every fold
        chi2 = (c - 1) * ((sums**2).sum() - k * even) / spread if spread > 0 else 0.0
        if stats.chi2.sf(chi2, c - 1) >= self.alpha:
            return DropVerdict.keep_all(c)
        within = 2 * k * (squares - (sums**2).sum() / k) / ((k - 1) * (c - 1))
        far = stats.t.ppf(1 - self.alpha / 2, (k - 1) * (c - 1)) * np.sqrt(max(within, 0.0))
        keep = sums - sums.min() <= far
        return DropVerdict(keep, 1.0 - keep, int(sums.argmin()))


class PairedPower:
    """Zheng and Bilenko: paired tests against the best; who is worse leaves, and so does who is as good for certain.

    They compare two configurations at a time and ask for n = ((z_a + z_b) sd / difference)^2 samples until the test is
    significant or its power for a difference that matters is enough. In a race of rounds the samples come anyway: what
    is left of it is the decision. For means of losses.
    """

    def __init__(
        self, alpha: float = 0.05, beta: float = 0.1, matters: float = 0.05, min_predictions: int = 20
    ) -> None:
        self.worse, self.power = stats.norm.ppf(1 - alpha), stats.norm.ppf(1 - beta)
        self.matters, self.min_predictions = matters, min_predictions

    def __call__(self, predictions: sobercv.Predictions, question: Question, round_index: int) -> DropVerdict:
        table = predictions.only_seen()
        n, c = table.n_samples, table.n_configurations
        question = question.for_target(table.target)
        if n < self.min_predictions or c < 2:
            return DropVerdict.keep_all(c)
        losses = row_losses(table, question)
        top = best_so_far(question, table, 1.0 - losses.mean(axis=0)[None])
        behind = losses - losses[:, [top]]
        mean, spread = behind.mean(axis=0), behind.std(axis=0, ddof=1)
        keep = mean * np.sqrt(n) <= self.worse * spread
        needed = ((self.worse + self.power) * spread / self.matters) ** 2
        keep &= ~((mean > 0) & (n >= needed))  # a difference that matters would have been seen
        keep |= mean <= 0
        return DropVerdict(keep, 1.0 - keep, top)


class InTurn:
    """One configuration after another, each stopped early if it looks worse than the best that has finished.

    `forgiving` (Bergman et al., AutoML 2024): stop when the mean of the folds so far is below the worst fold of the
    incumbent; otherwise when it is below its mean ("aggressive"). Whoever finishes with a better mean is the incumbent.
    The order is drawn from the question's seed.
    """

    def __init__(self, forgiving: bool = True) -> None:
        self.forgiving = forgiving

    def replayed(self, table: sobercv.Predictions, question: Question) -> Replay:
        """Replay on a complete table."""
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
                limit = np.nanmin(scores[:, at]) if self.forgiving else best
        dropped = [
            replace(table, seen=table.fold_of < k).take_configurations(np.flatnonzero(ran == k))
            for k in np.unique(ran[ran < n_folds])
        ]
        survivors = table.take_configurations(np.flatnonzero(ran == n_folds))
        survivors = replace(survivors, n_dropped=c - survivors.n_configurations)
        return Replay(survivors, dropped, float(ran.mean() / n_folds), [])
