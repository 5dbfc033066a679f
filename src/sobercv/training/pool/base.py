"""The contract of a pool, the part that all pools of futures share, and the pools that fit in this process.

A pool takes batches of fits and reports what came of them. It never decides what is run, retries nothing and knows no
deadline: the queue of the race does (`training.fit_queue`).
"""

from __future__ import annotations

import queue
import threading
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from joblib import parallel_config

from ...threads import one_blas_thread
from ..fit.task import Experiment, Outcome
from .batches import Batch
from .work import Surroundings, fits_of

#: The longest that a pool waits before it looks whether its workers are alive, in seconds.
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Report:
    """What came of a batch: its key, outcomes that are new, whether it is done, and how its worker died if it did."""

    key: int
    outcomes: list[Outcome]
    is_done: bool = True
    death: str = ""


class Pool(ABC):
    """Workers that fit. Open it once around a race.

    Attributes
    ----------
    n_workers : int
    cuts : bool
        Whether the tasks of a round are cut into batches for several workers.
    fit_timeout : float or None
        Seconds after which the queue ends a fit; only where `begun` tells when it began.
    """

    n_workers = 1
    cuts = True
    fit_timeout: float | None = None

    @contextmanager
    def opened(self, experiment: Experiment, n_fits: int) -> Iterator[Pool]:
        """Start workers for an experiment of at most `n_fits` fits, and close them at the end.

        One BLAS thread serves each fit, in every pool, because sums are rounded differently by different numbers of
        threads. Threads share this process's BLAS, so it is limited here; workers elsewhere limit their own.
        """
        with one_blas_thread():
            try:
                self.start(experiment, n_fits)
                yield self
            finally:
                self.close()

    @abstractmethod
    def start(self, experiment: Experiment, n_fits: int) -> None:
        """Take what all fits have in common."""

    @property
    @abstractmethod
    def n_free(self) -> int:
        """How many batches may be submitted now without waiting behind others."""

    @abstractmethod
    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Hand out a batch."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back; wait for it, but no longer than this. An exception of a fit is raised."""

    def begun(self, key: int) -> tuple[float, tuple[int, ...]] | None:
        """Return since when (of `time.monotonic`) a batch fits which configurations, where that is known."""
        return None

    @abstractmethod
    def stop(self) -> list[Report]:
        """Forget all batches, and end them where that can be; return what had come back."""

    def close(self) -> None:
        """Let workers go."""
        self.stop()


class SerialPool(Pool):
    """Runs fits in the thread that waits for them; a fit under way cannot be ended."""

    cuts = False

    def __init__(self) -> None:
        self._experiment: Any = None
        self._waiting: deque[tuple[int, Iterator[Outcome]]] = deque()

    def start(self, experiment: Experiment, n_fits: int) -> None:
        """Take the experiment."""
        self._experiment = experiment

    @property
    def n_free(self) -> int:
        """One batch at a time."""
        return 0 if self._waiting else 1

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Take a batch; it is fitted while the queue waits."""
        self._waiting.append((key, fits_of(self._experiment, batch)))

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


class FuturePool(Pool):
    """A pool over `concurrent.futures`; subclasses submit, and know by which errors a worker's death is told."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._common: Any = None  # the experiment, and the surroundings of its fits
        self._token = ""  # of what is in common: workers open it once
        self._flying: dict[int, Future[list[Outcome]]] = {}
        self._inbox: queue.SimpleQueue[int] = queue.SimpleQueue()  # keys of batches that are done

    def start(self, experiment: Experiment, n_fits: int) -> None:
        """Take what all fits have in common. Workers receive it with the first batch."""
        self.n_workers = min(self.n_workers, max(n_fits, 1))
        self._common, self._token = (experiment, Surroundings.here()), uuid4().hex

    @property
    def n_free(self) -> int:
        """How many batches may be submitted now."""
        return self.n_workers - len(self._flying)

    @abstractmethod
    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        """Submit a batch."""

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Hand out a batch."""
        self._flying[key] = future = self._future(key, batch, is_speculative)
        future.add_done_callback(lambda _: self._inbox.put(key))

    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back."""
        keys: list[int] = []
        with suppress(queue.Empty):
            keys.append(self._inbox.get(timeout=max(min(seconds, LOOK_SECONDS), 0.0)))
            while True:
                keys.append(self._inbox.get_nowait())
        done = [key for key in keys if key in self._flying and self._flying[key].done()]  # not one that was replaced
        return [self._report(key, self._flying.pop(key)) for key in done]

    def _report(self, key: int, future: Future[list[Outcome]]) -> Report:
        try:
            return Report(key, future.result())
        except (Exception, CancelledError) as error:
            death = self.death_of(error)
            if not death:
                raise
            return Report(key, [], death=death)

    def death_of(self, error: BaseException) -> str:
        """Say how a worker died where an error means that; empty where a fit raised it."""
        return ""

    def stop(self) -> list[Report]:
        """Cancel all batches; those under way run to their end where they are, and nothing looks at them."""
        flying, self._flying = self._flying, {}
        for future in flying.values():
            self._cancel(future)
        return []

    def _cancel(self, future: Any) -> None:
        future.cancel()

    def close(self) -> None:
        """Forget what was begun, and the data; workers forget what they have opened when they are idle."""
        self.stop()
        self._common = None


class ThreadPool(FuturePool):
    """Daemon threads: what is under way in them cannot be ended, and does not keep the program alive."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()  # future and batch; None ends a thread
        self._warnings: tuple[list[Any], Any] | None = None  # as they were before

    def start(self, experiment: Experiment, n_fits: int) -> None:
        """Start threads; they share the data."""
        super().start(experiment, n_fits)
        self._warnings = list(warnings.filters), warnings.showwarning
        for _ in range(self.n_workers):
            arguments = (self._calls, *self._common)
            threading.Thread(target=_serve, args=arguments, daemon=True, name="sober-fit").start()

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        future: Future[list[Outcome]] = Future()
        self._calls.put((future, batch))
        return future

    def close(self) -> None:
        """Let threads end when their fits do."""
        super().close()
        if self._warnings is not None:
            for _ in range(self.n_workers):
                self._calls.put(None)
            # Filters belong to the process: `catch_warnings` in fits that overlap leaves those of another fit behind.
            (filters, warnings.showwarning), self._warnings = self._warnings, None
            if warnings.filters != filters:
                warnings.resetwarnings()
                warnings.filters[:] = filters  # type: ignore[index]


def _serve(calls: queue.SimpleQueue[Any], experiment: Experiment, around: Surroundings) -> None:
    """Fit what is asked for, until told to end."""
    while (item := calls.get()) is not None:
        future, batch = item
        if future.set_running_or_notify_cancel():
            try:
                with parallel_config("threading"), around.apply(is_own_process=False):
                    future.set_result(list(fits_of(experiment, batch)))
            except BaseException as error:  # raised where the result is waited for
                future.set_exception(error)
