"""The options of a search: what the user set, and what is refused before any training.

What is asked of the predictions (metrics, bootstrap, interval) is checked by `inference.Question`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import BootstrapDrop, DropRule, PredictiveDrop, Question, SelectionProcedure, best
from ..predictions import Predictions


class Options:
    """The parameters of a search as attributes; `BBCSearchCV` says what each of them means."""

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        pos_label: Any = None,
        cv: Any = 10,
        n_repeats: int = 1,
        drop: Any = "auto",
        count_dropped: bool = True,
        select: Any = "best",
        aggregate: str = "pooled",
        within_folds: bool = False,
        interval: str = "calibrated",
        pair_models: bool | str = "auto",
        n_bootstraps: int = 1000,
        confidence_level: float = 0.95,
        stratify: bool = False,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        store: Any = None,
        max_seconds: float | None = None,
        fit_timeout: float | None = None,
        half_width: float | None = None,
        error_score: Any = np.nan,
        verbose: int = 0,
        on_event: Any = None,
        return_train_score: bool = False,
        keep: str = "scored",
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.pos_label = pos_label
        self.cv = cv
        self.n_repeats = n_repeats
        self.drop = drop
        self.count_dropped = count_dropped
        self.select = select
        self.aggregate = aggregate
        self.within_folds = within_folds
        self.interval = interval
        self.pair_models = pair_models
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.stratify = stratify
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store
        self.max_seconds = max_seconds
        self.fit_timeout = fit_timeout
        self.half_width = half_width
        self.error_score = error_score
        self.verbose = verbose
        self.on_event = on_event
        self.return_train_score = return_train_score
        self.keep = keep


def check(options: Options) -> None:
    """Refuse what means nothing, before any training."""
    if not hasattr(options.estimator, "fit"):
        raise TypeError(f"`estimator` must have a fit method; got {options.estimator!r}.")
    if not isinstance(options.refit, (bool, np.bool_, str)) and not callable(options.refit):
        raise SoberError(
            "E123",
            f"`refit` must be True, False, the name of a metric, or a callable of cv_results_; got {options.refit!r}.",
        )
    if options.keep not in ("scored", "all"):
        raise SoberError("E122", f'`keep` must be "scored" or "all"; got {options.keep!r}.')
    if not isinstance(options.pair_models, (bool, np.bool_)) and options.pair_models != "auto":
        raise SoberError("E122", f'`pair_models` must be "auto", True or False; got {options.pair_models!r}.')
    for name in ("max_seconds", "half_width", "fit_timeout"):
        limit = getattr(options, name)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Real) or not float(limit) > 0):
            raise SoberError("E108", f"`{name}` must be a number above 0, or None; got {limit!r}.")
    if not raises_errors(options) and not isinstance(options.error_score, Real):
        raise SoberError("E122", f'`error_score` must be "raise", NaN or another number; got {options.error_score!r}.')
    check_drop(options.drop)
    if not isinstance(options.select, SelectionProcedure):
        return
    if has_drop_rule(options):
        raise SoberError(
            "E114",
            "No configuration can be dropped where more than one is selected: one that is behind may win with its "
            "own threshold, or help in an ensemble. Leave `drop` out.",
        )
    if callable(options.refit):
        raise SoberError(
            "E114", "`refit` as a callable picks one configuration, and here more is selected. Write refit=True."
        )


def raises_errors(options: Options) -> bool:
    """Whether the first exception of a fit ends the search."""
    return isinstance(options.error_score, str) and options.error_score == "raise"


def has_drop_rule(options: Options) -> bool:
    """Whether the user chose a drop rule; "auto" is none where nothing can be dropped."""
    return options.drop is not None and not (isinstance(options.drop, str) and options.drop == "auto")


def suits_folds(options: Options) -> bool:
    """Whether nothing was asked for that needs the predictions of samples."""
    by_sample = options.stratify or options.within_folds or options.half_width is not None or has_drop_rule(options)
    return not by_sample and options.n_repeats == 1


def drop_rule(drop: Any, nothing_yet: Predictions, question: Question) -> DropRule | None:
    """Find the rule for this race; ask whether it can serve, and for a copy of its own where it must remember."""
    if drop is None:
        return None
    rule: DropRule = drop
    if isinstance(drop, str):
        # Only where the highest score wins can a rule tell what must be kept from what can still happen to the scores.
        rule = PredictiveDrop() if drop == "auto" and question.select is best else BootstrapDrop()
    if hasattr(rule, "check"):
        rule.check(nothing_yet, question)
    fresh: DropRule = rule.for_race() if hasattr(rule, "for_race") else rule
    return fresh


def check_drop(drop: Any) -> None:
    """Refuse what is no drop rule."""
    known = drop in ("auto", "bced") if isinstance(drop, str) else drop is None or _is_drop_rule(drop)
    if not known:
        raise SoberError(
            "E122",
            f'`drop` must be "auto", "bced", None, or a rule that is called with (predictions, question, round), such '
            f"as PredictiveDrop(); got {drop!r}.",
        )


def _is_drop_rule(rule: Any) -> bool:
    """Whether a rule can be called with predictions, question and round."""
    try:
        inspect.signature(rule).bind("predictions", "question", "round")
    except (TypeError, ValueError):
        return False
    return not inspect.isclass(rule)
