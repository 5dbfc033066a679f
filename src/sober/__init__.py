"""sober: tune by cross-validation, and say honestly how good the winner is."""

from . import metrics, testing
from .compare import Comparison, compare
from .errors import SoberError, SoberWarning
from .inference import BootstrapDrop, Estimate, bbc, naive, nested, simplest_within, tibshirani
from .metrics import make_metric
from .predictions import Predictions
from .search import BBCSearchCV

__version__ = "0.1.0"

__all__ = [
    "BBCSearchCV",
    "BootstrapDrop",
    "Comparison",
    "Estimate",
    "Predictions",
    "SoberError",
    "SoberWarning",
    "bbc",
    "compare",
    "make_metric",
    "metrics",
    "naive",
    "nested",
    "simplest_within",
    "testing",
    "tibshirani",
]
