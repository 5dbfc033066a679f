"""Scores of fitted models: what a search does where `scoring` needs the model itself and not its predictions.

Takes scorers, gives what training asks of each fitted model, and the question by folds that its answers belong to;
refuses what folds cannot tell. Never fits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import Question
from ..inference.tables.folds import check_partition
from ..metrics import Metric
from ..metrics.given import GivenScore
from ..targets import Target, TaskName
from ..training import MemoryStore, Plan, Problem
from .scoring import ModelScorer


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Calls all scorers of a search on one fitted model.

    Attributes
    ----------
    scorers : tuple of ModelScorer
    alone : bool
        Whether `scoring` is one scorer: it may give a dict, whose names are those of the results then.
    """

    scorers: tuple[ModelScorer, ...]
    alone: bool

    def __call__(self, fitted: Any, X: Any, y: Any) -> dict[str, float]:
        """Give the numbers of all scorers by name."""
        found: dict[str, float] = {}
        for scorer in self.scorers:
            answer = scorer.by_name(fitted, X, y)
            if not self.alone and list(answer) != [scorer.name]:
                raise SoberError("E117", f"The scorer {scorer.name} is one of several, so it must give one number.")
            found |= answer
        return found


def model_scores(scorers: Mapping[str, Metric | ModelScorer], alone: bool) -> ModelScores | None:
    """Take what needs the model out of the scorers of a search; None where nothing does."""
    found = tuple(scorer for scorer in scorers.values() if isinstance(scorer, ModelScorer))
    return ModelScores(found, alone) if found else None


def as_metrics(scorers: Mapping[str, Metric | ModelScorer], task: TaskName | None, y: Any) -> list[Metric]:
    """Give the metrics of a question; scores of models have a place in it by their names."""
    if task is None:
        known = (scorer.task for scorer in scorers.values() if isinstance(scorer, Metric))
        task = next(known, None) or _readable_as(y)
    return [GivenScore(s.name, task) if isinstance(s, ModelScorer) else s for s in scorers.values()]


def _readable_as(y: Any) -> TaskName:
    """Numbers where they can be read as such: an estimator that is no classifier has no stratified folds."""
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
    names = list(store.answers)
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
        raise SoberError("E105", f"`refit` must name one of the scores {', '.join(names)}; got {refit!r}.")


def scorer_of(question: Question, asks: ModelScores | None) -> Any:
    """Give the scorer of a search, or the dict of them, as its users find it in `scorer_`."""
    if asks is not None and asks.alone:
        return asks.scorers[0]
    own = {} if asks is None else {scorer.name: scorer for scorer in asks.scorers}
    return question.answer({metric.name: own.get(metric.name, metric) for metric in question.metrics})
