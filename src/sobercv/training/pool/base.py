"""The contract of a pool, the part that all pools of futures share, and the pools that fit in this process.

A pool takes batches of fits and reports what came of them. It never decides what is run, retries nothing and knows no
deadline: the queue of the race does (`training.fit_queue`).
"""

from __future__ import annotations

import queue
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import Any
from uuid import uuid4

from ...threads import one_blas_thread
from ..fit.steps import fit_predict
from ..fit.task import Experiment, Outcome, Place
from .batches import Batch
from .work import Surroundings


@dataclass(frozen=True)
class Report:
    """What came of a batch."""

    key: int
    outcomes: list[Outcome]  # those that are new
    is_done: bool = True
    death: str = ""  # how its worker died
    error: BaseException | None = None  # of a fit, to be raised once what has come back is kept


class Pool(ABC):
    """Workers that fit. Open it once around a race."""

    per_worker = 1  # how many batches each worker has at hand
    fit_timeout: float | None = None  # seconds after which the queue ends a fit; only where `begun` is known

    def __init__(self, n_workers: int = 1) -> None:
        self.n_workers = n_workers
        self._flying: dict[int, Any] = {}  # what has been submitted and not come back, by key
        self._experiment: Any = None
        self._token = uuid4().hex  # of what all fits have in common: workers open it once

    @contextmanager
    def opened(self, experiment: Experiment, n_fits: int) -> Iterator[Pool]:
        """Take an experiment of at most `n_fits` fits; workers receive it with the first batch, and go at the end.

        One BLAS thread serves each fit, in every pool, because sums are rounded differently by different numbers of
        threads. Threads share this process's BLAS, so it is limited here; workers elsewhere limit their own.
        """
        self.n_workers = min(self.n_workers, max(n_fits, 1))
        with one_blas_thread():
            try:
                self._experiment = experiment
                yield self
            except BaseException:
                self.stop()  # at once, whatever is under way
                raise
            finally:
                self.close()

    @abstractmethod
    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Hand out a batch."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back; wait for it, but no longer than this."""

    def begun(self, key: int) -> tuple[float, list[Place]]:
        """Return since when (of `time.monotonic`) a batch makes which fits; since never where that is not known."""
        return inf, []

    def stop(self) -> list[Report]:
        """Forget all batches, and end them where that can be; return what had come back."""
        self._flying.clear()
        return []

    def close(self) -> None:
        """Let workers go. They forget the data when they are idle."""
        self.stop()
        self._experiment = None


class SerialPool(Pool):
    """Runs fits in the thread that waits for them; a fit under way cannot be ended."""

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        self._flying[key] = fit_predict(self._experiment, batch)

    def wait(self, seconds: float) -> list[Report]:
        key, outcomes = next(iter(self._flying.items()))
        outcome = next(outcomes, None)
        if outcome is not None:
            return [Report(key, [outcome], is_done=False)]
        del self._flying[key]
        return [Report(key, [])]


class FuturePool(Pool):
    """A pool over `concurrent.futures`; subclasses submit, and know by which errors a worker's death is told."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        # Keys of batches that are done. Ctrl-C during `concurrent.futures.wait` could leave futures locked.
        self._inbox: queue.SimpleQueue[int] = queue.SimpleQueue()

    @abstractmethod
    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        """Submit a batch."""

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        self._flying[key] = future = self._future(key, batch, is_speculative)
        future.add_done_callback(lambda _: self._inbox.put(key))

    def wait(self, seconds: float) -> list[Report]:
        keys: list[int] = []
        with suppress(queue.Empty):
            keys.append(self._inbox.get(timeout=max(seconds, 0.0)))
            while True:
                keys.append(self._inbox.get_nowait())
        return [self._report(key, self._flying.pop(key)) for key in keys if key in self._flying]  # not what was stopped

    def _report(self, key: int, future: Future[list[Outcome]]) -> Report:
        try:
            return Report(key, future.result())
        except (Exception, CancelledError) as error:
            death = self.death_of(error)
            return Report(key, [], death=death, error=None if death else error)

    def death_of(self, error: BaseException) -> str:
        """Say how a worker died where an error means that; empty where a fit raised it."""
        return ""

    def stop(self) -> list[Report]:
        """Cancel all batches; those under way run to their end where they are, and nothing looks at them."""
        for future in self._flying.values():
            future.cancel()
        return super().stop()


class ThreadPool(FuturePool):
    """Daemon threads, one per batch: what they fit cannot be ended, and does not keep the program alive."""

    @contextmanager
    def opened(self, experiment: Experiment, n_fits: int) -> Iterator[Pool]:
        # Filters belong to the process: `catch_warnings` in fits that overlap leaves those of another fit behind.
        with warnings.catch_warnings(), super().opened(experiment, n_fits):
            yield self

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        future: Future[list[Outcome]] = Future()
        future.set_running_or_notify_cancel()
        arguments = (future, batch, self._experiment, Surroundings.here())
        threading.Thread(target=_serve, args=arguments, daemon=True, name="sober-fit").start()
        return future


def _serve(future: Future[list[Outcome]], batch: Batch, experiment: Experiment, around: Surroundings) -> None:
    try:
        with around.apply():
            future.set_result(list(fit_predict(experiment, batch)))
    except BaseException as error:  # raised where the result is waited for
        future.set_exception(error)
