"""Selection procedures: how more than a column is selected. A file a kind of decision."""

from .contract import Decision, Decisions, SelectionProcedure
from .ensembles import Mix, average_of_best, greedy_ensemble, stacked_ensemble
from .thresholds import Threshold, best_with_threshold

__all__ = [
    "Decision",
    "Decisions",
    "Mix",
    "SelectionProcedure",
    "Threshold",
    "average_of_best",
    "best_with_threshold",
    "greedy_ensemble",
    "stacked_ensemble",
]
