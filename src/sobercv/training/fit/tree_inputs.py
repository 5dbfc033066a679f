"""What the trees of a forest are grown from: columns that are sorted once, and the resample of each tree.

Takes rows or a generator, gives arrays in the form that `tree_kernels` reads; never grows a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...containers import Array
from ...seeds import old_generator

#: Cells that are sorted at a time, so that what is written down on the way takes little memory.
BLOCK = 1 << 18
#: Resamples of a forest are kept for the next one up to this size.
MOST_COUNTS = 1 << 24


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """Training rows, each column sorted once; see `tree_kernels.vote`."""

    rows: Array  # float32 [N, P]
    ranks: Array
    values: Array
    n_ranks: Array
    order: Array

    @classmethod
    def of(cls, rows: Array) -> SortedColumns:
        """Sort every column."""
        shape, wide = rows.T.shape, max(1, BLOCK // len(rows))
        ranks, values, n_ranks = np.empty(shape, np.uint16), np.zeros(shape, np.float32), np.empty(shape[0], np.int64)
        orders = np.empty(shape, np.uint16)
        for start in range(0, shape[0], wide):
            part = slice(start, start + wide)
            columns = np.ascontiguousarray(rows.T[part])
            order = np.argsort(columns, axis=1)
            ascending = np.take_along_axis(columns, order, axis=1)
            rank = np.zeros(columns.shape, np.int64)
            np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=rank[:, 1:])
            np.put_along_axis(ranks[part], order, rank.astype(np.uint16), axis=1)
            np.put_along_axis(values[part], rank, ascending, axis=1)
            orders[part], n_ranks[part] = order, rank[:, -1] + 1
        return cls(rows, ranks, values, n_ranks, orders)


class Resamples:
    """The samples that each tree sees, and the state of the generator that it starts with: functions of its seed.

    Parameters
    ----------
    generator : RandomState
        Gives the seeds of the trees.
    n_trees, n_rows : int
    bootstrap : bool
    """

    def __init__(self, generator: Any, n_trees: int, n_rows: int, bootstrap: bool) -> None:
        self._seeds = generator.randint(np.iinfo(np.int32).max, size=n_trees)
        self._n_rows, self._bootstrap = n_rows, bootstrap
        keeps = n_trees * n_rows <= MOST_COUNTS
        self._kept = (np.empty((n_trees, n_rows), np.uint8), np.empty(n_trees, np.uint32)) if keeps else None
        self._n_kept = 0

    def part(self, start: int, stop: int) -> tuple[Array, Array]:
        """Give the counts and states of some trees."""
        if self._kept is None:
            return self._drawn(start, stop)
        counts, states = self._kept
        if stop > self._n_kept:
            counts[self._n_kept : stop], states[self._n_kept : stop] = self._drawn(self._n_kept, stop)
            self._n_kept = stop
        return counts[start:stop], states[start:stop]

    def _drawn(self, start: int, stop: int) -> tuple[Array, Array]:
        counts, states = np.ones((stop - start, self._n_rows), np.uint8), np.empty(stop - start, np.uint32)
        generator = old_generator(0)
        for row, seed in enumerate(self._seeds[start:stop]):
            generator.seed(seed)
            states[row] = generator.randint(0, np.iinfo(np.int32).max)
            if self._bootstrap:
                generator.seed(seed)
                drawn = np.bincount(generator.randint(0, self._n_rows, self._n_rows), minlength=self._n_rows)
                counts[row] = np.minimum(drawn, 255)  # of 65,536 samples none comes up 255 times
        return counts, states
