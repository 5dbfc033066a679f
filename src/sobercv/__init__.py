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
    from .rivals.compare import Comparison, compare
    from .rivals.drop_rules import BernsteinDrop, BettingDrop, ConfidenceDrop, HoeffdingDrop
    from .rivals.from_predictions import naive, nested, tibshirani
    from .search import progress
    from .search.bbc_search_cv import BBCRandomizedSearchCV, BBCSearchCV

__version__ = "0.2.0"

__all__ = [
    "BBCRandomizedSearchCV", "BBCSearchCV", "BernsteinDrop", "BettingDrop", "BootstrapDrop", "Comparison",
    "ConfidenceDrop", "Estimate", "HoeffdingDrop", "Predictions", "PredictiveDrop", "SoberError", "SoberWarning",
    "average_of_best", "bbc", "best_with_threshold", "compare", "correct", "difference", "greedy_ensemble",
    "make_metric", "metrics", "naive", "nested", "progress", "simplest_within", "stacked_ensemble", "testing",
    "tibshirani",
]  # fmt: skip

#: The names of each module; a name that no module holds is a module that messages and docs call `sobercv.NAME`.
_HOMES = {
    "correction": ("correct",),
    "errors": ("SoberError", "SoberWarning"),
    "inference": (
        "BootstrapDrop", "Estimate", "PredictiveDrop", "average_of_best", "best_with_threshold", "greedy_ensemble",
        "simplest_within", "stacked_ensemble",
    ),
    "inference.bbc": ("bbc",),
    "inference.difference": ("difference",),
    "metrics": ("make_metric", "metrics"),
    "predictions": ("Predictions",),
    "rivals.compare": ("Comparison", "compare"),
    "rivals.drop_rules": ("BernsteinDrop", "BettingDrop", "ConfidenceDrop", "HoeffdingDrop"),
    "rivals.from_predictions": ("naive", "nested", "tibshirani"),
    "search.bbc_search_cv": ("BBCRandomizedSearchCV", "BBCSearchCV"),
    "search.progress": ("progress",),
    **{name: (name,) for name in ("feature_selection", "mlflow", "optuna", "presets", "report", "rivals", "testing")},
}  # fmt: skip

# `sober --help` must not wait seconds for numba and scikit-learn.
__getattr__ = late(__name__, {name: home for home, names in _HOMES.items() for name in names})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
