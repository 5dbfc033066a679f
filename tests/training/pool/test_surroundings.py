"""A fit elsewhere does what it would have done here: filters, scikit-learn's settings and numpy's travel with it."""

import warnings

import joblib
import numpy as np
import pytest
import threadpoolctl
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import sobercv
from sobercv.errors import SoberError

X, Y = load_breast_cancer(return_X_y=True)


def failures(n_jobs, estimator, grid, **options):
    """Return who failed and why, or the code of the error."""
    found = sobercv.BBCSearchCV(estimator, grid, scoring="accuracy", cv=3, n_jobs=n_jobs, n_bootstraps=20, **options)
    try:
        found.fit(X, Y)
    except SoberError as error:
        return error.code
    return {index: (failure.kind, failure.error) for index, failure in found.race_.failures.items()}


@pytest.fixture(params=[1, 2, "threads"])
def jobs(request):
    if request.param == "threads":
        with joblib.parallel_config("threading", n_jobs=2):
            yield None
    else:
        yield request.param


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_warnings_that_are_errors_fail_everywhere(jobs):
    assert failures(jobs, LogisticRegression(), {"max_iter": [2, 3]}) == "E315"


def test_ignored_warnings_are_ignored_everywhere(jobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of libraries, in this process
        assert failures(jobs, LogisticRegression(), {"max_iter": [2, 3]}) == {}


class Divider(ClassifierMixin, BaseEstimator):
    """Fails where numpy raises for floating-point errors, and where scikit-learn assumes finite data."""

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        from sklearn import get_config

        np.ones(2) / np.zeros(2)
        if get_config()["assume_finite"]:
            raise LookupError
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


@pytest.mark.filterwarnings("ignore")
def test_other_settings_travel_too(jobs):
    grid = {"k": [1, 2]}
    assert failures(jobs, Divider(), grid) == {}
    with np.errstate(divide="raise"):
        assert failures(jobs, Divider(), grid) == "E315"
    with config_context(assume_finite=True):
        assert failures(jobs, Divider(), grid) == "E315"


def test_a_search_that_cannot_start_gives_blas_its_threads_back():
    threads = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
    search = sobercv.BBCSearchCV(LogisticRegression(), {"C": [1, 2]}, scoring="accuracy", cv=3, fit_timeout=5)
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(SoberError) as error:
        search.fit(X, Y)
    assert error.value.code == "E114"  # and its traceback is still held
    assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == threads
