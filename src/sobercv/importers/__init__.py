"""Predictions that other tools have made: recognised by their columns, and refused where the answer would mislead."""

from .correction import Corrected, correct
from .imported import ImportedPredictions
from .recognising import recognise

__all__ = ["Corrected", "ImportedPredictions", "correct", "recognise"]
