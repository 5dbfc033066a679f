"""How many threads a call may use, and one BLAS thread for each of them: the only owner of thread limits.

BLAS is limited while any thread of ours is at work, OpenMP for models that are trained side by side. Compiled loops run
on the thread that calls them, so that numba has no threads of its own to limit.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral
from threading import RLock, get_ident
from typing import Any

from .errors import SoberError

#: What libraries with threads of their own look at when they are loaded.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


def thread_shares(n_workers: int, n_cores: int) -> dict[str, str]:
    """Return the environment variables that share cores among worker processes; what the user has set stays."""
    share = str(max(n_cores // n_workers, 1))
    return {name: os.environ.get(name, share) for name in THREAD_VARIABLES}


def count(n_jobs: int | None) -> int:
    """Turn `n_jobs` into a number of threads, as in scikit-learn: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise SoberError(
            "E108", f"`n_jobs` must be a whole number other than 0, or None for 1; got {n_jobs!r}. Write -1 for all."
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any thread is inside: more would round differently, and fight for the cores.

    The limit belongs to the process, so calls that overlap in several threads must not undo each other's: the first one
    in sets it, the last one out resets it, whichever thread that is.
    """
    with _lock:
        if not _inside:
            controller = _controller(len(sys.modules))
            _release(controller)
            _limits.append((controller, controller.limit(limits=1, user_api="blas")))
        _inside.append(get_ident())
    try:
        yield
    finally:
        with _lock:
            _inside.remove(get_ident())
            if not _inside:
                _release(*_limits.pop())


@contextmanager
def ignored_warnings() -> Iterator[None]:
    """Ignore all warnings, one thread at a time.

    Filters belong to the process: where `warnings.catch_warnings` overlaps in several threads, the last one out may
    restore what another had set, and warnings stay ignored forever.
    """
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Limit OpenMP to one thread in the thread that calls; each thread has a limit of its own.

    Searches run configurations side by side; threads that wait for each other inside every one of them make small
    tables a hundred times slower when the machine is busy.
    """
    with _controller(len(sys.modules)).limit(limits=1, user_api="openmp"):
        yield


_lock, _warnings_lock = RLock(), RLock()  # may be held by the thread that forks
_inside: list[int] = []  # threads that work with one BLAS thread, once for each time that they asked
_limits: list[tuple[Any, Any]] = []  # what was limited, and what knows how it was before


def _after_fork_in_child() -> None:
    """Forget the threads of the parent: only the one that forked is here, and nothing would undo what they set."""
    _inside[:] = [thread for thread in _inside if thread == get_ident()]
    if _limits and not _inside:
        _release(*_limits.pop())


# A fork waits until no thread holds a lock: the child would find it held by a thread that it does not have.
if hasattr(os, "register_at_fork"):
    for lock in (_warnings_lock, _lock):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    os.register_at_fork(after_in_child=_after_fork_in_child)


def _release(controller: Any, limited: Any = None) -> None:
    """Let this thread set limits (threadpoolctl obeys only the first that does), and take back what was limited."""
    for turn in (None, limited):
        if turn is not None:
            turn.restore_original_limits()
        for library in controller.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> Any:
    # Looking for the libraries takes milliseconds, so it is done again only after something was imported.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
