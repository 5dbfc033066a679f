"""Predictions that other tools have made: recognised by their columns, and refused where the answer would mislead.

A new importer is one file here with an `IMPORTER` (its name, how it recognises a table, how it reads one) and one entry
in `known_importers.IMPORTERS`.
"""

from .correction import Corrected, correct
from .imported import ImportedPredictions
from .importer import Importer
from .known_importers import IMPORTERS, recognise

__all__ = ["IMPORTERS", "Corrected", "ImportedPredictions", "Importer", "correct", "recognise"]
