"""sober: tune by cross-validation, and say honestly how good the winner is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import metrics, testing
    from .comparison import Comparison, compare
    from .errors import SoberError, SoberWarning
    from .inference import BootstrapDrop, Estimate, naive, nested, simplest_within, tibshirani
    from .inference.bbc import bbc
    from .metrics import make_metric
    from .predictions import Predictions
    from .search import progress
    from .search.bbc_search_cv import BBCSearchCV
    from .search.randomized import BBCRandomizedSearchCV
    from .sources import stream

__version__ = "0.1.0"

__all__ = [
    "BBCRandomizedSearchCV",
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
    "progress",
    "simplest_within",
    "stream",
    "testing",
    "tibshirani",
]

# Names are imported when they are first asked for: `sober --help` must not wait seconds for numba and scikit-learn.
_HOMES = {
    "BBCRandomizedSearchCV": "search.randomized",
    "BBCSearchCV": "search.bbc_search_cv",
    "BootstrapDrop": "inference",
    "Comparison": "comparison",
    "Estimate": "inference",
    "Predictions": "predictions",
    "SoberError": "errors",
    "SoberWarning": "errors",
    "bbc": "inference.bbc",
    "compare": "comparison",
    "make_metric": "metrics",
    "naive": "inference",
    "nested": "inference",
    "simplest_within": "inference",
    "stream": "sources",
    "tibshirani": "inference",
}
_MODULES = {"metrics": ".metrics", "progress": ".search.progress", "testing": ".testing"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name], __name__)
    else:
        raise AttributeError(f"module 'sobercv' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
