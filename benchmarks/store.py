"""The price of a store: what it adds to a search with short fits, how fast a large one opens, its size on disk."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand, kept_outcomes, make_pool
from sobercv.training.fit.task import Outcome
from sobercv.training.pool.base import Report, SerialPool
from sobercv.training.race import race

from . import timing
from .report import Section, number

FIT = 0.02  # seconds
WANTED = (("decision_function", "predict_proba"),)


class Sleeper(ClassifierMixin, BaseEstimator):
    """Takes 20 ms to fit."""

    def __init__(self, k=0):
        self.k = k

    def fit(self, X, y):
        time.sleep(FIT)
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] * self.k

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Inventor(SerialPool):
    """A pool that fits nothing: it makes outcomes up, as fast as they can be written."""

    def submit(self, key, batch, is_speculative=False):
        self._waiting.append((key, batch))

    def wait(self, seconds):
        key, batch = self._waiting.popleft()
        outcomes = []
        for task in batch:
            rng = np.random.default_rng(task.split.fold)
            for c in task.configurations:
                values = {"decision_function": rng.normal(size=len(task.split.test))}
                outcomes.append(Outcome(c.index, task.split.repeat, task.split.fold, values, 0.02, 0.001))
        return [Report(key, outcomes)]


def run(quick: bool = False, large: bool = False) -> list[Section]:
    with tempfile.TemporaryDirectory() as folder:
        return [_overhead(Path(folder), 3 if quick else 5), _large(Path(folder))]


def _setting(n: int, c: int, cv: int, n_repeats: int):
    rng = np.random.default_rng(0)
    problem = Problem.build(rng.normal(size=(n, 20)), np.arange(n) % 2, estimator=Sleeper())
    experiment = Experiment(problem, Sleeper(), WANTED)
    return experiment, expand({"k": list(range(c))}), Plan.build(problem, cv, n_repeats)


def _race(setting, path, pool=None) -> MemoryStore:
    experiment, configurations, plan = setting
    cache = kept_outcomes(path, experiment, configurations, plan, 0)
    store = MemoryStore(experiment.problem, plan, len(configurations))
    race(experiment, configurations, plan, pool=pool or make_pool(), store=store, cache=cache)
    return store


def _overhead(folder: Path, turns: int) -> Section:
    setting, paths = _setting(500, 40, 10, 1), iter(range(10**6))
    _race(setting, folder / "warm.sqlite")
    work: dict[str, list[float]] = {"without store": [], "with store": []}

    def timed(name: str, path: Path | None) -> None:
        start = time.process_time()
        _race(setting, path)
        work[name].append(time.process_time() - start)

    best = timing.race(
        {
            "without store": lambda: timed("without store", None),
            "with store": lambda: timed("with store", folder / f"{next(paths)}.sqlite"),
        },
        turns,
        1e9,
    )
    more = 100 * (best["with store"] / best["without store"] - 1)
    cpu = {name: statistics.median(taken) for name, taken in work.items()}
    busy = 100 * (cpu["with store"] - cpu["without store"]) / (400 * FIT)
    return Section(
        "Store: overhead",
        ["400 fits of 20 ms", "seconds", "CPU seconds"],
        [[name, number(best[name]), number(cpu[name])] for name in best],
        [
            "N = 500, 40 configurations, 10 folds, one process; opening, fingerprints, writing and closing included. "
            "The fits sleep, so that CPU seconds are those of everything else (median over the turns).",
            f"The store adds {more:.1f} % by the clock, and CPU time of {busy:.1f} % of the time of the fits.",
        ],
    )


def _large(folder: Path) -> Section:
    setting, path = _setting(500, 610, 10, 10), folder / "large.sqlite"
    start = time.perf_counter()
    filled = _race(setting, path, Inventor())
    writing = time.perf_counter() - start
    raw = filled.done.size * 50 * 8
    experiment, configurations, plan = setting
    opening = []
    for _ in range(3):
        cache = kept_outcomes(path, experiment, configurations, plan, 0)
        assert cache is not None
        start = time.perf_counter()
        with cache:
            opening.append(time.perf_counter() - start)
            start = time.perf_counter()
            n = sum(cache.recall(c.index, split) is not None for split in plan.splits for c in configurations)
        recalled = time.perf_counter() - start
    assert n == filled.done.size
    size = os.path.getsize(path)
    return Section(
        "Store: 61,000 outcomes",
        ["610 configurations, 10 folds, 10 repeats, N = 500", ""],
        [
            ["write, s (µs an outcome)", f"{number(writing)} ({number(1e6 * writing / n)})"],
            ["open and verify, s", number(min(opening))],
            ["recall all and close, s", number(recalled)],
            ["size, MB (raw predictions)", f"{number(size / 1e6)} ({number(raw / 1e6)})"],
        ],
    )
