"""The scoring plan of a search: from `scoring=` to what fitted models are asked for, and the metrics that judge them.

`scoring` is read once, as scikit-learn's searches read it. What can be computed from predictions is a `Metric`; what
needs the fitted model and its rows is a `ModelScorer`, which is called on every model and returns one score per fold.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from ..containers import Array
from ..errors import SoberError, warn
from ..inference import Question
from ..metrics import Metric, get, make_metric
from ..metrics.by_name import needs_model, unwrap
from ..predictions import Predictions
from ..responses import RESPONSES
from ..targets import Target, TaskName
from ..training import MemoryStore, Problem, Split, infer_task
from ..training.fit.problem import take, weight_name_for
from ..training.fit.response import NOTHING, Wanted, responses_of

DEFAULTS: dict[TaskName, str] = {"classification": "accuracy", "regression": "r2", "survival": "concordance_index"}
#: Models of scikit-learn whose `score` accepts X=None as well, and is the usual one otherwise.
_AS_USUAL = ("DummyClassifier", "DummyRegressor", "KNeighborsClassifier", "RadiusNeighborsClassifier")
#: Precedes the names of scores on training rows.
TRAINING = "training "


@dataclass(frozen=True, eq=False)
class Routed:
    """Metadata given to `fit`, by destination."""

    groups: Any = None  #: [N] or None, for folds and bootstrap
    sample_weight: Any = None  #: [N] or None, for all metrics, without metadata routing
    fit_params: dict[str, Any] = field(default_factory=dict)  #: for the estimator's `fit`
    weight_name: str | None = None  #: as what `sample_weight` goes to the estimator's `fit` as well
    split_params: dict[str, Any] | None = None  #: for the splitter's `split`; None where it requested nothing
    score_params: list[dict[str, Any]] | None = None  #: what each scorer requested, in order; None without routing

    @classmethod
    def of(cls, search: Any, metadata: Mapping[str, Any]) -> Routed:
        """Send metadata as requested; without metadata routing, weights to `fit` and metrics, all else to `fit`."""
        given = {name: value for name, value in metadata.items() if value is not None or name != "sample_weight"}
        groups = given.pop("groups", None)
        if not get_config()["enable_metadata_routing"]:
            return cls(groups, given.pop("sample_weight", None), given, weight_name_for(search.estimator))
        takes_groups = hasattr(search.cv, "split") and get_routing_for_object(search.cv).consumes("split", ["groups"])
        if groups is not None and takes_groups:
            given["groups"] = groups  # all else that is done with groups needs no request
        routed = process_routing(search, "fit", **given)
        split_params = dict(routed.splitter.split) if hasattr(routed, "splitter") else None
        groups = (split_params or {}).get("groups") if groups is None else groups
        score_params = [dict(routed[f"scorer{i}"].score) for i in range(len(listed(search.scoring)))]
        # What `fit` receives, weights included, is what was requested, perhaps under another name.
        return cls(groups, None, dict(routed.estimator.fit), None, split_params, score_params)


# ---- scorers of models -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ModelScorer:
    """A scorer of a fitted model and rows: (estimator, X, y) -> number or dict of numbers; more is better."""

    name: str  #: of a single number in results; a dict brings its own names
    scorer: Callable[..., Any] | None = field(default=None, repr=False)  #: None: the estimator's own `score`
    range: tuple[float, float] = field(default=(-np.inf, np.inf), repr=False)  #: of its scores, where that is known

    def __call__(self, fitted: Any, X: Any, y: Any = None, **params: Any) -> Any:
        """Score a fitted model on rows; `y` is passed only where there is one."""
        truth = () if y is None else (y,)
        return fitted.score(X, *truth, **params) if self.scorer is None else self.scorer(fitted, X, *truth, **params)

    def by_name(self, fitted: Any, X: Any, y: Any, **params: Any) -> dict[str, float]:
        """Score a fitted model on rows: numbers by name."""
        answer, numbers, problem = self(fitted, X, y, **params), dict[str, float](), ""
        for key, value in (answer if isinstance(answer, Mapping) else {self.name: answer}).items():
            name = str(key)
            with suppress(AttributeError, ValueError):
                value = value.item()  # numpy's numbers, and arrays of one
            if not isinstance(value, Real):
                problem = problem or f"must return a number or a dict of numbers; got {type(value).__name__}."
            elif name in numbers:
                problem = problem or f"returned {name!r} twice; give each its own name."
            else:
                numbers[name] = float(value)
        if problem or not numbers:
            problem = problem or "returned an empty dict; return at least one number."
            raise SoberError("E117", f"The scorer {self.name} {problem}")
        return numbers


def score_model(metric: Metric, known: Target, fitted: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Score a fitted model on rows by a metric of predictions; `known` has the classes of the search, no rows."""
    problem = Problem.build(X, y, task=known.task, sample_weight=sample_weight)
    target = known.read_new(y)
    n = len(target.values)
    answers = responses_of(replace(problem, target=target), fitted, X, n, metric.wanted)
    table = Predictions(
        target=target,
        responses={name: values[:, None, None] for name, values in answers.items()},
        seen=np.ones((n, 1), bool),
        fold_of=np.zeros((n, 1), np.int64),
        sample_weight=problem.sample_weight,
    )
    return float(metric.scores(table, np.ones((1, n), np.uint8), n_jobs=1)[0, 0])


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Calls scorers on one fitted model, for numbers by name; training takes it as `Experiment.asks`."""

    scorers: tuple[ModelScorer, ...]  #: called on the rows held out
    alone: bool  #: whether `scoring` is one scorer: it may return a dict, whose names are then those of the results
    params: Mapping[str, Mapping[str, Any]]  #: what each scorer receives beside X and y, for all rows
    on_training: tuple[ModelScorer, ...]  #: called on the training rows; their names are preceded by `TRAINING`

    def __call__(self, fitted: Any, problem: Problem, split: Split, columns: Array | None) -> dict[str, float]:
        """Return the numbers of all scorers by name."""
        found: dict[str, float] = {}
        for scorers, rows, prefix in ((self.scorers, split.test, ""), (self.on_training, split.train, TRAINING)):
            if not scorers:  # taking rows copies them
                continue
            # Taken afresh: estimators with copy=False write into what they are given.
            X, y = take(problem.X, rows, columns), take(problem.y, rows)
            for scorer in scorers:
                answer = scorer.by_name(fitted, X, y, **problem.cut(self.params[scorer.name], rows))
                if not self.alone and list(answer) != [scorer.name]:
                    raise SoberError(
                        "E117", f"The scorer {scorer.name} is one of several, so it must return a single number."
                    )
                found |= {prefix + name: value for name, value in answer.items()}
        return found


# ---- the plan --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ScoringPlan:
    """The scorers of a search, what each receives, and what follows for training and selection."""

    task: TaskName | None  #: as the estimator tells it; None where the metric knows, or the model itself
    scorers: Mapping[str, Metric | ModelScorer]  #: by name, the one that selects first
    given: Mapping[str, Any]  #: the same as the user wrote them, in the order of writing
    several: bool  #: whether `scoring` holds several, so that results come by name
    estimator: Any  #: of the search, unfitted
    sample_weight: Any = None  #: the weights of all metrics of predictions, [N] or None
    requests: Mapping[str, dict[str, Any]] | None = None  #: what each requested; None where all get the weights

    @classmethod
    def make(cls, search: Any, y: Any = None, routed: Routed | None = None) -> ScoringPlan:
        """Read `scoring`, `estimator` and `refit` of a search, and send each scorer what it requested.

        Metrics that request the same weights are computed from predictions; where they request different things, those
        that request something are called on the models. Without metadata routing all get the weights.
        """
        scoring, refit, estimator, routed = search.scoring, search.refit, search.estimator, routed or Routed()
        task = infer_task(estimator, y)
        found, given = dict[str, Metric | ModelScorer](), dict[str, Any]()
        names = map(str, scoring) if isinstance(scoring, Mapping) else repeat(None)
        for value, name in zip(listed(scoring), names, strict=False):
            scorer = _own_score(estimator, task, y) if scoring is None else _read(value, task, name)
            if scorer.name in found:
                raise SoberError(
                    "E105",
                    f"`scoring` has two metrics called {scorer.name!r}, and results are kept by name. Give each its "
                    "own name: scoring={'first': ..., 'second': ...}.",
                )
            found[scorer.name], given[scorer.name] = scorer, value
        if not found:
            raise SoberError("E105", "`scoring` is empty. Name at least one metric, such as 'roc_auc'.")
        several = isinstance(scoring, SEVERAL)
        if several and isinstance(refit, str):
            if refit not in found:
                raise SoberError("E105", f"`refit` must name one of the metrics {', '.join(found)}; got {refit!r}.")
            found = {refit: found[refit], **found}
        plan = cls(task, found, given, several, estimator, routed.sample_weight)
        if routed.score_params is None:
            return plan
        requests = dict(zip(given, routed.score_params, strict=True))
        weights = [asked.get("sample_weight") for asked in requests.values()]
        same = all(asked.keys() == {"sample_weight"} for asked in requests.values())
        if same and all(each is weights[0] for each in weights) and not plan.on_models:
            return replace(plan, sample_weight=weights[0])
        return replace(plan, requests=requests).to_models(name for name, asked in requests.items() if asked)

    @property
    def on_models(self) -> tuple[ModelScorer, ...]:
        """The scorers that are called on fitted models."""
        return tuple(scorer for scorer in self.scorers.values() if isinstance(scorer, ModelScorer))

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics, where nothing but predictions is scored; refuse what needs the model."""
        for name, scorer in self.scorers.items():
            if isinstance(scorer, ModelScorer):
                called = f"The scorer {name} (estimator, X, y)"
                whose = "The estimator's own `score`" if scorer.scorer is None else called
                raise SoberError(
                    "E116",
                    f"{whose} needs the fitted model, but here predictions are scored. Name the metric, such as "
                    "scoring='accuracy' or 'r2', or pass make_scorer of a function (y_true, y_pred).",
                )
        return {name: scorer for name, scorer in self.scorers.items() if isinstance(scorer, Metric)}

    def to_models(self, names: Iterable[str]) -> ScoringPlan:
        """Call these scorers on the models: once per fit, and not once per resample."""
        scorers = dict(self.scorers)
        for name in names:
            metric = scorers[name]
            if isinstance(metric, Metric):
                scorer = _as_scorer(metric, self.given[name], self.estimator)
                scorers[name] = ModelScorer(name, scorer, metric.range)
        return replace(self, scorers=scorers)

    def as_called(self, target: Target) -> dict[str, ModelScorer]:
        """Return all scorers as callables of fitted models; a metric reads `y` by the classes of this target."""
        known = target.take(slice(0))
        return {
            name: one if isinstance(one, ModelScorer) else ModelScorer(name, partial(score_model, one, known))
            for name, one in self.scorers.items()
        }

    def asks(self, target: Target, return_train_score: bool) -> ModelScores | None:
        """Return what each fitted model is asked beside its predictions; None where nothing is."""
        on_training = tuple(self.as_called(target).values()) if return_train_score else ()
        if not self.on_models and not on_training:
            return None
        params = {name: self._params_of(name, scorer) for name, scorer in self.scorers.items()}
        return ModelScores(self.on_models, not self.several, params, on_training)

    def _params_of(self, name: str, scorer: Metric | ModelScorer) -> dict[str, Any]:
        """Return what a scorer receives; warn where it takes no weights, as scikit-learn does."""
        if self.requests is not None:
            return self.requests[name]
        if self.sample_weight is None:
            return {}
        called: Any = score_model if isinstance(scorer, Metric) else scorer.scorer or self.estimator.score
        inside = unwrap(called)
        if inside is not None:
            called = inside.function
        elif type(called).__module__.partition(".")[0] == "sklearn":  # `check_scoring` of an estimator's `score`
            called = getattr(self.estimator, "score", called)
        with suppress(TypeError, ValueError):  # compiled
            if "sample_weight" in inspect.signature(called).parameters:
                return {"sample_weight": self.sample_weight}
        warn(
            "W210",
            f"The scoring {name}={self.given[name]!r} does not support sample_weight, so its scores are unweighted "
            "although the fits are weighted. Give it an argument `sample_weight`, or choose a metric that has one.",
        )
        return {}


