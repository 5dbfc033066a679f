"""Workers of joblib's active backend. The only home of joblib.

Takes calls with a key each, gives results as they come back; when workers die it says which calls may be to blame;
never retries anything itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, Protocol

from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ...threads import THREAD_VARIABLES, thread_shares
from .packing import Packed, as_bytes, pack

#: Calls in flight for each worker where a backend gives lists only: what is lost when the run is stopped.
AT_ONCE = 8

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
    """Workers of any other joblib backend, such as multiprocessing."""

    under_way: frozenset[int] = frozenset()  # joblib ends a run when all of it is done, so nothing is begun early

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.n_workers = effective_n_jobs(n_jobs)
        self._parallel: Any = None
        self._common: Packed | None = None

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
        self._common = pack(common)

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
            if not is_death(error):
                raise
            raise WorkersDied(sent, type(error).__name__) from error
        finally:
            if hasattr(results, "close"):
                with warnings.catch_warnings():  # joblib minds that the rest is not used; we mean it
                    warnings.simplefilter("ignore")
                    results.close()

    def _calls(self, work: Work, calls: Mapping[int, Any], sent: set[int]) -> Iterator[Any]:
        """Hand out calls, and note which have left: joblib takes them as workers become free."""
        assert self._common is not None
        for key, call in calls.items():
            sent.add(key)
            # As bytes, so that no backend looks for arrays in it to share: splits are short and always new.
            yield delayed(work)(key, self._common.token, as_bytes(call), *self._common.arrays)

    def close(self) -> None:
        """Let workers go."""
        parallel, self._parallel, self._common = self._parallel, None, None
        if parallel is not None:
            parallel.__exit__(None, None, None)


def is_death(error: BaseException) -> bool:
    """Whether an error says that a worker died.

    Parameters
    ----------
    error : BaseException
    """
    return any(kind.__name__ in DEATH_ERRORS for kind in type(error).__mro__)
