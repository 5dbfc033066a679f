"""The learning curve: only sizes that did not select, scored within folds; a reason where there is none."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut

import sobercv
from sobercv.runs.learning_curve import learning_curve


def searched(estimator, grid, X, y, groups=None, **options):
    search = sobercv.BBCSearchCV(estimator, grid, cv=5, n_bootstraps=100, drop=None, refit=False, **options)
    return search.fit(X, y, groups=groups), SimpleNamespace(X=X, y=y, groups=groups, n_rows=len(y), fit_arguments={})


def hard(n=120, p=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


def test_the_curve_rises_where_rows_help_and_stops_before_the_size_that_selected():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    chart, notes = learning_curve(search, data, 20.0)
    assert notes == ()
    line = chart.lines[0]
    assert line.x == pytest.approx((32, 64)), "96 rows selected"
    assert line.y[0] < line.y[1]
    assert "selected by its score there" in chart.sentence


def test_noise_is_not_said_to_want_more_samples():
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(12):
        X, y = rng.normal(size=(60, 30)), rng.permutation(np.repeat([0, 1], 30))
        grid = {"C": 10.0 ** np.arange(-4, 4)}
        search, data = searched(LogisticRegression(max_iter=500), grid, X, y, scoring="roc_auc")
        chart, notes = learning_curve(search, data, 20.0)
        assert notes == ()
        gains.append(chart.lines[0].y[-1] - chart.lines[0].y[0])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert abs(np.mean(gains)) < 5 * error


def test_scores_are_means_over_folds():
    X, y = hard()
    search, data = searched(
        LogisticRegression(), {"C": [0.1, 1.0]}, X, (y > 0).astype(int), scoring="roc_auc", random_state=3
    )
    chart, _ = learning_curve(search, data, 20.0, asked=True)
    slow = []
    for fold, (train, test) in enumerate(search.splits_):
        shuffled = sobercv.seeds.generator(search.seed_, "learning", fold).permutation(train)
        part = np.sort(shuffled[: round(0.8 * len(train))])
        model = LogisticRegression(**search.best_params_).fit(X[part], data.y[part])
        slow.append(roc_auc_score(data.y[test], model.predict_proba(X[test])[:, 1]))
    assert chart.lines[0].y[-1] == pytest.approx(np.mean(slow), rel=1e-4)


def test_groups_stay_whole_and_probabilities_work():
    X, y = hard()
    groups = np.arange(120) // 4
    search, data = searched(
        LogisticRegression(), {"C": [0.1, 1.0]}, X, (y > 0).astype(int), groups, scoring=["neg_log_loss", "accuracy"]
    )
    chart, _ = learning_curve(search, data, 20.0)
    assert all(size % 4 == 0 for size in chart.lines[0].x)
    assert len(chart.lines[0].x) == 2


def test_without_time_there_is_none():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    assert learning_curve(search, data, 0.0) == (None, ())


def test_folds_in_which_the_score_is_undefined_leave_the_curve_out():
    X, y = hard(60, 3)
    search = sobercv.BBCSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, cv=LeaveOneOut(), scoring="roc_auc", drop=None, stratify=True
    ).fit(X, (y > 0).astype(int))
    data = SimpleNamespace(X=X, y=(y > 0).astype(int), groups=None, n_rows=60, fit_arguments={})
    chart, (note,) = learning_curve(search, data, 20.0, asked=True)
    assert chart is None
    assert "within every fold" in note.text


def test_asking_gives_four_points():
    X, y = hard()
    search, data = searched(DummyRegressor(), {"strategy": ["mean", "median"]}, X, y, scoring="neg_mean_absolute_error")
    chart, notes = learning_curve(search, data, 20.0, asked=True)
    assert chart.lines[0].x == pytest.approx((19, 38, 58, 77))
    assert notes == ()


def test_asking_gives_a_reason_where_there_is_none():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    chart, (note,) = learning_curve(search, data, 0.0, asked=True)
    assert chart is None
    assert note.code == "W704"
    assert "time" in note.text