def wanted_of(question: Question, keep: str = "scored", task: TaskName = "regression") -> Wanted:
    """Return the responses that models are asked for: by the metrics, by the selection, and to be kept."""
    wanted = list(dict.fromkeys(each for metric in question.metrics for each in metric.wanted))
    more = [] if question.procedure is None else list(question.procedure.wanted(question.first))
    if keep == "all" and wanted:  # what charts and later metrics are made of
        more += [(name, NOTHING) for name in (RESPONSES if task == "classification" else ("predict",))]
    first = {each[0] for each in wanted}
    return (*wanted, *(each for each in more if each[0] not in first))


def with_names(question: Question, store: MemoryStore, finishers: Array, refit: Any) -> Question:
    """Ask by the names that a scorer returned with its numbers, which are known once a model was scored."""
    if question.several:  # each returned one number, under its own name
        return question
    on_training = {TRAINING + name for name in store.answers}
    names = [name for name in store.answers if name not in on_training]
    for name in names:
        if np.isnan(store.answers[name][finishers[:, None] & store.done]).any():
            raise SoberError(
                "E117", f"The scorer returned {name!r} for some models only; return the same names for all."
            )
    if names == [question.first.name]:
        return question
    first = refit if isinstance(refit, str) else names[0]
    if first not in names:
        raise SoberError(
            "E105",
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit: "
            f"one of {', '.join(names)}; got {refit!r}.",
        )
    names.sort(key=lambda name: name != first)  # stable
    return replace(question, metrics=tuple(Metric.given(n, question.first.task) for n in names), several=True)


