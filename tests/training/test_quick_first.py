"""Against the clock, the configurations whose fits took the least time go first, once they have been fitted."""

import time

import numpy as np
import pytest

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand
from sobercv.training.pool.base import SerialPool
from sobercv.training.race import race
from sobercv.training.stopping import Stop

from .training_estimators import LABELS, Troubled


class Slow(Troubled):
    def fit(self, X, y):
        time.sleep(self.size)
        return super().fit(X, y)


class Noting(SerialPool):
    """Notes in which order a round is asked for."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def submit(self, key, batch, is_speculative=False):
        self.asked.append([task.configuration.index for task in batch])
        super().submit(key, batch, is_speculative)


@pytest.mark.parametrize("is_limited", [True, False])
def test_a_race_against_the_clock_asks_for_the_quick_ones_first(is_limited):
    X = np.random.default_rng(0).normal(size=(30, 2))
    problem, configurations = (
        Problem.build(X, np.arange(30) % 2, task="classification"),
        expand({"size": [0.4, 0.2, 0]}),
    )
    plan, pool = Plan.build(problem, 3), Noting()
    race(
        Experiment(problem, Slow(), LABELS),
        configurations,
        plan,
        pool=pool,
        store=MemoryStore(problem, plan, 3),
        rule=lambda predictions, index: None,
        stop=Stop(max_seconds=3600, catch_signals=False) if is_limited else None,
    )
    assert pool.asked == [[0, 1, 2], *[[2, 1, 0] if is_limited else [0, 1, 2]] * 2]
