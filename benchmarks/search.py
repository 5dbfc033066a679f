"""BBCSearchCV against GridSearchCV: what a fit costs beyond the estimator, and what shared first steps save."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

import sobercv

from .report import Section, number, race, ratio

FOLDS = 5


class Nothing(ClassifierMixin, BaseEstimator):
    """Costs nothing: always says 0."""

    def __init__(self, a=0):
        self.a = a

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def run(quick: bool = False) -> list[Section]:
    return [_overhead(quick), _prefixes(quick)]


def _overhead(quick: bool) -> Section:
    """Many fits of an estimator that costs nothing: what is left is the search itself."""
    X, y = make_classification(200, 10, random_state=0)
    grid = {"a": list(range(100 if quick else 400))}
    n_fits = FOLDS * len(grid["a"]) + 1
    rows = []
    for n_jobs in (1, 2):
        options = {"cv": FOLDS, "scoring": "accuracy", "n_jobs": n_jobs}
        searches = {
            "GridSearchCV": GridSearchCV(Nothing(), grid, **options),
            "drop=None": sobercv.BBCSearchCV(Nothing(), grid, drop=None, **options),
            "drop='auto'": sobercv.BBCSearchCV(Nothing(), grid, **options),
        }
        for search in searches.values():
            search.set_params(param_grid={"a": [0, 1]}).fit(X, y)  # starts workers, loads kernels
            search.set_params(param_grid=grid)
        taken = race({name: partial(s.fit, X, y) for name, s in searches.items()}, 2 if quick else 5, 60.0)
        base = taken["GridSearchCV"]
        rows.append(
            [f"n_jobs={n_jobs}"]
            + [number(1e6 * seconds / n_fits) for seconds in taken.values()]
            + [ratio(taken["drop=None"] / base), ratio(taken["drop='auto'"] / base)]
        )
    return Section(
        f"Search: overhead of a fit ({n_fits:,} fits)",
        ["workers", "GridSearchCV, us", "drop=None, us", "drop='auto', us", "None/Grid", "auto/Grid"],
        rows,
        [
            "Seconds of the whole `fit`, final model included, divided by the number of fits; for BBCSearchCV that "
            "includes the bootstrap of 1,000 resamples and `cv_results_`. All configurations predict the same, so that "
            "dropping has nothing to drop and only costs its tests. Workers were started before."
        ],
    )


def _prefixes(quick: bool) -> Section:
    """Five expensive first steps by forty cheap models."""
    X, y = make_classification(300, 20, random_state=0)
    choose = SelectKBest(partial(mutual_info_classif, random_state=0))
    pipeline = Pipeline([("choose", choose), ("model", GaussianNB())])
    grid = {"choose__k": [2, 4, 8, 12, 16], "model__var_smoothing": np.logspace(-12, 0, 40).tolist()}
    rows = []
    for n_jobs in (1,) if quick else (1, 2):
        options: dict[str, Any] = {"cv": 3, "scoring": "roc_auc", "n_jobs": n_jobs, "refit": False}
        searches = {
            "GridSearchCV": GridSearchCV(pipeline, grid, **options),
            "BBCSearchCV": sobercv.BBCSearchCV(pipeline, grid, drop=None, **options),
        }
        searches["BBCSearchCV"].set_params(param_grid={"choose__k": [2, 4]}).fit(X, y)
        searches["BBCSearchCV"].set_params(param_grid=grid)
        taken = race({name: partial(s.fit, X, y) for name, s in searches.items()}, 2, 10.0)
        faster = taken["GridSearchCV"] / taken["BBCSearchCV"]
        rows.append([f"n_jobs={n_jobs}", *(number(seconds) for seconds in taken.values()), ratio(faster)])
    return Section(
        "Search: 5 expensive first steps by 40 cheap models",
        ["workers", "GridSearchCV, s", "BBCSearchCV, s", "Grid/BBC"],
        rows,
        ["Mutual information chooses columns, naive Bayes classifies; 3 folds, none dropped, the same predictions."],
    )
