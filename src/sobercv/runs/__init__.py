"""Runs: one job on a table, from its settings to a folder with everything that came out of it."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
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

__getattr__ = late(
    __name__,
    {
        "Deadline": "deadline",
        "Prepared": "prepared",
        "Progress": "execution",
        "Results": "results",
        "RunFolder": "folder",
        "Settings": "settings",
        "begin": "settings_file",
        "begun": "settings_file",
        "execute": "execution",
        "prepare": "prepared",
        "tune": "tuning",
    },
)
