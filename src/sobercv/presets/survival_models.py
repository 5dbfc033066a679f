"""scikit-survival's models in the form that the spaces need. Imported only where survival is asked for.

Takes what their parents take; never warns where a cap on iterations is meant.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from sksurv.ensemble import RandomSurvivalForest
from sksurv.svm import FastKernelSurvivalSVM, FastSurvivalSVM

from ..containers import Array
from .models import columns_to_try


class NoRisk(BaseEstimator):  # type: ignore[misc]
    """The baseline: the same risk for everybody."""

    def fit(self, X: Any, y: Any) -> NoRisk:
        """Learn nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Array:
        """Give zeros."""
        check_is_fitted(self)
        return np.zeros(X.shape[0])


class LinearSurvivalSVM(FastSurvivalSVM):  # type: ignore[misc]
    """scikit-survival's linear SVM, silent when it ends at `max_iter`."""

    def fit(self, X: Any, y: Any) -> LinearSurvivalSVM:
        """Fit, at most `max_iter` steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y)
        return self


class KernelSurvivalSVM(FastKernelSurvivalSVM):  # type: ignore[misc]
    """scikit-survival's kernel SVM, silent when it ends at `max_iter`."""

    def fit(self, X: Any, y: Any) -> KernelSurvivalSVM:
        """Fit, at most `max_iter` steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y)
        return self


class RootSurvivalForest(RandomSurvivalForest):  # type: ignore[misc]
    """A survival forest whose splits look at `roots` times the square root of the number of columns that reach it.

    Parameters
    ----------
    n_estimators : int, default=1000
    roots : float, default=1.0
    min_samples_leaf : int, default=3
    n_jobs : int, optional
    random_state : int, optional
    """

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        roots: float = 1.0,
        min_samples_leaf: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        # Without low_memory every leaf keeps a whole survival curve, of which only the risk is asked here.
        super().__init__(
            n_estimators,
            min_samples_split=max(2, 2 * min_samples_leaf),
            min_samples_leaf=min_samples_leaf,
            n_jobs=n_jobs,
            random_state=random_state,
            low_memory=True,
        )
        self.roots = roots

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RootSurvivalForest:
        """Grow the forest."""
        self.max_features = columns_to_try(X, self.roots)
        self.min_samples_split = max(2, 2 * self.min_samples_leaf)
        super().fit(X, y, sample_weight)
        return self
