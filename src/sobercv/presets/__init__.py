"""Search spaces for a bare table: quick, standard, thorough, paper."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .preset import NAMES, TASKS, Preset, get

__all__ = ["NAMES", "TASKS", "Preset", "get"]

__getattr__ = late(__name__, dict.fromkeys(__all__, "preset"))
