"""Selection procedures: how more than a column is selected. A file a kind of decision."""

from .columns import columns
from .contract import Decider, Decision, Decisions, SelectionProcedure
from .thresholds import Threshold, best_with_threshold

__all__ = [
    "Decider",
    "Decision",
    "Decisions",
    "SelectionProcedure",
    "Threshold",
    "best_with_threshold",
    "columns",
]
