"""The `scoring` argument of a search, understood: names, callables, lists and dicts become metrics.

Takes what scikit-learn's searches take, gives metrics by name, the one that selects first; never scores. What can be
computed from predictions is a `Metric`; what needs the fitted model and its rows is a `ModelScorer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..errors import SoberError
from ..metrics import Metric, get
from ..metrics.general import GeneralMetric
from ..metrics.recognise import from_callable, needs_model, unwrap
from ..targets import TaskName

DEFAULTS: dict[TaskName, str] = {
    "classification": "accuracy",
    "regression": "r2",
    "survival": "concordance_index",
}

#: Methods of scikit-learn that take X=None besides, and are the usual score in all else.
_AS_USUAL = {
    f"{name}.score"
    for name in ("DummyClassifier", "DummyRegressor", "KNeighborsClassifier", "RadiusNeighborsClassifier")
}


@dataclass(frozen=True, eq=False)
class ModelScorer:
    """A scorer that needs the fitted model and the real rows.

    It is called once for each configuration and split, where the model is, and gives scores by fold [K, C]: selection
    goes by their mean, the correction resamples folds (BBC-F). More is better, as with every scorer of scikit-learn.

    Attributes
    ----------
    name : str
        How a single number is called in results; a dict brings its own names.
    scorer : callable or None
        (estimator, X, y) -> a number, or a dict of numbers by name; None is the estimator's own `score`.
    """

    name: str
    scorer: Callable[..., Any] | None = None

    def __call__(self, fitted: Any, X: Any, y: Any = None, **params: Any) -> Any:
        """Score a fitted model on rows, as every scorer of scikit-learn does; without a `y` where there is none."""
        truth = () if y is None else (y,)
        return fitted.score(X, *truth, **params) if self.scorer is None else self.scorer(fitted, X, *truth, **params)

    def by_name(self, fitted: Any, X: Any, y: Any, **params: Any) -> dict[str, float]:
        """Score a fitted model on rows: numbers by name."""
        found = self(fitted, X, y, **params)
        by_name = found if isinstance(found, Mapping) else {self.name: found}
        if not by_name:
            raise SoberError("E117", f"The scorer {self.name} gave an empty dict; it must hold at least one number.")
        return {str(name): self._number(value) for name, value in by_name.items()}

    def _number(self, value: Any) -> float:
        with suppress(AttributeError, ValueError):
            value = value.item()  # numpy's numbers, and arrays of one
        if not isinstance(value, Real):
            raise SoberError(
                "E117", f"The scorer {self.name} must give a number, or a dict of numbers; got {type(value).__name__}."
            )
        return float(value)

    def __repr__(self) -> str:
        return f"<scorer {self.name}>"


def metrics_of(scoring: Any, task: TaskName | None, refit: Any = True, estimator: Any = None) -> dict[str, Metric]:
    """Turn `scoring` into metrics of predictions, by name; refuse what needs the model.

    Parameters
    ----------
    scoring : None, str, callable, Metric, list, tuple, set or dict
        None is the estimator's own `score`, which usually is accuracy, R2, or the concordance index.
    task : {"classification", "regression", "survival"} or None
        Of the problem; None where it is to be read off the metric.
    refit : bool or str
        With several metrics, the name of the one that selects; the first unless named.
    estimator : estimator, optional
        Whose own `score` counts where `scoring` is None.

    Returns
    -------
    dict of str to Metric
        The one that selects comes first.
    """
    found = scorers_of(scoring, task, refit, estimator)
    for name, scorer in found.items():
        if isinstance(scorer, ModelScorer):
            whose = "The estimator's own `score`" if scorer.scorer is None else f"The scorer {name} (estimator, X, y)"
            raise SoberError(
                "E130",
                f"{whose} needs the fitted model, and here predictions are scored. Name the metric, such as "
                "scoring='accuracy' or 'r2', or pass make_scorer of a function (y_true, y_pred).",
            )
    return {name: metric for name, metric in found.items() if isinstance(metric, Metric)}


def scorers_of(
    scoring: Any, task: TaskName | None, refit: Any = True, estimator: Any = None
) -> dict[str, Metric | ModelScorer]:
    """Turn `scoring` into metrics and scorers by name, the one that selects first; parameters as of `metrics_of`."""
    if scoring is None:
        return _own(estimator, task)
    if isinstance(scoring, Mapping):
        found = {str(name): _one(value, task, str(name)) for name, value in scoring.items()}
    elif isinstance(scoring, (list, tuple, set, frozenset)):
        each = [_one(value, task) for value in listed(scoring)]
        found = {metric.name: metric for metric in each}
        if len(found) < len(each):
            raise SoberError("E105", f"`scoring` names a metric twice: {[m.name for m in each]}. Name each once.")
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


def as_given(scoring: Any, found: Mapping[str, Any], task: TaskName | None) -> dict[str, Any]:
    """Give what `scoring` holds as the user wrote it, by the names of `scorers_of`, in the order of writing."""
    if not several(scoring):
        return dict.fromkeys(found, scoring)
    if isinstance(scoring, Mapping):
        return {str(name): value for name, value in scoring.items()}
    return {_one(value, task).name: value for value in listed(scoring)}


def listed(scoring: Any) -> list[Any]:
    """Give what `scoring` holds, in the order of writing; what has none is sorted."""
    if not several(scoring):
        return [scoring]
    if isinstance(scoring, Mapping):
        return list(scoring.values())
    return sorted(scoring) if isinstance(scoring, (set, frozenset)) else list(scoring)


def several(scoring: Any) -> bool:
    """Whether `scoring` names several metrics, so that results come by their names."""
    return not (scoring is None or isinstance(scoring, (str, Metric)) or callable(scoring))


def _own(estimator: Any, task: TaskName | None) -> dict[str, Metric | ModelScorer]:
    """What the estimator's own `score` is: the usual metric of its task, a search's scorer, else the method itself."""
    inner = _last_step(estimator)
    if any(hasattr(inner, grid) for grid in ("param_grid", "param_distributions")) and hasattr(inner, "scoring"):
        # A search scores its winner, whose predictions are its own.
        name, found = next(iter(scorers_of(inner.scoring, task, inner.refit, inner.estimator).items()))
        return {name: found}
    if estimator is not None and task != "survival" and not scores_as_usual(estimator):
        return {"score": ModelScorer("score")}
    if task is None:
        raise SoberError("E301", "Neither estimator nor scoring tells what kind of task it is. Pass scoring=.")
    return {DEFAULTS[task]: get(DEFAULTS[task])}


def _last_step(estimator: Any) -> Any:
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def scores_as_usual(estimator: Any) -> bool:
    """Whether `score` is scikit-learn's accuracy or R2, or missing; a pipeline's is that of its last step."""
    from sklearn.base import ClassifierMixin, RegressorMixin

    own = getattr(type(_last_step(estimator)), "score", None)
    if own is None or own in (ClassifierMixin.score, RegressorMixin.score):
        return True
    name, home = getattr(own, "__qualname__", ""), getattr(own, "__module__", "")
    return home.startswith("sklearn.") and name in _AS_USUAL


def _one(scoring: Any, task: TaskName | None, name: str | None = None) -> Metric | ModelScorer:
    if callable(scoring) and not isinstance(scoring, Metric):
        if unwrap(scoring) is None and needs_model(scoring):
            return ModelScorer(name or getattr(scoring, "__name__", None) or type(scoring).__name__, scoring)
        metric = from_callable(scoring, name=name, task=task)
    else:
        metric = get(scoring)
        if task == "classification":
            metric = metric.on_classes()
    if isinstance(metric, GeneralMetric) and metric.task_is_open and task is not None:
        metric = metric.for_task(task)
    # Results go by the name that the user chose.
    return metric if name is None or metric.name == name else metric.named(name)
