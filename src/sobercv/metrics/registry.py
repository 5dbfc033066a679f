"""Metrics by name.

Takes a name with or without arguments, a metric or a callable, gives a metric; never scores.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..errors import SoberError
from ..responses import RESPONSES
from ..targets import Target, TaskName, guess_task
from . import clinic, confusion, contingency, explained, horizons, in_order, pointwise, ranking, survival
from .base import Metric

Maker = Callable[..., Metric]

_MODULES = (pointwise, explained, confusion, contingency, ranking, in_order, survival, horizons, clinic)


@lru_cache(maxsize=1)
def makers() -> Mapping[str, Maker]:
    """Everything that makes a metric, by name."""
    return {name: maker for module in _MODULES for name, maker in module.makers().items()}


@lru_cache(maxsize=1)
def _fast() -> dict[str, Metric]:
    return {
        name: maker().named(name)
        for name, maker in makers().items()
        if all(p.default is not p.empty for p in parameters(name).values())
    }


def names() -> list[str]:
    """List the names of the metrics that have a fast path and need no argument, sorted."""
    return sorted(_fast())


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Arguments that a metric of this name takes."""
    maker = makers()[name]
    if isinstance(maker, partial):  # its arguments are given already
        return {}
    return dict(inspect.signature(maker).parameters)


def get(metric: str | Metric | Callable[..., Any], **arguments: Any) -> Metric:
    """Find a metric.

    Parameters
    ----------
    metric : str, Metric or callable
        A name of `sobercv.metrics.names()`, with arguments where it takes any ("fbeta(beta=2)"), any scoring string of
        scikit-learn, a metric, a function (y_true, y_pred) -> float, or what scikit-learn's `make_scorer` gave.
    **arguments
        Of a metric that is given by its name: `get("fbeta", beta=2)`.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import sobercv
    >>> sobercv.metrics.get("fbeta", beta=2)
    <metric fbeta(beta=2)>
    """
    if isinstance(metric, str):
        name, written = _parsed(metric)
        return make(name, {**written, **arguments})
    if arguments:
        raise SoberError("E105", f"Arguments go with the name of a metric; got {type(metric).__name__}. Write a name.")
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        from .recognise import from_callable

        return from_callable(metric)
    raise SoberError(
        "E105", f"`metric` must be a name, a function or a metric; got {type(metric).__name__}. Write metric='roc_auc'."
    )


def make(name: str, arguments: Mapping[str, Any]) -> Metric:
    """Make the metric of a name with arguments, called by what `get` would understand again."""
    if name not in makers():
        return _other(name)
    allowed = parameters(name)
    given = {key: _plain(value) for key, value in arguments.items()}
    unknown = [key for key in given if key not in allowed]
    if unknown:
        takes = f"takes {', '.join(allowed)}" if allowed else "takes no arguments"
        raise SoberError("E108", f"{name} {takes}; got `{unknown[0]}`.")
    missing = [key for key, p in allowed.items() if p.default is p.empty and key not in given]
    if missing:
        raise SoberError("E108", f"{name} needs `{missing[0]}`. Write {name}({missing[0]}=...).")
    told = {key: given[key] for key, p in allowed.items() if key in given and not _same(given[key], p.default)}
    if not told:
        return _fast()[name]
    spelled = f"{name}({', '.join(f'{key}={value!r}' for key, value in told.items())})"
    return makers()[name](**told).named(_SHORT.get(spelled, spelled))


#: What scikit-learn has a name of its own for.
_SHORT = {
    f"{name}(average='{average}')": f"{name}_{average}"
    for name in ("f1", "precision", "recall", "jaccard")
    for average in ("macro", "micro", "weighted")
} | {
    "roc_auc(multi_class='ovr')": "roc_auc_ovr",
    "roc_auc(multi_class='ovo')": "roc_auc_ovo",
    "roc_auc(average='weighted', multi_class='ovr')": "roc_auc_ovr_weighted",
    "roc_auc(average='weighted', multi_class='ovo')": "roc_auc_ovo_weighted",
}


