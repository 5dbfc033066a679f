"""scikit-learn's random forests, grown faster and to the last bit; training asks `Forests.grown` before it fits."""

from .forest import Forests, GrownForest, faster_seconds

__all__ = ["Forests", "GrownForest", "faster_seconds"]
