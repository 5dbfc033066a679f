"""Scores of fitted models: what a search does where `scoring` needs the model itself and not its predictions.

Takes scorers, gives what training asks of each fitted model, and the question by folds that its answers belong to;
refuses what folds cannot tell. Never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import Question
from ..inference.tables.folds import check_partition
from ..metrics import Metric
from ..metrics.given import GivenScore
from ..targets import Target, TaskName
from ..training import MemoryStore, Plan, Problem
from ..training.fit.experiment import Rows, Sides
from .prediction_scorer import PredictionScorer
from .scorer_routes import Found, Scorers
from .scoring import ModelScorer

#: Comes before the names of scores on training rows.
TRAINING = "training "


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Calls scorers on one fitted model.

    Attributes
    ----------
    scorers : tuple of ModelScorer
        Called on the rows held out.
    alone : bool
        Whether `scoring` is one scorer: it may give a dict, whose names are those of the results then.
    params : mapping of str to dict
        What each scorer receives beside X and y, for all rows, by its name.
    on_training : tuple of ModelScorer
        Called on the rows that the model was trained on; their names come after `TRAINING`.
    """

    scorers: tuple[ModelScorer, ...]
    alone: bool
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    on_training: tuple[ModelScorer, ...] = ()

    def __call__(self, fitted: Any, sides: Sides) -> dict[str, float]:
        """Give the numbers of all scorers by name."""
        found = self._scores(self.scorers, fitted, sides.test) if self.scorers else {}
        if self.on_training:
            found |= {TRAINING + n: v for n, v in self._scores(self.on_training, fitted, sides.train).items()}
        return found

    def _scores(self, scorers: tuple[ModelScorer, ...], fitted: Any, take: Callable[[], Rows]) -> dict[str, float]:
        rows, found = take(), dict[str, float]()
        for scorer in scorers:
            answer = scorer.by_name(fitted, rows.X, rows.y, **rows.cut(self.params.get(scorer.name, {})))
            if not self.alone and list(answer) != [scorer.name]:
                raise SoberError("E117", f"The scorer {scorer.name} is one of several, so it must give one number.")
            found |= answer
        return found


def model_scores(scorers: Scorers, alone: bool, target: Target, return_train_score: bool) -> ModelScores | None:
    """Say what is asked of each fitted model; None where nothing is.

    Parameters
    ----------
    scorers : Scorers
    alone : bool
        Whether `scoring` is one scorer.
    target : Target
        Of the search, for metrics on training rows.
    return_train_score : bool
    """
    params, trained = dict(scorers.params), list[ModelScorer]()
    for name, scorer in scorers.found.items() if return_train_score else ():
        if isinstance(scorer, Metric):
            trained.append(ModelScorer(name, PredictionScorer(scorer, target.take(slice(0)))))
            if scorers.sample_weight is not None:
                params[name] = {"sample_weight": scorers.sample_weight}
        else:
            trained.append(scorer)
    if not scorers.by_models and not trained:
        return None
    return ModelScores(scorers.by_models, alone, params, tuple(trained))


def training_scores(store: MemoryStore, name: str) -> Array | None:
    """Scores of every configuration on the training rows of each split [C, splits]; None where nobody asked."""
    return store.answers.get(TRAINING + name)


def as_metrics(scorers: Found, task: TaskName) -> list[Metric]:
    """Give the metrics of a question; scores of models have a place in it by their names."""
    return [GivenScore(s.name, task) if isinstance(s, ModelScorer) else s for s in scorers.values()]


def task_of(scorers: Found, y: Any) -> TaskName:
    """Read the task off the metrics where the estimator does not tell it, else off `y`.

    Numbers where they can be read as such: an estimator that is no classifier has no stratified folds.
    """
    for scorer in scorers.values():
        if isinstance(scorer, Metric):
            return scorer.task
    if y is None:
        return "regression"
    try:
        Target.read(y, "regression")
    except SoberError:
        return "classification"
    return "regression"


def check_by_folds(search: Any, problem: Problem, plan: Plan) -> None:
    """Refuse, before any training, what scores by fold cannot answer."""
    why = "`scoring` needs the fitted model, so that there is one score a fold"
    if search.drop is not None and not (isinstance(search.drop, str) and search.drop == "auto"):
        raise SoberError("E114", f"`drop` takes a rule that looks at predictions; {why}. Leave it out, or drop=None.")
    if search.half_width is not None:
        raise SoberError("E114", f"`half_width` needs predictions; {why}. Leave it out, or use max_seconds.")
    if plan.n_repeats > 1:
        raise SoberError(
            "E114",
            f"{why} and folds are resampled; those of {plan.n_repeats} repeats share samples. Use n_repeats=1, and a "
            "`cv` that holds every sample out once, such as cv=10 or KFold.",
        )
    check_partition(plan.n_repeats, problem.group_codes, plan.fold_of)


def with_names(question: Question, store: MemoryStore, alive: Any, refit: Any) -> Question:
    """Ask by the names that a scorer gave with its numbers; they are known once a model was scored.

    Parameters
    ----------
    question : Question
    store : MemoryStore
    alive : bool array [C]
        Who is to be judged: all of them must have all names.
    refit : bool or str
        The name of the one that selects; the first unless named.
    """
    names = [name for name in store.answers if not name.startswith(TRAINING)]
    for name in names:
        if np.isnan(store.answers[name][alive[:, None] & store.done]).any():
            raise SoberError("E117", f"The scorer gave {name!r} for some models only; give the same names for all.")
    known = {metric.name for metric in question.metrics}
    if known.issuperset(names):
        return question
    if isinstance(refit, str):
        _check_named(refit, names)
        names = [refit, *(name for name in names if name != refit)]
    return replace(question, metrics=tuple(GivenScore(n, question.first.task) for n in names), several=True)


def _check_named(refit: str, names: Collection[str]) -> None:
    if refit not in names:
        raise SoberError(
            "E105",
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit: one of "
            f"{', '.join(names)}; got {refit!r}.",
        )


def scorer_of(question: Question, asks: ModelScores | None) -> Any:
    """Give the scorer of a search, or the dict of them, as its users find it in `scorer_`."""
    if asks is not None and asks.scorers and asks.alone:
        return asks.scorers[0]
    own = {} if asks is None else {scorer.name: scorer for scorer in asks.scorers}
    return question.answer({metric.name: own.get(metric.name, metric) for metric in question.metrics})
