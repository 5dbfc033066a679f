"""What a search selects where that is more than a configuration: checked before training, trained after it.

Takes an unfitted search, gives what selects; takes a decision and fitted members, gives the model that predicts by it.
Never scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import SoberError
from ..inference import Estimate, Question, SelectionProcedure, best_with_threshold
from ..inference.procedures import Mix, Threshold
from ..predictions import Predictions


def selection_of(search: Any) -> Any:
    """Give the rule or procedure of a search, settled for its estimator."""
    select = best_with_threshold() if search.tune_threshold else search.select
    return select.for_estimator(search.estimator) if isinstance(select, SelectionProcedure) else select


def check_selection(search: Any) -> None:
    """Refuse what does not go with a selection of more than a configuration.

    Parameters
    ----------
    search : BBCSearchCV
    """
    if not isinstance(search.tune_threshold, bool):
        raise SoberError("E108", f"`tune_threshold` must be True or False; got {search.tune_threshold!r}.")
    if search.tune_threshold and search.select != "best":
        raise SoberError(
            "E114",
            f"`tune_threshold=True` selects by best_with_threshold(), and `select` is {search.select!r}. Leave one of "
            "them out.",
        )
    if not isinstance(selection_of(search), SelectionProcedure):
        return
    if search.drop is not None and not (isinstance(search.drop, str) and search.drop == "auto"):
        raise SoberError(
            "E121",
            "Nobody is dropped where more than a configuration is selected: who is behind may win with a threshold of "
            "its own, or help in a mix. Leave `drop` out.",
        )
    if callable(search.refit):
        raise SoberError(
            "E121", "`refit` as a callable picks a configuration, and here more is selected. Write refit=True."
        )


def also_wanted(question: Question, wanted: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Give the responses that the selection needs and no metric asked for under that name."""
    if question.procedure is None:
        return ()
    named = {alternatives[0] for alternatives in wanted}
    return tuple(each for each in question.procedure.wanted(question.first) if each[0] not in named)


def estimate_of(search: Any) -> Estimate:
    """Give the estimate by the metric that selects."""
    found = search.estimate_
    estimate: Estimate = found[search.question_.first.name] if search.multimetric_ else found
    return estimate


def n_members(estimate: Estimate) -> int:
    """How many models the final one is made of."""
    return len(estimate.decision.configurations) if isinstance(estimate.decision, Mix) else 1


def members(search: Any, decision: Any) -> list[Any]:
    """Give the models to train on all data, unfitted: that of the winner, or all of a mix.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted, but for its final model.
    decision : Decision or None
    """
    chosen = [search.best_params_]
    if isinstance(decision, Mix):
        chosen = [search.cv_results_["params"][configuration] for configuration in decision.configurations]
    return [clone(search.estimator).set_params(**clone(params, safe=False)) for params in chosen]


def at_threshold(own: Predictions, decision: Any) -> Predictions:
    """Give the winner's predictions with the labels of its threshold, where it has one.

    Parameters
    ----------
    own : Predictions
        Of the winner alone.
    decision : Decision or None
    """
    if not isinstance(decision, Threshold) or own.classes is None or decision.response not in own.responses:
        return own
    k, values = own.classes.tolist().index(decision.positive), own.responses[decision.response]
    if k == 0:  # scores are those of the second class
        values = 1.0 - values if decision.response == "predict_proba" else -values
    labels = np.where(values >= decision.value, k, 1 - k).astype(np.int8)
    return replace(own, responses={**own.responses, "predict": labels})


def as_decided(decision: Any, trained: Sequence[Any], X: Any, y: Any = None) -> Any:
    """Give the model that predicts as was decided: the winner, with its threshold, or a vote of all members.

    Parameters
    ----------
    decision : Decision or None
    trained : sequence of estimators
        Fitted on all data.
    X, y : array-like
        All data; nothing is trained on them again.
    """
    from sklearn.ensemble import VotingClassifier, VotingRegressor
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    if isinstance(decision, Threshold):
        return FixedThresholdClassifier(
            FrozenEstimator(trained[0]),
            threshold=decision.value,
            pos_label=decision.positive,
            response_method=decision.response,
        ).fit(X, y)
    if isinstance(decision, Mix):
        named = [
            (f"configuration_{configuration}", FrozenEstimator(model))
            for configuration, model in zip(decision.configurations, trained, strict=True)
        ]
        weights = list(decision.weights)
        if hasattr(trained[0], "predict_proba"):
            return VotingClassifier(named, voting="soft", weights=weights).fit(X, y)
        return VotingRegressor(named, weights=weights).fit(X, y)
    return trained[0]
