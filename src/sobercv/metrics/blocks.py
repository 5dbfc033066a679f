"""Work in blocks: which resamples are scored together, on how many threads, and products of counts and columns.

Blocks start at multiples of `UNIT` resamples, and whatever rounds (a matrix product) is done in whole units, cut at
`ROWS` samples, so that neither the size of a block nor the number of threads can change a result.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from .. import threads
from ..containers import Array

T = TypeVar("T")

UNIT = 64  # resamples that are multiplied together
ROWS = 1 << 16  # samples that are multiplied together
_COUNTED = 256  # resamples whose flags are counted together: their sums stay near the core
_LARGEST = 512  # resamples in a block: long vectors over b, yet counts that stay near the core
_BYTES = 1 << 27  # of counts in a block


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
    """Call the function for each tuple of arguments; results in order, one BLAS thread each.

    The thread that calls works, too: where workers of a race keep all cores busy, another one may be long in coming.
    """
    n_others = min(n_threads, len(arguments)) - 1
    if n_others < 1:
        with threads.one_blas_thread():
            return [function(*each) for each in arguments]
    done: dict[int, T] = {}
    todo = iter(list(enumerate(arguments)))  # threads take from it in turn

    def work() -> None:
        try:
            for place, each in todo:
                done[place] = function(*each)
        except BaseException:
            list(todo)  # nothing is left for the others, which end with the block that they are at
            raise

    with threads.one_blas_thread(), ThreadPoolExecutor(n_others) as pool:
        others = [pool.submit(work) for _ in range(n_others)]
        work()
    for other in others:
        other.result()
    return [done[place] for place in range(len(arguments))]


def product(counts: Array, columns: Array, picked: Array | None = None) -> Array:
    """Multiply counts [B, N] with columns [C, N]: [B, C], or [B, 1] with column picked[b] for resample b alone.

    Columns of flags (bool) are counted: whole numbers do not round, so that single precision and products of any size
    will do. 255 * ROWS is below 2^24, up to which float32 holds whole numbers.
    """
    flags = columns.dtype == np.bool_
    if flags and picked is not None:
        return np.asarray((counts * columns[picked]).sum(axis=1, dtype=np.float64, keepdims=True))
    kind: Any = np.float32 if flags and counts.dtype == np.uint8 else np.float64
    out = np.zeros((len(counts), len(columns) if picked is None else 1))
    for at in range(0, columns.shape[1], ROWS):
        part = columns[:, at : at + ROWS].astype(kind, copy=False)
        for first, last in cut(len(counts), _COUNTED if flags else UNIT):
            some, left = out[first:last], counts[first:last, at : at + ROWS].astype(kind)
            if picked is not None:
                some[:, 0] += np.einsum("bn,bn->b", left, part[picked[first:last]])
            elif at == 0 and kind is np.float64:
                np.matmul(left, part.T, out=some)
            elif at == 0:
                some[:] = left @ part.T
            else:
                some += left @ part.T
    return out
