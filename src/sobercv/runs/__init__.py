"""Runs: one job on a table, from its settings to a folder with everything that came out of it."""

from .folder import RunFolder
from .settings import Settings
from .train import Prepared, prepare, train
from .write import write

__all__ = ["Prepared", "RunFolder", "Settings", "prepare", "train", "write"]
