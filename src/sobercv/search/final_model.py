"""The final model of a search: which configurations it is made of, and how it predicts what was selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from ..inference import Estimate
from ..inference.procedures import Mix, Threshold


def estimate_of(search: Any) -> Estimate:
    """Return the estimate of a fitted search by the metric that selects."""
    found = search.estimate_
    estimate: Estimate = found[search.question_.first.name] if search.multimetric_ else found
    return estimate


def unfitted(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return a clone of an estimator with the parameters of a configuration."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def members(decision: Any, winner: int) -> list[int]:
    """Return the configurations that the final model is made of: the winner, or all of an ensemble."""
    return list(decision.configurations) if isinstance(decision, Mix) else [winner]


def trained(model: Any, X: Any, y: Any, **arguments: Any) -> Any:
    """Fit a model in place and return it; some return nothing from their own `fit`, and some have no target."""
    model.fit(X, *(() if y is None else (y,)), **arguments)
    return model


def as_decided(decision: Any, models: Sequence[Any], X: Any, y: Any = None) -> Any:
    """Return the model that predicts as was decided: the winner, with its threshold, or a vote of all members.

    They are trained on all data, X and y, and nothing is trained again.
    """
    from sklearn.ensemble import VotingClassifier, VotingRegressor
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    if isinstance(decision, Threshold):
        return FixedThresholdClassifier(
            FrozenEstimator(models[0]),
            threshold=decision.value,
            pos_label=decision.positive,
            response_method=decision.response,
        ).fit(X, y)
    if isinstance(decision, Mix):
        named = [
            (f"configuration_{configuration}", FrozenEstimator(model))
            for configuration, model in zip(decision.configurations, models, strict=True)
        ]
        weights = list(decision.weights)
        if hasattr(models[0], "predict_proba"):
            return VotingClassifier(named, voting="soft", weights=weights).fit(X, y)
        return VotingRegressor(named, weights=weights).fit(X, y)
    return models[0]
