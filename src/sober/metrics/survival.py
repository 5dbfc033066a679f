"""Harrell's concordance index for right-censored survival times.

Takes one part with (event, time) and risks, gives a duel in which whoever had the event ought to have had the higher
risk than everybody who is known to have outlived it. A higher risk means an earlier event, as in scikit-survival.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..predictions import Task
from .base import Core, Metric, Part
from .ranking import Contests, DuelCore, Walks


def outlived(event: Array, time: Array, fold: Array) -> Contests:
    """Lay all comparable pairs out as contests, each pair in exactly one of them.

    Write the distinct times of a fold as binary numbers. Two different times agree in their leading bits up to the
    first bit in which they differ: at that bit's level both are in the same contest (the agreeing prefix), the earlier
    with a 0 and the later with a 1. So log2(N) levels hold all pairs of different times. One more level lets an
    event meet those censored at the same time: they outlived it.
    """
    folds = np.unique(fold, return_inverse=True)[1].reshape(-1)
    code = np.unique(time, return_inverse=True)[1].reshape(-1)
    bits = max(1, int(code.max(initial=0)).bit_length())
    key = folds.astype(np.int64) << bits | code
    nodes, roles = [key], [np.where(event, 1, 0)]
    for level in range(bits):
        later = (code >> level) & 1 == 1
        nodes.append(key >> (level + 1))
        roles.append(np.where(later, 0, np.where(event, 1, -1)))
    dense = [np.unique(node, return_inverse=True)[1].reshape(-1) for node in nodes]
    return Contests(np.stack(dense), np.stack(roles))


class ComparablePairs:
    """Weight of the comparable pairs in each resample: every event with all who outlived it, within folds."""

    def __init__(self, part: Part) -> None:
        event, time = part.y["event"], part.y["time"]
        # By fold, then time, events before those censored at the same time: who outlived an event comes after it.
        self._order = np.lexsort((~event, time, part.fold))
        e, t, f = event[self._order], time[self._order], part.fold[self._order]
        n = len(e)
        key_changes = np.flatnonzero((np.diff(t) != 0) | (np.diff(f) != 0) | (np.diff(e.astype(int)) != 0)) + 1
        edges = np.concatenate([key_changes, [n]])
        fold_ends = np.concatenate([np.flatnonzero(np.diff(f) != 0) + 1, [n]])
        self._events = np.flatnonzero(e)
        # An event outranks everything from the end of its run of equal (fold, time, event) to the end of its fold.
        self._from = edges[np.searchsorted(edges, self._events, side="right")]
        self._to = fold_ends[np.searchsorted(fold_ends, self._events, side="right")]
        self._weight = np.ones(n) if part.weight is None else part.weight[self._order]

    def __call__(self, counts: Array) -> Array:
        out = np.empty(len(counts))
        for b in range(0, len(counts), 16):  # a few resamples at a time: cumulative sums are wide
            present = counts[b : b + 16, self._order] * self._weight
            ahead = np.concatenate([np.zeros((len(present), 1)), np.cumsum(present, axis=1)], axis=1)
            outlived_by = ahead[:, self._to] - ahead[:, self._from]
            # Differences of sums of weights round: nothing there must stay nothing.
            outlived_by[np.abs(outlived_by) < 1e-12 * ahead[:, -1:]] = 0.0
            out[b : b + 16] = (present[:, self._events] * outlived_by).sum(axis=1)
        return out


class Concordance(Metric):
    """Share of comparable pairs in which the earlier event had the higher risk, a tie counting half."""

    name = "concordance_index"
    task: Task = "survival"
    pools_scores = True

    def core(self, part: Part, n_threads: int = 1) -> Core:
        contests = outlived(part.y["event"], part.y["time"], part.fold)
        walks = Walks(np.ascontiguousarray(part.values.T), contests, n_threads)
        return DuelCore([(walks, ComparablePairs(part), None)], part.weight)


def metrics() -> list[Metric]:
    """All metrics of this file."""
    return [Concordance()]
