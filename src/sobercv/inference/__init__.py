"""From out-of-sample predictions to honest claims; arrays only, no training, no files."""

from .dropping import (
    BernsteinDrop,
    BettingDrop,
    BootstrapDrop,
    ConfidenceDrop,
    DropRule,
    DropVerdict,
    HoeffdingDrop,
    PredictiveDrop,
)
from .estimate import Estimate
from .procedures import (
    SelectionProcedure,
    average_of_best,
    best_with_threshold,
    greedy_ensemble,
    stacked_ensemble,
)
from .question import Question
from .rivals import naive, nested, tibshirani
from .selection import SelectionRule, best, simplest_within

__all__ = [
    "BernsteinDrop",
    "BettingDrop",
    "BootstrapDrop",
    "ConfidenceDrop",
    "DropRule",
    "DropVerdict",
    "Estimate",
    "HoeffdingDrop",
    "PredictiveDrop",
    "Question",
    "SelectionProcedure",
    "SelectionRule",
    "average_of_best",
    "best",
    "best_with_threshold",
    "greedy_ensemble",
    "naive",
    "nested",
    "simplest_within",
    "stacked_ensemble",
    "tibshirani",
]
