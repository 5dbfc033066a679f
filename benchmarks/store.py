"""The price of a store: what it adds to a search with short fits."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand, kept_outcomes, make_pool
from sobercv.training.race import race

from .report import Section, number
from .report import race as take_turns

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


def run(quick: bool = False) -> list[Section]:
    with tempfile.TemporaryDirectory() as folder:
        return [_overhead(Path(folder), 3 if quick else 5)]


def _setting(n: int, c: int, cv: int, n_repeats: int):
    rng = np.random.default_rng(0)
    problem = Problem.build(rng.normal(size=(n, 20)), np.arange(n) % 2, estimator=Sleeper())
    experiment = Experiment(problem, Sleeper(), WANTED)
    return experiment, expand({"k": list(range(c))}), Plan.build(problem, cv, n_repeats)


def _race(setting, path) -> None:
    experiment, configurations, plan = setting
    cache = kept_outcomes(path, experiment, configurations, plan, 0)
    store = MemoryStore(experiment.problem, plan, len(configurations))
    race(experiment, configurations, plan, pool=make_pool(), store=store, cache=cache)


def _overhead(folder: Path, turns: int) -> Section:
    setting, paths = _setting(500, 40, 10, 1), iter(range(10**6))
    _race(setting, folder / "warm.sqlite")
    work: dict[str, list[float]] = {"without store": [], "with store": []}

    def timed(name: str, path: Path | None) -> None:
        start = time.process_time()
        _race(setting, path)
        work[name].append(time.process_time() - start)

    best = take_turns(
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
