"""The winner at work: what a fitted search predicts, transforms and scores.

Takes new data, delegates to the model of the winner; never tunes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..containers import Array
from ..metrics import Metric
from ..predictions import Predictions
from ..training import Problem
from ..training.fit.response import responses_of


def _best_has(name: str) -> Callable[[Any], bool]:
    """Whether the fitted winner (or, before fitting, the estimator) has a method."""

    def check(self: WinnerMixin) -> bool:
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self.estimator, name)
        return True

    return check


class WinnerMixin:
    """Methods of a fitted search that belong to its winner."""

    estimator: Any
    refit: Any
    scorer_: Any
    multimetric_: bool
    predictions_: Predictions
    best_estimator_: Any

    def _best(self) -> Any:
        if not self.refit:
            raise AttributeError(
                f"This {type(self).__name__} has refit=False, so there is no model of the winner. Use refit=True, or "
                "train best_params_ yourself."
            )
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the winner, trained on all data."""
        return self._best().predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the winner."""
        return self._best().predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities of the winner."""
        return self._best().predict_log_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision values of the winner."""
        return self._best().decision_function(X)

    @available_if(_best_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Scores of samples by the winner."""
        return self._best().score_samples(X)

    @available_if(_best_has("transform"))
    def transform(self, X: Any) -> Any:
        """Transform with the winner."""
        return self._best().transform(X)

    @available_if(_best_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Transform back with the winner."""
        return self._best().inverse_transform(X)

    @available_if(_best_has("predict_survival_function"))
    def predict_survival_function(self, X: Any, **options: Any) -> Any:
        """Survival functions by the winner (scikit-survival)."""
        return self._best().predict_survival_function(X, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the winner on new data, with the metric that selected it."""
        best = self._best()
        metric: Metric = next(iter(self.scorer_.values())) if self.multimetric_ else self.scorer_
        problem = Problem.build(X, y, task=self.predictions_.task, sample_weight=sample_weight)
        target = self.predictions_.target.read_new(y)
        n = len(target)
        answers = responses_of(replace(problem, target=target), best, X, n, (metric.responses,))
        table = Predictions(
            target=target,
            responses={name: values[:, None, None] for name, values in answers.items()},
            seen=np.ones((n, 1), bool),
            fold_of=np.zeros((n, 1), np.int64),
            sample_weight=problem.sample_weight,
        )
        return float(metric.scores(table, np.ones((1, n), np.uint8), n_jobs=1)[0, 0])

    @property
    def classes_(self) -> Array:
        """Class labels of the winner; only for classifiers."""
        return np.asarray(self._best().classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        try:
            check_is_fitted(self, "best_estimator_")
        except Exception as problem:
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before it is fitted.") from problem
        return int(self.best_estimator_.n_features_in_)
