"""A table in memory: every metric, repeats, incomplete cross-validation; resamples are scored one block at a time.

Takes `Predictions` and a `Question`, gives scores. What several protocols ask of a table in memory (scores by fold,
standard errors) is here as well.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...containers import Array
from ...errors import Note
from ...metrics import Scorer, blocks
from ...predictions import Predictions
from ...threads import one_blas_thread
from .. import notes
from ..question import Question
from ..resample import Bootstrap, Draws, Replayed
from .base import ERRORS, Resamples, Table, spread

MOST_UNITS = 1000  # whose influence on a score is looked at one by one; of more, no few can rule it


class MemoryTable(Table):
    """Predictions that are all in memory.

    Parameters
    ----------
    predictions : Predictions
        Samples without predictions are left out.
    question : Question
    counts : int array [B, N], optional
        Draws that were made elsewhere, for all samples of `predictions`.

    Attributes
    ----------
    predictions : Predictions
        The samples that have predictions.
    """

    def __init__(self, predictions: Predictions, question: Question, counts: Any = None) -> None:
        self.question = question = question.for_target(predictions.target)
        self.check_folds(predictions.folds_known)
        self.predictions, self._is_complete = predictions.only_seen(), predictions.is_complete
        self._n_all = predictions.n_samples
        table = self.predictions
        self.target = table.target
        self.configurations, self.groups, self.fold_of = table.configurations, table.groups, table.fold_of
        self.n_samples, self.n_repeats, self.n_left_out = table.n_samples, table.n_repeats, table.n_left_out
        self.n_groups = None if self.groups is None else len(np.unique(self.groups))
        self.check_size()
        if question.procedure is None:
            self.scorers  # noqa: B018 - refuses what a metric cannot score
        self._draws: Draws = Bootstrap(self.n_samples, question.seed, groups=self.groups, strata=self._strata())
        self._own_draws = counts is not None or question.by == "fold"
        self.n_resamples = question.first.affordable(int(question.n_bootstraps), table.n_configurations)
        if counts is not None:
            self._draws = Replayed.of(counts, predictions.n_samples).at(predictions.rows)
            self.n_resamples = self._draws.n_resamples

    @cached_property
    def scorers(self) -> list[Scorer]:
        """A metric each; the first selects, all judge."""
        return [self.question.bind(self.predictions, metric) for metric in self.question.metrics]

    def _strata(self) -> Array | None:
        if not self.question.stratify:
            return None
        y = self.predictions.y
        return y["event"].astype(np.int64) if self.predictions.task == "survival" else y

    @one_blas_thread()
    def whole(self) -> list[Array]:
        """Score all samples once."""
        everybody = np.ones((1, self.n_samples), np.uint8)
        return [scorer.scores(everybody)[0] for scorer in self.scorers]

    @one_blas_thread()
    def standard_errors(self) -> Array:
        """Resample for it: other draws than those that select."""
        return spread(self.error_resamples(ERRORS).in_bag())

    def error_resamples(self, n_resamples: int) -> MemoryResamples:
        """Draw for standard errors."""
        draws = Bootstrap(self.n_samples, self.question.seed, "standard error", groups=self.groups)
        return MemoryResamples(self.scorers, draws.counts(0, n_resamples))

    def cut(self) -> list[tuple[int, int]]:
        """Blocks whose counts stay near the core, enough of them for all threads."""
        return blocks.ranges(self.n_resamples, self.n_samples, self.question.n_threads)

    def resamples(self, start: int, stop: int) -> MemoryResamples:
        """Draw some resamples."""
        return MemoryResamples(self.scorers, self.counts(start, stop))

    def counts(self, start: int, stop: int) -> Array:
        """How often each sample is present in resamples start to stop - 1 [B, N]."""
        return self._draws.counts(start, stop)

    @one_blas_thread()
    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold of every repeat [F, C]."""
        return [self._by_fold(scorer) for scorer in self.scorers]

    def _by_fold(self, scorer: Scorer) -> Array:
        table = self.predictions
        if table.n_repeats == 1 and not self.question.needs_folds:  # bound already: a fold is a row of counts
            folds = np.unique(self.fold_of[:, 0])
            return scorer.scores((self.fold_of[:, 0] == folds[:, None]).view(np.uint8))
        out = []
        for r in range(table.n_repeats):
            one = table if table.n_repeats == 1 else table.take_repeat(r)
            folds = np.unique(one.fold_of[one.seen[:, 0], 0])
            here = (one.fold_of[:, 0] == folds[:, None]) & one.seen[:, 0]
            out.append(scorer.metric.bind(one).scores(here.view(np.uint8)))
        return np.concatenate(out)

    @property
    def n_folds(self) -> float:
        """Number of folds of a whole partition: those that were predicted may be some of them."""
        return super().n_folds * self._n_all / self.n_samples

    @one_blas_thread()
    def kurtoses(self, winner: int) -> list[float]:
        """Count one unit twice, and see by how much the winner's score moves."""
        if self.n_units > MOST_UNITS:
            return super().kurtoses(winner)
        unit = np.arange(self.n_samples) if self.groups is None else np.unique(self.groups, return_inverse=True)[1]
        counts = (1 + (unit == np.arange(-1, self.n_units)[:, None])).astype(np.uint8)  # the first row is all samples
        winners = np.full(len(counts), winner)
        scored = [None if s.metric.calls_a_function else s.picked(counts, winners) for s in self.scorers]
        return [3.0 if scores is None else _kurtosis(scores[1:] - scores[0]) for scores in scored]

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What is special about the sizes, the samples, the folds and the responses."""
        table = self.predictions
        size = notes.on_size(table.n_configurations, table.n_dropped, self.n_samples, self.n_groups)
        return [*size, *self.special(winner)]

    def special(self, winner: int) -> list[Note]:
        """What is special about the samples, the folds and the responses."""
        table, question = self.predictions, self.question
        found = [
            self.scales(winner),
            self.labels_ranked(winner),
            notes.left_out(table.n_left_out, table.n_configurations),
            None if question.makes_labels else notes.from_probabilities(question.metrics, table.responses),
            notes.incomplete(self._is_complete),
            None if self._own_draws else notes.few_calls(question.first, self.n_resamples, question.n_bootstraps),
        ]
        return [note for note in found if note is not None]

    def scales(self, winner: int) -> Note | None:
        """Say so when the folds that a ranking metric pools live on different scales."""
        table, metric = self.predictions, self.question.first
        if not metric.pools_scores or self.question.needs_folds or not table.folds_known:
            return None
        here = table.seen[:, 0]
        return notes.scales(metric.response_of(table)[here, winner, 0], table.fold_of[here, 0])

    def labels_ranked(self, winner: int) -> Note | None:
        """Say so when a metric that ranks was given labels."""
        table, metric = self.predictions, self.question.first
        if not metric.pools_scores or self.question.makes_labels or table.target.n_classes != 2:
            return None
        return notes.labels_ranked(metric.name, metric.response_of(table)[table.seen[:, 0], winner, 0])

    def complaint(self, metric: int) -> str:
        """Quote the user's function."""
        said = self.scorers[metric].complaint
        return f" It says: {said}" if said else ""


def _kurtosis(moves: Array) -> float:
    moves = moves[~np.isnan(moves)]
    most = float(np.abs(moves).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return 3.0
    squares = (moves / most) ** 2
    return float((squares**2).mean()) / float(squares.mean()) ** 2


class MemoryResamples(Resamples):
    """Counts [B, N] of some resamples, scored now."""

    def __init__(self, scorers: list[Scorer], counts: Array) -> None:
        self._scorers, self.counts = scorers, counts

    def in_bag(self) -> Array:
        """Score what is present."""
        return self._scorers[0].scores(self.counts)

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Score the winners on what is absent."""
        absent = (self.counts == 0).view(np.uint8)
        return [scorer.picked(absent, winners) for scorer in self._scorers]

    def in_bag_of(self, winner: int) -> list[Array]:
        """Score one configuration on what is present."""
        winners = np.full(len(self.counts), winner)
        return [scorer.picked(self.counts, winners) for scorer in self._scorers[1:]]
