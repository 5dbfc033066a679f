"""sober: tune by cross-validation, and say honestly how good the winner is."""

from typing import TYPE_CHECKING

from .late_imports import late

if TYPE_CHECKING:
    from . import metrics, testing
    from .correction import correct
    from .errors import SoberError, SoberWarning
    from .inference import (
        BootstrapDrop,
        Estimate,
        PredictiveDrop,
        average_of_best,
        best_with_threshold,
        greedy_ensemble,
        simplest_within,
        stacked_ensemble,
    )
    from .inference.bbc import bbc
    from .inference.difference import difference
    from .metrics import make_metric
    from .predictions import Predictions
    from .rivals.compare import compare
    from .rivals.comparison import Comparison
    from .rivals.drop_rules import BernsteinDrop, BettingDrop, ConfidenceDrop, HoeffdingDrop
    from .rivals.from_predictions import naive, nested, tibshirani
    from .search import progress
    from .search.bbc_search_cv import BBCRandomizedSearchCV, BBCSearchCV

__version__ = "0.2.0"

__all__ = [
    "BBCRandomizedSearchCV",
    "BBCSearchCV",
    "BernsteinDrop",
    "BettingDrop",
    "BootstrapDrop",
    "Comparison",
    "ConfidenceDrop",
    "Estimate",
    "HoeffdingDrop",
    "Predictions",
    "PredictiveDrop",
    "SoberError",
    "SoberWarning",
    "average_of_best",
    "bbc",
    "best_with_threshold",
    "compare",
    "correct",
    "difference",
    "greedy_ensemble",
    "make_metric",
    "metrics",
    "naive",
    "nested",
    "progress",
    "simplest_within",
    "stacked_ensemble",
    "testing",
    "tibshirani",
]

#: Modules that messages and docs name as `sobercv.NAME`; `import sobercv` alone must find them.
_MODULES = ("feature_selection", "mlflow", "optuna", "presets", "report", "rivals")

# `sober --help` must not wait seconds for numba and scikit-learn.
__getattr__ = late(
    __name__,
    dict(zip(_MODULES, _MODULES, strict=True))
    | {
        "BBCRandomizedSearchCV": "search.bbc_search_cv",
        "BBCSearchCV": "search.bbc_search_cv",
        "BernsteinDrop": "rivals.drop_rules",
        "BettingDrop": "rivals.drop_rules",
        "BootstrapDrop": "inference",
        "Comparison": "rivals.comparison",
        "ConfidenceDrop": "rivals.drop_rules",
        "Estimate": "inference",
        "HoeffdingDrop": "rivals.drop_rules",
        "PredictiveDrop": "inference",
        "Predictions": "predictions",
        "SoberError": "errors",
        "SoberWarning": "errors",
        "average_of_best": "inference",
        "bbc": "inference.bbc",
        "best_with_threshold": "inference",
        "compare": "rivals.compare",
        "correct": "correction",
        "difference": "inference.difference",
        "greedy_ensemble": "inference",
        "make_metric": "metrics",
        "metrics": "metrics",
        "naive": "rivals.from_predictions",
        "nested": "rivals.from_predictions",
        "progress": "search.progress",
        "simplest_within": "inference",
        "stacked_ensemble": "inference",
        "testing": "testing",
        "tibshirani": "rivals.from_predictions",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