def _plain(value: Any) -> Any:
    """Numbers and lists of numpy as Python's own, which can be written down and read again."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return list(value) if isinstance(value, (tuple, range)) else value


def _same(value: Any, default: Any) -> bool:
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (value, default))
    return value is default or ((numbers or type(value) is type(default)) and bool(value == default))


def _parsed(written: str) -> tuple[str, dict[str, Any]]:
    """Take "fbeta(beta=2)" apart; what has no brackets is a name."""
    if not written.rstrip().endswith(")"):
        return written, {}
    try:
        call = ast.parse(written.strip(), mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            nan = {"nan": float("nan"), "inf": float("inf")}
            values = {
                str(k.arg): nan[k.value.id]
                if isinstance(k.value, ast.Name) and k.value.id in nan
                else ast.literal_eval(k.value)
                for k in call.keywords
            }
            return call.func.id, values
    except (SyntaxError, ValueError):
        pass
    raise SoberError(
        "E105",
        f"{written!r} is no name with arguments. Write it like 'fbeta(beta=2)': name=value, separated by commas.",
    )


@lru_cache(maxsize=64)
def _other(name: str) -> Metric:
    from sklearn.metrics import get_scorer, get_scorer_names

    from .recognise import from_scorer

    known = set(get_scorer_names())
    if name in known:
        return from_scorer(get_scorer(name), name=name)
    known |= set(makers())
    # People also drop scikit-learn's "neg_" and write initials.
    written = name.lower().replace("-", "_")
    close = difflib.get_close_matches(written, sorted(known), n=3, cutoff=0.6)
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
    close = [short[written]] if written in short else close
    some = "Some are roc_auc, accuracy, f1, r2 and concordance_index; sobercv.metrics.names() lists all."
    hint = f"Did you mean {' or '.join(close)}?" if close else some
    raise SoberError("E105", f"There is no metric called {name!r}. {hint}")


def make_metric(
    function: Callable[..., Any] | str,
    *,
    name: str | None = None,
    greater_is_better: bool | None = None,
    response: str | None = None,
    task: TaskName | None = None,
    max_calls: int = 1000,
) -> Metric:
    """Make a metric of your own function, for `sobercv.bbc` and `sobercv.BBCSearchCV`.

    scikit-learn's functions, and `partial` of them, are recognised and become the fast metrics that they are. Any other
    function is called for every resample and configuration, which is far slower.

    Parameters
    ----------
    function : callable or str
        `f(y_true, y_pred) -> float`, what scikit-learn's `make_scorer` gave, or the name of a metric.
        Raise ValueError, or give NaN, where it is not defined.
    name : str, optional
        How it is called in results; the name of the function unless given.
    greater_is_better : bool, optional
        False for losses: the score is negated, as scikit-learn does. True unless given, except for scikit-learn's own
        losses, which are known to be some.
    response : {"predict", "predict_proba", "decision_function"}, optional
        What the function wants as `y_pred`; "predict" unless given.
    task : {"classification", "regression", "survival"}, optional
        The kind of target; read off `y` unless given.
    max_calls : int, default=1000
        How often one correction may call a function that is not recognised. Where all resamples would cost more, fewer
        are drawn, at least 100, and the estimate says so.

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
        found = get(function)
        return found if name is None else found.named(name)
    if not callable(function):
        raise SoberError("E105", f"`function` must be callable or a name; got {type(function).__name__}.")
    if response is not None and response not in RESPONSES:
        raise SoberError("E108", f"`response` must be one of {', '.join(RESPONSES)}; got {response!r}.")
    if isinstance(max_calls, bool) or not isinstance(max_calls, (int, np.integer)) or max_calls < 1:
        raise SoberError("E108", f"`max_calls` must be a whole number of 1 or more; got {max_calls!r}.")
    from .recognise import from_callable

    return from_callable(function, name, greater_is_better, response, task, int(max_calls))


def settle(metric: Metric, y: Any) -> Metric:
    """Fix the task of a metric that left it open: that of a `Target`, or what the values of `y` tell."""
    from .general import GeneralMetric

    if not isinstance(metric, GeneralMetric) or not metric.task_is_open:
        return metric
    return metric.for_task(y.task if isinstance(y, Target) else guess_task(y).task)
