"""The contract of a selection procedure: counts in, decisions out, each of which predicts like a configuration.

A selection rule maps scores to columns; a procedure maps the samples that are present to a *decision*: a column with a
threshold, a mix of columns. It is bound to a table once and decides on any resamples; `inference.bootstrap` judges it
on what is absent. It never sees which samples those are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...containers import Array
from ...errors import Note
from ...metrics import Metric
from ...predictions import Predictions
from ...targets import Target
from ..selection import Described

if TYPE_CHECKING:
    from ..question import Question


class Decision(ABC):
    """What was decided on the whole table, for people and for the code that trains the final model: a dataclass."""

    kind: ClassVar[str]

    @abstractmethod
    def shown(self) -> str:
        """In a few words, to stand behind the winner."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return {"kind": self.kind, **plain}

    def named(self, names: Sequence[str]) -> Decision:
        """Call configurations by the names of their columns."""
        return self


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was decided on some resamples."""

    winners: Array  # position of the configuration that was decided for, or that is the best one alone [B]; -1 for none
    scores: Array  # of every configuration, decided on alone, on what is present [B, C]
    tuned: Any = None  # what was tuned beside the column: thresholds [B], weights [B, C]


class SelectionProcedure(Described, ABC):
    """How more than a column is selected; pass it as `select=`. What `bind` returns decides and predicts."""

    #: Whether the best single configuration is judged beside the decision, with the difference between the two.
    stands_beside = False
    #: Whether a sample that was drawn several times is decided on once. What is tuned would suit it several times as
    #: well: a resample of N draws tunes as N / 2 other samples would, its distinct samples as 0.63 N.
    counts_once = True
    about = ""  #: what a reader should know about a decision, which stands in the place of `{}`
    #: Whether it makes labels of scores.
    makes_labels = False

    @abstractmethod
    def bind(self, predictions: Predictions, question: Question) -> Self:
        """Return a copy for many resamples of one table, in which every sample has been predicted in some repeat."""

    @abstractmethod
    def decide(self, counts: Array) -> Decisions:
        """Decide on what is present in each resample; counts [B, N]. A resample never depends on another."""

    @abstractmethod
    def predictions(self, decisions: Decisions) -> Predictions:
        """What each decision predicts for every sample, as B configurations."""

    @abstractmethod
    def decision(self, final: Decisions, winners: Array, tuned: Array) -> Decision:
        """Return the only decision of `final` as an object; those of the resamples [B] tell how firm it is."""

    @abstractmethod
    def alternatives(self) -> Predictions:
        """What every configuration predicts when it is decided on alone, with all samples: as many configurations."""

    # What a procedure may refuse before anything is trained: a question, a target. By default nothing.
    def check(self, question: Question) -> None:
        """Refuse a question that the procedure cannot serve."""

    def check_table(self, target: Target) -> None:
        """Refuse data that the procedure cannot serve."""

    def for_estimator(self, estimator: Any) -> Self:
        """Settle what was left open by what an estimator can give."""
        return self

    def wanted(self, metric: Metric) -> tuple[tuple[str, ...], ...]:
        """For each response that it needs beside those of the metrics, what can stand for it, best first."""
        return ()

    def notes(self, decision: Decision) -> tuple[Note, ...]:
        """What a reader should know about the decision."""
        return (Note("W218", self.about.format(decision.shown())),) if self.about else ()
