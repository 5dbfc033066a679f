"""Workers of joblib's active backend. The only home of joblib, and of dask's client.

Takes calls with a key each, gives results as they come back; when workers die it says which calls may be to blame;
never retries anything itself.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import islice
from typing import Any, Protocol

from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ...errors import SoberError
from ...threads import THREAD_VARIABLES, thread_shares
from .packing import Packed, as_bytes, pack

#: Calls in flight for each worker where a backend gives lists only: what is lost when the run is stopped.
AT_ONCE = 8

#: Seconds to wait for a dask cluster that has lost all its workers.
WAIT_FOR_DASK = 60

#: Seconds between the return of a dask worker and its next trial: dask restarts only those that have been up a moment.
PAUSE_AFTER_DEATH = 1.0

#: How the death of a worker looks in loky, dask and ray. By name, because dask and ray may not be installed.
DEATH_ERRORS = {
    "BrokenProcessPool", "KilledWorker", "CancelledError", "RayActorError", "WorkerCrashedError", "ObjectLostError",
    "OutOfMemoryError",
}  # fmt: skip

Work = Callable[..., tuple[int, Any]]


class WorkersDied(Exception):
    """Workers died; `suspects` are the keys of the calls that they may have been busy with."""

    def __init__(self, suspects: set[int], how: str = "") -> None:
        super().__init__(suspects, how)
        self.suspects = suspects
        self.how = how


class Workers(Protocol):
    """Those who make fits: all have received the same data, and each does one call at a time."""

    n_workers: int

    @property
    def under_way(self) -> Set[int]:
        """Keys of spare calls that were begun and not waited for."""

    def start(self, common: Any) -> None:
        """Start workers, and give all of them what they need in common."""

    def run(
        self,
        work: Work,
        calls: Mapping[int, Any],
        until: float | None = None,
        spare: Mapping[int, Any] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Give what `work(key, token, pickled call, *arrays)` gives, a pair (key, result), for every call.

        Results of one call may come in several parts. Threads share this process's memory: their token is None, the
        call is itself, and so is what is in common. At the time `until` (of `perf_counter`) those who can, end fits
        that are under way and give no more. Those who can, begin `spare` calls when they would be idle, give their
        results as well, and wait for none of them: what is still under way at the end may be among the calls of a
        later run, by the same key.
        """

    def close(self) -> None:
        """Let workers go."""


def active_backend() -> Any:
    """Give the backend that joblib's context asks for."""
    return get_active_backend()[0]


def count_workers(n_jobs: int | None) -> int:
    """Give the number of workers that is meant.

    Parameters
    ----------
    n_jobs : int or None
    """
    return int(effective_n_jobs(n_jobs))


def threads_inside() -> Any:
    """Make joblib use threads inside of a worker, as it does in its own."""
    return parallel_config("threading")


def thread_limits(n_workers: int) -> dict[str, str]:
    """Give the environment variables that share the cores of this machine among workers, as joblib does.

    Parameters
    ----------
    n_workers : int
    """
    given = getattr(active_backend(), "inner_max_num_threads", None)
    return dict.fromkeys(THREAD_VARIABLES, str(given)) if given is not None else thread_shares(n_workers, cpu_count())


def is_one_here(n_jobs: int | None) -> bool:
    """Whether one job in this process is meant. dask sends work away even when it has one worker only.

    Parameters
    ----------
    n_jobs : int or None
    """
    remote = type(active_backend()).__name__ == "DaskDistributedBackend"
    return count_workers(n_jobs) == 1 and not remote


