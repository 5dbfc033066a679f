"""Models for numbers.

Takes a request, gives a default model and a list of grids; never fits.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from .elastic import QuietElasticNet
from .models import SVM_STEPS, CappedSVR, RootForestRegressor, SerialBoostingRegressor
from .spaces import Grid, Request, cross, family


def space(request: Request) -> tuple[Any, list[Grid]]:
    """Give the default model and the grids for numbers.

    Parameters
    ----------
    request : Request
    """
    level, seed, jobs = request.level, request.seed, request.n_jobs
    n = request.cleaned.shape[0]
    ridge = Ridge()
    # In proportion to the sample size, so that one value means the same for every table; a larger c fits closer.
    families = [family(ridge, alpha=[n * 0.01 / c for c in level.ridge])]
    for ratio in level.l1_ratios:
        families.append(family(QuietElasticNet(l1_ratio=ratio), alpha=request.penalties(ratio)))
    families += _svms(request)
    families.append(family(KNeighborsRegressor(), n_neighbors=request.neighbours()))
    forest = RootForestRegressor(request.n_trees, n_jobs=jobs, random_state=seed)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    if request.is_sparse:  # scikit-learn's histograms need dense rows
        extra = ExtraTreesRegressor(request.n_trees, n_jobs=jobs, random_state=seed)
        families.append(family(extra, min_samples_leaf=level.sizes, max_features=level.rates))
    else:
        boosting = SerialBoostingRegressor(max_iter=level.rounds, early_stopping=False, random_state=seed)
        families.append(family(boosting, learning_rate=level.rates, max_leaf_nodes=level.sizes))
    return ridge, cross(DummyRegressor(), families, request)


def _svms(request: Request) -> list[Grid]:
    level, grids = request.level, []
    grids.append(_svm(CappedSVR(kernel="linear", max_iter=SVM_STEPS), C=level.linear))
    for kernel, degree in level.kernels:
        svm = CappedSVR(kernel=kernel, degree=degree, max_iter=SVM_STEPS)
        grids.append(_svm(svm, C=level.costs, gamma=level.gammas))
    return grids


def _svm(svm: CappedSVR, **values: Any) -> Grid:
    # Costs and the width of the tube are in units of the target, so the target is scaled, inside the folds.
    scaled = TransformedTargetRegressor(svm, transformer=StandardScaler())
    return family(scaled, inside="regressor__", **values)
