"""scikit-survival's models in the form that the spaces need, imported only where survival is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data
from sksurv.ensemble import RandomSurvivalForest
from sksurv.svm import FastKernelSurvivalSVM, FastSurvivalSVM

from ..targets import survival_of
from .elastic import Breslow, ElasticNetCox
from .sklearn_models import RootForest, silent_at_cap


class NoRisk(ElasticNetCox):
    """The baseline: the same risk for every row, as of a net whose penalty leaves nothing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NoRisk:
        """Learn when events happen, and nothing of whom."""
        self.coef_ = np.zeros(validate_data(self, X).shape[1])
        records = survival_of(y)
        weight = np.ones(len(records)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.baseline_ = Breslow(np.zeros(len(records)), records["event"], records["time"], weight)
        return self


class LinearSurvivalSVM(FastSurvivalSVM):  # type: ignore[misc]
    """scikit-survival's linear SVM, silent when it ends at `max_iter`."""

    fit = silent_at_cap()(FastSurvivalSVM.fit)


class KernelSurvivalSVM(FastKernelSurvivalSVM):  # type: ignore[misc]
    """scikit-survival's kernel SVM, silent when it ends at `max_iter`."""

    fit = silent_at_cap()(FastKernelSurvivalSVM.fit)


class RootSurvivalForest(RootForest, RandomSurvivalForest):  # type: ignore[misc]
    """The forest of `RootForest` for survival times."""

    _low_memory = True  # else every leaf keeps a whole survival curve, of which only the risk is asked

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the forest."""
        self.min_samples_split = max(2, 2 * self.min_samples_leaf)
        self.low_memory = self._low_memory
        return super().fit(X, y, sample_weight)


class CurveSurvivalForest(RootSurvivalForest):
    """The same forest where survival probabilities are asked for."""

    _low_memory = False
