"""Scores by fold that somebody else computed, such as a scorer on the fitted models; folds are resampled (BBC-F).

Takes the scores of every fold and the samples that they belong to, gives the verbs of a table; never scores itself.
Axes: K folds, C configurations.
"""

from __future__ import annotations

import numpy as np

from ...containers import Array
from ...errors import Note
from ...predictions import Predictions
from .. import notes
from ..question import Question
from ..resample import fold_draws
from .base import Table
from .folds import FoldResamples, check_partition


class GivenTable(Table):
    """Scores of folds, given.

    Parameters
    ----------
    predictions : Predictions
        Whose samples, folds and configurations these are; its responses are not looked at and may be missing.
    scores : list of array [K, C]
        For each metric of the question.
    question : Question
        With `by="fold"`.
    """

    def __init__(self, predictions: Predictions, scores: list[Array], question: Question) -> None:
        self.question, self._scores = question, scores
        self._is_complete, self._n_dropped = predictions.is_complete, predictions.n_dropped
        rows = predictions.rows
        self.target = predictions.target.take(rows)
        self.configurations, self.n_samples = predictions.configurations, len(rows)
        self.n_repeats, self.n_left_out = predictions.n_repeats, predictions.n_left_out
        self.groups = None if predictions.groups is None else predictions.groups[rows]
        self.n_groups = None if self.groups is None else len(np.unique(self.groups))
        self.fold_of = predictions.fold_of[rows]
        self.check_size()
        check_partition(self.n_repeats, self.groups, self.fold_of)
        self._counts = fold_draws(len(scores[0]), int(question.n_bootstraps), question.seed)
        self.n_resamples = len(self._counts)

    def whole(self) -> list[Array]:
        """Mean over the folds; folds on which a score is undefined do not count."""
        once = np.ones((1, len(self._scores[0])), np.uint8)
        return [FoldResamples([scores], once).in_bag()[0] for scores in self._scores]

    def standard_errors(self) -> Array:
        """Of the mean over folds, as rules of one standard error take it."""
        defined = (~np.isnan(self._scores[0])).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nanstd(self._scores[0], axis=0, ddof=1) / np.sqrt(defined))

    def resamples(self, start: int, stop: int) -> FoldResamples:
        """Give some draws of folds."""
        return FoldResamples(self._scores, self._counts[start:stop])

    def fold_scores(self) -> list[Array]:
        """Give what was given."""
        return self._scores

    @property
    def n_units(self) -> int:
        """Folds are resampled."""
        return self._counts.shape[1]

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say that folds were resampled, and what is special about the samples."""
        size = notes.on_size(len(self.configurations), self._n_dropped, self.n_samples, self.n_groups)
        found = [notes.of_the_model(self.question.metrics, len(self._scores[0])), notes.incomplete(self._is_complete)]
        return [*size, *(note for note in found if note is not None)]
