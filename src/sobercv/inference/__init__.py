"""From out-of-sample predictions to honest claims; arrays only, no training, no files."""

from .dropping import BootstrapDrop, Verdict
from .estimate import Estimate
from .rivals import naive, nested, tibshirani
from .selection import best, simplest_within

__all__ = ["BootstrapDrop", "Estimate", "Verdict", "best", "naive", "nested", "simplest_within", "tibshirani"]
