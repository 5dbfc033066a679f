"""Search spaces for a bare table (quick, standard, thorough, paper), and SES feature selection."""

from ..targets import TABLE_TASKS as TASKS
from .preset import NAMES, Preset, get
from .ses import SES

__all__ = ["NAMES", "SES", "TASKS", "Preset", "get"]
