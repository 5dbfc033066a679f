"""Metrics of pairs of samples: the area under the ROC curve, of two classes or the mean over duels of several.

Takes one part, sorts every configuration once, gives walks that the kernels repeat for all resamples. A **duel** is a
set of pairs (one to win, one to lose) that share a contest; the area under the curve is the share of pairs won, a tie
counting half. Contests confine pairs to a fold, or to samples of which one outlived the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks, first_calls
from .base import Metric
from .classes import SpreadOut
from .first_calls import PairMatrix
from .in_order import PartialArea
from .part import Core, Part
from .pointwise import product

#: Walks through the samples: (samples, actions, where each walk ends).
Steps = tuple[Array, Array, Array]
#: Those of a range of configurations: first, last, steps.
Piece = tuple[int, int, Steps]

_KEPT = 1 << 30  # bytes of walks that are kept; beyond, they are made again for each block of resamples
_VECTOR = 64  # bytes: what begins and ends at such places is walked a fifth faster
_PATIENCE = 8  # steps that win between two moves of 16-bit sums; where it must be less, 32 bits are faster
_FEW = 4  # resamples that are walked one by one rather than as a vector


def _kernels() -> Any:
    from . import kernels  # numba takes a while to import

    return kernels


@dataclass(frozen=True, eq=False)
class Contests:
    """Who meets whom, whatever the scores: for each level the contest of each sample and its role in it.

    Attributes
    ----------
    node : int array [L, N]
        Contest of each sample, from 0; -1 for none.
    role : int array [L, N]
        1 ought to score higher, 0 lower, -1 takes no part.
    """

    node: Array
    role: Array

    def starts(self) -> Array:
        """Where each contest begins when the samples of a level are laid out by contest [L, M + 1]."""
        m = int(self.node.max(initial=0)) + 1
        out = np.zeros((len(self.node), m + 1), np.int64)
        for level, (node, role) in enumerate(zip(self.node, self.role, strict=True)):
            out[level, 1:] = np.cumsum(np.bincount(node[role >= 0], minlength=m))
        return out


class Block:
    """A block of resamples, laid out to be walked through.

    Parameters
    ----------
    counts : array [B, N]
    weight : float array [N] or None
    """

    def __init__(self, counts: Array, weight: Array | None) -> None:
        self.counts, self.weight = counts, weight

    def follow(self, steps: Steps, out: Array) -> None:
        """Take some walks in every resample: twice the pairs won, out [C, B]."""
        kernels = _kernels()
        weight = np.ones(self.counts.shape[1]) if self.weight is None else self.weight
        if self.weight is not None or self.counts.dtype != np.uint8 or self._most >= 2**32:
            kernels.walk_float(*steps, self._turned, self._turned.ctypes.data, weight, out)
        elif len(self.counts) <= _FEW:
            each, b = np.indices(out.shape, np.int64).reshape(2, -1)
            kernels.walk_alone(*steps, self.counts, weight, each, b, out.reshape(-1))
        else:
            bits = 16 if _PATIENCE * self._most < 2**16 else 32
            below = np.uint16 if self._total < 2**16 else np.uint32
            sums, twice = (np.uint16, np.uint32) if bits == 16 else (np.uint32, np.float64)
            room = [_aligned((self._turned.shape[1],), kind) for kind in (below, sums, sums, twice)]
            patience = (2**bits - 1) // self._most
            kernels.walk_int(*steps, self._turned, self._turned.ctypes.data, *room, patience, out)

    @cached_property
    def fits_single(self) -> bool:
        """Whether single precision holds twice the pairs of any resample exactly."""
        return self.weight is None and self.counts.dtype == np.uint8 and self._total**2 < 2**25

    @cached_property
    def _total(self) -> int:
        """Samples in the largest resample."""
        return int(self.counts.sum(axis=1, dtype=np.int64).max(initial=1))

    @cached_property
    def _most(self) -> int:
        """What a step that wins adds at the most: the largest count against all others."""
        return self._total * int(self.counts.max(initial=1))

    @cached_property
    def _turned(self) -> Array:
        """The counts as [N, B], with resamples of zeros added up to a whole number of vectors."""
        n_resamples, n = self.counts.shape
        out = _aligned((n, -(-n_resamples // _VECTOR) * _VECTOR), self.counts.dtype)
        out[:, :n_resamples] = self.counts.T
        out[:, n_resamples:] = 0
        return out


def _aligned(shape: tuple[int, ...], kind: Any) -> Array:
    """An empty array that begins at a whole vector: numpy's own begin anywhere."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    room = np.empty(size + _VECTOR, np.uint8)
    start = -room.ctypes.data % _VECTOR
    return room[start : start + size].view(kind).reshape(shape)


