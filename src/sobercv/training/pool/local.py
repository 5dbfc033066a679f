"""In this process: one fit after the other, or threads."""

from __future__ import annotations

import queue
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from ..fit.prefix import fit_predict_shared
from ..fit.task import Experiment, Outcome
from .base import FuturePool, Pool, Report
from .batches import Batch
from .work import Surroundings, fit_all, threads_inside

Call = tuple[Future[list[Outcome]], Batch]


class SerialPool(Pool):
    """Runs fits in the thread that waits for them; a fit under way cannot be ended."""

    cuts = False

    def __init__(self) -> None:
        self._experiment: Experiment | None = None
        self._waiting: deque[tuple[int, Iterator[Outcome]]] = deque()

    def start(self, experiment: Experiment, n_fits: int) -> SerialPool:
        """Take the experiment."""
        self._experiment = experiment
        return self

    @property
    def n_free(self) -> int:
        """One batch at a time."""
        return 0 if self._waiting else 1

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Take a batch; it is fitted while the queue waits."""
        assert self._experiment is not None
        experiment = self._experiment
        self._waiting.append((key, (outcome for task in batch for outcome in fit_predict_shared(experiment, task))))

    def wait(self, seconds: float) -> list[Report]:
        """Fit once."""
        key, outcomes = self._waiting[0]
        outcome = next(outcomes, None)
        if outcome is not None:
            return [Report(key, [outcome], is_done=False)]
        self._waiting.popleft()
        return [Report(key, [])]

    def stop(self) -> list[Report]:
        """Forget all batches."""
        self._waiting.clear()
        return []


class ThreadPool(FuturePool):
    """Daemon threads: what is under way in them cannot be ended, and does not keep the program alive."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._n_started = 0
        self._warnings: tuple[list[Any], Any] | None = None

    def start(self, experiment: Experiment, n_fits: int) -> Pool:
        """Start threads; they share the data."""
        super().start(experiment, n_fits)
        self._warnings = list(warnings.filters), warnings.showwarning
        self._n_started = self.n_workers
        for _ in range(self._n_started):
            arguments = (self._calls, *self._common)
            threading.Thread(target=_serve, args=arguments, daemon=True, name="sober-fit").start()
        return self

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        future: Future[list[Outcome]] = Future()
        self._calls.put((future, batch))
        return future

    def close(self) -> None:
        """Let threads end when their fits do."""
        super().close()
        for _ in range(self._n_started):
            self._calls.put(None)
        if self._warnings is not None:
            # Filters belong to the process: `catch_warnings` in fits that overlap leaves those of another fit behind.
            filters, show = self._warnings
            if warnings.filters != filters:
                warnings.resetwarnings()
                warnings.filters[:] = filters  # type: ignore[index]
            warnings.showwarning = show
        self._n_started, self._warnings = 0, None


def _serve(calls: queue.SimpleQueue[Call | None], experiment: Experiment, around: Surroundings) -> None:
    """Fit what is asked for, until told to end."""
    while (item := calls.get()) is not None:
        future, batch = item
        if future.set_running_or_notify_cancel():
            try:
                with threads_inside(), around.apply(is_own_process=False):
                    future.set_result(fit_all(experiment, batch))
            except BaseException as error:  # raised where the result is waited for
                future.set_exception(error)
