"""A search among scikit-learn's meta-estimators: its tags, and where the metadata given to `fit` goes.

Takes what `fit` was given, gives what the estimator's `fit` and the splitter receive; never looks into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)


@dataclass(frozen=True, eq=False)
class Routed:
    """Metadata, sent where it was asked for.

    Attributes
    ----------
    groups, sample_weight : array-like [N] or None
        For folds and bootstrap, and for the metrics.
    fit_params : dict
        For the estimator's `fit`.
    weighted_fit : bool
        Whether `sample_weight` goes to the estimator's `fit` as well.
    split_params : dict or None
        For the splitter's `split`; None where it did not ask.
    """

    groups: Any
    sample_weight: Any
    fit_params: dict[str, Any]
    weighted_fit: bool = True
    split_params: dict[str, Any] | None = None


def route(search: Any, groups: Any, params: dict[str, Any]) -> Routed:
    """Send metadata as was asked for; without metadata routing, weights to `fit` and metrics, all else to `fit`."""
    params = dict(params)
    sample_weight = params.pop("sample_weight", None)
    if not get_config()["enable_metadata_routing"]:
        return Routed(groups, sample_weight, params)
    given = {k: v for k, v in (("groups", groups), ("sample_weight", sample_weight)) if v is not None}
    routed = process_routing(search, "fit", **params, **given)
    split_params = dict(routed.splitter.split) if hasattr(routed, "splitter") else None
    if groups is None and split_params is not None:
        groups = split_params.get("groups")
    # What `fit` receives, weights included, is what was asked for, perhaps under another name.
    return Routed(groups, sample_weight, dict(routed.estimator.fit), weighted_fit=False, split_params=split_params)


class CitizenMixin:
    """What scikit-learn asks every meta-estimator."""

    estimator: Any
    cv: Any
    refit: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_" if self.refit else "estimate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = False
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: to the estimator's `fit`, to the splitter, and weights into the metrics."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split") and get_routing_for_object(self.cv) is not None:
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router
