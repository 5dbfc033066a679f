"""Runs: one job on a table, from its settings to a folder with everything that came out of it."""

from .deadline import Deadline
from .execution import Progress, execute
from .folder import RunFolder
from .prepared import Prepared, prepare
from .results import Results
from .settings import Settings
from .settings_file import begin, begun
from .tuning import tune

__all__ = [
    "Deadline",
    "Prepared",
    "Progress",
    "Results",
    "RunFolder",
    "Settings",
    "begin",
    "begun",
    "execute",
    "prepare",
    "tune",
]
