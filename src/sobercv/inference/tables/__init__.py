"""Tables of predictions that answer a question in scores, however the predictions are held: a file a way."""

from .apart import ApartTable
from .base import Resamples, Table
from .given import GivenTable
from .inputs import Inputs
from .memory import MemoryTable
from .opening import open_memory, open_predictions, open_table
from .raced import RacedTable

__all__ = [
    "ApartTable",
    "GivenTable",
    "Inputs",
    "MemoryTable",
    "RacedTable",
    "Resamples",
    "Table",
    "open_memory",
    "open_predictions",
    "open_table",
]