# ---- reading `scoring` -----------------------------------------------------------------------------------------------
#: Kinds of `scoring` that hold several metrics, so that results come by their names.
SEVERAL = (Mapping, list, tuple, set, frozenset)


def listed(scoring: Any) -> list[Any]:
    """Return what `scoring` holds, in the order of writing; a set is sorted."""
    if not isinstance(scoring, SEVERAL):
        return [scoring]
    if isinstance(scoring, Mapping):
        return list(scoring.values())
    return sorted(scoring) if isinstance(scoring, (set, frozenset)) else list(scoring)


def _own_score(estimator: Any, task: TaskName | None, y: Any) -> Metric | ModelScorer:
    """Return what the estimator's own `score` is: a metric where it is scikit-learn's accuracy or R2, or missing."""
    inner = estimator
    while hasattr(inner, "steps"):  # a pipeline scores as its last step does
        inner = inner.steps[-1][1]
    if any(hasattr(inner, grid) for grid in ("param_grid", "param_distributions")) and hasattr(inner, "scoring"):
        # A search scores its winner, whose predictions are its own.
        return next(iter(ScoringPlan.make(inner, y).scorers.values()))
    own = getattr(type(inner), "score", None)
    is_usual = own in (None, ClassifierMixin.score, RegressorMixin.score) or (
        getattr(own, "__module__", "").startswith("sklearn.")
        and getattr(own, "__qualname__", "").removesuffix(".score") in _AS_USUAL
    )
    if task != "survival" and not is_usual:
        return ModelScorer("score")
    if task is None:
        raise SoberError(
            "E112",
            f"{type(estimator).__name__} is neither a classifier nor a regressor, and `y` is not a survival target; "
            "use an estimator that derives from ClassifierMixin or RegressorMixin, or pass scoring=.",
        )
    return get(DEFAULTS[task])


