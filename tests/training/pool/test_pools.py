import threading
import time
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from sobercv.training import make_pool
from sobercv.training.pool.base import SerialPool, ThreadPool
from sobercv.training.pool.processes import ProcessPool

from ..training_estimators import PROBABILITIES, Troubled, search

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
PIPE = Pipeline(
    [("scale", StandardScaler()), ("pca", PCA(5)), ("model", LogisticRegression(solver="liblinear", tol=0.1))]
)
GRID = {"scale": [StandardScaler(), "passthrough"], "pca__n_components": [2, 10, 25], "model__C": [0.01, 0.1, 1, 10]}


@pytest.fixture(scope="module")
def serial():
    return search(PIPE, GRID, X, Y, wanted=PROBABILITIES)[0].predictions()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_outcomes_do_not_depend_on_the_executor(serial, backend):
    with joblib.parallel_config(backend, n_jobs=2):
        store, log, _ = search(PIPE, GRID, X, Y, wanted=PROBABILITIES)
    assert log.n_fits == 72
    np.testing.assert_array_equal(store.predictions().responses["predict_proba"], serial.responses["predict_proba"])


def test_races_do_not_depend_on_the_executor():
    class Decision:
        def __init__(self, predictions):
            level = predictions.responses["predict"].mean(axis=(0, 2))
            self.keep = level >= np.median(level)
            self.p = level

    def run(n_jobs):
        rule = lambda predictions, index: Decision(predictions)  # noqa: E731
        store, log, _ = search(Ridge(), {"alpha": np.logspace(-3, 3, 20)}, X, Y, n_jobs=n_jobs, rule=rule)
        return store.predictions(log.finishers), log

    one, two = run(1), run(2)
    np.testing.assert_array_equal(one[0].responses["predict"], two[0].responses["predict"])
    for name in ("status", "dropped_at", "p", "alive_by_round"):
        np.testing.assert_array_equal(getattr(one[1], name), getattr(two[1], name))
    assert one[1].n_fits == two[1].n_fits < 60


def test_failures_come_back_from_workers():
    grid = {"trouble": ["none", "raise", "length", "predict"]}
    stores = [search(Troubled(), grid, X, Y, n_jobs=n_jobs)[0] for n_jobs in (1, 2)]
    assert stores[0].failures == stores[1].failures
    assert sorted(stores[0].failures) == [1, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_can_be_let_out(n_jobs):
    with pytest.raises(RuntimeError, match="no luck"):
        search(Troubled(), {"trouble": ["none", "raise"]}, X, Y, n_jobs=n_jobs, raise_errors=True)


def test_one_job_is_serial_unless_a_context_says_more():
    assert isinstance(make_pool(), SerialPool)
    assert isinstance(make_pool(1), SerialPool)
    assert isinstance(make_pool(1, is_limited=True), ProcessPool)
    assert isinstance(make_pool(2), ProcessPool)
    with joblib.parallel_config("threading", n_jobs=2):
        assert isinstance(make_pool(), ThreadPool)
        assert isinstance(make_pool(1), SerialPool)


class Witness(Troubled):
    """Notes where it was fitted."""

    seen = set()  # noqa: RUF012

    def fit(self, X, y):
        blas = max((lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"), default=1)
        Witness.seen.add(
            (threading.current_thread() is threading.main_thread(), blas, sklearn.get_config()["assume_finite"])
        )
        return super().fit(X, y)


def test_serial_fits_here_with_one_blas_thread():
    Witness.seen.clear()
    before = threadpool_info()
    search(Witness(), {"size": [1, 2]}, X, Y)
    assert Witness.seen == {(True, 1, False)}
    assert [lib["num_threads"] for lib in threadpool_info()] == [lib["num_threads"] for lib in before]


def test_searches_in_threads_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        # The second starts while the first runs, and ends after it.
        first, second = SerialPool().opened(None, 1), SerialPool().opened(None, 1)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {1}
        second.__exit__(None, None, None)
        assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {2}


def test_threads_receive_the_configuration_of_scikit_learn():
    Witness.seen.clear()
    with joblib.parallel_config("threading", n_jobs=2), sklearn.config_context(assume_finite=True):
        search(Witness(), {"size": list(range(8))}, X, Y)
    assert Witness.seen == {(False, 1, True)}


def test_very_many_small_tasks():
    small, y = X[:60], Y[:60]
    stores = [search(Troubled(), {"size": [1, 2]}, small, y, cv=LeaveOneOut(), n_jobs=n)[0] for n in (1, 2)]
    one, two = (store.predictions() for store in stores)
    np.testing.assert_array_equal(one.responses["predict"], two.responses["predict"])
    assert stores[1].done.all()


class Quiet(Troubled):
    """Changes the filters of warnings while it fits, as many estimators do."""

    def fit(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            time.sleep(0.005 * (self.size % 3))
            return super().fit(X, y)


def test_fits_in_threads_leave_warnings_as_they_were():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        with joblib.parallel_config("threading", n_jobs=4):
            search(Quiet(), {"size": list(range(12))}, X, Y)
        assert warnings.filters == before
