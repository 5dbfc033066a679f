"""The learning curve: it rises where more rows help, is silent where they do not, and ends at the run's own score."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import sobercv
from sobercv.runs.learning_curve import learning_curve


def searched(estimator, grid, X, y, groups=None, **options):
    search = sobercv.BBCSearchCV(estimator, grid, cv=5, n_bootstraps=100, drop=None, refit=False, **options)
    return search.fit(X, y, groups=groups), SimpleNamespace(X=X, y=y, groups=groups, n_rows=len(y))


def hard(n=120, p=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


def test_a_curve_that_rises_is_noted_and_ends_at_the_score_of_the_run():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    chart, (note,) = learning_curve(search, data, 20.0)
    assert note.code == "W713"
    line = chart.lines[0]
    assert line.x == pytest.approx((32, 64, 96))
    assert line.y[-1] == pytest.approx(search.estimate_.naive, rel=1e-5)
    assert line.y[0] < line.y[1] < line.y[2]


def test_what_learns_nothing_does_not_rise():
    X, y = hard()
    search, data = searched(DummyRegressor(), {"strategy": ["mean", "median"]}, X, y, scoring="neg_mean_absolute_error")
    chart, notes = learning_curve(search, data, 20.0)
    assert chart is not None
    assert notes == ()


def test_groups_stay_whole_and_probabilities_work():
    X, y = hard()
    groups = np.arange(120) // 4
    search, data = searched(
        LogisticRegression(), {"C": [0.1, 1.0]}, X, (y > 0).astype(int), groups, scoring=["neg_log_loss", "accuracy"]
    )
    chart, _ = learning_curve(search, data, 20.0)
    assert all(size % 4 == 0 for size in chart.lines[0].x)
    assert chart.lines[0].y[-1] == pytest.approx(search.estimate_["neg_log_loss"].naive, rel=1e-5)


def test_without_time_there_is_none():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    assert learning_curve(search, data, 0.0) == (None, ())


def test_who_asks_gets_five_points_and_an_answer():
    X, y = hard()
    search, data = searched(DummyRegressor(), {"strategy": ["mean", "median"]}, X, y, scoring="neg_mean_absolute_error")
    chart, (note,) = learning_curve(search, data, 20.0, asked=True)
    assert chart.lines[0].x == pytest.approx((19, 38, 58, 77, 96))
    assert note.code == "W714"
    assert "might help little" in chart.sentence
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    chart, (note,) = learning_curve(search, data, 20.0, asked=True)
    assert note.code == "W713"
    assert "on 58 rows" in note.text
    assert "more samples would likely give a better model" in chart.sentence


def test_who_asks_hears_why_there_is_none():
    X, y = hard()
    search, data = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="r2")
    chart, (note,) = learning_curve(search, data, 0.0, asked=True)
    assert chart is None
    assert note.code == "W704"
    assert "time" in note.text
