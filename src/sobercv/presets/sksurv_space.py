"""Models of scikit-survival, for survival times.

Takes what a space is made from, gives a default model and a list of grids; never fits.
"""

from __future__ import annotations

from typing import Any

from ..errors import SoberError
from .elastic import ElasticNetCox
from .grids import Grid, SpaceInputs, cross, family


def space_of_times(inputs: SpaceInputs) -> tuple[Any, list[Grid]]:
    """Give the default model and the grids for survival times.

    Parameters
    ----------
    inputs : SpaceInputs
    """
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
    if inputs.is_sparse:
        raise SoberError("E405", "Presets for survival need dense tables; got a sparse matrix. Write X.toarray().")
    level, seed, jobs = inputs.level, inputs.seed, inputs.n_jobs
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
    forest = kind(inputs.n_trees, n_jobs=jobs, random_state=seed)
    families.append(family(forest, min_samples_leaf=level.leaves, roots=level.roots))
    boosting = GradientBoostingSurvivalAnalysis(n_estimators=level.rounds, random_state=seed)
    depths = [max(1, size.bit_length() - 2) for size in level.sizes]
    families.append(family(boosting, learning_rate=level.rates, max_depth=depths))
    return cox, cross(NoRisk(), families, inputs)