class Walks:
    """The walks of all configurations through their sorted samples, made once and kept where memory allows.

    They are made when they are first needed: the first small calls of a process do without (`first_calls`).
    """

    def __init__(self, scores: Array, contests: Contests, n_threads: int) -> None:
        self._node = np.ascontiguousarray(contests.node, np.int32)
        self._role = np.ascontiguousarray(contests.role, np.int8)
        self._starts = contests.starts()
        self._begins = np.zeros(contests.node.shape, np.uint8)
        for begins, starts in zip(self._begins, self._starts, strict=True):
            begins[starts[starts < len(begins)]] = 1
        self._room = int((contests.role >= 0).sum() + (contests.role == 1).sum())  # steps of a walk at the most
        self._scores = scores  # [C, N]
        self.n = len(scores)
        self._n_threads, self._kept, self._lock = n_threads, list[Piece](), Lock()
        self._matrix = PairMatrix(self._node, self._role)

    def _make(self, first: int, last: int) -> Piece:
        score = self._scores[first:last]
        samples = np.empty((last - first) * self._room, np.int32)
        actions = np.empty((last - first) * self._room, np.int8)
        ends = np.zeros(last - first + 1, np.int64)
        order = np.argsort(score, axis=1)
        who = self._node, self._role, self._starts, self._begins
        _kernels().make_walks(order, score, *who, samples, actions, ends)
        return first, last, (samples[: ends[-1]].copy(), actions[: ends[-1]].copy(), ends)

    def wins(self, block: Block) -> Array:
        """Twice the pairs won, a tie counting half, of every configuration in every resample [B, C]."""
        if self._plainly(block, self.n):
            return self._matrix.wins(self._scores, block.counts).T
        out = np.empty((self.n, len(block.counts)))
        for first, last, steps in self.pieces():
            block.follow(steps, out[first:last])
        return out.T

    def picked(self, block: Block, winners: Array) -> Array:
        """Twice the pairs won by the one configuration that each resample picked [B]."""
        counts = block.counts
        out = np.empty(len(counts))
        if self._plainly(block, 1):
            for winner in np.unique(winners):
                here = winners == winner
                out[here] = self._matrix.wins(self._scores[winner : winner + 1], counts[here])[0]
            return out
        kernels = _kernels()
        weight = np.ones(counts.shape[1]) if block.weight is None else block.weight
        for first, last, steps in self.pieces(np.unique(winners)):
            here = np.flatnonzero((winners >= first) & (winners < last))
            alone = np.empty(len(here))
            kernels.walk_alone(*steps, counts, weight, winners[here] - first, here, alone)
            out[here] = alone
        return out

    def every(self, block: Block) -> Array | None:
        """Give the number of pairs in each resample [B]; None where that would take compiled loops."""
        return self._matrix.every(block.counts) if self._plainly(block, 1) else None

    def _plainly(self, block: Block, n: int) -> bool:
        """Whether numpy may count the pairs of n configurations."""
        return block.fits_single and first_calls.allowance.covers(self._matrix.seconds(n * len(block.counts)))

    def pieces(self, wanted: Array | None = None) -> Iterator[Piece]:
        """Give the walks, some configurations at a time; where they are not kept, those wanted are made."""
        if self._room * self.n * 5 <= _KEPT:
            with self._lock:
                if not self._kept:
                    some = blocks.cut(self.n, -(-self.n // (4 * self._n_threads)))
                    self._kept = blocks.run(self._make, some, self._n_threads)
            yield from self._kept
        else:
            for c in range(self.n) if wanted is None else wanted:
                yield self._make(int(c), int(c) + 1)


class ClassPairs:
    """Weight of the pairs in which a winner-to-be meets a loser-to-be of its own fold, for each resample."""

    def __init__(self, role: Array, part: Part) -> None:
        weight = np.ones(len(role)) if part.weight is None else part.weight
        sides = [(role == side) & (part.fold == f) for side in (1, 0) for f in np.unique(part.fold)]
        self._sides = np.stack(sides) * weight  # [2 F, N]

    def __call__(self, block: Block) -> Array:
        winners, losers = np.split(product(block.counts, self._sides), 2, axis=1)
        return (winners * losers).sum(axis=1)


class DuelCore(Core):
    """Share of pairs won in one duel, or the mean over several (one for each class or pair of classes)."""

    def __init__(self, duels: list[tuple[Walks, Any, Array | None]], weight: Array | None) -> None:
        self._duels = duels  # walks, the pairs there are, and who counts for the importance of the duel
        self._weight = weight

    def scores(self, counts: Array) -> Array:
        return self._mean(Block(counts, self._weight), lambda walks, block: walks.wins(block))

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._mean(Block(counts, self._weight), lambda walks, block: walks.picked(block, winners))

    def _mean(self, block: Block, wins_of: Callable[[Walks, Block], Array]) -> Array:
        total: Any = 0.0
        carried: Any = 0.0
        for walks, pairs_of, members in self._duels:
            twice, pairs = wins_of(walks, block), pairs_of(block)
            shape = (-1,) + (1,) * (twice.ndim - 1)
            share = np.divide(twice, np.where(pairs > 0, 2.0 * pairs, np.nan).reshape(shape), out=twice)
            if len(self._duels) == 1:
                return share
            importance = np.ones(len(pairs)) if members is None else product(block.counts, members[None])[:, 0]
            total = total + importance.reshape(shape) * share
            carried = carried + importance.reshape(shape)
        return np.asarray(total / carried)


class RocAuc(Metric):
    """Area under the ROC curve: of two classes, or the mean over duels of several.

    Parameters
    ----------
    multi_class : {None, "ovr", "ovo"}
        Each class against the rest, or against each other one; None is for two classes.
    average : {"macro", "weighted", "micro"}
        Duels count equally, by how many samples they concern, or are one duel of all samples and classes ("ovr" only).
    """

    task: TaskName = "classification"
    pools_scores = True
    min_classes = 2

    def __init__(self, multi_class: str | None = None, average: str = "macro") -> None:
        self._multi, self._average = multi_class, average
        self.responses = ("predict_proba",) if multi_class else ("decision_function", "predict_proba")
        self.max_classes = None if multi_class else 2

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if part.values.ndim == 2:  # two classes: every multi-class form is the plain one
            return DuelCore([self._duel(part, part.values, 1, None, n_threads)], part.weight)
        if self._average == "micro":
            return SpreadOut(part, lambda one: DuelCore([self._duel(one, one.values, 1, None, n_threads)], one.weight))
        duels = []
        for k in range(part.n_classes):
            rivals = [None] if self._multi == "ovr" else [j for j in range(part.n_classes) if j != k]
            duels += [self._duel(part, part.values[:, :, k], k, rival, n_threads) for rival in rivals]
        return DuelCore(duels, part.weight)

    def _duel(
        self, part: Part, values: Array, k: int, rival: int | None, n_threads: int
    ) -> tuple[Walks, ClassPairs, Array | None]:
        role = np.where(part.y == k, 1, 0)
        if rival is not None:
            role = np.where((part.y == k) | (part.y == rival), role, -1)
        node = np.unique(part.fold, return_inverse=True)[1].reshape(-1)
        scores = np.ascontiguousarray(values.T, None if values.dtype.kind == "f" else np.float64)  # labels rank too
        walks = Walks(scores, Contests(node[None], role[None]), n_threads)
        members = None
        if self._average == "weighted" and part.values.ndim == 3:
            # One-vs-rest counts by the class, one-vs-one by both classes.
            concerned = part.y == k if rival is None else role >= 0
            members = concerned * (1.0 if part.weight is None else part.weight)
        return walks, ClassPairs(role, part), members


def roc_auc(*, average: str = "macro", max_fpr: float | None = None, multi_class: str | None = None) -> Metric:
    """Area under the ROC curve.

    Parameters
    ----------
    average : {"macro", "weighted", "micro"}
    max_fpr : float, optional
        Only up to this false positive rate, standardised so that guessing scores 0.5; for two classes.
    multi_class : {None, "ovr", "ovo"}
    """
    if multi_class not in (None, "ovr", "ovo"):
        raise SoberError("E108", f'`multi_class` must be None, "ovr" or "ovo"; got {multi_class!r}.')
    allowed = ("macro", "weighted", "micro") if multi_class != "ovo" else ("macro", "weighted")
    if average not in allowed:
        raise SoberError("E108", f"`average` must be one of {', '.join(allowed)}; got {average!r}.")
    if max_fpr is None or max_fpr == 1:
        return RocAuc(multi_class, average)
    if isinstance(max_fpr, bool) or not isinstance(max_fpr, (int, float, np.number)) or not 0 < max_fpr < 1:
        raise SoberError("E108", f"`max_fpr` must lie above 0 and not above 1; got {max_fpr!r}.")
    return PartialArea(float(max_fpr))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "roc_auc": roc_auc,
        "roc_auc_ovr": partial(RocAuc, "ovr"),
        "roc_auc_ovo": partial(RocAuc, "ovo"),
        "roc_auc_ovr_weighted": partial(RocAuc, "ovr", "weighted"),
        "roc_auc_ovo_weighted": partial(RocAuc, "ovo", "weighted"),
    }
