"""Arrays of numpy, memory maps above all.

Takes an array [N, C], gives copies of its blocks, and lets the pages go that have been copied.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..containers import Array
from .base import ROWS, Columns, Source, check_axes

LARGE = 1 << 30  # bytes of a memory map that is read in blocks without being asked


class ArraySource(Source):
    """An array of numpy, in memory or mapped from a file."""

    def __init__(self, array: Any) -> None:
        self.shape = check_axes(array)
        self._array = array

    @classmethod
    def of(cls, values: Any, names: Sequence[str] | None = None) -> Source | None:
        large = isinstance(values, np.memmap) and values.ndim == 2 and values.nbytes > LARGE
        return cls(values) if large else None

    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        n, step = self.shape[0], self._step(columns)
        for first in range(0, n, step):
            values = self._read(first, min(first + step, n), columns)
            for at in range(0, len(values), ROWS):
                yield first + at, values[at : at + ROWS]

    def _step(self, columns: Columns) -> int:
        """Rows to read in one go."""
        return ROWS

    def _read(self, start: int, stop: int, columns: Columns) -> Array:
        if isinstance(columns, slice):
            values = np.array(self._array[start:stop, columns])
        else:
            values = np.stack([np.asarray(self._array[start:stop, int(c)]) for c in columns], axis=1)
        pages = getattr(self._array, "_mmap", None)
        if pages is not None and getattr(self._array, "mode", "") in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)  # what has been copied need not stay: it would count as our memory
        return values
