"""Metrics by name.

Takes a name, a metric or a callable, gives a metric; never scores.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..errors import SoberError
from ..responses import RESPONSES
from ..targets import Target, TaskName, guess_task
from . import confusion, pointwise, ranking, survival
from .base import Metric
from .general import GeneralMetric, from_callable, from_sklearn


@lru_cache(maxsize=1)
def _fast() -> dict[str, Metric]:
    modules = (pointwise, confusion, ranking, survival)
    return {metric.name: metric for module in modules for metric in module.metrics()}


def names() -> list[str]:
    """List the names of the metrics that have a fast path, sorted."""
    return sorted(_fast())


def get(metric: str | Metric | Callable[..., Any]) -> Metric:
    """Find a metric.

    Parameters
    ----------
    metric : str, Metric or callable
        A name of `sobercv.metrics.names()`, any scoring string of scikit-learn, a metric, a function
        (y_true, y_pred) -> float, or a scorer (estimator, X, y) -> float.

    Returns
    -------
    Metric
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return _fast().get(metric) or _other(metric)
    if callable(metric):
        return from_callable(metric)
    raise SoberError(
        "E105", f"`metric` must be a name, a function or a metric; got {type(metric).__name__}. Write metric='roc_auc'."
    )


@lru_cache(maxsize=64)
def _other(name: str) -> Metric:
    from sklearn.metrics import get_scorer_names

    known = set(get_scorer_names())
    if name in known:
        return from_sklearn(name)
    known |= set(_fast())
    # People also drop scikit-learn's "neg_" and write initials.
    close = difflib.get_close_matches(name.lower().replace("-", "_"), sorted(known), n=3, cutoff=0.6)
    close += [full for full in (f"neg_{name}", f"neg_mean_{name}") if full in known and full not in close]
    short = {
        "auc": "roc_auc",
        "mse": "neg_mean_squared_error",
        "rmse": "neg_root_mean_squared_error",
        "mae": "neg_mean_absolute_error",
        "cindex": "concordance_index",
        "c_index": "concordance_index",
        "mcc": "matthews_corrcoef",
        "logloss": "neg_log_loss",
        "brier": "neg_brier_score",
    }
    if name.lower().replace("-", "_") in short:
        close = [short[name.lower().replace("-", "_")]]
    hint = f"Did you mean {' or '.join(close)}?" if close else "See sobercv.metrics.names()."
    raise SoberError("E105", f"There is no metric called {name!r}. {hint}")


def make_metric(
    function: Callable[..., Any] | str,
    *,
    name: str | None = None,
    greater_is_better: bool = True,
    response: str | None = None,
    task: TaskName | None = None,
) -> Metric:
    """Make a metric of your own function, for `sobercv.bbc` and `sobercv.BBCSearchCV`.

    Every resample and configuration costs one call, so this path is far slower than the named metrics.

    Parameters
    ----------
    function : callable or str
        `f(y_true, y_pred) -> float`; a scikit-learn scorer `f(estimator, X, y) -> float`; or the name of a metric.
        Raise ValueError, or give NaN, where it is not defined.
    name : str, optional
        How it is called in results; the name of the function unless given.
    greater_is_better : bool, default=True
        False for losses: the score is negated, as scikit-learn does.
    response : {"predict", "predict_proba", "decision_function"}, optional
        What the function wants as `y_pred`; "predict" unless given.
    task : {"classification", "regression", "survival"}, optional
        The kind of target; read off `y` unless given.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import numpy as np, sobercv
    >>> def worst_error(y_true, y_pred):
    ...     return np.max(np.abs(y_true - y_pred))
    >>> sobercv.make_metric(worst_error, greater_is_better=False, task="regression")
    <metric worst_error>
    """
    if isinstance(function, str):
        return get(function)
    if not callable(function):
        raise SoberError("E105", f"`function` must be callable or a name; got {type(function).__name__}.")
    if response is not None and response not in RESPONSES:
        raise SoberError("E108", f"`response` must be one of {', '.join(RESPONSES)}; got {response!r}.")
    return from_callable(function, name, greater_is_better, response, task)


def settle(metric: Metric, y: Any) -> Metric:
    """Fix the task of a metric that left it open: that of a `Target`, or what the values of `y` tell."""
    if not isinstance(metric, GeneralMetric) or not metric.task_is_open:
        return metric
    return metric.for_task(y.task if isinstance(y, Target) else guess_task(y).task)
