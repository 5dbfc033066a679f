"""Predictions that other tools have made: recognised by their columns, and refused where the answer would mislead."""

from .correct import Corrected, correct
from .recognise import recognise
from .table import Foreign

__all__ = ["Corrected", "Foreign", "correct", "recognise"]
