"""The search of SES: forward selection by the max-min heuristic, with removals and equivalences on the way.

From a test of conditional independence and standardised columns to the selected columns, how strongly each is
associated at worst, and which columns can replace a selected one.

Lagani, Athineou, Farcomeni, Tsagris, Tsamardinos (2017), "Feature selection with the R package MXM: discovering
statistically equivalent feature subsets", Journal of Statistical Software 80(7), algorithm 1. Written from the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from ..containers import Array
from .independence import IndependenceTest, StandardisedColumns

_BLOCK = 1 << 21  # numbers held at a time while all columns are looked at once


@dataclass(frozen=True, eq=False)
class Signature:
    """What a search found.

    Attributes
    ----------
    selected : list of int
        Columns in the order of their selection.
    least : float array [P]
        The smallest statistic of each column over the conditioning sets on which it was tested.
    equivalents : list of lists of int
        For each selected column, itself and those that can stand in for it.
    """

    selected: list[int]
    least: Array
    equivalents: list[list[int]]


def standardised(X: Any, columns: Array, order: Array) -> Array:
    """Return columns of X as rows [P, N] with mean 0 and mean square 1; constant ones become 0.

    Parameters
    ----------
    X : array [N, P] or sparse matrix in CSC format
    columns : int array
    order : int array [N]
        The order in which the samples shall stand.
    """
    taken = X[:, columns]
    values = (taken.toarray() if sparse.issparse(taken) else taken).T.astype(np.float64)[:, order]
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    values /= np.where(largest > 0, largest, 1.0)  # so that no square of a huge or tiny number over- or underflows
    values -= values.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(values**2, axis=1, keepdims=True))
    constant = scale <= 1e-12
    return np.where(constant, 0.0, values / np.where(constant, 1.0, scale))


def select(
    X: Any, test: IndependenceTest, critical: float, k: int, equivalences: bool = True, max_features: int | None = None
) -> Signature:
    """Select columns of X.

    Parameters
    ----------
    X : array [N, P] or sparse matrix in CSC format
    test : IndependenceTest
    critical : float
        A statistic below it means independence.
    k : int
        Conditioning sets hold at most so many columns.
    equivalences : bool
        Whether to look for columns that can stand in for selected ones. The selection does not depend on it.
    max_features : int, optional
        Stop when so many are selected.
    """
    n, p = X.shape
    step = max(1, _BLOCK // n)
    nothing = np.empty((0, n))
    least = np.empty(p)
    for start in range(0, p, step):
        block = np.arange(start, min(start + step, p))
        least[block] = test.statistics(StandardisedColumns(standardised(X, block, test.order)), nothing)
    candidates = np.flatnonzero(least >= critical)
    columns = StandardisedColumns(standardised(X, candidates, test.order))
    state = _Selection(columns, least[candidates], test, critical, equivalences)
    limit = len(candidates) if max_features is None else max_features
    while len(state.selected) < limit and state.select_next():
        state.condition_on_newest(k)
    least[candidates] = state.least
    return Signature(
        [int(candidates[i]) for i in state.selected],
        least,
        [[int(candidates[j]) for j in state.equivalents[i]] for i in state.selected],
    )


class _Selection:
    """The state of a search over the columns that are associated with the target at all; they are known by position."""

    def __init__(
        self, columns: StandardisedColumns, least: Array, test: IndependenceTest, critical: float, equivalences: bool
    ) -> None:
        self.columns, self.least, self.test, self.critical = columns, least, test, critical
        self.alive = np.ones(len(least), bool)  # remaining or selected: not yet found independent
        self.selected: list[int] = []
        self.find_equivalents = equivalences
        self.equivalents: dict[int, list[int]] = {i: [i] for i in range(len(least))}
        self._ids = np.arange(len(least))
        self._working = columns

    def select_next(self) -> bool:
        """Select the remaining column whose weakest association is the strongest; say whether there was one."""
        remaining = np.where(self.alive, self.least, -np.inf)
        remaining[self.selected] = -np.inf
        if not len(remaining) or np.isneginf(remaining.max()):
            return False
        self.selected.append(int(np.argmax(remaining)))
        return True

    def condition_on_newest(self, k: int) -> None:
        """Test all live columns given every set that holds the newest one; the other sets have been tested before."""
        *older, newest = self.selected
        for given in _sets(older, newest, k):
            if self.alive[list(given)].all():  # a selected column may have been removed meanwhile
                self._test(given)

    def _test(self, given: tuple[int, ...]) -> None:
        self._forget_independent()
        statistics = self.test.statistics(self._working, self.columns.values[list(given)])
        tested = self.alive[self._ids]
        tested[np.isin(self._ids, given)] = False
        ids = self._ids[tested]
        self.least[ids] = np.minimum(self.least[ids], statistics[tested])
        gone = ids[self.least[ids] < self.critical]
        self.alive[gone] = False
        self.selected = [i for i in self.selected if self.alive[i]]
        if self.find_equivalents:
            for i in gone.tolist():
                self._place(i, given)

    def _place(self, i: int, given: tuple[int, ...]) -> None:
        """Find the selected column that column i, independent given `given`, can replace there."""
        for other in given:
            swapped = [i if j == other else j for j in given]
            statistic = self.test.statistics(self.columns.take(np.array([other])), self.columns.values[swapped])
            if statistic[0] < self.critical:
                self.equivalents[other] += self.equivalents.pop(i)
                return

    def _forget_independent(self) -> None:
        """Forget columns that are out, when they have become many."""
        live = self.alive[self._ids]
        if 4 * live.sum() < 3 * len(live):
            self._ids = self._ids[live]
            self._working = self._working.take(live)


def _sets(older: list[int], newest: int, k: int) -> Iterator[tuple[int, ...]]:
    """List the sets of at most k selected columns that hold the newest, small ones first."""
    for size in range(min(k, len(older) + 1)):
        for others in combinations(older, size):
            yield (*others, newest)
