"""What a race costs beyond its fits, which sleep: waiting workers, and a store.

Sleeping fits need no processor, so that 32 workers run on any machine; what 32 processes add that wake together on a
few cores is told apart by threads. CPU seconds are those of everything but the fits.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.inference import DropVerdict
from sobercv.training import Experiment, MemoryStore, OutcomeCache, Plan, Problem, expand, make_pool
from sobercv.training.fit_queue import FitQueue
from sobercv.training.race import RaceLog, race

from .report import Table, number, ratio
from .report import race as take_turns

FOLDS = 10
#: Alive after each fold, as on real data (docs/evidence/racing.md, predictive rule, N = 500).
SURVIVORS = (108, 61, 38, 27, 20, 16, 13, 11, 9, 8)


class Sleeper(ClassifierMixin, BaseEstimator):
    """Sleeps, and predicts the first class."""

    def __init__(self, seconds: float = 0.1, index: int = 0) -> None:
        self.seconds = seconds
        self.index = index

    def fit(self, X: Any, y: Any) -> Sleeper:
        self.classes_ = np.unique(y)
        time.sleep(self.seconds)
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, 0] * self.index

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[0], len(X))


def _race(
    n: int, c: int, seconds: float, response: str, path: Path | None = None, jobs: int = 1, **more: Any
) -> RaceLog:
    """Race so many configurations, none of which learns anything from n rows."""
    X, y = np.random.default_rng(0).normal(size=(n, 20)), np.arange(n) % 2
    problem = Problem.build(X, y, task="classification")
    plan, configurations = Plan.build(problem, FOLDS), expand({"seconds": [seconds], "index": list(range(c))})
    experiment = Experiment(problem, Sleeper(), ((response,),))
    cache = None if path is None else OutcomeCache(path, experiment, configurations, plan, 0)
    store = MemoryStore(problem, plan, c)
    return race(experiment, configurations, plan, pool=make_pool(jobs), store=store, cache=cache, **more)


def store(quick: bool = False) -> list[Table]:
    """What a store adds to a search with short fits; CPU seconds are the median over the turns."""
    work: dict[str, list[float]] = {"without store": [], "with store": []}
    with tempfile.TemporaryDirectory() as folder:
        paths = (Path(folder) / f"{i}.sqlite" for i in range(10**6))
        _race(500, 40, 0.02, "decision_function", next(paths))

        def timed(name: str) -> None:
            start = time.process_time()
            _race(500, 40, 0.02, "decision_function", next(paths) if name == "with store" else None)
            work[name].append(time.process_time() - start)

        best = take_turns({name: lambda name=name: timed(name) for name in work}, 3 if quick else 5, 1e9)
    rows = [[name, number(best[name]), number(statistics.median(work[name]))] for name in best]
    return [[["400 fits of 20 ms", "seconds", "CPU seconds"], *rows]]


def _rule(predictions: Any, index: int) -> DropVerdict:
    """Keep the first so many; how sure each is to survive is known with an error of about twenty places."""
    who = predictions.configurations
    most = SURVIVORS[min(index + 1, FOLDS - 1)]
    guess = who + np.random.default_rng(index).normal(0, 20, SURVIVORS[0])[who]
    return DropVerdict(who < most, guess / SURVIVORS[0], -1)


def idle(quick: bool = False) -> list[Table]:
    """The time of a race over what its fits need if no worker ever waited, with and without speculative fits.

    There are more workers than configurations survive.
    """
    n_workers, seconds = (8, 0.2) if quick else (32, 0.5)
    rows = []
    for allowed, workers in product((True, False), ("processes", "threads")):
        label = f"{'speculative fits' if allowed else 'all wait for the end of a round'}, {workers}"
        later = FitQueue._later if allowed else lambda self, index: iter(())
        with (
            patch.object(FitQueue, "_later", later),
            joblib.parallel_config("threading" if workers == "threads" else "loky"),
        ):
            for _ in range(2 if workers == "processes" else 1):  # once for processes to finish their imports
                start = time.perf_counter()
                log = _race(100, SURVIVORS[0], seconds, "predict", jobs=n_workers, rule=_rule)
                wall = time.perf_counter() - start
        least = log.n_fits * seconds / n_workers
        rows.append([label, f"{log.n_fits}", f"{log.n_fits_discarded}", f"{wall:.2f}", ratio(wall / least)])
    return [[["race", "models", "discarded", "seconds", "over the least possible"], *rows]]
