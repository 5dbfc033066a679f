"""Models that the spaces need and scikit-learn does not have in this form.

SVMs and elastic nets with a cap on iterations, silent when they reach it; forests that count in roots; gradient
boosting in one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet
from sklearn.svm import SVC, SVR

from ..threads import one_openmp_thread

#: libsvm can take hours where a kernel with huge values cannot separate the classes; no useful SVM needs as many steps.
SVM_STEPS = 500_000


@contextmanager
def silent_at_cap() -> Iterator[None]:
    """Say nothing where a fit ends at `max_iter`."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        yield


class OneScale(BaseEstimator):  # type: ignore[misc]
    """An SVM that fits polynomial kernels without a constant at gamma = 1, whatever their gamma is.

    Such a kernel is gamma^degree times that of gamma = 1, and to multiply a kernel is to multiply the cost: `C` and
    `gamma` matter only as `C gamma^degree`. So of the paper's 50 pairs of both, 30 are different models. Stands before
    the SVM among the parents.
    """

    def settled_params(self, X: Any) -> dict[str, Any]:
        """Return the parameters that matter, as fitted: equal for pairs of cost and gamma that are one model."""
        params: dict[str, Any] = self.get_params()
        gamma = params["gamma"]
        if params["kernel"] == "poly" and params["coef0"] == 0 and isinstance(gamma, (int, float)) and gamma > 0:
            # Twelve digits: 100 * 0.1^2 and 1 * 1^2 differ in the last bit.
            params |= {"C": float(f"{params['C'] * gamma ** params['degree']:.12g}"), "gamma": 1.0}
        if params.get("probability") is not True:
            params.pop("random_state", None)  # only the folds behind probabilities are drawn
        return params

    @silent_at_cap()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit at one scale; the parameters stay as they were given."""
        given, settled = {"C": self.C, "gamma": self.gamma}, self.settled_params(X)
        self.set_params(C=settled["C"], gamma=settled["gamma"])
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.set_params(**given)


class CappedSVC(OneScale, SVC):  # type: ignore[misc]
    """scikit-learn's `SVC`, silent when it ends at `max_iter`, equal for equal kernels."""


class CappedSVR(OneScale, SVR):  # type: ignore[misc]
    """scikit-learn's `SVR`, silent when it ends at `max_iter`, equal for equal kernels."""


class CappedElasticNet(ElasticNet):  # type: ignore[misc]
    """scikit-learn's `ElasticNet`, silent where the small penalties of a path end at `max_iter`."""

    fit = silent_at_cap()(ElasticNet.fit)


class RootForest(BaseEstimator):  # type: ignore[misc]
    """A random forest whose splits look at `roots` times the square root of the number of columns that reach it.

    That number is known only after selection, so it cannot stand in a grid. Stands before the forest among the parents.
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

    def settled_params(self, X: Any) -> dict[str, Any]:
        """Return the parameters with `roots` replaced by a number of columns: of few columns, several roots are one."""
        params: dict[str, Any] = self.get_params()
        n_columns = np.shape(X)[1]
        tried = int(np.clip(round(params.pop("roots") * np.sqrt(n_columns)), 1, n_columns))
        return {**params, "max_features": tried}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the forest."""
        self.max_features = self.settled_params(X)["max_features"]
        return super().fit(X, y, sample_weight)


class RootForestClassifier(RootForest, ensemble.RandomForestClassifier):  # type: ignore[misc]
    """The forest of `RootForest` for classes."""

    def plain_forest(self, X: Any) -> ensemble.RandomForestClassifier:
        """Return the forest that this one is on these rows: those of scikit-learn are grown faster."""
        return ensemble.RandomForestClassifier(**self.settled_params(X))


class RootForestRegressor(RootForest, ensemble.RandomForestRegressor):  # type: ignore[misc]
    """The forest of `RootForest` for numbers."""


class SerialBoostingClassifier(ensemble.HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn's histogram boosting for classes, in one thread."""

    fit = one_openmp_thread()(ensemble.HistGradientBoostingClassifier.fit)
    predict = one_openmp_thread()(ensemble.HistGradientBoostingClassifier.predict)
    predict_proba = one_openmp_thread()(ensemble.HistGradientBoostingClassifier.predict_proba)
    decision_function = one_openmp_thread()(ensemble.HistGradientBoostingClassifier.decision_function)


class SerialBoostingRegressor(ensemble.HistGradientBoostingRegressor):  # type: ignore[misc]
    """scikit-learn's histogram boosting for numbers, in one thread."""

    fit = one_openmp_thread()(ensemble.HistGradientBoostingRegressor.fit)
    predict = one_openmp_thread()(ensemble.HistGradientBoostingRegressor.predict)
