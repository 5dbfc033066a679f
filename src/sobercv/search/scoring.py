"""The `scoring` argument of a search, understood: names, callables, lists and dicts become metrics.

Takes what scikit-learn's searches take, gives metrics by name, the one that selects first; never scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from ..errors import SoberError
from ..metrics import Metric, get
from ..metrics.general import GeneralMetric, from_callable
from ..targets import TaskName

DEFAULTS: dict[TaskName, str] = {
    "classification": "accuracy",
    "regression": "r2",
    "survival": "concordance_index",
}


def metrics_of(scoring: Any, task: TaskName | None, refit: Any = True) -> dict[str, Metric]:
    """Turn `scoring` into metrics by name.

    Parameters
    ----------
    scoring : None, str, callable, Metric, list, tuple, set or dict
        None is what the estimator's own `score` would be: accuracy, R2, or the concordance index.
    task : {"classification", "regression", "survival"} or None
        Of the problem; None where it is to be read off the metric.
    refit : bool or str
        With several metrics, the name of the one that selects; the first unless named.

    Returns
    -------
    dict of str to Metric
        The one that selects comes first.
    """
    if scoring is None:
        if task is None:
            raise SoberError("E301", "Neither estimator nor scoring tells what kind of task it is. Pass scoring=.")
        scoring = DEFAULTS[task]
    if isinstance(scoring, Mapping):
        found = {str(name): _one(value, task, str(name)) for name, value in scoring.items()}
    elif isinstance(scoring, (list, tuple, set, frozenset)):
        listed = [
            _one(value, task) for value in (sorted(scoring) if isinstance(scoring, (set, frozenset)) else scoring)
        ]
        found = {metric.name: metric for metric in listed}
        if len(found) < len(listed):
            raise SoberError("E105", f"`scoring` names a metric twice: {[m.name for m in listed]}. Name each once.")
    else:
        metric = _one(scoring, task)
        return {metric.name: metric}
    if not found:
        raise SoberError("E105", "`scoring` is empty. Name at least one metric, such as 'roc_auc'.")
    if isinstance(refit, str):
        if refit not in found:
            raise SoberError("E105", f"`refit` must name one of the metrics {', '.join(found)}; got {refit!r}.")
        found = {refit: found[refit], **found}
    return found


def several(scoring: Any) -> bool:
    """Whether `scoring` names several metrics, so that results come by their names."""
    return not (scoring is None or isinstance(scoring, (str, Metric)) or callable(scoring))


def _one(scoring: Any, task: TaskName | None, name: str | None = None) -> Metric:
    if callable(scoring) and not isinstance(scoring, Metric):
        metric: Metric = from_callable(scoring, name=name, task=task)
    else:
        metric = get(scoring)
    if isinstance(metric, GeneralMetric) and metric.task_is_open and task is not None:
        metric = metric.for_task(task)
    if name is not None and metric.name != name:
        metric = copy(metric)  # results go by the name that the user chose
        metric.name = name
    return metric
