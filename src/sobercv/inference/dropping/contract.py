"""What a drop rule is asked, and what it answers.

A rule is any callable ``rule(predictions, question, round_index)`` that gives a `DropVerdict`, or None to keep all. It
sees what the configurations still in the race have predicted so far; its draws, if any, come from the question's seed.
A new rule is a file beside this one; `sobercv.testing.contracts.DropRuleContract` tests it. Two methods are optional:
``check(predictions, question)`` refuses what the rule cannot serve, asked before any training with a table in which
nothing is predicted yet; ``for_race()`` gives a rule of its own to each race, where it must remember earlier rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...containers import Array
from ...predictions import Predictions
from ..question import Question
from ..selection import apply, best


@dataclass(frozen=True, eq=False)
class DropVerdict:
    """What a drop rule decided.

    Attributes
    ----------
    keep : bool array [C]
    p : float array [C]
        How sure the rule is that each configuration is worse than the best; 0 where no test was made.
    best : int
        Position of the best configuration so far; -1 where no test was made.
    """

    keep: Array
    p: Array
    best: int

    @classmethod
    def everybody(cls, n_configurations: int) -> DropVerdict:
        """Keep all, without a test."""
        return cls(np.ones(n_configurations, bool), np.zeros(n_configurations), -1)


class DropRule(Protocol):
    """Decides after every round of a race who stays."""

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict | None:
        """Look at all predictions so far; the same ones, question and round must give the same verdict."""


def best_so_far(question: Question, table: Predictions, whole: Array) -> int:
    """Position of the best by scores [1, C] on what has been predicted; -1 where none is defined.

    A rule in standard errors has none to go by in the middle of a race: then the highest score is the yardstick.
    """
    rule = best if question.needs_standard_errors else question.rule_for(table.configurations)
    return int(apply(rule, whole, question.first.unit)[0])
