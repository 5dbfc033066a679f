"""From out-of-sample predictions to honest claims; arrays only, no training, no files."""

from .dropping import BootstrapDrop, DropRule, DropVerdict
from .estimate import Estimate
from .question import Question
from .rivals import naive, nested, tibshirani
from .selection import SelectionRule, best, simplest_within

__all__ = [
    "BootstrapDrop",
    "DropRule",
    "DropVerdict",
    "Estimate",
    "Question",
    "SelectionRule",
    "best",
    "naive",
    "nested",
    "simplest_within",
    "tibshirani",
]
