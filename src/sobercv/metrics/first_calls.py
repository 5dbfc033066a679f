"""The first small calls of a process, by numpy instead of compiled loops: the same bits, without the wait.

Importing numba and loading its loops takes half a second, compiling them (once an installation) some seconds; a small
table is scored in less. So numpy does the first work of a process, up to an allowance. Takes and gives what the kernels
of the same names take and give; never rounds, so that nobody can tell which of the two was at work.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from ..compiled import Allowance
from ..containers import Array

#: Seconds that numpy may work in a process: where the loops were compiled before, and where they were not.
LOADING, COMPILING = 0.25, 1.5
#: Seconds of numpy, measured: for a pair of samples of a configuration in a resample, a draw, a score to choose from.
PAIR, DRAW, SCORE = 3e-11, 2e-8, 4e-9
_ROOM = 1 << 16  # draws made at a time: what is written down on the way stays in the cache of a core


#: What numpy may still do in this process before the compiled loops are loaded.
allowance = Allowance(LOADING, COMPILING, f"{Path(__file__).parent}/kernels/walks.py", "walks.walk_int")


class PairMatrix:
    """Who ought to win against whom, as a matrix: pairs are counted by multiplying it with counts.

    Parameters
    ----------
    node, role : int array [L, N]
        As in `ranking.Contests`; each pair is in one contest.
    """

    def __init__(self, node: Array, role: Array) -> None:
        self._node, self._role = node, role
        self._up, self._down = (np.flatnonzero((role == side).any(axis=0)) for side in (1, 0))

    def seconds(self, n_columns: int) -> float:
        """Give what it takes to score so many configurations times resamples."""
        return PAIR * len(self._up) * len(self._down) * n_columns

    @cached_property
    def _meet(self) -> Array:
        """Who meets whom: bool [winners-to-be, losers-to-be]."""
        up, down = self._up, self._down
        found = np.zeros((len(up), len(down)), np.bool_)
        for node, role in zip(self._node, self._role, strict=True):
            found |= (node[up][:, None] == node[down]) & (role[up] == 1)[:, None] & (role[down] == 0)
        return found

    def wins(self, scores: Array, counts: Array) -> Array:
        """Twice the pairs won by each row of scores [C, N] in each resample [B, N], a tie counting half: [C, B]."""
        strong, weak = self._sides(counts)
        out = np.empty((len(scores), len(counts)))
        for c, score in enumerate(scores):
            ours, theirs = score[self._up][:, None], score[self._down]
            lead = ((ours > theirs) & self._meet).astype(np.float32)
            lead += (ours >= theirs) & self._meet
            out[c] = np.einsum("ib,ib->b", lead @ weak, strong)
        return out

    def every(self, counts: Array) -> Array:
        """Give the number of pairs in each resample [B]."""
        strong, weak = self._sides(counts)
        return np.einsum("ib,ib->b", self._meet.astype(np.float32) @ weak, strong).astype(np.float64)

    def _sides(self, counts: Array) -> tuple[Array, Array]:
        return tuple(np.ascontiguousarray(counts[:, side].T, np.float32) for side in (self._up, self._down))  # type: ignore[return-value]


def _mix(z: Array) -> Array:
    """Scatter 64 bits, as `kernels.draw` does."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def draw(key: np.uint64, first: int, n_draws: Array, counts: Array) -> None:
    """Draw n_draws[b] units with replacement for each resample b and count them, as `kernels.draw` does."""
    step = np.uint64(0x9E3779B97F4A7C15)
    n_resamples, n = counts.shape
    starts = _mix(key + _mix(np.arange(first + 1, first + n_resamples + 1).astype(np.uint64) * step))
    turns = np.arange(1, int(n_draws.max(initial=0)) + 1).astype(np.uint64)
    together = max(1, _ROOM // max(1, len(turns)))
    for b in range(0, n_resamples, together):
        some = counts[b : b + together]
        state = starts[b : b + together, None] + turns * step
        place = ((_mix(state) >> np.uint64(11)).astype(np.float64) * (1.0 / 9007199254740992.0) * n).astype(np.int64)
        place += np.arange(len(some))[:, None] * n
        drawn = turns <= n_draws[b : b + together, None].astype(np.uint64)
        some += np.bincount(place[drawn], minlength=some.size).reshape(some.shape).astype(np.uint8)


def first_best(scores: Array, tie: float, unit: float) -> Array:
    """Find the first of the highest scores of each row [B], as `kernels.first_best` does."""
    with np.errstate(invalid="ignore"):
        top = np.fmax.reduce(scores, axis=1)
        least = np.where(top > -np.inf, top - tie * (unit + np.abs(top)), np.nan)
        near = scores >= least[:, None]
    return np.where(near.any(axis=1), near.argmax(axis=1), -1)
