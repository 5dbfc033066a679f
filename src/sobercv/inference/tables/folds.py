"""BBC-F: the resamples of another table's folds. Each fold is scored once; folds, not samples, are drawn.

Takes a table that can score by fold, gives the same verbs: the in-bag score is the mean over the folds drawn, the
out-of-bag score that over the folds left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...containers import Array
from ...errors import Note, SoberError
from ..resample import Replayed, fold_draws
from .base import Resamples, Table


class FoldTable(Table):
    """The folds of a table.

    Parameters
    ----------
    inner : Table
        Any that can score by fold.
    counts : int array [B, K], optional
        Draws of folds that were made elsewhere.
    """

    def __init__(self, inner: Table, counts: Any = None) -> None:
        self._inner = inner
        self.question, self.target, self.configurations = inner.question, inner.target, inner.configurations
        self.n_samples, self.n_groups = inner.n_samples, inner.n_groups
        self.n_repeats, self.n_left_out = inner.n_repeats, inner.n_left_out
        self.groups, self.fold_of = inner.groups, inner.fold_of
        check_partition(inner.n_repeats, inner.groups, inner.fold_of)
        self._scores = inner.fold_scores()
        n_folds = len(self._scores[0])
        self._counts = (
            fold_draws(n_folds, int(self.question.n_bootstraps), self.question.seed)
            if counts is None
            else Replayed.of(counts, n_folds).table
        )
        self.n_resamples = len(self._counts)

    def whole(self) -> list[Array]:
        """Score the whole table, by the mean over folds."""
        return self._inner.whole()

    def standard_errors(self) -> Array:
        """Resample samples for it."""
        return self._inner.standard_errors()

    def resamples(self, start: int, stop: int) -> FoldResamples:
        """Give some draws of folds."""
        return FoldResamples(self._scores, self._counts[start:stop])

    @property
    def n_folds(self) -> float:
        """Give that of the table."""
        return self._inner.n_folds

    @property
    def n_units(self) -> int:
        """Folds are resampled."""
        return self._counts.shape[1]

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Give those of the table."""
        return self._inner.notes(winner, chosen)

    def complaint(self, metric: int) -> str:
        """Give that of the table."""
        return self._inner.complaint(metric)


class FoldResamples(Resamples):
    """Draws of folds [B, K] and the scores of each fold [K, C]."""

    def __init__(self, scores: list[Array], counts: Array) -> None:
        self._scores, self.counts = scores, counts

    def in_bag(self) -> Array:
        """Mean over the folds present; folds on which the metric is undefined do not count."""
        present, scores = self.counts.astype(np.float64), self._scores[0]
        defined = ~np.isnan(scores)
        if defined.all():
            return np.asarray((present / present.sum(axis=1, keepdims=True)) @ scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((present @ np.where(defined, scores, 0.0)) / (present @ defined.astype(np.float64)))

    def in_bag_of(self, winner: int) -> list[Array]:
        """Mean of one configuration over the folds present."""
        return [FoldResamples([scores[:, [winner]]], self.counts).in_bag()[:, 0] for scores in self._scores[1:]]

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Mean over the folds left out."""
        absent, out = self.counts == 0, []
        for scores in self._scores:
            judged = scores.T[winners]  # [B, K]: the winner's score on every fold
            counted = absent & ~np.isnan(judged)
            with np.errstate(invalid="ignore"):
                mean = np.where(counted, judged, 0.0).sum(axis=1) / counted.sum(axis=1)
            out.append(np.where(winners < 0, np.nan, mean))
        return out


def check_partition(n_repeats: int, groups: Array | None, fold_of: Array) -> None:
    """Refuse folds that share samples or groups: to resample them would take the same for new.

    Parameters
    ----------
    n_repeats : int
    groups : int array [N] or None
    fold_of : int array [N, R]
    """
    if n_repeats > 1:
        raise SoberError(
            "E114",
            f'`by="fold"` resamples the folds of one partition; got {n_repeats} repeats, whose folds share '
            'samples. Use by="sample", or pass one repeat.',
        )
    if groups is None:
        return
    pairs = np.unique(np.stack([groups, fold_of[:, 0]]), axis=1)
    if pairs.shape[1] > len(np.unique(groups)):
        raise SoberError(
            "E114", '`by="fold"` needs folds that keep groups together; some group is in two. Use by="sample".'
        )
