"""A selection rule as a procedure: the decision is a column.

Takes a rule, gives what `bbc` gives with that rule; `bbc` itself takes the shorter way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...containers import Array
from ...metrics import Scorer
from ...predictions import Predictions
from ..selection import SelectionRule, apply
from ..wilson import DOUBT
from .contract import Decider, Decision, Decisions, SelectionProcedure

if TYPE_CHECKING:
    from ..question import Question


@dataclass(frozen=True)
class Column(Decision):
    """One configuration.

    Attributes
    ----------
    configuration : int
        Its index for life.
    """

    configuration: int

    def shown(self) -> str:
        """Nothing: the winner says it all."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"kind": "column", "configuration": self.configuration}


@dataclass(frozen=True, eq=False)
class ColumnDecisions(Decisions):
    """One column a resample."""

    table: Predictions

    def predictions(self) -> Predictions:
        """Give the columns."""
        return self.table.take_configurations(np.maximum(self.winners, 0))

    def decision(self, resamples: Sequence[Decisions]) -> Column:
        """Give the first."""
        return Column(int(self.table.configurations[self.winners[0]]))


class ColumnDecider(Decider):
    """A rule bound to a table."""

    def __init__(self, table: Predictions, scorer: Scorer, rule: SelectionRule) -> None:
        self._table, self._scorer, self._rule = table, scorer, rule

    def decide(self, counts: Array) -> ColumnDecisions:
        """Score, and apply the rule."""
        scores = self._scorer.scores(counts)
        return ColumnDecisions(apply(self._rule, scores, self._scorer.metric.unit), scores, self._table)

    def alternatives(self) -> Predictions:
        """Give all columns."""
        return self._table


class by_rule(SelectionProcedure):
    """Select a column by a rule.

    Parameters
    ----------
    rule : callable
        Scores [B, C] -> winners [B]; not one that counts in standard errors.
    """

    doubt = DOUBT
    counts_once = False

    def __init__(self, rule: SelectionRule) -> None:
        self.rule = rule

    def bind(self, predictions: Predictions, question: Question) -> ColumnDecider:
        """Bind the metric that selects."""
        return ColumnDecider(predictions, question.bind(predictions), self.rule)

    def __repr__(self) -> str:
        return f"by_rule({getattr(self.rule, '__name__', self.rule)})"
