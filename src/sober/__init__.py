"""sober: tune by cross-validation, and say honestly how good the winner is."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import metrics, testing
    from .compare import Comparison, compare
    from .errors import SoberError, SoberWarning
    from .inference import BootstrapDrop, Estimate, naive, nested, simplest_within, tibshirani
    from .inference.bbc import bbc
    from .metrics import make_metric
    from .predictions import Predictions
    from .search import BBCSearchCV
    from .sources import stream

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
    "stream",
    "testing",
    "tibshirani",
]

# Names are imported when they are first asked for: `sober --help` must not wait seconds for numba and scikit-learn.
_HOMES = {
    "BBCSearchCV": "search",
    "BootstrapDrop": "inference",
    "Comparison": "compare",
    "Estimate": "inference",
    "Predictions": "predictions",
    "SoberError": "errors",
    "SoberWarning": "errors",
    "bbc": "inference",
    "compare": "compare",
    "make_metric": "metrics",
    "naive": "inference",
    "nested": "inference",
    "simplest_within": "inference",
    "stream": "sources",
    "tibshirani": "inference",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in __all__:
        return import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'sober' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`sober.compare` stays the function when the module of that name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        # A function of a script or notebook that uses `sober` takes it along to other processes.
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package
