"""The search spaces of the presets: models with lists of values, crossed with selections of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from ..errors import needs
from ..feature_selection import SES
from ..targets import task_name
from . import sklearn_models as models
from .elastic import ElasticNetCox, ElasticNetLogistic, penalty_path
from .levels import Level

Grid = dict[str, list[Any]]
#: What depends on the task: baseline, linear model, class of elastic nets, other families, class of forests, boosting.
Parts = tuple[Any, Grid, Any, list[Grid], Any, Grid]


def search_space(
    level: Level, task: str, cleaned: Any, y: Any, *, seed: int, n_trees: int, probabilities: bool
) -> tuple[Any, list[Grid]]:
    """Return the default model and the grids; the cleaned table [N, P] is at hand for values that depend on the data.

    Families stand in one order for all tasks: a configuration's index is its place in it. `probabilities` tells whether
    every model must return them.
    """
    parts = _times if task == "survival" else _classes_or_numbers
    baseline, linear, net, others, forest, boosting = parts(level, task, cleaned.shape[0], seed, probabilities)
    families = [linear]
    for ratio in level.l1_ratios:
        path = penalty_path(cleaned, y, task, ratio)
        families.append(family(net(l1_ratio=ratio), alpha=[path[i] for i in level.penalties]))
    forest = forest(n_trees, n_jobs=1, random_state=seed)
    families += [*others, family(forest, min_samples_leaf=level.leaves, roots=level.roots), boosting]
    grids: list[Grid] = [{"model": [baseline], "select": ["passthrough"]}] if level.baseline else []
    for chosen in level.selections:
        step = "passthrough" if chosen is None else SES(*chosen, task=task_name(task), equivalences=False)
        # Selection before model: configurations that select alike then share the selected columns.
        grids += [{"select": [step], **grid} for grid in families if all(grid.values())]
    return linear["model"][0], grids


def family(model: Any, inside: str = "", **values: Sequence[Any]) -> Grid:
    """Make the grid of one kind of model, of parameters inside of a wrapped one; empty values leave it out."""
    return {"model": [model], **{f"model__{inside}{name}": list(value) for name, value in values.items()}}


def _classes_or_numbers(level: Level, task: str, n_rows: int, seed: int, probabilities: bool) -> Parts:
    svm: Any
    around: Any = None  # what each SVM is put in
    inside = ""
    rounds = {"max_iter": level.rounds, "early_stopping": False, "random_state": seed}
    if task == "regression":
        baseline, net, forest = DummyRegressor(), models.CappedElasticNet, models.RootForestRegressor
        # In proportion to the sample size, so that one value means the same for every table; a larger c fits closer.
        linear = family(Ridge(), alpha=[n_rows * 0.01 / c for c in level.ridge])
        svm, neighbours, boosting = models.CappedSVR, KNeighborsRegressor(), models.SerialBoostingRegressor(**rounds)
        # Costs and the width of the tube are in units of the target, so the target is scaled, inside the folds.
        around, inside = partial(TransformedTargetRegressor, transformer=StandardScaler()), "regressor__"
    else:
        baseline, net, forest = DummyClassifier(), ElasticNetLogistic, models.RootForestClassifier
        linear = family(LogisticRegression(max_iter=10_000), C=level.ridge)
        svm, neighbours, boosting = models.CappedSVC, KNeighborsClassifier(), models.SerialBoostingClassifier(**rounds)
        if probabilities:
            around, inside = partial(CalibratedClassifierCV, cv=3, ensemble=False), "estimator__"
    others = []
    for kernel, degree in (("linear", 3), *level.kernels):
        model = svm(kernel=kernel, degree=degree, max_iter=models.SVM_STEPS)
        values = {"C": level.linear} if kernel == "linear" else {"C": level.costs, "gamma": level.gammas}
        others.append(family(around(model) if around else model, inside, **values))
    if level.bayes and task != "regression":
        others.append(family(GaussianNB()))
    most = max(1, n_rows // 3)  # leaves most of a small table out
    others.append(family(neighbours, n_neighbors=sorted({min(k, most) for k in level.neighbours})))
    boosted = family(boosting, learning_rate=level.rates, max_leaf_nodes=level.sizes)
    return baseline, linear, net, others, forest, boosted


def _times(level: Level, task: str, n_rows: int, seed: int, probabilities: bool) -> Parts:
    with needs("Survival presets need scikit-survival", "'sobercv[survival]'"):
        from sksurv.ensemble import GradientBoostingSurvivalAnalysis

        from . import sksurv_models
    # The mean counts in the penalty, so that it means the same for all sample sizes.
    linear = family(ElasticNetCox(l1_ratio=0.001), alpha=[0.01 / c for c in level.ridge])
    svms = []
    if not probabilities:  # they rank, and know no probability
        svm = sksurv_models.LinearSurvivalSVM(max_iter=200, random_state=seed)
        svms.append(family(svm, alpha=level.linear))
        gammas = [None if gamma == "scale" else gamma for gamma in level.gammas]  # None is 1 / columns
        for kernel, degree in level.kernels:
            svm = sksurv_models.KernelSurvivalSVM(kernel=kernel, degree=degree, max_iter=200, random_state=seed)
            svms.append(family(svm, alpha=level.costs, gamma=gammas))
    forest = sksurv_models.CurveSurvivalForest if probabilities else sksurv_models.RootSurvivalForest
    boosting = GradientBoostingSurvivalAnalysis(n_estimators=level.rounds, random_state=seed)
    depths = [max(1, size.bit_length() - 2) for size in level.sizes]
    boosted = family(boosting, learning_rate=level.rates, max_depth=depths)
    return sksurv_models.NoRisk(), linear, ElasticNetCox, svms, forest, boosted
