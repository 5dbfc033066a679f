"""The options of a search: what the user set, checked once before any training.

What is asked of the predictions (metrics, bootstrap, interval) is checked by `inference.Question`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import BootstrapDrop, DropRule, PredictiveDrop, Question, SelectionProcedure, best
from ..predictions import Predictions


@dataclass(frozen=True, eq=False)
class Options:
    """What a search was asked to do; the attributes are the parameters of `BBCSearchCV`, without its space."""

    estimator: Any
    scoring: Any
    pos_label: Any
    cv: Any
    n_repeats: Any
    drop: Any
    count_dropped: Any
    select: Any
    aggregate: Any
    within_folds: Any
    method: Any
    interval: Any
    pair_models: Any
    n_bootstraps: Any
    confidence_level: Any
    stratify: Any
    refit: Any
    n_jobs: Any
    random_state: Any
    store: Any
    max_seconds: Any
    fit_timeout: Any
    half_width: Any
    error_score: Any
    verbose: Any
    on_event: Any
    return_train_score: Any
    keep: Any

    @classmethod
    def of(cls, search: Any) -> Options:
        """Read the parameters of a search, and refuse what means nothing."""
        return cls(**{field.name: getattr(search, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"`estimator` must have a fit method; got {self.estimator!r}.")
        if not isinstance(self.refit, (bool, np.bool_, str)) and not callable(self.refit):
            raise SoberError(
                "E123",
                f"`refit` must be True, False, the name of a metric, or a callable of cv_results_; got {self.refit!r}.",
            )
        if self.keep not in ("scored", "all"):
            raise SoberError("E122", f'`keep` must be "scored" or "all"; got {self.keep!r}.')
        if not isinstance(self.pair_models, (bool, np.bool_)) and self.pair_models != "auto":
            raise SoberError("E122", f'`pair_models` must be "auto", True or False; got {self.pair_models!r}.')
        for name in ("max_seconds", "half_width", "fit_timeout"):
            limit = getattr(self, name)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Real) or not float(limit) > 0):
                raise SoberError("E108", f"`{name}` must be a number above 0, or None; got {limit!r}.")
        if not self.raises_errors and not isinstance(self.error_score, Real):
            raise SoberError("E122", f'`error_score` must be "raise", NaN or another number; got {self.error_score!r}.')
        check_drop(self.drop)
        if isinstance(self.selection, SelectionProcedure):
            self._check_procedure()

    def _check_procedure(self) -> None:
        """Refuse what does not go with a selection of more than one configuration."""
        if self.has_drop_rule:
            raise SoberError(
                "E114",
                "No configuration can be dropped where more than one is selected: one that is behind may win with its "
                "own threshold, or help in an ensemble. Leave `drop` out.",
            )
        if callable(self.refit):
            raise SoberError(
                "E114", "`refit` as a callable picks one configuration, and here more is selected. Write refit=True."
            )

    @property
    def raises_errors(self) -> bool:
        """Whether the first exception of a fit ends the search."""
        return isinstance(self.error_score, str) and self.error_score == "raise"

    @property
    def has_drop_rule(self) -> bool:
        """Whether the user chose a drop rule; "auto" is none where nothing can be dropped."""
        return self.drop is not None and not (isinstance(self.drop, str) and self.drop == "auto")

    @property
    def selection(self) -> Any:
        """The selection rule or procedure, settled for the estimator."""
        procedure = isinstance(self.select, SelectionProcedure)
        return self.select.for_estimator(self.estimator) if procedure else self.select

    @property
    def suits_folds(self) -> bool:
        """Whether nothing was asked for that needs the predictions of samples."""
        by_sample = self.stratify or self.within_folds or self.half_width is not None or self.has_drop_rule
        return not by_sample and self.method == "bbc" and self.n_repeats == 1


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
