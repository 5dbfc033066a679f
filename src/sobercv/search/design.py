"""The design of a search: its options, what is fitted on what, and what is asked of it; checked before any training.

What is asked of the predictions (metrics, bootstrap, interval) is checked by `inference.Question`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import BootstrapDrop, DropRule, PredictiveDrop, Question, SelectionProcedure, best
from ..inference.tables import check_partition
from ..metrics import Metric
from ..predictions import Predictions
from ..targets import Target, TaskName, has_several_outputs
from ..training import Plan, Problem
from .scoring import Routed, ScoringPlan, needs_predictions

_FLAG = (bool, np.bool_)
#: Options that are a question's as well.
_ASKED = ("aggregate", "interval", "n_bootstraps", "confidence_level", "stratify", "n_jobs")


@dataclass(eq=False, repr=False, kw_only=True)
class Options:
    """The parameters of a search; `BBCSearchCV` says what each of them means."""

    estimator: Any = field(kw_only=False)
    scoring: Any = None
    pos_label: Any = None
    cv: Any = 10
    n_repeats: int = 1
    drop: Any = "auto"
    count_dropped: bool = True
    select: Any = "best"
    aggregate: str = "pooled"
    interval: str = "calibrated"
    pair_models: bool | str = "auto"
    n_bootstraps: int = 1000
    confidence_level: float = 0.95
    stratify: bool = False
    refit: bool | str | Callable[[dict[str, Any]], int] = True
    n_jobs: int | None = None
    random_state: Any = 0
    store: Any = None
    max_seconds: float | None = None
    fit_timeout: float | None = None
    error_score: Any = np.nan
    verbose: int = 0
    on_event: Any = None
    return_train_score: bool = False
    keep: str = "scored"

    @property
    def _has_drop_rule(self) -> bool:
        """Whether the user chose a drop rule; "auto" is none where nothing can be dropped."""
        return self.drop is not None and not (isinstance(self.drop, str) and self.drop == "auto")

    @property
    def _suits_folds(self) -> bool:
        """Whether nothing was asked for that needs the predictions of samples."""
        return not (self.stratify or self._has_drop_rule) and self.aggregate != "within_folds" and self.n_repeats == 1


def check(options: Options) -> None:
    """Refuse what means nothing, before any training."""
    if not hasattr(options.estimator, "fit"):
        raise TypeError(f"`estimator` must have a fit method; got {options.estimator!r}.")
    refit, pairs, score = options.refit, options.pair_models, options.error_score
    for name in ("max_seconds", "fit_timeout"):
        limit = getattr(options, name)
        if limit is not None and (not isinstance(limit, Real) or isinstance(limit, bool) or not float(limit) > 0):
            raise SoberError("E108", f"`{name}` must be a number above 0, or None; got {limit!r}.")
    rows = (
        ("E123", "refit", isinstance(refit, (*_FLAG, str)) or callable(refit),
         "True, False, the name of a metric, or a callable of cv_results_"),
        ("E122", "interval", options.interval != "fixed_models",
         '"calibrated" or "percentile", because a search cross-validates its models'),
        ("E122", "keep", options.keep in ("scored", "all"), '"scored" or "all"'),
        ("E122", "pair_models", isinstance(pairs, _FLAG) or pairs == "auto", '"auto", True or False'),
        ("E122", "error_score", isinstance(score, Real) or (isinstance(score, str) and score == "raise"),
         '"raise", NaN or another number'),
    )  # fmt: skip
    for code, name, is_known, known in rows:
        if not is_known:
            raise SoberError(code, f"`{name}` must be {known}; got {getattr(options, name)!r}.")
    if isinstance(options.select, SelectionProcedure):
        if options._has_drop_rule:
            raise SoberError(
                "E114",
                "No configuration can be dropped when more than one is selected: one that is behind may still win "
                "with its own threshold, or help an ensemble. Leave `drop` out.",
            )
        if callable(refit):
            problem = "A callable `refit` picks one configuration, but `select` picks more than that. Write refit=True."
            raise SoberError("E114", problem)


def drop_rule(drop: Any, nothing_yet: Predictions, question: Question, can_drop: bool = True) -> DropRule | None:
    """Find the rule for this race, a copy of its own where it must remember; refuse what is none, or cannot serve."""
    is_known = drop is None or (isinstance(drop, str) and drop in ("auto", "bced"))
    with suppress(TypeError, ValueError):
        inspect.signature(drop).bind("predictions", "question", "round")
        is_known |= not inspect.isclass(drop)
    if not is_known:
        raise SoberError(
            "E122",
            f'`drop` must be "auto", "bced", None, or a rule called with (predictions, question, round), such as '
            f"PredictiveDrop(); got {drop!r}.",
        )
    if not can_drop:
        return None
    rule: Any = drop
    if isinstance(drop, str):
        # Only where the highest score wins can a rule tell what must be kept from what can still happen to the scores.
        rule = PredictiveDrop() if drop == "auto" and question.select is best else BootstrapDrop()
    if hasattr(rule, "check"):
        rule.check(nothing_yet, question)
    return rule.for_race() if hasattr(rule, "for_race") else rule


@dataclass(frozen=True, eq=False)
class Design:
    """What a search will do."""

    problem: Problem
    plan: Plan
    scoring: ScoringPlan
    question: Question
    beside: Question | None  #: of the functions beside a metric that selects: by fold, after the metric


def design(options: Options, X: Any, y: Any, metadata: Mapping[str, Any], seed: int) -> Design:
    """Put the data and what is asked together, and refuse what does not go together."""
    routed = Routed.of(options, metadata)
    scoring = ScoringPlan.make(options, y, routed)
    if y is None and scoring.task is not None:
        raise SoberError("E112", "A search requires y to be passed, but the target y is None; pass the true values.")
    by_models = y is None or has_several_outputs(y)
    # What an estimator of no known kind predicts need be no value of the target: clusters, outliers, anything.
    if by_models or (scoring.task is None and options._suits_folds):
        names = [name for name, given in scoring.given.items() if by_models or not needs_predictions(given)]
        scoring = scoring.to_models(names)
    problem = Problem.build(
        X,
        y,
        task=scoring.task or _task_of(scoring, None if by_models else y),
        pos_label=options.pos_label,
        groups=routed.groups,
        sample_weight=scoring.sample_weight,
        fit_params=routed.fit_params,
        weight_name=routed.weight_name,
    )
    plan = Plan.build(problem, options.cv, options.n_repeats, seed, routed.split_params)
    functions = [
        name
        for name, scorer in scoring.scorers.items()
        if isinstance(scorer, Metric) and scorer.max_calls is not None and not isinstance(scoring.given[name], Metric)
    ]
    by_fold = bool(scoring.on_models)
    if by_fold:
        _check_folds(options, problem, plan)
    if functions and options._suits_folds:
        with suppress(SoberError):  # else they are called on resamples
            _check_folds(options, problem, plan)
            scoring = scoring.to_models(functions)  # once per fit, and not once per configuration and resample
            by_fold |= next(iter(scoring.scorers)) in functions
    select = options.select
    if isinstance(select, SelectionProcedure):
        select = select.for_estimator(options.estimator)
    # Scores of models have a place by name.
    given = {s.name: replace(Metric.given(s.name, problem.task), range=s.range) for s in scoring.on_models}
    metrics = [given.get(name, s) for name, s in scoring.scorers.items() if by_fold or name not in given]
    question = Question.ask(
        metrics if scoring.several else metrics[0],
        select=select,
        by="fold" if by_fold else "sample",
        random_state=seed,
        **{name: getattr(options, name) for name in _ASKED},
    )
    asked_by_fold = given and not by_fold
    beside = replace(question, metrics=(question.first, *given.values()), by="fold") if asked_by_fold else None
    for metric in question.metrics:
        metric.check_target(problem.target)
    if question.procedure is not None:
        question.procedure.check_table(problem.target)
    return Design(problem, plan, scoring, question, beside)


def _task_of(scoring: ScoringPlan, y: Any) -> TaskName:
    """Read the task off the metrics where the estimator does not tell it, else off `y`: numbers where it holds such."""
    tasks = (scorer.task for scorer in scoring.scorers.values() if isinstance(scorer, Metric))
    task = next((task for task in tasks if task is not None), None)
    if task is None and y is not None:
        try:
            Target.read(y, "regression")
        except SoberError:
            return "classification"
    return task or "regression"


def _check_folds(options: Options, problem: Problem, plan: Plan) -> None:
    """Refuse what scores by fold cannot answer, because folds cannot stand for samples."""
    why = "`scoring` needs the fitted model, so there is one score per fold"
    if options._has_drop_rule:
        raise SoberError("E114", f"A drop rule looks at predictions, but {why}. Leave `drop` out, or pass drop=None.")
    if plan.n_repeats > 1:
        raise SoberError(
            "E114",
            f"{why} and folds are resampled, but the folds of {plan.n_repeats} repeats share samples. Use n_repeats=1 "
            "and a `cv` that holds out every sample once, such as cv=10 or KFold.",
        )
    tested = plan.seen(range(plan.n_splits))[:, 0]
    groups = None if problem.group_codes is None else problem.group_codes[tested]
    check_partition(plan.n_repeats, groups, plan.fold_of[tested])
