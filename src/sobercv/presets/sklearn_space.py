"""Models of scikit-learn, for classes and for numbers.

Takes what a space is made from, gives a default model and a list of grids; never fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from .elastic import ElasticNetLogistic
from .grids import Grid, SpaceInputs, cross, family
from .sklearn_models import (
    SVM_STEPS,
    CappedElasticNet,
    CappedSVC,
    CappedSVR,
    RootForestClassifier,
    RootForestRegressor,
    SerialBoostingClassifier,
    SerialBoostingRegressor,
)


@dataclass(frozen=True)
class Models:
    """The classes of models for one kind of target; what they are called with is the same for both kinds."""

    baseline: Any
    elastic_net: Any
    svm: Any
    svm_family: Callable[..., Grid]
    neighbours: Any
    forest: Any
    extra_trees: Any
    boosting: Any


def _svc_family(svm: CappedSVC, inputs: SpaceInputs, **values: Any) -> Grid:
    if not inputs.probabilities:
        return family(svm, **values)
    return family(CalibratedClassifierCV(svm, cv=3, ensemble=False), inside="estimator__", **values)


def _svr_family(svm: CappedSVR, inputs: SpaceInputs, **values: Any) -> Grid:
    # Costs and the width of the tube are in units of the target, so the target is scaled, inside the folds.
    scaled = TransformedTargetRegressor(svm, transformer=StandardScaler())
    return family(scaled, inside="regressor__", **values)


CLASSES = Models(
    baseline=DummyClassifier,
    elastic_net=ElasticNetLogistic,
    svm=CappedSVC,
    svm_family=_svc_family,
    neighbours=KNeighborsClassifier,
    forest=RootForestClassifier,
    extra_trees=ExtraTreesClassifier,
    boosting=SerialBoostingClassifier,
)
NUMBERS = Models(
    baseline=DummyRegressor,
    elastic_net=CappedElasticNet,
    svm=CappedSVR,
    svm_family=_svr_family,
    neighbours=KNeighborsRegressor,
    forest=RootForestRegressor,
    extra_trees=ExtraTreesRegressor,
    boosting=SerialBoostingRegressor,
)


def space_of_classes(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Give the default model and the grids for two or more classes.

    Parameters
    ----------
    inputs : SpaceInputs
    """
    logistic = LogisticRegression(max_iter=10_000)
    bayes = [family(BernoulliNB() if inputs.is_sparse else GaussianNB())] if inputs.level.bayes else []
    families = _families(CLASSES, inputs, family(logistic, C=inputs.level.ridge), bayes)
    return logistic, cross(CLASSES.baseline(), families, inputs)


def space_of_numbers(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Give the default model and the grids for numbers.

    Parameters
    ----------
    inputs : SpaceInputs
    """
    ridge, n = Ridge(), inputs.cleaned.shape[0]
    # In proportion to the sample size, so that one value means the same for every table; a larger c fits closer.
    linear = family(ridge, alpha=[n * 0.01 / c for c in inputs.level.ridge])
    return ridge, cross(NUMBERS.baseline(), _families(NUMBERS, inputs, linear, []), inputs)


def _families(models: Models, inputs: SpaceInputs, linear: Grid, bayes: list[Grid]) -> list[Grid]:
    """List every family of models, always in this order: a configuration's index is its place in it."""
    level, grown = inputs.level, {"n_jobs": inputs.n_jobs, "random_state": inputs.seed}
    families = [linear]
    for ratio in level.l1_ratios:
        families.append(family(models.elastic_net(l1_ratio=ratio), alpha=inputs.penalties(ratio)))
    svm = models.svm(kernel="linear", max_iter=SVM_STEPS)
    families.append(models.svm_family(svm, inputs, C=level.linear))
    for kernel, degree in level.kernels:
        svm = models.svm(kernel=kernel, degree=degree, max_iter=SVM_STEPS)
        families.append(models.svm_family(svm, inputs, C=level.costs, gamma=level.gammas))
    families += bayes
    families.append(family(models.neighbours(), n_neighbors=inputs.neighbours()))
    forest = models.forest(inputs.n_trees, **grown)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    if inputs.is_sparse:  # scikit-learn's histograms need dense rows
        extra = models.extra_trees(inputs.n_trees, **grown)
        families.append(family(extra, min_samples_leaf=level.sizes, max_features=level.rates))
    else:
        boosting = models.boosting(max_iter=level.rounds, early_stopping=False, random_state=inputs.seed)
        families.append(family(boosting, learning_rate=level.rates, max_leaf_nodes=level.sizes))
    return families
