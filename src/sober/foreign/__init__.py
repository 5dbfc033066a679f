"""Predictions that other tools have made: recognised by their columns, and refused where the answer would mislead."""

from .correct import Corrected, correct
from .recognise import Foreign, recognise

__all__ = ["Corrected", "Foreign", "correct", "recognise"]
