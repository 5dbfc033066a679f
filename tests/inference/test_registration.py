"""A new metric, selection rule, interval or drop rule is one object and one registration; nothing else must know it."""

import numpy as np
import pytest
from scipy.stats import norm

import sobercv
from sobercv.inference import DropVerdict, intervals, selection
from sobercv.metrics import by_name
from sobercv.metrics.confusion import margins, of_matrices
from sobercv.testing import simulate

DATA = simulate.beta_accuracy(n=80, c=6, seed=2)


def geometric_mean(part, matrices):
    hits, _, true = margins(matrices)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(np.prod(hits / true, axis=0))


def test_a_metric(monkeypatch):
    monkeypatch.setitem(by_name.METRICS, "geometric_mean", of_matrices(geometric_mean, classes=(2, 2)))
    assert "geometric_mean" in sobercv.metrics.names()
    found = sobercv.bbc(DATA.y, DATA.predictions, "geometric_mean", n_bootstraps=50)
    best = DATA.predictions[:, found.winner]
    shares = [np.mean(best[DATA.y == k] == k) for k in (0, 1)]
    assert found.naive == pytest.approx(np.sqrt(np.prod(shares)))
    assert found.value < found.naive


def test_a_selection_rule(monkeypatch):
    monkeypatch.setitem(selection.RULES, "second_best", lambda scores: np.argsort(-scores, axis=1, kind="stable")[:, 1])
    found = sobercv.bbc(DATA.y, DATA.predictions, "accuracy", select="second_best", n_bootstraps=50)
    assert found.naive == np.sort(found.scores)[-2]


def test_an_interval(monkeypatch):
    class Normal(intervals.Interval):
        name, needs_spread = "normal", False

        def __init__(self, seen):
            self.range, self.mean, self.error = seen.range, seen.value, np.nanstd(seen.draws)

        @classmethod
        def of(cls, seen):
            return cls(seen)

        def bounds(self, share):
            return self.mean - norm.ppf(share) * self.error, self.mean + norm.ppf(share) * self.error

    monkeypatch.setitem(intervals.INTERVALS, "normal", Normal)
    found = sobercv.bbc(DATA.y, DATA.predictions, "accuracy", interval="normal", n_bootstraps=50)
    half = 1.959964 * np.nanstd(found.draws)
    assert found.interval == pytest.approx((found.value - half, found.value + half))
    assert found.interval_method == "normal"
    assert "normal interval" in found.summary()


def test_a_drop_rule():
    class KeepHalf:
        def __call__(self, predictions, question, round_index):
            scores = question.bind(predictions.only_seen()).scores(np.ones((1, len(predictions.rows)), np.uint8))[0]
            keep = scores >= np.median(scores)
            return DropVerdict(keep, np.zeros(len(keep)), int(scores.argmax()))

    from sklearn.tree import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(60, 3))
    search = sobercv.BBCSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2, 3, 4]},
        scoring="accuracy",
        cv=3,
        drop=KeepHalf(),
        n_bootstraps=50,
    ).fit(X, X[:, 0] * X[:, 1] > 0)
    assert (search.race_.status == "dropped").any()
