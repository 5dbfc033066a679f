"""The search spaces of the presets: models with lists of values, crossed with selections of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from ..errors import SoberError
from ..feature_selection import SES
from ..targets import task_name
from .elastic import ElasticNetCox, ElasticNetLogistic, penalty_path
from .levels import Level
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

Grid = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class SpaceInputs:
    """What a search space is made from; the cleaned table is at hand for values that depend on the data."""

    level: Level
    task: str
    cleaned: Any  #: [N, P]
    y: Any
    seed: int
    n_trees: int
    probabilities: bool  #: whether every model must return probabilities

    def penalties(self, l1_ratio: float) -> list[float]:
        """Return the level's part of glmnet's path for this table."""
        path = penalty_path(self.cleaned, self.y, self.task, l1_ratio)
        return [path[i] for i in self.level.penalties]

    def neighbours(self) -> list[int]:
        """Return numbers of neighbours that leave most of a small table out."""
        most = max(1, self.cleaned.shape[0] // 3)
        return sorted({min(k, most) for k in self.level.neighbours})


def family(model: Any, inside: str = "", **values: Sequence[Any]) -> Grid:
    """Make the grid of one kind of model, of parameters inside of a wrapped one; empty values leave it out."""
    return {"model": [model], **{f"model__{inside}{name}": list(value) for name, value in values.items()}}


def cross(baseline: Any, families: list[Grid], inputs: SpaceInputs) -> list[Grid]:
    """Cross families with selections; the baseline needs none."""
    grids = [{"model": [baseline], "select": ["passthrough"]}] if inputs.level.baseline else []
    for selection in inputs.level.selections:
        step = "passthrough" if selection is None else SES(*selection, task=task_name(inputs.task), equivalences=False)
        # Selection before model: configurations that select alike then share the selected columns.
        grids += [{"select": [step], **grid} for grid in families if all(grid.values())]
    return grids


class Models(NamedTuple):
    """The classes of models for one kind of target; what they are called with is the same for both kinds."""

    baseline: Any
    elastic_net: Any
    svm: Any
    neighbours: Any
    forest: Any
    boosting: Any


CLASSES = Models(
    DummyClassifier,
    ElasticNetLogistic,
    CappedSVC,
    KNeighborsClassifier,
    RootForestClassifier,
    SerialBoostingClassifier,
)
NUMBERS = Models(
    DummyRegressor,
    CappedElasticNet,
    CappedSVR,
    KNeighborsRegressor,
    RootForestRegressor,
    SerialBoostingRegressor,
)


def _svm_family(svm: Any, inputs: SpaceInputs, **values: Any) -> Grid:
    if isinstance(svm, CappedSVR):
        # Costs and the width of the tube are in units of the target, so the target is scaled, inside the folds.
        return family(TransformedTargetRegressor(svm, transformer=StandardScaler()), inside="regressor__", **values)
    if inputs.probabilities:
        return family(CalibratedClassifierCV(svm, cv=3, ensemble=False), inside="estimator__", **values)
    return family(svm, **values)


def space_of_classes(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Return the default model and the grids for two or more classes."""
    logistic = LogisticRegression(max_iter=10_000)
    bayes = [family(GaussianNB())] if inputs.level.bayes else []
    families = _families(CLASSES, inputs, family(logistic, C=inputs.level.ridge), bayes)
    return logistic, cross(CLASSES.baseline(), families, inputs)


def space_of_numbers(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Return the default model and the grids for numbers."""
    ridge, n = Ridge(), inputs.cleaned.shape[0]
    # In proportion to the sample size, so that one value means the same for every table; a larger c fits closer.
    linear = family(ridge, alpha=[n * 0.01 / c for c in inputs.level.ridge])
    return ridge, cross(NUMBERS.baseline(), _families(NUMBERS, inputs, linear, []), inputs)


def _families(models: Models, inputs: SpaceInputs, linear: Grid, bayes: list[Grid]) -> list[Grid]:
    """List every family of models, always in this order: a configuration's index is its place in it."""
    level = inputs.level
    families = [linear]
    for ratio in level.l1_ratios:
        families.append(family(models.elastic_net(l1_ratio=ratio), alpha=inputs.penalties(ratio)))
    svm = models.svm(kernel="linear", max_iter=SVM_STEPS)
    families.append(_svm_family(svm, inputs, C=level.linear))
    for kernel, degree in level.kernels:
        svm = models.svm(kernel=kernel, degree=degree, max_iter=SVM_STEPS)
        families.append(_svm_family(svm, inputs, C=level.costs, gamma=level.gammas))
    families += bayes
    families.append(family(models.neighbours(), n_neighbors=inputs.neighbours()))
    forest = models.forest(inputs.n_trees, n_jobs=1, random_state=inputs.seed)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    boosting = models.boosting(max_iter=level.rounds, early_stopping=False, random_state=inputs.seed)
    families.append(family(boosting, learning_rate=level.rates, max_leaf_nodes=level.sizes))
    return families


def space_of_times(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Return the default model and the grids for survival times."""
    try:
        from sksurv.ensemble import GradientBoostingSurvivalAnalysis

        from .sksurv_models import (
            CurveSurvivalForest,
            KernelSurvivalSVM,
            LinearSurvivalSVM,
            NoRisk,
            RootSurvivalForest,
        )
    except ImportError:
        raise SoberError(
            "E403",
            "Survival presets need scikit-survival, which is not installed: pip install 'sobercv[survival]'.",
        ) from None
    level, seed = inputs.level, inputs.seed
    cox = ElasticNetCox(l1_ratio=0.001)
    # The mean counts in the penalty, so that it means the same for all sample sizes.
    families = [family(cox, alpha=[0.01 / c for c in level.ridge])]
    for ratio in level.l1_ratios:
        families.append(family(ElasticNetCox(l1_ratio=ratio), alpha=inputs.penalties(ratio)))
    svms = not inputs.probabilities  # they rank, and know no probability
    if svms:
        families.append(family(LinearSurvivalSVM(max_iter=200, random_state=seed), alpha=level.linear))
    for kernel, degree in level.kernels if svms else ():
        svm = KernelSurvivalSVM(kernel=kernel, degree=degree, max_iter=200, random_state=seed)
        gammas = [None if gamma == "scale" else gamma for gamma in level.gammas]  # None is 1 / columns
        families.append(family(svm, alpha=level.costs, gamma=gammas))
    kind = CurveSurvivalForest if inputs.probabilities else RootSurvivalForest
    forest = kind(inputs.n_trees, n_jobs=1, random_state=seed)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    boosting = GradientBoostingSurvivalAnalysis(n_estimators=level.rounds, random_state=seed)
    depths = [max(1, size.bit_length() - 2) for size in level.sizes]
    families.append(family(boosting, learning_rate=level.rates, max_depth=depths))
    return cox, cross(NoRisk(), families, inputs)
