"""Harrell's concordance index for right-censored survival times.

Takes one part with (event, time) and risks, gives a duel in which whoever had the event ought to have had the higher
risk than everybody who is known to have outlived it. A higher risk means an earlier event, as in scikit-survival.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..containers import Array
from ..targets import TaskName
from .base import Metric
from .part import Core, Part
from .ranking import Block, Contests, DuelCore, Steps, Walks


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
    """Weight of the comparable pairs in each resample: what a walk wins in which the earlier event always leads.

    Backwards in time, all who come first outlived those who come later. At equal times the censored come first, because
    they outlived the events, and every event wins before it becomes a loser itself.
    """

    def __init__(self, part: Part, event: Array | None = None, walks: Walks | None = None) -> None:
        self._part, self._walks = part, walks
        self._event = part.y["event"] if event is None else event

    @cached_property
    def steps(self) -> Steps:
        """The walk, made when first needed."""
        from .kernels import FIRST, LOSER, WINNER  # numba takes a while to import

        part, event, time = self._part, self._event, self._part.y["time"]
        samples, actions = [], []
        for f in np.unique(part.fold):
            here = np.flatnonzero(part.fold == f)
            censored, events = here[~event[here]], here[event[here]]
            who = np.concatenate([censored, events, events])
            turn = np.repeat([0, 1, 2], [len(censored), len(events), len(events)])
            order = np.lexsort((turn, -time[who]))
            action = np.where(turn[order] == 1, WINNER, LOSER)
            first = int(np.argmax(action == LOSER))  # whoever wins before has nobody to win against
            action[first] = FIRST
            samples.append(who[order][first:])
            actions.append(action[first:])
        walk = np.concatenate(samples).astype(np.int32)
        return walk, np.concatenate(actions).astype(np.int8), np.array([0, len(walk)])

    def __call__(self, block: Block) -> Array:
        plainly = None if self._walks is None else self._walks.every(block)
        if plainly is not None:
            return plainly
        out = np.empty((1, len(block.counts)))
        block.follow(self.steps, out)
        return 0.5 * out[0]


class Concordance(Metric):
    """Share of comparable pairs in which the earlier event had the higher risk, a tie counting half."""

    task: TaskName = "survival"
    pools_scores = True

    def core(self, part: Part, n_threads: int = 1) -> Core:
        contests = outlived(part.y["event"], part.y["time"], part.fold)
        walks = Walks(np.ascontiguousarray(part.values.T), contests, n_threads)
        return DuelCore([(walks, ComparablePairs(part, walks=walks), None)], part.weight)


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {"concordance_index": Concordance}
