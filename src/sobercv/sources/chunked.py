"""Arrays that are kept in chunks: zarr, HDF5.

Takes anything with `shape`, `dtype`, `chunks` and slices, gives its blocks; a chunk is unpacked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import ROWS, Columns, Source
from .memory_map import ArraySource

_READ = 1 << 28  # bytes read in one go, so that a chunk is not unpacked again for every block of it


class ChunkedSource(ArraySource):
    """An array of zarr or h5py."""

    @classmethod
    def of(cls, values: Any, names: Sequence[str] | None = None) -> Source | None:
        is_sliced = all(hasattr(values, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
        return cls(values) if is_sliced and not hasattr(values, "to_numpy") else None

    def _step(self, columns: Columns) -> int:
        """Rows to read in one go: a chunk of the file where that is not too much, else a block."""
        chunks = self._array.chunks
        if not chunks or chunks[0] <= ROWS:
            return ROWS
        width = len(range(*columns.indices(self.shape[1]))) if isinstance(columns, slice) else len(columns)
        whole = -(-chunks[0] // ROWS) * ROWS
        return int(whole) if whole * width * np.dtype(self._array.dtype).itemsize <= _READ else ROWS
