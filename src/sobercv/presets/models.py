"""Models that the spaces need and scikit-learn does not have in this form.

SVMs with a cap, forests that count in roots, gradient boosting in one thread. Takes what their scikit-learn parents
take; never warns where the cap is meant.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from threadpoolctl import ThreadpoolController

from ..containers import Array

#: libsvm can take hours where a kernel with huge values cannot separate the classes; no useful SVM needs as many steps.
SVM_STEPS = 500_000


class CappedSVC(SVC):  # type: ignore[misc]
    """scikit-learn's `SVC`, silent when it ends at `max_iter`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CappedSVC:
        """Fit, at most `max_iter` steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight)
        return self


class CappedSVR(SVR):  # type: ignore[misc]
    """scikit-learn's `SVR`, silent when it ends at `max_iter`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CappedSVR:
        """Fit, at most `max_iter` steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight)
        return self


def columns_to_try(X: Any, roots: float) -> int:
    """Turn a multiple of the square root of the number of columns into a number of columns."""
    p = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return int(np.clip(round(roots * np.sqrt(p)), 1, p))


class RootForestClassifier(RandomForestClassifier):  # type: ignore[misc]
    """A random forest whose splits look at `roots` times the square root of the number of columns that reach it.

    That number is known only after selection, so it cannot stand in a grid.

    Parameters
    ----------
    n_estimators : int, default=1000
    roots : float, default=1.0
    min_samples_leaf : int, default=1
    n_jobs : int, optional
    random_state : int, optional
    """

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        roots: float = 1.0,
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_estimators, min_samples_leaf=min_samples_leaf, n_jobs=n_jobs, random_state=random_state)
        self.roots = roots

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RootForestClassifier:
        """Grow the forest."""
        self.max_features = columns_to_try(X, self.roots)
        super().fit(X, y, sample_weight)
        return self


class RootForestRegressor(RandomForestRegressor):  # type: ignore[misc]
    """The same for numbers; see `RootForestClassifier`."""

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        roots: float = 1.0,
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_estimators, min_samples_leaf=min_samples_leaf, n_jobs=n_jobs, random_state=random_state)
        self.roots = roots

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RootForestRegressor:
        """Grow the forest."""
        self.max_features = columns_to_try(X, self.roots)
        super().fit(X, y, sample_weight)
        return self


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    return ThreadpoolController()  # looking at all libraries takes milliseconds, so once


class SerialBoostingClassifier(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn's histogram boosting in one thread.

    Searches run configurations side by side; threads that wait for each other inside every one of them make small
    tables a hundred times slower when the machine is busy.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SerialBoostingClassifier:
        """Grow the trees."""
        with _threads().limit(limits=1, user_api="openmp"):
            super().fit(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Give probabilities [N, K]."""
        with _threads().limit(limits=1, user_api="openmp"):
            return super().predict_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Give log-odds."""
        with _threads().limit(limits=1, user_api="openmp"):
            return super().decision_function(X)

    def predict(self, X: Any) -> Array:
        """Give labels."""
        with _threads().limit(limits=1, user_api="openmp"):
            return super().predict(X)


class SerialBoostingRegressor(HistGradientBoostingRegressor):  # type: ignore[misc]
    """The same for numbers; see `SerialBoostingClassifier`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SerialBoostingRegressor:
        """Grow the trees."""
        with _threads().limit(limits=1, user_api="openmp"):
            super().fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """Give numbers."""
        with _threads().limit(limits=1, user_api="openmp"):
            return super().predict(X)
