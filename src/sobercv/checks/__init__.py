"""Checks of a table before anything is trained: what looks wrong, what would be run, how long it would take."""

from .finding import Finding, stop_at_errors
from .look import look
from .plan import Planned, measure, plan

__all__ = ["Finding", "Planned", "look", "measure", "plan", "stop_at_errors"]
