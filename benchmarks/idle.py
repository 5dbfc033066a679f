"""How long workers wait in a race: fits that sleep, on more workers than configurations survive.

The wall time of a race over what its fits need if no worker ever waited, with and without speculative fits. Sleeping
fits need no processor, so that 32 workers run on any machine; what 32 processes add that wake together on a few cores
is told apart by threads.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand, make_pool
from sobercv.training.fit_queue import FitQueue
from sobercv.training.race import RaceLog, race

from . import report

CONFIGURATIONS, FOLDS = 108, 10
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

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[0], len(X))


class _Verdict:
    def __init__(self, keep: Any, p: Any) -> None:
        self.keep, self.p = keep, p


def _rule(predictions: Any, index: int) -> _Verdict:
    """Keep the first so many; how sure each is to survive is known with an error of about twenty places."""
    who = predictions.configurations
    most = SURVIVORS[min(index + 1, FOLDS - 1)]
    guess = who + np.random.default_rng(index).normal(0, 20, CONFIGURATIONS)[who]
    return _Verdict(who < most, guess / CONFIGURATIONS)


def _race(n_workers: int, seconds: float, workers: str) -> tuple[RaceLog, float]:
    """Race on processes or on threads; return the time it took."""
    X, y = np.zeros((100, 2)), np.arange(100) % 2
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, FOLDS)
    configurations = expand({"seconds": [seconds], "index": list(range(CONFIGURATIONS))})
    experiment = Experiment(problem, Sleeper(), (("predict",),))

    def go() -> RaceLog:
        store = MemoryStore(problem, plan, CONFIGURATIONS)
        return race(experiment, configurations, plan, pool=make_pool(n_workers), store=store, rule=_rule)

    with joblib.parallel_config("threading" if workers == "threads" else "loky"):
        if workers == "processes":
            go()  # its processes have finished their imports, and wait for the next race
        start = time.perf_counter()
        return go(), time.perf_counter() - start


def run(quick: bool = False) -> Sequence[report.Section]:
    """Race with and without early fits."""
    n_workers, seconds = (8, 0.2) if quick else (32, 0.5)
    rows = []
    later = FitQueue._later
    for allowed, workers in product((True, False), ("processes", "threads")):
        label = f"{'speculative fits' if allowed else 'all wait for the end of a round'}, {workers}"
        FitQueue._later = later if allowed else lambda self, index: iter(())  # type: ignore[method-assign]
        try:
            log, wall = _race(n_workers, seconds, workers)
        finally:
            FitQueue._later = later  # type: ignore[method-assign]
        ratio = wall / (log.n_fits * seconds / n_workers)
        rows.append([label, f"{log.n_fits}", f"{log.n_fits_discarded}", f"{wall:.2f}", report.ratio(ratio)])
    text = f"{CONFIGURATIONS} configurations, {FOLDS} folds, {n_workers} workers, fits that sleep {seconds} s"
    return [
        report.Section(
            f"Idle workers: {text}",
            ["race", "models", "discarded", "seconds", "over the least possible"],
            rows,
            [
                f"Alive after each fold: {', '.join(map(str, SURVIVORS[1:]))}; the least is models x seconds / workers",
            ],
        )
    ]
