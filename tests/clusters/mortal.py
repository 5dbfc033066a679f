"""A classifier that can take its worker process with it, and the searches that all clusters run."""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sobercv
from sobercv.training import make_pool
from sobercv.training.pool.base import SerialPool

from ..training import test_fit_queue

X, Y = (a[::3] for a in load_breast_cancer(return_X_y=True))


class Mortal(ClassifierMixin, BaseEstimator):
    """Predicts by one column.

    Parameters
    ----------
    column : int
    spared : int or None
        Every process but this one is killed by a fit.
    once : str
        The process is killed by the first fit that finds no file of this name.
    seconds : float
        How long a fit takes.
    """

    def __init__(self, column=0, spared=None, once="", seconds=0.0):
        self.column = column
        self.spared = spared
        self.once = once
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        if self.spared not in (None, os.getpid()):
            os.kill(os.getpid(), 9)
        if self.once and not Path(self.once).exists():
            Path(self.once).touch()
            os.kill(os.getpid(), 9)
        self.classes_ = np.unique(y)
        self.middle_ = np.median(X[:, self.column])
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] < self.middle_).astype(int)]


def pipeline_search(**options):
    """A search with shared prefixes, dropping and probabilities."""
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(solver="liblinear"))
    grid = {"standardscaler__with_mean": [True, False], "logisticregression__C": [1e-6, 1e-3, 0.1, 1, 10]}
    return sobercv.BBCSearchCV(pipeline, grid, scoring="roc_auc", cv=5, n_bootstraps=200, **options).fit(X, Y)


def mortal_search(marked=None, **options):
    """A search over columns; `marked` are parameters of configuration 3."""
    grid = [{"column": [c], **({k: [v] for k, v in marked.items()} if marked and c == 3 else {})} for c in range(10)]
    shared = {"scoring": "accuracy", "cv": 4, "drop": None, "n_bootstraps": 200}
    return sobercv.BBCSearchCV(Mortal(), grid, **{**shared, **options}).fit(X, Y)


def speculative_race(kind, monkeypatch, folder):
    """A race whose slow fits wait for a fit of the second round: the same as here. Whether fits were speculative."""
    speculative, submit = [], kind.submit

    def submitted(self, key, batch, is_speculative=False):
        speculative.append(is_speculative)
        submit(self, key, batch, is_speculative)

    monkeypatch.setattr(kind, "submit", submitted)
    raced = test_fit_queue.run(make_pool(), folder=folder, wait_for=4)
    assert speculative  # it is this pool that ran them
    test_fit_queue.same(test_fit_queue.run(SerialPool()), raced)
    return any(speculative)


def parts(found):
    """All that must be equal to the last bit."""
    return (
        found.estimate_.value, found.estimate_.interval, found.estimate_.draws.tolist(), found.best_index_,
        found.race_.status.tolist(), found.race_.dropped_at.tolist(),
        {name: values.tobytes() for name, values in found.predictions_.responses.items()},
    )  # fmt: skip
