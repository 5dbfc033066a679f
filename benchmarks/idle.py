"""Who waits in a race: fits that sleep, on more workers than configurations survive.

Takes nothing, gives the wall time of a race over what its fits need on these workers if nobody ever waited, with and
without early fits. Sleeping fits need no processor, so that 32 workers run on any machine; what 32 processes add that
wake together on a few cores is told apart by threads, and by workers that exist only on a simulated clock.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand
from sobercv.training import ahead as module
from sobercv.training.race import RaceLog, race
from sobercv.training.run.batches import Batch
from sobercv.training.run.executor import ParallelExecutor
from sobercv.training.run.workers import Work

from . import report

CONFIGURATIONS, FOLDS = 108, 10
#: Alive after each fold, as on real data (docs/racing.md, predictive rule, N = 500).
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
    """Race on processes, on threads, or on workers that exist only on a simulated clock; give the time that it took."""
    is_simulated = workers == "a simulated clock"
    X, y = np.zeros((100, 2)), np.arange(100) % 2
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, FOLDS)
    configurations = expand({"seconds": [0.0 if is_simulated else seconds], "index": list(range(CONFIGURATIONS))})
    experiment = Experiment(problem, Sleeper(), (("predict",),))
    clock = SimulatedWorkers(n_workers, seconds)
    backend = "threading" if workers == "threads" else "loky"
    with joblib.parallel_config(backend, n_jobs=n_workers), ParallelExecutor(n_workers) as executor:
        if is_simulated:
            executor._workers = clock
        executor.prepare(experiment)
        store = MemoryStore(problem, plan, CONFIGURATIONS)
        if workers == "processes":
            wait_for_all(executor)
        start = time.perf_counter()
        # The race enters and leaves its executor: here the workers are to be there before it starts.
        log = race(experiment, configurations, plan, executor=_Entered(executor), store=store, rule=_rule)
        return log, clock.now if is_simulated else time.perf_counter() - start


class SimulatedWorkers:
    """Workers whose every fit takes the same time by their own clock; they take calls as processes do."""

    def __init__(self, n_workers: int, seconds: float) -> None:
        self.n_workers, self.seconds, self.now = n_workers, seconds, 0.0
        self._busy: list[tuple[float, int, Batch]] = []  # when a call will be done, its key
        self._common: Any = None

    @property
    def under_way(self) -> set[int]:
        """Keys of spare calls that were begun and not waited for."""
        return {key for _, key, _ in self._busy}

    def start(self, common: Any) -> None:
        """Take what all fits have in common."""
        self._common = common

    def run(
        self, work: Work, calls: Mapping[int, Any], until: float | None = None, spare: Mapping[int, Any] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Give results in the order in which they would come back."""
        waiting = deque((key, batch) for key, batch in calls.items() if key not in self.under_way)
        later = deque((key, (task,)) for key, task in (spare or {}).items())
        while waiting or not calls.keys().isdisjoint(self.under_way):
            none: deque[tuple[int, Batch]] = deque()
            others_are_done = bool(self._busy) and self._busy[0][0] <= self.now
            while (ready := waiting or (none if others_are_done else later)) and len(self._busy) < self.n_workers:
                key, batch = ready.popleft()
                fits = sum(len(task.configurations) for task in batch)
                heapq.heappush(self._busy, (self.now + fits * self.seconds, key, batch))
            self.now, key, batch = heapq.heappop(self._busy)
            _, outcomes = work(key, None, batch, self._common)
            yield key, [replace(outcome, fit_seconds=self.seconds) for outcome in outcomes]

    def close(self) -> None:
        """Forget what was begun."""
        self._busy = []


class _Entered:
    """An executor whose workers stay when a race leaves it."""

    def __init__(self, executor: ParallelExecutor) -> None:
        self._executor = executor
        self.run = executor.run

    def __enter__(self) -> _Entered:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


def wait_for_all(executor: ParallelExecutor) -> None:
    """Let every process finish its imports."""
    workers: Any = executor._workers
    while not all(worker.is_ready for worker in workers._processes):
        workers._hear(*workers._inbox.get())


def run(quick: bool = False, large: bool = False) -> Sequence[report.Section]:
    """Race with and without early fits."""
    n_workers, seconds = (8, 0.2) if quick else (32, 0.5)
    rows, goals = [], []
    most = module.MOST
    for allowed, workers in product((most, 0), ("processes", "threads", "a simulated clock")):
        label = f"{'nobody waits' if allowed else 'all wait for the end of a round'}, {workers}"
        module.MOST = allowed
        try:
            log, wall = _race(n_workers, seconds, workers)
        finally:
            module.MOST = most
        ratio = wall / (log.n_fits * seconds / n_workers)
        rows.append([label, f"{log.n_fits}", f"{log.n_fits_in_vain}", f"{wall:.2f}", report.ratio(ratio)])
        if allowed:
            goals.append(report.Goal(f"time over fits x seconds / workers, {workers}", ratio, 1.25, True, "x"))
    text = f"{CONFIGURATIONS} configurations, {FOLDS} folds, {n_workers} workers, fits that sleep {seconds} s"
    return [
        report.Section(
            f"Idle workers: {text}",
            ["race", "models", "made in vain", "seconds", "over the least possible"],
            rows,
            goals,
            [
                f"Alive after each fold: {', '.join(map(str, SURVIVORS[1:]))}; the least is models x seconds / workers",
                "A simulated clock leaves out what the machine adds: messages, and many processes on few cores.",
            ],
        )
    ]
