"""Workers that answer with futures: threads of this process, dask's, and ray's. The only home of dask's client and ray.

Takes calls with a key each, gives results as they come back; who would be idle begins spare calls. When workers die it
says which calls may be to blame; never retries anything itself.
"""

from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, wait
from time import perf_counter, sleep
from typing import Any

from ...errors import SoberError
from .packing import as_bytes, pack
from .workers import Work, WorkersDied, is_death, threads_inside

#: The longest that nobody looks at the clock, in seconds.
LOOK_SECONDS = 1.0

#: Seconds to wait for a dask cluster that has lost all its workers.
WAIT_FOR_DASK = 60

#: Seconds between the return of a dask worker and its next trial: dask restarts only those that have been up a moment.
PAUSE_AFTER_DEATH = 1.0


class FutureWorkers(ABC):
    """The loop that all of them share.

    joblib's own loop ends when all of a run is done, so that nothing could be begun early; it waits for ever when dask
    gives up a task whose workers died (joblib 1.6), and sends data anew in every round. So nobody here asks joblib.

    Parameters
    ----------
    n_workers : int
    at_once : int, optional
        Calls handed out at a time, as many as workers unless given. Spare ones are never queued behind others.
    """

    def __init__(self, n_workers: int, at_once: int | None = None) -> None:
        self.n_workers = n_workers
        self._at_once = n_workers if at_once is None else at_once
        self._begun: dict[Any, int] = {}  # spare calls under way, by their future
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()  # futures that are done

    @abstractmethod
    def start(self, common: Any) -> None:
        """Give all workers what they need in common."""

    @abstractmethod
    def _submit(self, work: Work, key: int, call: Any, is_spare: bool) -> Any:
        """Hand out a call; give its future."""

    @abstractmethod
    def _cancel(self, futures: Collection[Any]) -> None:
        """End these calls where that can be."""

    @abstractmethod
    def close(self) -> None:
        """Let workers go."""

    @property
    def under_way(self) -> set[int]:
        """Keys of spare calls that were begun and not waited for."""
        return set(self._begun.values())

    def run(
        self, work: Work, calls: Mapping[int, Any], until: float | None = None, spare: Mapping[int, Any] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Give the results as they come back; the dead are told at the end, and nobody waits after `until`."""
        busy, self._begun = self._begun, {}
        begun, needed, suspects = set(busy.values()), set(calls), set[int]()
        waiting = deque((key, call) for key, call in calls.items() if key not in begun)
        later = deque((key, (task,)) for key, task in (spare or {}).items())
        try:
            while needed:
                self._hand_out(work, busy, waiting, self._at_once)
                # Nothing is begun early while results wait: they may end this run, and the next one knows more.
                if not waiting and self._inbox.empty():
                    self._hand_out(work, busy, later, self.n_workers, is_spare=True)
                if until is not None and perf_counter() >= until:
                    return
                future = self._next(until)
                if future not in busy:  # time has passed, or it was given up in the meantime
                    continue
                key = busy.pop(future)
                needed.discard(key)
                try:
                    result = future.result()
                except Exception as error:
                    if not is_death(error):
                        raise
                    suspects.add(key)
                    continue
                yield result
            if not suspects:
                self._begun, busy = busy, {}
        finally:
            self._cancel(busy)
        if suspects:
            raise WorkersDied(suspects)

    def _hand_out(
        self, work: Work, busy: dict[Any, int], calls: deque[tuple[int, Any]], most: int, is_spare: bool = False
    ) -> None:
        while calls and len(busy) < most:
            key, call = calls.popleft()
            future = self._submit(work, key, call, is_spare)
            busy[future] = key
            future.add_done_callback(self._inbox.put)

    def _next(self, until: float | None) -> Any:
        """Wait for a future that is done, until somebody should look at the clock."""
        patience = LOOK_SECONDS if until is None else min(until - perf_counter(), LOOK_SECONDS)
        try:
            return self._inbox.get(timeout=max(patience, 0.0))
        except queue.Empty:
            return None


class ThreadWorkers(FutureWorkers):
    """Threads of this process. What is under way in them cannot be ended, and does not keep the program alive."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._common: Any = None

    def start(self, common: Any) -> None:
        """Start threads; they share what is in common."""
        self.close()
        self._common, self._calls = common, queue.SimpleQueue()
        for _ in range(self.n_workers):
            threading.Thread(target=_serve, args=(self._calls,), daemon=True).start()

    def _submit(self, work: Work, key: int, call: Any, is_spare: bool) -> Future[Any]:
        future: Future[Any] = Future()
        common = self._common
        self._calls.put((future, lambda: work(key, None, call, common)))
        return future

    def _cancel(self, futures: Collection[Future[Any]]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Let threads end. What was begun early is waited for: a fit must not outlive its search."""
        self._cancel(self._begun)
        wait(self._begun)
        for _ in range(self.n_workers if self._common is not None else 0):
            self._calls.put(None)
        self._common, self._begun = None, {}


def _serve(calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
    """Do what is asked, one call after the other; what a call uses of joblib runs in threads, as it does elsewhere."""
    while (item := calls.get()) is not None:
        future, call = item
        if future.set_running_or_notify_cancel():
            try:
                with threads_inside():
                    future.set_result(call())
            except BaseException as error:  # told to whoever waits for the result
                future.set_exception(error)


class DaskWorkers(FutureWorkers):
    """Workers of the dask cluster that joblib's context names.

    Parameters
    ----------
    backend : joblib's backend
    """

    def __init__(self, backend: Any) -> None:
        super().__init__(int(backend.effective_n_jobs(-1)), at_once=1_000_000)  # its scheduler has a queue of its own
        self.client = backend.client
        self._options = dict(getattr(backend, "submit_kwargs", {}))
        self._token = ""
        self._started = False
        self._data: list[Any] = []

    def start(self, common: Any) -> None:
        """Give all workers what they need in common."""
        packed = pack(common)
        self._token = packed.token
        try:
            self.client.wait_for_workers(1, timeout=WAIT_FOR_DASK)  # after a death, until one has been started again
            if self._started:
                sleep(PAUSE_AFTER_DEATH)
            self._started = True
            self._data = self.client.scatter(list(packed.arrays), broadcast=True, hash=False)  # the last may go here
        except TimeoutError:
            raise SoberError(
                "E603",
                f"The dask cluster has no worker, and none came in {WAIT_FOR_DASK} seconds; start some, and fit again.",
            ) from None

    def _submit(self, work: Work, key: int, call: Any, is_spare: bool) -> Any:
        options = self._options | ({"priority": -1} if is_spare else {})
        return self.client.submit(work, key, self._token, as_bytes(call), *self._data, pure=False, **options)

    def _cancel(self, futures: Collection[Any]) -> None:
        if futures:
            self.client.cancel(list(futures))

    def close(self) -> None:
        """Forget the data that the workers hold, and what was begun."""
        self._cancel(self._begun)
        self._data, self._begun = [], {}


class RayWorkers(FutureWorkers):
    """Workers of the ray cluster that this process is connected to: one task at a time for each job.

    Parameters
    ----------
    n_workers : int
    backend : joblib's backend
    """

    def __init__(self, n_workers: int, backend: Any) -> None:
        super().__init__(n_workers)
        self._options = {"max_retries": 0, **(getattr(backend, "ray_remote_args", None) or {})}
        self._token = ""
        self._data: list[Any] = []
        self._remote: Any = None

    def start(self, common: Any) -> None:
        """Give all workers what they need in common."""
        import ray

        packed = pack(common)
        self._token, self._data = packed.token, [ray.put(array) for array in packed.arrays]

    def _submit(self, work: Work, key: int, call: Any, is_spare: bool) -> Any:
        import ray

        if self._remote is None:
            self._remote = ray.remote(work).options(**self._options)
        return self._remote.remote(key, self._token, as_bytes(call), *self._data).future()

    def _cancel(self, futures: Collection[Any]) -> None:
        import ray

        for future in futures:
            ray.cancel(future.object_ref, force=True)

    def close(self) -> None:
        """Forget the data, and what was begun."""
        self._cancel(self._begun)
        self._data, self._begun = [], {}
