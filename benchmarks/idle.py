"""Who waits in a race: fits that sleep, on more workers than configurations survive.

Takes nothing, gives the wall time of a race over what its fits need on these workers if nobody ever waited, with and
without early fits. Sleeping fits need no processor, so that 32 workers run on any machine; what 32 processes add that
wake together on a few cores is told apart by threads, and by workers that exist only on a simulated clock.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand, make_pool
from sobercv.training.fit_queue import FitQueue
from sobercv.training.pool.base import Pool, Report
from sobercv.training.pool.batches import Batch
from sobercv.training.pool.work import fit_all
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


def _race(n_workers: int, seconds: float, workers: str = "processes") -> tuple[RaceLog, float]:
    """Race on processes, on threads, or on workers that exist only on a simulated clock; return the time it took."""
    is_simulated = workers == "a simulated clock"
    X, y = np.zeros((100, 2)), np.arange(100) % 2
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, FOLDS)
    configurations = expand({"seconds": [0.0 if is_simulated else seconds], "index": list(range(CONFIGURATIONS))})
    experiment = Experiment(problem, Sleeper(), (("predict",),))
    clock = SimulatedPool(n_workers, seconds)

    def go(rule: Any) -> RaceLog:
        pool = clock if is_simulated else make_pool(n_workers)
        store = MemoryStore(problem, plan, CONFIGURATIONS)
        return race(experiment, configurations, plan, pool=pool, store=store, rule=rule)

    with joblib.parallel_config("threading" if workers == "threads" else "loky"):
        if workers == "processes":
            go(_rule)  # its processes have finished their imports, and wait for the next race
        clock.now, start = 0.0, time.perf_counter()
        log = go(_rule)
        return log, clock.now if is_simulated else time.perf_counter() - start


class SimulatedPool(Pool):
    """Workers whose every fit takes the same time by their own clock."""

    def __init__(self, n_workers: int, seconds: float) -> None:
        self.n_workers, self.seconds, self.now = n_workers, seconds, 0.0
        self._busy: list[tuple[float, int, Batch]] = []  # when a batch will be done, its key
        self._experiment: Any = None

    def start(self, experiment: Any, n_fits: int) -> SimulatedPool:
        """Take the experiment."""
        self._experiment = experiment
        return self

    @property
    def n_free(self) -> int:
        """One batch for each worker."""
        return self.n_workers - len(self._busy)

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Begin a batch."""
        fits = sum(len(task.configurations) for task in batch)
        heapq.heappush(self._busy, (self.now + fits * self.seconds, key, batch))

    def wait(self, seconds: float) -> list[Report]:
        """Report all batches that are done first."""
        self.now = self._busy[0][0]
        reports = []
        while self._busy and self._busy[0][0] <= self.now:
            _, key, batch = heapq.heappop(self._busy)
            outcomes = [replace(outcome, fit_seconds=self.seconds) for outcome in fit_all(self._experiment, batch)]
            reports.append(Report(key, outcomes))
        return reports

    def stop(self) -> list[Report]:
        """Forget what was begun."""
        self._busy = []
        return []


def run(quick: bool = False, large: bool = False) -> Sequence[report.Section]:
    """Race with and without early fits."""
    n_workers, seconds = (8, 0.2) if quick else (32, 0.5)
    rows = []
    later = FitQueue._later
    for allowed, workers in product((True, False), ("processes", "threads", "a simulated clock")):
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
                "A simulated clock leaves out what the machine adds: messages, and many processes on few cores.",
            ],
        )
    ]
