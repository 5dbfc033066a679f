"""Against the clock, cheap configurations go first: by a guess, then by what they took."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand
from sobercv.training.pool.base import SerialPool
from sobercv.training.pool.batches import cheap_first
from sobercv.training.race import race
from sobercv.training.stopping import Stop

PIPE = Pipeline([("scale", StandardScaler()), ("model", RidgeClassifier())])
GRID = [
    {"model": [SVC()]},
    {"model": [RandomForestClassifier()], "model__n_estimators": [9, 3]},
    {"model": [LogisticRegression()]},
    {"model__alpha": [1.0, 2.0]},
]


def order(seconds):
    found = cheap_first(SimpleNamespace(estimator=PIPE), expand(GRID), seconds)
    return [configuration.index for configuration in found]


def test_before_anybody_was_fitted_the_kind_of_model_tells():
    assert order({}) == [4, 5, 3, 2, 1, 0]  # linear, then trees, the smaller forest first, then kernels
    assert order({0: 0.1}) == order({})  # who is known beside others that are not


def test_afterwards_the_clock_tells():
    assert order({0: 3.0, 1: 1.0, 2: 2.0, 3: 0.5, 4: 9.0, 5: 0.5}) == [3, 5, 1, 2, 0, 4]


class Noting(SerialPool):
    """Notes in which order a round is asked for; times of its fits are given, not measured."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def submit(self, key, batch, is_speculative=False):
        self.asked.append([c.index for task in batch for c in task.configurations])
        super().submit(key, batch, is_speculative)


@pytest.mark.parametrize("limited", [True, False])
def test_a_race_against_the_clock_asks_for_the_cheap_ones_first(limited):
    X = np.random.default_rng(0).normal(size=(30, 2))
    problem = Problem.build(X, np.arange(30) % 2, task="classification")
    plan, pool = Plan.build(problem, 3), Noting()
    grid = [GRID[1], GRID[3]]
    store = MemoryStore(problem, plan, 4)
    stop = Stop(max_seconds=3600, catch_signals=False) if limited else None
    race(
        Experiment(problem, PIPE, (("predict",),)),
        expand(grid),
        plan,
        pool=pool,
        store=store,
        rule=lambda predictions, index: None,
        stop=stop,
    )
    assert pool.asked[0] == ([2, 3, 1, 0] if limited else [0, 1, 2, 3])
    assert [sorted(asked) for asked in pool.asked] == [[0, 1, 2, 3]] * 3
