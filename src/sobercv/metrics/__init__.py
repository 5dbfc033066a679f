"""Metrics: predictions and counts in, scores out; more is better.

`scores(predictions, counts) -> [B, C]` serves every protocol: see ARCHITECTURE.md.
"""

from .base import Metric
from .registry import get, make_metric, names
from .scorer import Scorer

__all__ = ["Metric", "Scorer", "get", "make_metric", "names"]
