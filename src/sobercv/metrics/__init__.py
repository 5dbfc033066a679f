"""Metrics: predictions and counts in, scores out; more is better.

`scores(predictions, counts) -> [B, C]` serves every protocol: see ARCHITECTURE.md.
"""

from .by_name import get, make_metric, names
from .contract import Metric, Scorer

__all__ = ["Metric", "Scorer", "get", "make_metric", "names"]
