"""The contract of a pool, and the part that all pools of futures share.

A pool takes batches of fits and reports what came of them. It never decides what is run, retries nothing and knows no
deadline: the queue of the race does (`training.fit_queue`).
"""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ...threads import one_blas_thread
from ..fit.task import Experiment, Outcome
from .batches import Batch
from .work import Surroundings

#: The longest that a pool waits before it looks whether its workers are alive, in seconds.
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Report:
    """What came of a batch.

    Attributes
    ----------
    key : int
        The one that it was submitted with.
    outcomes : list of Outcome
        Those that have come back since the last report of this batch.
    is_done : bool
        Whether nothing more will come.
    death : str
        How the worker died, where one did: the batch may be to blame. Empty otherwise.
    """

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
                yield self.start(experiment, n_fits)
            finally:
                self.close()

    @abstractmethod
    def start(self, experiment: Experiment, n_fits: int) -> Pool:
        """Take what all fits have in common; return what runs them, usually this pool."""

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


class FuturePool(Pool):
    """A pool over `concurrent.futures`."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._common: Any = None  # the experiment, and the surroundings of its fits
        self._token = ""  # of what is in common: workers open it once
        self._flying: dict[int, Future[list[Outcome]]] = {}
        self._inbox: queue.SimpleQueue[int] = queue.SimpleQueue()  # keys of batches that are done

    def start(self, experiment: Experiment, n_fits: int) -> Pool:
        """Take what all fits have in common. Workers receive it with the first batch."""
        self.n_workers = min(self.n_workers, max(n_fits, 1))
        self._common, self._token = (experiment, Surroundings.here()), uuid4().hex
        return self

    @property
    def n_free(self) -> int:
        """How many batches may be submitted now."""
        return self.n_workers - len(self._flying)

    @abstractmethod
    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        """Submit a batch."""

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Hand out a batch."""
        future = self._future(key, batch, is_speculative)
        self._flying[key] = future
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
        self._cancel(flying.values())
        return []

    def _cancel(self, futures: Iterable[Future[list[Outcome]]]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Forget what was begun, and the data; workers forget what they have opened when they are idle."""
        self.stop()
        self._common = None


def named(error: BaseException, names: Iterable[str]) -> str:
    """Return the type of an error where it, or a base of it, has one of these names: packages may not be installed."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return type(error).__name__ if kinds & set(names) else ""
