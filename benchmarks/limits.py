"""The bare arithmetic: what the machine needs for as many operations, with no question asked.

Takes sizes, gives functions without arguments that use all cores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba as nb
import numpy as np


def gemm(n: int, c: int, b: int) -> Callable[[], None]:
    """A float64 product [B, N] x [N, C] with all BLAS threads, into a matrix that is there already."""
    rng = np.random.default_rng(0)
    left, right, out = rng.random((b, n)), rng.random((n, c)), np.empty((b, c))

    def product() -> None:
        np.matmul(left, right, out=out)

    return product


@nb.njit(nogil=True, boundscheck=False)
def _sweep(x, y, turns):
    for turn in range(turns):
        row = x[turn & 1]
        a = 1e-9 * (turn & 7)
        for b in range(y.shape[0]):
            y[b] += a * row[b]


def _aligned(*shape: int) -> np.ndarray:
    """Zeros that start on a cache line: without that the sweep takes nearly twice as long."""
    room = np.zeros(8 * math.prod(shape) + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + 8 * math.prod(shape)].view(np.float64).reshape(shape)


def saxpy(n: int, c: int, b: int) -> Callable[[], None]:
    """y += a * x in float64, N * C times on vectors of length B (two x and one y a core: with B = 1000 in L1)."""
    cores = len(os.sched_getaffinity(0))
    x, y = [_aligned(2, b) for _ in range(cores)], [_aligned(b) for _ in range(cores)]
    pool = ThreadPoolExecutor(cores)
    turns = [n * c // cores + (k < n * c % cores) for k in range(cores)]
    _sweep(x[0], y[0], 1)  # compiles

    def sweep() -> None:
        list(pool.map(_sweep, x, y, turns))

    return sweep
