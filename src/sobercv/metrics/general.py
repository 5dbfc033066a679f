"""Any metric at all: plain functions and scikit-learn scorers, one call for each resample and configuration.

Takes a callable, gives a metric that repeats rows and calls it. Slow and general: B x C calls where the other metrics
need one product or walk. scikit-learn's scorers are handed an estimator that replays stored predictions.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..predictions import Predictions
from ..targets import TaskName
from .base import Core, Metric, Part

#: Parts of scikit-learn's scorer names that belong to regression; everything else is about classes.
_REGRESSION = ("error", "deviance", "r2", "explained_variance", "d2_absolute", "d2_pinball", "d2_tweedie")
#: scikit-learn's scorers of the positive class: they are told which one it is by being shown 0 and 1.
_OF_POSITIVE = ("jaccard", "positive_likelihood_ratio", "neg_negative_likelihood_ratio")


class _Replay:
    """Stands in for a fitted estimator: X holds row numbers, predictions come from the table."""

    def __init__(self, classes: Array | None, answers: dict[str, Array], used: list[str] | None = None) -> None:
        for name, answer in answers.items():
            setattr(self, name, _method(name, answer, used))
        if classes is not None:
            self.classes_ = classes

    def fit(self, X: Any, y: Any) -> _Replay:
        """Do nothing: what is replayed was fitted long ago."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        kind = "classifier" if "classes_" in self.__dict__ else "regressor"
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
        )


def _method(name: str, answer: Array, used: list[str] | None) -> Callable[[Any], Array]:
    def replay(X: Any) -> Array:
        if used is not None:
            used.append(name)
        return np.asarray(answer[np.asarray(X)[:, 0]])

    replay.__name__ = name  # scikit-learn looks at the name of the method that it calls
    return replay


def _response_asked(scorer: Callable[..., Any], task: TaskName) -> tuple[str, ...]:
    """Find out what a scorer asks an estimator for, by letting it ask one."""
    used: list[str] = []
    y = np.array([0, 1, 0, 1])
    answers = {
        "predict": y if task == "classification" else y + 1.0,
        "predict_proba": np.stack([1 - y, y], axis=1) * 0.8 + 0.1,
        "decision_function": y - 0.5,
    }
    if task != "classification":
        answers = {"predict": answers["predict"]}
    spy = _Replay(np.array([0, 1]) if task == "classification" else None, answers, used)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scorer(spy, np.arange(4)[:, None], y if task == "classification" else y + 1.0)
        except Exception:
            used = used or ["predict"]
    asked = used[0] if used else "predict"
    return ("decision_function", "predict_proba") if asked == "decision_function" else (asked,)


