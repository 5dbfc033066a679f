"""Source: the contract of a table of predictions of which only blocks are in memory.

Takes nothing itself; every storage derives from it in a file of its own and is registered in `registry.py`. A source
gives rows in blocks cut at fixed places and lets work be done where the rows are; it never looks at what the numbers
mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np

from ..containers import Array
from ..errors import SoberError

ROWS = 1 << 16  # rows of a block: what the bootstrap draws together, so that no result depends on the user's chunks

#: Which configurations to read: a range of columns, or their indices.
Columns = slice | Array


class Source(ABC):
    """A table of predictions, a row a sample and a column a configuration, of which only blocks are in memory.

    Attributes
    ----------
    shape : (int, int)
        N samples, C configurations.
    has_names : bool
        Whether columns have names, by which they can be chosen.
    """

    shape: tuple[int, int]
    has_names: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, values: Any, names: Sequence[str] | None = None) -> Source | None:
        """Recognise a table of this storage that should be read in blocks; None where it is none.

        Parameters
        ----------
        values : object
            Whatever the user passed as predictions.
        names : sequence of str, optional
            Columns to read, for storages that have names.
        """

    @abstractmethod
    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        """Give (first row, values) of every block of 65,536 rows, in order, for some of the configurations."""

    def columns(self, columns: Columns) -> Array:
        """Give all rows of some of the configurations [N, columns]."""
        out: Array | None = None
        for start, values in self.blocks(columns):
            if out is None:
                out = np.empty((self.shape[0], values.shape[1]), values.dtype)
            out[start : start + len(values)] = values
        assert out is not None
        return out

    def map(
        self, work: Callable[[Array, Any], Any], parcel: Callable[[int, int], Any], columns: Columns, n_threads: int
    ) -> Iterator[Any]:
        """Do work on every block, where the block is: `work(values, parcel(first row, last row + 1))`, in order.

        Results can be added; a source may give sums of several instead of each.
        """
        jobs = ((values, parcel(start, start + len(values))) for start, values in self.blocks(columns))
        if n_threads == 1:
            yield from (work(*job) for job in jobs)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: deque[Future[Any]] = deque()
            for job in jobs:
                waiting.append(pool.submit(work, *job))
                if len(waiting) > n_threads:  # one block is read ahead, no more: blocks are what memory is spent on
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def column(self, name: str) -> Array:
        """Give a column by its name, such as the truth; only files with named columns have those."""
        raise SoberError(
            "E118", f"{name!r} cannot name a column: only Parquet files have names. Pass an array, one entry a sample."
        )

    def without(self, names: Sequence[str]) -> Source:
        """Leave these columns out, because they are no predictions."""
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape[0]:,} samples, {self.shape[1]:,} configurations)"


def check_axes(array: Any) -> tuple[int, int]:
    """Give the shape [N, C] of an array; refuse any other."""
    if len(array.shape) != 2:
        raise SoberError(
            "E118",
            f"Predictions that are read in blocks must be [N, C]; got {len(array.shape)} axes. Repeats and "
            "probabilities of several classes have to fit in memory: pass a numpy array.",
        )
    if 0 in array.shape:
        raise SoberError("E101", f"`predictions` holds nothing; got shape {tuple(array.shape)}.")
    return int(array.shape[0]), int(array.shape[1])
