"""The design of a search: what is fitted on what, and what is asked of it; made before any training.

Takes an unfitted search and its data, gives problem, plan, question and what models are asked for; refuses what does
not go together. Never fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import SoberError
from ..inference import Question
from ..targets import TaskName, has_several_outputs
from ..training import Plan, Problem, infer_task
from .metadata import Routed
from .model_scores import ModelScores, as_metrics, check_by_folds, model_scores, task_of
from .scorer_routes import Scorers, routes
from .scoring import scorers_of, scores_as_usual, several
from .selected import selection_of


@dataclass(frozen=True, eq=False)
class Design:
    """What a search will do.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    question : Question
    asks : ModelScores or None
        What each fitted model is asked beside its predictions.
    """

    problem: Problem
    plan: Plan
    question: Question
    asks: ModelScores | None

    @property
    def by_folds(self) -> bool:
        """Whether scores are those of models, one a fold, so that there are too few for a drop test."""
        return self.asks is not None and bool(self.asks.scorers)


def design(search: Any, X: Any, y: Any, routed: Routed, seed: int) -> Design:
    """Put the data and what is asked together.

    Parameters
    ----------
    search : BBCSearchCV
    X, y : array-like
    routed : Routed
    seed : int
    """
    problem, scorers = read(search, X, y, routed)
    plan = Plan.build(problem, search.cv, search.n_repeats, seed, routed.split_params)
    if scorers.has_foreign and _can_go_by_folds(search, problem, plan):
        scorers = scorers.foreign_on_models()
    if scorers.by_models:
        check_by_folds(search, problem, plan)
    question = _question(search, scorers, problem, seed)
    for metric in question.metrics:
        metric.check_target(problem.target)
    if question.procedure is not None:
        question.procedure.check_table(problem.target, plan.n_repeats)
    asks = model_scores(scorers, not several(search.scoring), problem.target, search.return_train_score)
    return Design(problem, plan, question, asks)


def read(search: Any, X: Any, y: Any, routed: Routed) -> tuple[Problem, Scorers]:
    """Read the data and `scoring`; parameters as of `design`."""
    known = known_task(search, y)
    if y is None and known is not None:
        raise SoberError("E302", "A search requires y to be passed, but the target y is None; pass the true values.")
    found = scorers_of(search.scoring, known, search.refit, search.estimator)
    scorers = routes(search.scoring, found, known, routed, search.estimator)
    by_models = y is None or has_several_outputs(y)
    # What an estimator of no known kind predicts need be no value of the target: clusters, outliers, anything.
    if by_models or (known is None and _takes_folds(search)):
        scorers = scorers.all_on_models(where_possible=not by_models)
    problem = Problem.build(
        X,
        y,
        task=task_of(scorers.found, None if by_models else y) if known is None else known,
        groups=routed.groups,
        sample_weight=scorers.sample_weight,
        fit_params=routed.fit_params,
        weighted_fit=routed.weighted_fit,
    ).with_positive(search.pos_label)
    return problem, scorers


def known_task(search: Any, y: Any) -> TaskName | None:
    """Tell the task by the estimator and `y`; None where the metric knows, or the model itself."""
    try:
        return infer_task(search.estimator, y)
    except SoberError:
        if search.scoring is None and scores_as_usual(search.estimator):
            raise
        return None


def _can_go_by_folds(search: Any, problem: Problem, plan: Plan) -> bool:
    """Whether folds can stand for samples here; where not, functions are called on resamples, which takes longer."""
    if not _takes_folds(search):
        return False
    try:
        check_by_folds(search, problem, plan)
    except SoberError:
        return False
    return True


def _takes_folds(search: Any) -> bool:
    """Whether nothing was asked for that needs predictions."""
    drops = search.drop is not None and search.drop != "auto"
    asked = search.stratify or search.within_folds or search.half_width is not None or drops
    return not asked and search.method == "bbc" and search.n_repeats == 1


def _question(search: Any, scorers: Scorers, problem: Problem, seed: int) -> Question:
    metrics = as_metrics(scorers.found, problem.task)
    return Question.ask(
        metrics if several(search.scoring) else metrics[0],
        select=selection_of(search),
        aggregate=search.aggregate,
        by="fold" if scorers.by_models else "sample",
        method=search.method,
        interval=search.interval,
        within_folds=search.within_folds,
        n_bootstraps=search.n_bootstraps,
        confidence_level=search.confidence_level,
        stratify=search.stratify,
        random_state=seed,
        n_jobs=search.n_jobs,
    )
