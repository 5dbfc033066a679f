"""`cv_results_`: ranks by table, times that add up, columns of parameters."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import sobercv
from sobercv.search.results import ranks

from ..training.training_estimators import Counting

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
NAN = np.nan


def log(status, dropped_at=None):
    names = {"f": "finished", "d": "dropped", "x": "failed"}
    status = np.array([names[s] for s in status])
    return SimpleNamespace(status=status, dropped_at=np.array([-1] * len(status) if dropped_at is None else dropped_at))


@pytest.mark.parametrize(
    ("scores", "status", "dropped_at", "expected"),
    [
        ([0.1, 0.3, 0.2], "fff", None, [3, 1, 2]),
        ([0.2, 0.2, 0.1], "fff", None, [1, 1, 3]),  # equals share the better rank
        ([0.2, 0.2 + 1e-14, 0.1], "fff", None, [1, 1, 3]),  # rounding decides nothing
        ([0.9, 0.1, 0.2], "dff", [0, -1, -1], [3, 2, 1]),  # dropped with a high score: after the finishers
        ([0.9, 0.8, 0.1], "ddf", [0, 2, -1], [3, 2, 1]),  # the later dropped, the better
        ([0.8, 0.9, 0.1], "ddf", [1, 1, -1], [3, 2, 1]),  # in one round the score decides
        ([NAN, 0.1, 0.2], "xff", None, [3, 2, 1]),
        ([NAN, 0.9, NAN], "xdf", [-1, 0, -1], [3, 2, 1]),  # a finisher without a score is still before the dropped
        ([NAN, NAN, 0.5], "xxf", None, [2, 2, 1]),
        ([-1e6, -2e6, -3e6], "fff", None, [1, 2, 3]),
        ([-3000.0, -3000.0 - 1e-10, -2999.0], "fff", None, [2, 2, 1]),  # equals are those of the selection
        ([0.5], "f", None, [1]),
    ],
)
def test_ranks(scores, status, dropped_at, expected):
    found = ranks(np.array(scores), log(status, dropped_at), unit=1.0)
    assert found.tolist() == expected
    assert found.dtype == np.int32


def test_a_data_frame_can_be_made_of_it():
    one = sobercv.BBCSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=3, n_bootstraps=20).fit(X, Y)
    frame = pd.DataFrame(one.cv_results_)
    assert len(frame) == 2
    assert {"mean_test_score", "pooled_test_score", "rank_test_score", "status", "dropped_at"} <= set(frame.columns)
    assert frame["dropped_at"].isna().all()


def test_times_are_means_over_the_splits_that_were_run():
    from sklearn.pipeline import Pipeline

    pipeline = Pipeline([("slow", Counting()), ("model", GaussianNB())])
    grid = {"slow__seconds": [0.0, 0.2], "model__var_smoothing": [0.1, 0.2]}
    Counting.fits = 0
    one = sobercv.BBCSearchCV(pipeline, grid, cv=3, n_bootstraps=20, drop=None, refit=False).fit(X, Y)
    assert Counting.fits == 2 * 3  # the slow step is fitted once for each of its settings
    times = dict(zip(map(repr, one.cv_results_["params"]), one.cv_results_["mean_fit_time"], strict=True))
    slow = [seconds for params, seconds in times.items() if "'slow__seconds': 0.2" in params]
    assert min(slow) < 0.2 <= max(slow)  # paid once, by the first that needed it
    assert (one.cv_results_["std_fit_time"] >= 0).all()
    assert (one.cv_results_["mean_score_time"] > 0).all()
