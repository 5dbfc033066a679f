"""Who waits in a race: fits that sleep, on more workers than configurations survive.

Takes nothing, gives the wall time of a race over what its fits need on these workers if nobody ever waited, with and
without early fits. Sleeping fits need no processor, so that 32 workers run on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand
from sobercv.training import ahead as module
from sobercv.training.race import RaceLog, race
from sobercv.training.run.executor import ParallelExecutor

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


def _race(n_workers: int, seconds: float) -> tuple[RaceLog, float]:
    X, y = np.zeros((100, 2)), np.arange(100) % 2
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, FOLDS)
    configurations = expand({"seconds": [seconds], "index": list(range(CONFIGURATIONS))})
    experiment = Experiment(problem, Sleeper(), (("predict",),))
    with ParallelExecutor(n_workers) as executor:
        executor.prepare(experiment)
        store = MemoryStore(problem, plan, CONFIGURATIONS)
        wait_for_all(executor)
        start = time.perf_counter()
        # The race enters and leaves its executor: here the workers are to be there before it starts.
        log = race(experiment, configurations, plan, executor=_Entered(executor), store=store, rule=_rule)
        return log, time.perf_counter() - start


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
    for label, allowed in (("nobody waits", most), ("all wait for the end of a round", 0)):
        module.MOST = allowed
        try:
            log, wall = _race(n_workers, seconds)
        finally:
            module.MOST = most
        ratio = wall / (log.n_fits * seconds / n_workers)
        rows.append([label, f"{log.n_fits}", f"{log.n_fits_in_vain}", f"{wall:.2f}", report.ratio(ratio)])
        if allowed:
            goals.append(report.Goal("wall time over fits x seconds / workers", ratio, 1.25, True, "x"))
    text = f"{CONFIGURATIONS} configurations, {FOLDS} folds, {n_workers} workers, fits that sleep {seconds} s"
    return [
        report.Section(
            f"Idle workers: {text}",
            ["race", "models", "made in vain", "seconds", "over the least possible"],
            rows,
            goals,
            [f"Alive after each fold: {', '.join(map(str, SURVIVORS[1:]))}; the least is models x seconds / workers."],
        )
    ]
