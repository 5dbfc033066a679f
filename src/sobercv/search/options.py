"""The options of a search that concern neither data nor inference, checked before any training.

Takes an unfitted search, gives its drop rule; what is asked of the predictions is checked by `inference.Question`.
"""

from __future__ import annotations

import inspect
from numbers import Real
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import BootstrapDrop, DropRule, Question
from ..predictions import Predictions
from .early_end import check_limits


def check_options(search: Any) -> DropRule | None:
    """Refuse what means nothing; give the drop rule."""
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
    return drop_rule(search.drop)


def for_this_race(rule: DropRule | None, nothing_yet: Predictions, question: Question) -> DropRule | None:
    """Ask a drop rule whether it can serve, and for a copy of its own for this race where it must remember."""
    if rule is None:
        return None
    if hasattr(rule, "check"):
        rule.check(nothing_yet, question)
    fresh: DropRule = rule.for_race() if hasattr(rule, "for_race") else rule
    return fresh


def drop_rule(drop: Any) -> DropRule | None:
    """Give the rule that `drop` names, or is; None drops nobody."""
    if drop is None:
        return None
    if isinstance(drop, str) and drop in ("auto", "bced"):
        return BootstrapDrop()
    if not isinstance(drop, str) and _is_drop_rule(drop):
        rule: DropRule = drop
        return rule
    raise SoberError(
        "E108",
        f'`drop` must be "auto", "bced", None, or a rule that is called with (predictions, question, round), such as '
        f"BootstrapDrop(); got {drop!r}.",
    )


def _is_drop_rule(rule: Any) -> bool:
    """Whether a rule can be called with predictions, question and round."""
    try:
        inspect.signature(rule).bind("predictions", "question", "round")
    except (TypeError, ValueError):
        return False
    return not inspect.isclass(rule)
