"""The contract of a table: the few verbs by which a bootstrap asks for scores, however the predictions are held.

A table has a `Question` bound to its predictions and answers in scores, of which more is better. It never draws
conclusions: selecting and judging is the same for all tables, see `inference.bbc`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property

import numpy as np

from ...containers import Array
from ...errors import Note, SoberError
from ...targets import Target
from ..question import Question
from ..selection import SelectionRule, apply

MIN_UNITS = 3  # samples or groups: with fewer, a resample hardly ever leaves one out
TRAINED = 0.9  # share of the samples that models are trained on where nobody told
ERRORS = 128  # resamples for the standard errors that some rules ask for


class Resamples(ABC):
    """Some resamples of a table: what is present in each selects, what is absent judges."""

    @abstractmethod
    def in_bag(self) -> Array:
        """Score of every configuration, by the metric that selects, on what is present [B, C]."""

    @abstractmethod
    def out_of_bag(self, winners: Array) -> list[Array]:
        """For each metric the score of configuration `winners[b]` on what is absent from b [B]; NaN for winner -1."""

    @abstractmethod
    def in_bag_of(self, winner: int) -> list[Array]:
        """For each metric but the first the score of one configuration on what is present [B]."""


class Table(ABC):
    """Predictions with a question bound to them.

    Attributes
    ----------
    question : Question
        With its metrics settled for the target.
    target : Target
        The truth.
    configurations : int array [C]
        Each configuration's index for life.
    n_samples : int
        Samples that have predictions.
    n_groups : int or None
        Groups that they belong to.
    n_resamples : int
        Resamples that the question asks for, or that were handed in.
    n_repeats, n_left_out : int
    groups : int array [N] or None
    fold_of : int array [N, R]
        Zero everywhere where no folds were given.
    """

    question: Question
    target: Target
    configurations: Array
    groups: Array | None
    fold_of: Array
    n_samples: int
    n_groups: int | None
    n_resamples: int
    n_repeats: int = 1
    n_left_out: int = 0

    # ---- the verbs of a storage ----------------------------------------------------------------------------------
    @abstractmethod
    def whole(self) -> list[Array]:
        """For each metric the score of every configuration on all samples [C]."""

    @abstractmethod
    def standard_errors(self) -> Array:
        """Bootstrap standard error of every configuration, by the metric that selects [C]."""

    @abstractmethod
    def resamples(self, start: int, stop: int) -> Resamples:
        """Give resamples start to stop - 1."""

    def cut(self) -> list[tuple[int, int]]:
        """Which resamples to ask for together: all, unless it pays to have them one block at a time."""
        return [(0, self.n_resamples)]

    @abstractmethod
    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What a reader should know about these predictions, the winner, and the winners of the resamples [B]."""

    @property
    def n_units(self) -> int:
        """How many things are resampled: groups where there are groups, else samples."""
        return self.n_samples if self.n_groups is None else self.n_groups

    @property
    def trained_share(self) -> float:
        """Share of the samples that each model was trained on, by the folds; that of ten folds where none are known."""
        n_folds = self.n_folds
        return 1.0 - 1.0 / n_folds if n_folds > 1 else TRAINED

    @property
    def n_folds(self) -> float:
        """Number of folds of a partition; more where only some of them have been predicted. 0 where not known."""
        n_folds = len(np.unique(self.fold_of[:, 0]))
        return n_folds if n_folds > 1 else 0

    def kurtoses(self, winner: int) -> list[float]:
        """For each metric the kurtosis of what a unit adds to the winner's score; 3 where it is not known."""
        return [3.0] * len(self.question.metrics)

    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold [F, C]; asked only of tables with folds."""
        raise NotImplementedError

    def complaint(self, metric: int) -> str:
        """What a function that scores said when it refused, as a sentence to add to ours; "" where it said nothing."""
        return ""

    def asking(self, question: Question) -> Table:
        """Ask the same predictions and the same draws for another selection; the metrics stay."""
        other = copy(self)
        other.__dict__.pop("rule", None)
        other.__dict__.pop("_errors", None)
        other.question = question
        return other

    # ---- the same for all ----------------------------------------------------------------------------------------
    @cached_property
    def rule(self) -> SelectionRule:
        """The selection rule, told of the configurations of this table."""
        return self.question.rule_for(self.configurations)

    @cached_property
    def _errors(self) -> Array | None:
        return self.standard_errors() if self.question.needs_standard_errors else None

    def select(self, scores: Array) -> Array:
        """Run the rule: scores [B, C] -> positions of the winners [B], -1 where no score is defined."""
        return apply(self.rule, scores, self.question.first.unit, self._errors)

    def winner(self, whole: Array) -> int:
        """Select on the whole table."""
        winner = int(self.select(whole[None])[0])
        if winner < 0:
            raise SoberError(
                "E109",
                f"{self.question.first.name} is undefined on these samples, so nothing can be selected. Check `y`."
                f"{self.complaint(0)}",
            )
        return winner

    def check_size(self) -> None:
        """Refuse a table that is too small to resample."""
        units, what = (self.n_samples, "samples") if self.n_groups is None else (self.n_groups, "groups")
        if units < MIN_UNITS:
            raise SoberError(
                "E106",
                f"A bootstrap needs at least {MIN_UNITS} {what} with predictions; got {units}. Collect more data.",
            )

    def check_folds(self, known: bool) -> None:
        """Refuse a question about folds where none were given."""
        if self.question.needs_folds and not known:
            wish = '`aggregate="fold"`' if self.question.aggregate == "fold" else "`within_folds=True`"
            raise SoberError("E113", f"{wish} needs to know the folds. Pass `folds=`, one entry a sample.")


def spread(scores: Array) -> Array:
    """Give the standard deviation of each configuration's defined scores over resamples: [B, C] -> [C]."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nanstd(scores, axis=0, ddof=1))
