"""BBCSearchCV against GridSearchCV: what a fit costs beyond the estimator, what shared first steps save, and memory."""

from __future__ import annotations

import subprocess
import sys
import time
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

from .report import Table, number, of_all_processes, race, ratio

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


def run(quick: bool = False) -> list[Table]:
    return [_overhead(quick), _prefixes(quick)]


def _overhead(quick: bool) -> Table:
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
        each = [number(1e6 * seconds / n_fits) for seconds in taken.values()]
        rows.append([f"n_jobs={n_jobs}", *each, *(ratio(taken[drop] / base) for drop in list(searches)[1:])])
    heads = ["workers", "GridSearchCV, us", "drop=None, us", "drop='auto', us", "None/Grid", "auto/Grid"]
    return [heads, *rows]


def _prefixes(quick: bool) -> Table:
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
    return [["workers", "GridSearchCV, s", "BBCSearchCV, s", "Grid/BBC"], *rows]


# ---- memory ----
_SEARCH = """
import sys
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Mean(ClassifierMixin, BaseEstimator):
    def __init__(self, k=0):
        self.k = k
    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), X[:, self.k].mean()
        return self
    def predict(self, X):
        return self.classes_[(X[:, self.k] > self.mean_).astype(int)]

n = int(sys.argv[2])
X, y = np.random.default_rng(0).normal(size=(n, 500)), np.arange(n) % 2
options = {"scoring": "accuracy", "cv": 3, "n_jobs": 2, "refit": False}
if sys.argv[1] == "sober":
    import sobercv
    sobercv.BBCSearchCV(Mean(), {"k": list(range(6))}, drop=None, n_bootstraps=20, **options).fit(X, y)
else:
    from sklearn.model_selection import GridSearchCV
    GridSearchCV(Mean(), {"k": list(range(6))}, **options).fit(X, y)
"""


def memory(quick: bool = False) -> list[Table]:
    """On 1 GB of data with two jobs beside GridSearchCV: all processes together, at their peak."""
    n = 25_000 if quick else 250_000
    peaks = {name: _peak(name, n) for name in ("GridSearchCV", "sober")}
    rows = [[name, number(peak), number(peak / (n * 500 * 8 / 1e9))] for name, peak in peaks.items()]
    return [[["6 configurations, 3 folds", "peak, GB", "copies of the data"], *rows]]


def _peak(name: str, n: int) -> float:
    """Run a search in a process of its own; return the most memory that all its processes had together, in GB."""
    with subprocess.Popen([sys.executable, "-c", _SEARCH, name, str(n)]) as program:
        peak = 0.0
        while program.poll() is None:
            peak = max(peak, of_all_processes(lambda process: process.memory_full_info().pss / 1e9, program.pid))
            time.sleep(0.05)
    assert program.returncode == 0
    return peak
