"""A search among scikit-learn's meta-estimators: its tags, and where the metadata given to `fit` goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from ..metrics import Metric


@dataclass(frozen=True, eq=False)
class Routed:
    """Metadata, sent where it was asked for."""

    groups: Any  #: [N] or None, for folds and bootstrap
    sample_weight: Any  #: [N] or None, for all metrics, without metadata routing
    fit_params: dict[str, Any]  #: for the estimator's `fit`
    weighted_fit: bool = True  #: whether `sample_weight` goes to the estimator's `fit` as well
    split_params: dict[str, Any] | None = None  #: for the splitter's `split`; None where it requested nothing
    score_params: list[dict[str, Any]] | None = None  #: what each scorer requested, in order; None without routing


def plainly_routed(estimator: Any, groups: Any, sample_weight: Any, fit_params: Mapping[str, Any]) -> Routed:
    """Send metadata without scikit-learn's routing: weights to metrics and `fit`, those of a pipeline to its last step.

    scikit-learn's own searches refuse weights for pipelines, whose `fit` takes them only by the name of a step.
    """
    if sample_weight is None or not isinstance(estimator, Pipeline):
        return Routed(groups, sample_weight, dict(fit_params))
    last = f"{estimator.steps[-1][0]}__sample_weight"
    return Routed(groups, sample_weight, {last: sample_weight, **fit_params}, weighted_fit=False)


class _Weighted:
    """Requests weights whenever there are some, as metrics of sober do: they have no `set_score_request`."""

    def get_metadata_routing(self) -> MetadataRequest:
        """Request `sample_weight`."""
        request = MetadataRequest(owner="a metric of sober")
        request.score.add_request(param="sample_weight", alias=True)
        return request


def several(scoring: Any) -> bool:
    """Whether `scoring` names several metrics, so that results come by their names."""
    return not (scoring is None or isinstance(scoring, (str, Metric)) or callable(scoring))


def listed(scoring: Any) -> list[Any]:
    """Return what `scoring` holds, in the order of writing; a set is sorted."""
    if not several(scoring):
        return [scoring]
    if isinstance(scoring, Mapping):
        return list(scoring.values())
    return sorted(scoring) if isinstance(scoring, (set, frozenset)) else list(scoring)


def _is_requested(cv: Any, name: str) -> bool:
    """Whether a splitter takes something in its `split`, by any name."""
    if not hasattr(cv, "split"):
        return False
    request = get_routing_for_object(cv)
    return name in request.consumes("split", [name])


def _requesting(scoring: Any, estimator: Any) -> Any:
    """Return the object that says what a scorer requests."""
    if scoring is None and hasattr(estimator, "score"):
        return check_scoring(estimator)
    if isinstance(scoring, str) and scoring in get_scorer_names():
        return get_scorer(scoring)
    own = scoring is None or isinstance(scoring, str) or not hasattr(scoring, "get_metadata_routing")
    # A plain function requests nothing, as in scikit-learn.
    return _Weighted() if own and not callable(scoring) else scoring


class MetadataMixin:
    """Tags and metadata routing, which scikit-learn asks of every meta-estimator."""

    estimator: Any
    cv: Any
    refit: Any
    scoring: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_" if self.refit else "estimate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = inner.target_tags.required
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = False
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: to the estimator's `fit`, to the splitter, and to the scorers."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split") and get_routing_for_object(self.cv) is not None:
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        both = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        for i, scoring in enumerate(listed(self.scoring)):
            router.add(**{f"scorer{i}": _requesting(scoring, self.estimator)}, method_mapping=both)
        return router

    def _route(self, groups: Any, params: Mapping[str, Any]) -> Routed:
        """Send metadata as requested; without metadata routing, weights to `fit` and metrics, all else to `fit`."""
        if not get_config()["enable_metadata_routing"]:
            others = {name: value for name, value in params.items() if name != "sample_weight"}
            return plainly_routed(self.estimator, groups, params.get("sample_weight"), others)
        given = {name: value for name, value in params.items() if value is not None or name != "sample_weight"}
        if groups is not None and _is_requested(self.cv, "groups"):
            given["groups"] = groups  # all else that is done with groups needs no request
        routed = process_routing(self, "fit", **given)
        split_params = dict(routed.splitter.split) if hasattr(routed, "splitter") else None
        if groups is None and split_params is not None:
            groups = split_params.get("groups")
        # What `fit` receives, weights included, is what was requested, perhaps under another name.
        return Routed(
            groups,
            None,
            dict(routed.estimator.fit),
            weighted_fit=False,
            split_params=split_params,
            score_params=[dict(routed[f"scorer{i}"].score) for i in range(len(listed(self.scoring)))],
        )

    def _score_params(self, place: int, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the scorer at a place of `scoring` receives of the metadata given to `score`."""
        given = {name: value for name, value in params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "score", **given)[f"scorer{place}"].score)
        unknown = sorted(given.keys() - {"sample_weight"})
        if unknown:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.score (here {', '.join(unknown)}) is only "
                "supported if enable_metadata_routing=True, which sklearn.set_config sets. Only sample_weight needs "
                "none."
            )
        return given
