"""The winner at work: what a fitted search predicts, transforms and scores.

Takes new data, delegates to the model of the winner; never tunes.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..containers import Array
from ..errors import Note, also
from ..inference import Question
from .metadata import routed_score
from .scoring import ModelScorer, as_given, several


def _best_has(name: str) -> Callable[[Any], bool]:
    """Whether the fitted winner (or, before fitting, the estimator) has a method."""

    def check(self: WinnerMixin) -> bool:
        _check_refit(self, name)
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self.estimator, name)
        return True

    return check


def _check_refit(search: Any, name: str) -> None:
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {name} is available only "
            "after refitting on the best parameters: use refit=True, or train best_params_ yourself."
        )


def chosen_by(refit: Callable[[dict[str, Any]], Any], results: dict[str, Any]) -> tuple[int, Note]:
    """Ask a user's callable which configuration to train; give its index, and a note for the estimate.

    Parameters
    ----------
    refit : callable
        (cv_results_) -> index.
    results : dict of arrays
    """
    index, n = refit(results), len(results["params"])
    if not isinstance(index, Integral):
        raise also(TypeError)(
            "E108", f"`refit` must give a whole number; the best_index_ returned is not an integer, but {index!r}."
        )
    if not 0 <= int(index) < n:
        raise also(IndexError)(
            "E108", f"`refit` gave {index}; a best_index_ index out of range: there are {n} configurations, from 0."
        )
    return int(index), Note(
        "W212",
        "`refit` picked the configuration that was trained. The bootstrap re-runs `select` only, so this estimate is "
        "of the configuration that `select` picks; write the rule as select= to have it judged.",
    )


class WinnerMixin:
    """Methods of a fitted search that belong to its winner."""

    estimator: Any
    refit: Any
    scoring: Any
    scorer_: Any
    multimetric_: bool
    question_: Question
    best_estimator_: Any

    def _best(self, name: str) -> Any:
        _check_refit(self, name)
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the winner, trained on all data."""
        return self._best("predict").predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the winner."""
        return self._best("predict_proba").predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities of the winner."""
        return self._best("predict_log_proba").predict_log_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision values of the winner."""
        return self._best("decision_function").decision_function(X)

    @available_if(_best_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Scores of samples by the winner."""
        return self._best("score_samples").score_samples(X)

    @available_if(_best_has("transform"))
    def transform(self, X: Any) -> Any:
        """Transform with the winner."""
        return self._best("transform").transform(X)

    @available_if(_best_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Transform back with the winner."""
        return self._best("inverse_transform").inverse_transform(X)

    @available_if(_best_has("predict_survival_function"))
    def predict_survival_function(self, X: Any, **options: Any) -> Any:
        """Survival functions by the winner (scikit-survival)."""
        return self._best("predict_survival_function").predict_survival_function(X, **options)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the winner on new data, with the metric or the scorer that selected it.

        Parameters
        ----------
        X, y : array-like
        **params
            `sample_weight`; where metadata routing is enabled, whatever the scorer asked for.
        """
        best, first, place = self._best("score"), self.question_.first.name, 0
        if several(self.scoring):
            place = list(as_given(self.scoring, self.scorer_, self.question_.first.task)).index(first)
        scorer = self.scorer_[first] if isinstance(self.scorer_, dict) else self.scorer_
        given = routed_score(self, place, params)
        if isinstance(scorer, ModelScorer):
            return scorer.by_name(best, X, y, **given)[first]
        return float(scorer(best, X, y, **given))

    @property
    def classes_(self) -> Array:
        """Class labels of the winner; only for classifiers."""
        return np.asarray(self._best("classes_").classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        try:
            check_is_fitted(self, "best_estimator_")
        except Exception as problem:
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before it is fitted.") from problem
        return int(self.best_estimator_.n_features_in_)