def _read(scoring: Any, task: TaskName | None, name: str | None = None) -> Metric | ModelScorer:
    if callable(scoring) and not isinstance(scoring, Metric):
        if unwrap(scoring) is None and needs_model(scoring):
            return ModelScorer(name or getattr(scoring, "__name__", None) or type(scoring).__name__, scoring)
        metric = make_metric(scoring, name=name, task=task)
    else:
        metric = get(scoring)
        if task == "classification":
            metric = metric.on_classes()
    if metric.task is None and task is not None:
        metric = replace(metric, task=task)
    # Results go by the name that the user chose.
    return metric if name is None or metric.name == name else replace(metric, name=name)


def _as_scorer(metric: Metric, given: Any, estimator: Any) -> Any:
    """Return what scikit-learn would call on a model in the place of a metric; None is the model's own `score`."""
    if given is None and hasattr(estimator, "score"):
        return None
    name: Any = DEFAULTS[metric.task or "classification"] if given is None else given
    if isinstance(name, str) and name in get_scorer_names():
        return get_scorer(name)
    if needs_predictions(name):
        raise SoberError(
            "E112",
            f"{metric.name} is computed from one prediction per sample, but here scorers are called on fitted models: "
            "`y` is missing or has several outputs per sample, or scorers request different metadata. Use one of "
            "scikit-learn's scorers.",
        )
    if unwrap(name) is not None:
        return name
    return make_scorer(name, greater_is_better=metric.greater_is_better, response_method=metric.responses)


def needs_predictions(given: Any) -> bool:
    """Whether it is a metric that scikit-learn does not know, so that it cannot be called on a model."""
    return isinstance(given, Metric) or (isinstance(given, str) and given not in get_scorer_names())
