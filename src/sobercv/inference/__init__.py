"""From out-of-sample predictions to honest claims; arrays only, no training, no files."""

from .dropping import BootstrapDrop, DropRule, DropVerdict, PredictiveDrop
from .estimate import Estimate, Estimates
from .procedures import SelectionProcedure, average_of_best, best_with_threshold, greedy_ensemble, stacked_ensemble
from .question import Question
from .selection import SelectionRule, best, simplest_within

__all__ = [
    "BootstrapDrop",
    "DropRule",
    "DropVerdict",
    "Estimate",
    "Estimates",
    "PredictiveDrop",
    "Question",
    "SelectionProcedure",
    "SelectionRule",
    "average_of_best",
    "best",
    "best_with_threshold",
    "greedy_ensemble",
    "simplest_within",
    "stacked_ensemble",
]
