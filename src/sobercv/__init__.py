"""sober: tune by cross-validation, and say honestly how good the winner is."""

from typing import TYPE_CHECKING

from .late_imports import late

if TYPE_CHECKING:
    from . import metrics, testing
    from .comparison import Comparison, compare
    from .errors import SoberError, SoberWarning
    from .importers.autogluon import from_autogluon
    from .importers.cross_val_predict import from_cross_val_predict
    from .importers.mljar import from_mljar
    from .importers.optuna_study import from_optuna
    from .inference import (
        BernsteinDrop,
        BettingDrop,
        BootstrapDrop,
        ConfidenceDrop,
        Estimate,
        HoeffdingDrop,
        PredictiveDrop,
        average_of_best,
        best_with_threshold,
        greedy_ensemble,
        naive,
        nested,
        simplest_within,
        stacked_ensemble,
        tibshirani,
    )
    from .inference.bbc import bbc
    from .inference.difference import difference
    from .metrics import make_metric
    from .predictions import Predictions
    from .search import progress
    from .search.bbc_search_cv import BBCSearchCV
    from .search.randomized import BBCRandomizedSearchCV
    from .sources import stream

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
    "difference",
    "from_autogluon",
    "from_cross_val_predict",
    "from_mljar",
    "from_optuna",
    "greedy_ensemble",
    "make_metric",
    "metrics",
    "naive",
    "nested",
    "progress",
    "simplest_within",
    "stacked_ensemble",
    "stream",
    "testing",
    "tibshirani",
]

# `sober --help` must not wait seconds for numba and scikit-learn.
__getattr__ = late(
    __name__,
    {
        "BBCRandomizedSearchCV": "search.randomized",
        "BBCSearchCV": "search.bbc_search_cv",
        "BernsteinDrop": "inference",
        "BettingDrop": "inference",
        "BootstrapDrop": "inference",
        "Comparison": "comparison",
        "ConfidenceDrop": "inference",
        "Estimate": "inference",
        "HoeffdingDrop": "inference",
        "PredictiveDrop": "inference",
        "Predictions": "predictions",
        "SoberError": "errors",
        "SoberWarning": "errors",
        "average_of_best": "inference",
        "bbc": "inference.bbc",
        "best_with_threshold": "inference",
        "compare": "comparison",
        "difference": "inference.difference",
        "from_autogluon": "importers.autogluon",
        "from_cross_val_predict": "importers.cross_val_predict",
        "from_mljar": "importers.mljar",
        "from_optuna": "importers.optuna_study",
        "greedy_ensemble": "inference",
        "make_metric": "metrics",
        "metrics": "metrics",
        "naive": "inference",
        "nested": "inference",
        "progress": "search.progress",
        "simplest_within": "inference",
        "stacked_ensemble": "inference",
        "stream": "sources",
        "testing": "testing",
        "tibshirani": "inference",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
