"""The options of a search that concern neither data nor inference, checked before any training.

Takes an unfitted search, refuses what means nothing, gives its drop rule; what is asked of the predictions is checked
by `inference.Question`.
"""

from __future__ import annotations

import inspect
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import BootstrapDrop, DropRule, PredictiveDrop, Question, best
from ..predictions import Predictions
from .early_end import check_limits
from .proposals import check_proposer
from .selected import check_selection


def check_options(search: Any) -> None:
    """Refuse what means nothing."""
    if not hasattr(search.estimator, "fit"):
        raise TypeError(f"`estimator` must have a fit method; got {search.estimator!r}.")
    if not isinstance(search.refit, (bool, np.bool_, str)) and not callable(search.refit):
        raise SoberError(
            "E108",
            f"`refit` must be True, False, the name of a metric, or a callable of cv_results_; got {search.refit!r}.",
        )
    if search.keep not in ("scored", "all"):
        raise SoberError("E108", f'`keep` must be "scored" or "all"; got {search.keep!r}.')
    check_limits(max_seconds=search.max_seconds, half_width=search.half_width, fit_timeout=search.fit_timeout)
    score = search.error_score
    if not (isinstance(score, str) and score == "raise") and not isinstance(score, Real):
        raise SoberError("E108", f'`error_score` must be "raise", NaN or another number; got {score!r}.')
    check_drop(search.drop)
    check_selection(search)
    check_proposer(search)


def drop_rule(drop: Any, nothing_yet: Predictions, question: Question) -> DropRule | None:
    """Find the rule for this race; ask it whether it can serve, and for a copy of its own where it must remember."""
    if drop is None:
        return None
    rule: DropRule = drop
    if isinstance(drop, str):
        # Only where the highest score wins does a rule know whom it must not drop by what can still happen to scores.
        rule = PredictiveDrop() if drop == "auto" and question.select is best else BootstrapDrop()
    if hasattr(rule, "check"):
        rule.check(nothing_yet, question)
    fresh: DropRule = rule.for_race() if hasattr(rule, "for_race") else rule
    return fresh


def check_drop(drop: Any) -> None:
    """Refuse what is no drop rule."""
    known = drop in ("auto", "bced") if isinstance(drop, str) else drop is None or _is_drop_rule(drop)
    if known:
        return
    raise SoberError(
        "E108",
        f'`drop` must be "auto", "bced", None, or a rule that is called with (predictions, question, round), such as '
        f"PredictiveDrop(); got {drop!r}.",
    )


def _is_drop_rule(rule: Any) -> bool:
    """Whether a rule can be called with predictions, question and round."""
    try:
        inspect.signature(rule).bind("predictions", "question", "round")
    except (TypeError, ValueError):
        return False
    return not inspect.isclass(rule)
