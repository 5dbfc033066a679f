"""The design of a search: what is fitted on what, and what is asked of it; made before any training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import SoberError
from ..inference import Question, SelectionProcedure
from ..inference.tables import check_partition
from ..targets import TaskName, has_several_outputs
from ..training import Plan, Problem, infer_task
from .metadata import Routed
from .options import Options, has_drop_rule, suits_folds
from .scoring import ModelScores, ScoringPlan, scores_as_usual


@dataclass(frozen=True, eq=False)
class Design:
    """What a search will do.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    scoring : ScoringPlan
    question : Question
    asks : ModelScores or None
        What each fitted model is asked beside its predictions.
    """

    problem: Problem
    plan: Plan
    scoring: ScoringPlan
    question: Question
    asks: ModelScores | None

    @property
    def can_drop(self) -> bool:
        """Whether configurations can be dropped: not by one score per fold, nor where several are selected."""
        return not self.scoring.on_models and self.question.procedure is None


def design(options: Options, X: Any, y: Any, routed: Routed, seed: int) -> Design:
    """Put the data and what is asked together, and refuse what does not go together."""
    problem, scoring = read(options, X, y, routed)
    plan = Plan.build(problem, options.cv, options.n_repeats, seed, routed.split_params)
    if scoring.has_functions and _folds_suffice(options, problem, plan):
        scoring = scoring.with_functions_on_models()
    if scoring.on_models:
        _check_by_folds(options, problem, plan)
    question = _question(options, scoring, problem, seed)
    for metric in question.metrics:
        metric.check_target(problem.target)
    if question.procedure is not None:
        question.procedure.check_table(problem.target, plan.n_repeats)
    return Design(problem, plan, scoring, question, scoring.asks(problem.target, options.return_train_score))


def read(options: Options, X: Any, y: Any, routed: Routed) -> tuple[Problem, ScoringPlan]:
    """Read the data and `scoring`; parameters as of `design`."""
    known = known_task(options, y)
    if y is None and known is not None:
        raise SoberError("E112", "A search requires y to be passed, but the target y is None; pass the true values.")
    scoring = ScoringPlan.make(options.scoring, known, options.refit, options.estimator, routed)
    by_models = y is None or has_several_outputs(y)
    # What an estimator of no known kind predicts need be no value of the target: clusters, outliers, anything.
    if by_models or (known is None and suits_folds(options)):
        scoring = scoring.with_all_on_models(where_possible=not by_models)
    problem = Problem.build(
        X,
        y,
        task=scoring.task(None if by_models else y) if known is None else known,
        groups=routed.groups,
        sample_weight=scoring.sample_weight,
        fit_params=routed.fit_params,
        weighted_fit=routed.weighted_fit,
    ).with_positive(options.pos_label)
    return problem, scoring


def known_task(options: Options, y: Any) -> TaskName | None:
    """Tell the task by the estimator and `y`; None where the metric knows, or the model itself."""
    try:
        return infer_task(options.estimator, y)
    except SoberError:
        if options.scoring is None and scores_as_usual(options.estimator):
            raise
        return None


def _folds_suffice(options: Options, problem: Problem, plan: Plan) -> bool:
    """Whether folds can stand for samples here; where not, functions are called on resamples, which takes longer."""
    if not suits_folds(options):
        return False
    try:
        _check_by_folds(options, problem, plan)
    except SoberError:
        return False
    return True


def _check_by_folds(options: Options, problem: Problem, plan: Plan) -> None:
    """Refuse, before any training, what scores by fold cannot answer."""
    why = "`scoring` needs the fitted model, so that there is one score per fold"
    if has_drop_rule(options):
        raise SoberError("E114", f"`drop` takes a rule that looks at predictions; {why}. Leave it out, or drop=None.")
    if options.half_width is not None:
        raise SoberError("E114", f"`half_width` needs predictions; {why}. Leave it out, or use max_seconds.")
    if plan.n_repeats > 1:
        raise SoberError(
            "E114",
            f"{why} and folds are resampled; those of {plan.n_repeats} repeats share samples. Use n_repeats=1, and a "
            "`cv` that holds every sample out once, such as cv=10 or KFold.",
        )
    tested = plan.seen(range(plan.n_splits))[:, 0]
    groups = None if problem.group_codes is None else problem.group_codes[tested]
    check_partition(plan.n_repeats, groups, plan.fold_of[tested])


def _question(options: Options, scoring: ScoringPlan, problem: Problem, seed: int) -> Question:
    metrics, select = scoring.metrics(problem.task), options.select
    if isinstance(select, SelectionProcedure):
        select = select.for_estimator(options.estimator)
    return Question.ask(
        metrics if scoring.several else metrics[0],
        select=select,
        aggregate=options.aggregate,
        by="fold" if scoring.on_models else "sample",
        interval=options.interval,
        within_folds=options.within_folds,
        n_bootstraps=options.n_bootstraps,
        confidence_level=options.confidence_level,
        stratify=options.stratify,
        random_state=seed,
        n_jobs=options.n_jobs,
    )