class JoblibWorkers:
    """Workers of any joblib backend: processes, threads, ray."""

    under_way: frozenset[int] = frozenset()  # joblib ends a run when all of it is done, so nothing is begun early

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.n_workers = effective_n_jobs(n_jobs)
        self._parallel: Any = None
        self._common: Packed | None = None
        self._here: Any = None

    def start(self, common: Any) -> None:
        """Start workers."""
        self.close()
        # Batches are ours, cut so that common prefixes stay together; joblib must not merge them. Arrays are shared
        # through a file from a size on that is smaller than joblib's own, so that small data go once too.
        options = {"n_jobs": self.n_jobs, "batch_size": 1, "max_nbytes": 1000}
        try:
            self._parallel = Parallel(return_as="generator_unordered", **options).__enter__()
        except ValueError:  # a backend that can only give lists
            self._parallel = Parallel(**options).__enter__()
        threads = type(self._parallel._backend).__name__ in ("ThreadingBackend", "SequentialBackend")
        self._common, self._here = (None, common) if threads else (pack(common), None)

    def run(
        self, work: Work, calls: Mapping[int, Any], until: float | None = None, spare: Mapping[int, Any] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Give the results as they come back; nothing under way can be ended."""
        if self._parallel.return_generator:
            yield from self._stream(work, calls)
            return
        keys, size = list(calls), AT_ONCE * self.n_workers
        for start in range(0, len(keys), size):
            yield from self._stream(work, {key: calls[key] for key in keys[start : start + size]})

    def _stream(self, work: Work, calls: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
        sent: set[int] = set()
        results: Any = None
        try:
            results = self._parallel(self._calls(work, calls, sent))
            for key, result in results:
                sent.discard(key)
                yield key, result
        except Exception as error:
            if not _is_death(error):
                raise
            raise WorkersDied(sent, type(error).__name__) from error
        finally:
            if hasattr(results, "close"):
                with warnings.catch_warnings():  # joblib minds that the rest is not used; we mean it
                    warnings.simplefilter("ignore")
                    results.close()

    def _calls(self, work: Work, calls: Mapping[int, Any], sent: set[int]) -> Iterator[Any]:
        """Hand out calls, and note which have left: joblib takes them as workers become free."""
        for key, call in calls.items():
            sent.add(key)
            if self._common is None:
                yield delayed(work)(key, None, call, self._here)
            else:
                # As bytes, so that no backend looks for arrays in it to share: splits are short and always new.
                yield delayed(work)(key, self._common.token, as_bytes(call), *self._common.arrays)

    def close(self) -> None:
        """Let workers go."""
        parallel, self._parallel, self._common, self._here = self._parallel, None, None, None
        if parallel is not None:
            parallel.__exit__(None, None, None)


class DaskWorkers:
    """Workers of the dask cluster that joblib's context names.

    joblib's own loop over dask waits for ever when dask gives up a task whose workers died (joblib 1.6), and sends
    data anew in every round, so dask's client is asked directly.
    """

    def __init__(self, backend: Any) -> None:
        self.client = backend.client
        self.n_workers = int(backend.effective_n_jobs(-1))
        self._options = dict(getattr(backend, "submit_kwargs", {}))
        self._token = ""
        self._started = False
        self._data: list[Any] = []
        self._begun: dict[Any, int] = {}  # spare calls under way, by their future

    def start(self, common: Any) -> None:
        """Give all workers what they need in common."""
        packed = pack(common)
        self._token = packed.token
        try:
            self.client.wait_for_workers(1, timeout=WAIT_FOR_DASK)  # after a death, until one has been started again
        except TimeoutError:
            raise SoberError(
                "E603", f"The dask cluster has had no worker for {WAIT_FOR_DASK} seconds; start some, and fit again."
            ) from None
        if self._started:
            time.sleep(PAUSE_AFTER_DEATH)
        self._started = True
        self._data = self.client.scatter(list(packed.arrays), broadcast=True, hash=False)

    @property
    def under_way(self) -> set[int]:
        """Keys of spare calls that were begun and not waited for."""
        return set(self._begun.values())

    def run(
        self, work: Work, calls: Mapping[int, Any], until: float | None = None, spare: Mapping[int, Any] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Give the results as they come back; the dead are told at the end, and nobody waits after `until`."""
        from dask.distributed import TimeoutError as TooLate
        from dask.distributed import as_completed

        waiting, begun = self._begun, set(self._begun.values())
        waiting |= {self._submit(work, key, call): key for key, call in calls.items() if key not in begun}
        few = islice((spare or {}).items(), max(2 * self.n_workers - len(waiting), 0))
        waiting |= {self._submit(work, key, (task,), priority=-1): key for key, task in few}
        suspects: set[int] = set()
        left = None if until is None else max(until - time.perf_counter(), 0.0)
        needed = set(calls)
        self._begun = {}
        try:
            for future in as_completed(list(waiting), raise_errors=False, timeout=left):
                key = waiting.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    if not _is_death(error):
                        raise
                    suspects.add(key)
                    needed.discard(key)
                    continue
                needed.discard(key)
                yield result
                if not needed and not suspects:
                    self._begun, waiting = waiting, {}
                    return
        except TooLate:
            return
        finally:
            if waiting:
                self.client.cancel(list(waiting))
        if suspects:
            raise WorkersDied(suspects)

    def _submit(self, work: Work, key: int, call: Any, **options: Any) -> Any:
        return self.client.submit(
            work, key, self._token, as_bytes(call), *self._data, pure=False, **(self._options | options)
        )

    def close(self) -> None:
        """Forget the data that the workers hold, and what was begun."""
        if self._begun:
            self.client.cancel(list(self._begun))
        self._data, self._begun = [], {}


def _is_death(error: BaseException) -> bool:
    return any(kind.__name__ in DEATH_ERRORS for kind in type(error).__mro__)
