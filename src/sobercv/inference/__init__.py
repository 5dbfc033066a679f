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
from .procedures import SelectionProcedure, best_with_threshold
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
    "best",
    "best_with_threshold",
    "naive",
    "nested",
    "simplest_within",
    "tibshirani",
]
