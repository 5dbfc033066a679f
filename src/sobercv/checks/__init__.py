"""Checks of a table before anything is trained: what looks wrong, what would be run, how long it would take."""

from .dataset import check_dataset
from .planned_search import PlannedSearch, plan_search, seconds_needed

__all__ = ["PlannedSearch", "check_dataset", "plan_search", "seconds_needed"]
