"""Threads of this process."""

from __future__ import annotations

import queue
import threading
import warnings
from concurrent.futures import Future
from typing import Any

from ..fit.experiment import Experiment
from ..fit.task import Outcome
from .base import FuturePool
from .batches import Batch
from .surroundings import Surroundings
from .work import fit_all, threads_inside

Call = tuple[Future[list[Outcome]], Batch]


class ThreadPool(FuturePool):
    """Daemon threads: what is under way in them cannot be ended, and does not keep the program alive."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._n_started = 0
        self._warnings: tuple[list[Any], Any] | None = None

    def start(self, experiment: Experiment, n_fits: int) -> ThreadPool:
        """Start threads; they share the data."""
        self._warnings = list(warnings.filters), warnings.showwarning
        self._n_started = min(self.n_workers, max(n_fits, 1))
        for _ in range(self._n_started):
            arguments = (self._calls, experiment, Surroundings.here())
            threading.Thread(target=_serve, args=arguments, daemon=True, name="sober-fit").start()
        return self

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        future: Future[list[Outcome]] = Future()
        self._calls.put((future, batch))
        return future

    def close(self) -> None:
        """Let threads end when their fits do."""
        self.stop()
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
