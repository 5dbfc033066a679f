"""Search spaces for a bare table (quick, standard, thorough, paper), and SES feature selection."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .preset import NAMES, TASKS, Preset, get
    from .ses import SES

__all__ = ["NAMES", "SES", "TASKS", "Preset", "get"]

__getattr__ = late(__name__, {"NAMES": "preset", "Preset": "preset", "SES": "ses", "TASKS": "preset", "get": "preset"})