class GeneralCore(Core):
    """Calls the function on repeated rows."""

    def __init__(
        self, metric: GeneralMetric, part: Part, configurations: Array, refusals: list[str] | None = None
    ) -> None:
        self._metric, self._part, self._configurations = metric, part, configurations
        self._refusals: list[str] = [] if refusals is None else refusals

    @property
    def complaint(self) -> str:
        return self._refusals[0] if self._refusals else ""

    def only(self, configuration: int) -> Core:
        return GeneralCore(self._metric, self._part, self._configurations[[configuration]], self._refusals)

    def scores(self, counts: Array) -> Array:
        out = np.full((len(counts), len(self._configurations)), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # thousands of calls on resamples; undefined ones come back as NaN
            for b, row in enumerate(counts):
                rows = np.repeat(np.arange(len(row)), row)
                if len(rows) == 0:
                    continue
                for j, c in enumerate(self._configurations):
                    try:
                        out[b, j] = self._metric.call(self._part, rows, int(c))
                    except ValueError as problem:  # scikit-learn's way of saying "not defined on these samples"
                        if isinstance(problem, SoberError):
                            raise
                        self._refusals[:] = self._refusals or [f"{type(problem).__name__}: {problem}"]
        return out


class GeneralMetric(Metric):
    """A metric made of any callable; see `sobercv.make_metric`."""

    calls_a_function = True

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        task: TaskName | None,
        responses: tuple[str, ...],
        greater_is_better: bool,
        is_scorer: bool,
    ) -> None:
        self.name, self.responses, self.greater_is_better = name, responses, greater_is_better
        self.range = (-np.inf, np.inf)
        self._function, self._is_scorer, self._task = function, is_scorer, task
        if task is not None:
            self.task = task

    @property
    def task_is_open(self) -> bool:
        """Whether the kind of target is to be read off the data."""
        return self._task is None

    def for_task(self, task: TaskName) -> GeneralMetric:
        """Settle the kind of target."""
        return GeneralMetric(self._function, self.name, task, self.responses, self.greater_is_better, self._is_scorer)

    def bind(self, predictions: Predictions, **options: Any) -> Any:
        """Bind after checking that weights are not ignored in silence."""
        if predictions.sample_weight is not None and not self._takes_weights():
            raise SoberError(
                "E114", f"{self.name} takes no `sample_weight`, and ignoring it would mislead. Leave it out."
            )
        return super().bind(predictions, **options)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        shown = _positive_is_one(part) if self.depends_on_positive else part
        return GeneralCore(self, shown, np.arange(part.values.shape[1]))

    def _takes_weights(self) -> bool:
        if self._is_scorer:
            return True  # scikit-learn's scorers pass them on, and say so where they cannot
        try:
            return "sample_weight" in inspect.signature(self._function).parameters
        except (TypeError, ValueError):
            return False

    def call(self, part: Part, rows: Array, configuration: int) -> float:
        """Score some rows of one configuration; a ValueError says that the function is undefined there."""
        y = part.y[rows] if part.classes is None else part.classes[part.y[rows]]
        values = part.values[rows, configuration]
        if part.classes is not None and self.responses[0] == "predict":
            values = part.classes[values]
        extra = {} if part.weight is None else {"sample_weight": part.weight[rows]}
        try:
            if self._is_scorer:
                result = self._function(self._replay(part, values), np.arange(len(rows))[:, None], y, **extra)
            else:
                result = self._function(y, values, **extra)
            return float(result)
        except ValueError:
            raise
        except Exception as problem:
            raise SoberError(
                "E117",
                f"The metric {self.name} failed with {type(problem).__name__}: {problem}. It must take "
                "(y_true, y_pred) and give one number.",
            ) from problem

    def _replay(self, part: Part, values: Array) -> _Replay:
        if self.responses[0] != "predict_proba" and values.ndim == 1:
            return _Replay(part.classes, {self.responses[0]: values})
        columns = np.stack([1.0 - values, values], axis=1) if values.ndim == 1 else values
        return _Replay(part.classes, {"predict_proba": columns})


def _positive_is_one(part: Part) -> Part:
    """Show labels as 0 and 1, the positive class being 1."""
    y, values = ((a == part.positive).astype(np.int64) for a in (part.y, part.values))
    return replace(part, y=y, values=values, classes=np.array([0, 1]))


def from_callable(
    function: Callable[..., Any],
    name: str | None = None,
    greater_is_better: bool = True,
    response: str | None = None,
    task: TaskName | None = None,
) -> GeneralMetric:
    """Make a metric of a function (y_true, y_pred) or of a scorer (estimator, X, y)."""
    label = name or getattr(function, "__name__", None) or type(function).__name__
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    is_scorer = len(required) >= 3 or bool(required and required[0].name == "estimator")
    if is_scorer:
        responses = (response,) if response else _response_asked(function, task or "classification")
    else:
        responses = (response or "predict",)
        if response == "predict_proba" or response == "decision_function":
            task = task or "classification"
    return GeneralMetric(function, label, task, responses, greater_is_better, is_scorer)


def from_sklearn(name: str) -> GeneralMetric:
    """Make a metric of one of scikit-learn's scoring strings."""
    from sklearn.metrics import get_scorer

    task: TaskName = "regression" if any(part in name for part in _REGRESSION) else "classification"
    metric = from_callable(get_scorer(name), name=name, task=task)
    if name in _OF_POSITIVE:
        metric.depends_on_positive, metric.min_classes, metric.max_classes = True, 2, 2
    return metric
