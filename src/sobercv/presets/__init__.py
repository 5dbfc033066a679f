"""Search spaces for a bare table (quick, standard, thorough, paper), and SES feature selection."""

from .preset import NAMES, TASKS, Preset, get
from .ses import SES

__all__ = ["NAMES", "SES", "TASKS", "Preset", "get"]
