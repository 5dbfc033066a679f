"""Work in blocks: which resamples are scored together, and on how many threads.

Takes a function of a range of resamples, gives its results in order. Blocks start at multiples of `UNIT`, and
everything that rounds (a matrix product) is done in whole units, so that neither the size of a block nor the
number of threads can change a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from ..errors import SoberError

T = TypeVar("T")

UNIT = 64  # resamples that are multiplied together
ROWS = 1 << 16  # samples that are multiplied together
_LARGEST = 512  # resamples in a block: long vectors over b, yet counts that stay near the core
_BYTES = 1 << 27  # of counts in a block


def threads(n_jobs: int | None) -> int:
    """Turn `n_jobs` into a number of threads: None and -1 mean all cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise SoberError(
            "E108", f"`n_jobs` must be a whole number other than 0, or None for all cores; got {n_jobs!r}."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def ranges(n_resamples: int, n_samples: int, n_threads: int) -> list[tuple[int, int]]:
    """Cut resamples into blocks: whole units, small enough for memory, enough of them for all threads."""
    fair = -(-n_resamples // n_threads)
    size = min(_LARGEST, max(1, _BYTES // max(1, n_samples)), fair)
    size = max(UNIT, -(-size // UNIT) * UNIT)
    return cut(n_resamples, size)


def cut(n: int, step: int) -> list[tuple[int, int]]:
    """Cut n things into ranges of `step`, at least one in each."""
    step = max(1, step)
    return [(start, min(start + step, n)) for start in range(0, n, step)]


def run(function: Callable[..., T], arguments: list[tuple[Any, ...]], n_threads: int) -> list[T]:
    """Call the function for each tuple of arguments; results in order, one BLAS thread each."""
    with one_blas_thread():
        if n_threads == 1 or len(arguments) == 1:
            return [function(*a) for a in arguments]
        with ThreadPoolExecutor(min(n_threads, len(arguments))) as pool:
            return list(pool.map(lambda a: function(*a), arguments))


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give every thread of ours one BLAS thread: more would round differently, and fight for the cores."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
