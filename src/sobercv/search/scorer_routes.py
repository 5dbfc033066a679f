"""Which scorers are computed from predictions, and which are called on the fitted models, with what.

Takes the scorers of a search as they were understood and the metadata that was routed to them; gives the same scorers,
those called on models as `ModelScorer`, and the arguments of each. Never scores.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from ..errors import SoberError, warn
from ..metrics import Metric
from ..metrics.recognise import needs_model, unwrap
from ..targets import TaskName
from .metadata import Routed
from .scoring import DEFAULTS, ModelScorer, as_given

Found = Mapping[str, Metric | ModelScorer]


@dataclass(frozen=True, eq=False)
class Scorers:
    """The scorers of a search and what each receives.

    Attributes
    ----------
    found : mapping of str to Metric or ModelScorer
        By name, the one that selects first.
    given : mapping of str to value
        The same as the user wrote them, in the order of writing.
    params : mapping of str to dict
        What the scorers of models receive beside X and y, whole.
    sample_weight : array-like [N] or None
        What all metrics of predictions are weighted with.
    estimator : estimator
        Of the search, unfitted.
    """

    found: Found
    given: Mapping[str, Any]
    params: Mapping[str, dict[str, Any]]
    sample_weight: Any
    estimator: Any

    @property
    def by_models(self) -> tuple[ModelScorer, ...]:
        """Those that are called on fitted models."""
        return tuple(scorer for scorer in self.found.values() if isinstance(scorer, ModelScorer))

    @property
    def has_foreign(self) -> bool:
        """Whether a function that nobody can look into is among the metrics, unless the user made a metric of it."""
        return any(_is_foreign(scorer, self.given[name]) for name, scorer in self.found.items())

    def foreign_on_models(self) -> Scorers:
        """Call such functions on the models: once for each fit, and not for each resample."""
        names = [name for name, scorer in self.found.items() if _is_foreign(scorer, self.given[name])]
        return self._on_models(names)

    def all_on_models(self, where_possible: bool = False) -> Scorers:
        """Call every scorer on the models; or all but metrics of our own, which need predictions."""
        return self._on_models([n for n in self.found if not where_possible or not _is_own(self.given[n])])

    def _on_models(self, names: list[str]) -> Scorers:
        found, params = dict(self.found), dict(self.params)
        for name in names:
            metric = found[name]
            if isinstance(metric, Metric):
                scorer = ModelScorer(name, as_scorer(metric, self.given[name], self.estimator))
                found[name] = scorer
                if self.sample_weight is not None:
                    params[name] = weights_for(scorer, self.sample_weight, self.estimator)
        return replace(self, found=found, params=params)


def routes(scoring: Any, found: Found, task: TaskName | None, routed: Routed, estimator: Any) -> Scorers:
    """Say who receives what.

    Without metadata routing, weights go to every metric, and to the scorers of models that take them. With it, each
    scorer receives what it asked for. Where all are metrics that want the same weights, they are computed from
    predictions; where they want different things, those that want something are called on the models.
    """
    given = as_given(scoring, found, task)
    known = Scorers(found, given, {}, routed.sample_weight, estimator)
    if routed.score_params is None:
        if routed.sample_weight is None:
            return known
        params = {scorer.name: weights_for(scorer, routed.sample_weight, estimator) for scorer in known.by_models}
        return replace(known, params=params)
    params = dict(zip(given, routed.score_params, strict=True))
    wanted = list(params.values())
    if not known.by_models and all(w.keys() == {"sample_weight"} for w in wanted):
        weights = [w["sample_weight"] for w in wanted]
        if all(weight is weights[0] for weight in weights):
            return replace(known, sample_weight=weights[0])
    known = known._on_models([name for name, w in params.items() if w])
    return replace(known, params={name: w for name, w in params.items() if w})


def as_scorer(metric: Metric, given: Any, estimator: Any) -> Any:
    """Give what scikit-learn would call on a model in the place of a metric; None is the model's own `score`."""
    if given is None and hasattr(estimator, "score"):
        return None
    name: Any = DEFAULTS[metric.task] if given is None else given
    if isinstance(name, str) and name in get_scorer_names():
        return get_scorer(name)
    if _is_own(name):
        raise SoberError(
            "E112",
            f"{metric.name} is computed from one prediction a sample, and here scorers are called on fitted models: "
            "`y` has several outputs a sample or none, or scorers ask for different metadata. Use a scorer of "
            "scikit-learn.",
        )
    return name if unwrap(name) is not None or needs_model(name) else make_scorer(name)


def weights_for(scorer: ModelScorer, sample_weight: Any, estimator: Any) -> dict[str, Any]:
    """Give a scorer the weights if it can take them; warn where it cannot, as scikit-learn does."""
    if _takes_weights(estimator.score if scorer.scorer is None else scorer.scorer, estimator):
        return {"sample_weight": sample_weight}
    warn(
        "W305",
        f"The scoring {scorer.name}={scorer.scorer!r} does not support sample_weight, so its scores count every sample "
        "alike although fits are weighted. Give it an argument `sample_weight`, or choose a metric that has one.",
    )
    return {}


def _takes_weights(scorer: Any, estimator: Any) -> bool:
    inside = unwrap(scorer)
    if inside is not None:
        scorer = inside.function
    elif type(scorer).__module__.partition(".")[0] == "sklearn":  # what `check_scoring` makes of an estimator's `score`
        scorer = getattr(estimator, "score", scorer)
    try:
        return "sample_weight" in inspect.signature(scorer).parameters
    except (TypeError, ValueError):  # compiled
        return False


def _is_own(given: Any) -> bool:
    """Whether it is a metric that scikit-learn does not know."""
    return isinstance(given, Metric) or (isinstance(given, str) and given not in get_scorer_names())


def _is_foreign(scorer: Metric | ModelScorer, given: Any) -> bool:
    return isinstance(scorer, Metric) and scorer.calls_a_function and not isinstance(given, Metric)
