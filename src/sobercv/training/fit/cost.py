"""Which configurations are cheap: a guess before their first fit, measured seconds afterwards.

Only a race against the clock asks, so that it has something to show early; results without a time limit do not depend
on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from .space import Configuration
from .task import Experiment

#: Words in the names of models, and how long they take: from one pass over the data to many, and to the square of them.
_RANKS = (
    (("Dummy",), 0),
    (("Stacking", "Voting", "Bagging"), 4),
    (("ElasticNet", "Lasso"), 1),
    (("GaussianProcess", "MLP", "Kernel", "Neural", "Net"), 5),
    (("Forest", "ExtraTrees", "Boost", "XGB", "LGBM"), 3),
    (("LinearSV", "Logistic", "SGD", "Cox", "Tree", "Neighbors"), 1),
    (("NB", "Ridge", "LinearRegression", "Discriminant", "Centroid"), 0),
    (("SVC", "SVR", "SurvivalSVM"), 5),
)
_UNKNOWN = 2


def cheap_first(
    experiment: Experiment, configurations: Sequence[Configuration], seconds: Mapping[int, float]
) -> list[Configuration]:
    """Put cheap configurations first, equals in the order given; by what their fits have taken, where all are known."""
    if all(c.index in seconds for c in configurations):
        return sorted(configurations, key=lambda c: seconds[c.index])
    return sorted(configurations, key=lambda c: _guess(experiment.estimator, c.params))


def _guess(estimator: Any, params: Mapping[str, Any]) -> tuple[int, float]:
    """Guess by the name of the model, and by the number of models in it."""
    prefix = ""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        name, last = steps[-1]
        estimator, prefix = params.get(name, last), f"{name}__"
    kind = type(estimator).__name__
    rank = next((rank for words, rank in _RANKS if any(word in kind for word in words)), _UNKNOWN)
    size = params.get(f"{prefix}n_estimators", getattr(estimator, "n_estimators", 1))
    return rank, float(size) if isinstance(size, Real) else 1.0
