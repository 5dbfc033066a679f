"""Arrays of dask: blocks stay on the workers that hold them.

Takes a dask array [N, C], sends work to its blocks, gives sums; never gathers the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from .base import ROWS, Columns, Source, check_axes

_WINDOW = 64  # blocks that are sent to a cluster together


class DaskSource(Source):
    """A dask array: blocks stay on the workers that hold them, sums come back."""

    def __init__(self, array: Any) -> None:
        if any(size != size for size in array.shape):
            raise SoberError(
                "E101", "The dask array does not know how long its chunks are. Call array.compute_chunk_sizes() first."
            )
        self.shape = check_axes(array)
        self._array = array

    @classmethod
    def of(cls, values: Any, names: Sequence[str] | None = None) -> Source | None:
        return cls(values) if hasattr(values, "rechunk") and hasattr(values, "to_delayed") else None

    def _delayed(self, columns: Columns) -> list[Any]:
        return list(self._array[:, columns].rechunk({0: ROWS, 1: -1}).to_delayed().ravel())

    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        for k, block in enumerate(self._delayed(columns)):
            yield k * ROWS, np.asarray(block.compute())

    def map(
        self, work: Callable[[Array, Any], Any], parcel: Callable[[int, int], Any], columns: Columns, n_threads: int
    ) -> Iterator[Any]:
        import dask

        task = dask.delayed(work, pure=False)
        add = dask.delayed(sum_of, pure=False)
        blocks = self._delayed(columns)
        for first in range(0, len(blocks), _WINDOW):
            window = range(first, min(first + _WINDOW, len(blocks)))
            parcels = _send([parcel(k * ROWS, min((k + 1) * ROWS, self.shape[0])) for k in window])
            done = [task(blocks[k], p) for k, p in zip(window, parcels, strict=True)]
            while len(done) > 1:  # a tree: workers add up what they have, and one sum travels
                done = [add(done[at : at + 8]) for at in range(0, len(done), 8)]
            yield done[0].compute()


def sum_of(parts: list[Any]) -> Any:
    """Add up results of blocks, in order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _send(parcels: list[Any]) -> list[Any]:
    """Put parcels onto the cluster where there is one: inside of the tasks they would pass through the scheduler."""
    from dask.base import get_scheduler

    client: Any = getattr(get_scheduler(), "__self__", None)
    return list(client.scatter(parcels, hash=False)) if hasattr(client, "scatter") else parcels
