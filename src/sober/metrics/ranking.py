"""Metrics that compare samples with each other: area under the ROC curve, average precision, medians.

Takes one part, sorts every configuration once, gives walks that the kernels repeat for all resamples. A **duel** is a
set of pairs (one to win, one to lose) that share a contest; the area under the curve is the share of pairs won, a tie
counting half. Contests confine pairs to a fold, or to samples of which one outlived the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..predictions import Task
from . import blocks
from .base import Core, Metric, Part
from .pointwise import product

#: Walks of a range of configurations: first, last, (samples, actions, where each walk ends).
Piece = tuple[int, int, tuple[Array, Array, Array]]

_KEPT = 1 << 30  # bytes of walks that are kept; beyond, they are made again for each block of resamples


def _kernels() -> Any:
    from . import kernels  # numba takes a while to import, and mean-type metrics do without it

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


class Walks:
    """The walks of all configurations through their sorted samples, made once and kept where memory allows."""

    def __init__(self, scores: Array, contests: Contests, n_threads: int) -> None:
        self._node = np.ascontiguousarray(contests.node, np.int32)
        self._role = np.ascontiguousarray(contests.role, np.int8)
        self._starts = contests.starts()
        self._room = int((contests.role >= 0).sum() + (contests.role == 1).sum())  # steps of a walk at the most
        self._scores: Array | None = scores  # [C, N]
        self._n = len(scores)
        self._kept: list[Piece] | None = None
        if self._room * self._n * 5 <= _KEPT:
            step = max(1, -(-self._n // (4 * n_threads)))
            cut = [(at, min(at + step, self._n)) for at in range(0, self._n, step)]
            self._kept = blocks.run(self._make, cut, n_threads)
            self._scores = None  # the walks hold all that is needed

    def _make(self, first: int, last: int) -> Piece:
        assert self._scores is not None
        score = self._scores[first:last]
        samples = np.empty((last - first) * self._room, np.int32)
        actions = np.empty((last - first) * self._room, np.int8)
        ends = np.zeros(last - first + 1, np.int64)
        order = np.argsort(score, axis=1)
        _kernels().make_walks(order, score, self._node, self._role, self._starts, samples, actions, ends)
        return first, last, (samples[: ends[-1]].copy(), actions[: ends[-1]].copy(), ends)

    def wins(self, counts: Array, weight: Array | None) -> Array:
        """Pairs won, a tie counting half, of every configuration in every resample [B, C]."""
        kernels = _kernels()
        turned = np.ascontiguousarray(counts.T)
        out = np.empty((self._n, len(counts)))
        exact = weight is None and counts.dtype == np.uint8
        # A step that wins adds at most (largest count) x (all losers).
        most = float(counts.max(initial=1)) * float(counts.sum(axis=1, dtype=np.float64).max(initial=1.0))
        patience = int((2**31 - 1) // most) if most < 2**31 else 0
        w = np.ones(counts.shape[1]) if weight is None else weight
        for first, last, (samples, actions, starts) in self._pieces():
            if exact and patience:
                kernels.walk_int(samples, actions, starts, turned, patience, out[first:last])
            else:
                kernels.walk_float(samples, actions, starts, turned, w, out[first:last])
        out *= 0.5
        return out.T

    def picked(self, counts: Array, weight: Array | None, winners: Array) -> Array:
        """Pairs won by the one configuration that each resample picked [B]."""
        kernels = _kernels()
        out = np.empty(len(counts))
        w = np.ones(counts.shape[1]) if weight is None else weight
        for first, last, (samples, actions, starts) in self._pieces(np.unique(winners)):
            here = (winners >= first) & (winners < last)
            if here.any():
                part = np.empty(int(here.sum()))
                kernels.walk_picked(samples, actions, starts, counts[here], w, winners[here] - first, part)
                out[here] = part
        return 0.5 * out

    def _pieces(self, wanted: Array | None = None) -> Iterator[Piece]:
        if self._kept is not None:
            yield from self._kept
        else:
            for c in range(self._n) if wanted is None else wanted:
                yield self._make(int(c), int(c) + 1)


class ClassPairs:
    """Weight of the pairs in which a winner-to-be meets a loser-to-be of its own fold, for each resample."""

    def __init__(self, role: Array, part: Part) -> None:
        weight = np.ones(len(role)) if part.weight is None else part.weight
        sides = [(role == side) & (part.fold == f) for side in (1, 0) for f in np.unique(part.fold)]
        self._sides = np.stack(sides) * weight  # [2 F, N]

    def __call__(self, counts: Array) -> Array:
        winners, losers = np.split(product(counts, self._sides), 2, axis=1)
        return (winners * losers).sum(axis=1)


class DuelCore(Core):
    """Share of pairs won in one duel, or the mean over several (one for each class or pair of classes)."""

    def __init__(self, duels: list[tuple[Walks, Any, Array | None]], weight: Array | None) -> None:
        self._duels = duels  # (walks, pairs, the samples whose weight the duel carries in the mean)
        self._weight = weight

    def scores(self, counts: Array) -> Array:
        return self._mean(counts, lambda walks: walks.wins(counts, self._weight))

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._mean(counts, lambda walks: walks.picked(counts, self._weight, winners))

    def _mean(self, counts: Array, wins_of: Any) -> Array:
        total: Any = 0.0
        carried: Any = 0.0
        for walks, pairs_of, members in self._duels:
            wins, pairs = wins_of(walks), pairs_of(counts)
            shape = (-1,) + (1,) * (wins.ndim - 1)
            share = wins / np.where(pairs > 0, pairs, np.nan).reshape(shape)
            if len(self._duels) == 1:
                return np.asarray(share)
            importance = np.ones(len(counts)) if members is None else product(counts, members[None])[:, 0]
            total = total + importance.reshape(shape) * share
            carried = carried + importance.reshape(shape)
        return np.asarray(total / carried)


class RocAuc(Metric):
    """Area under the ROC curve: of two classes, or the mean over duels of several.

    Parameters
    ----------
    name : str
    multi : {None, "ovr", "ovo"}
    weighted : bool
        Duels count by how many samples they concern, else equally.
    """

    task: Task = "classification"
    pools_scores = True
    min_classes = 2

    def __init__(self, name: str, multi: str | None = None, weighted: bool = False) -> None:
        self.name, self._multi, self._weighted = name, multi, weighted
        self.responses = ("predict_proba",) if multi else ("decision_function", "predict_proba")
        self.max_classes = None if multi else 2

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if part.values.ndim == 2:  # two classes: every multi-class form is the plain one
            return DuelCore([self._duel(part, part.values, 1, None, n_threads)], part.weight)
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
        walks = Walks(np.ascontiguousarray(values.T), Contests(node[None], role[None]), n_threads)
        members = None
        if self._weighted:  # one-vs-rest counts by the class, one-vs-one by both classes
            concerned = part.y == k if rival is None else role >= 0
            members = concerned * (1.0 if part.weight is None else part.weight)
        return walks, ClassPairs(role, part), members


class SortedCore(Core):
    """Configurations sorted once, for kernels that walk them in order."""

    def __init__(self, part: Part, values: Array, order: Array) -> None:
        self._part, self._values, self._order = part, values, order  # values, order [C, N]
        self._weight = np.ones(len(part.y)) if part.weight is None else part.weight

    def picked(self, counts: Array, winners: Array) -> Array:
        out = np.empty(len(winners))
        for winner in np.unique(winners):
            here, one = winners == winner, slice(winner, winner + 1)
            out[here] = type(self)(self._part, self._values[one], self._order[one]).scores(counts[here])[:, 0]
        return out

    def _run(self, kernel: Any, *arguments: Any, counts: Array) -> Array:
        out = np.empty((len(self._order), len(counts)))
        kernel(self._order, self._values, *arguments, out)
        return out.T


class PrecisionCore(SortedCore):
    """Average precision of the second class."""

    def scores(self, counts: Array) -> Array:
        positive = self._part.y == 1
        turned = np.ascontiguousarray(counts.T)
        area = self._run(_kernels().average_precision, positive, self._weight, turned, counts=counts)
        positives = product(counts, (positive * self._weight)[None])[:, 0]
        return np.asarray(area / np.where(positives > 0, positives, np.nan)[:, None])


class MedianCore(SortedCore):
    """Median of absolute errors."""

    def scores(self, counts: Array) -> Array:
        totals = self._part.totals(counts)
        slack = np.zeros_like(totals) if self._part.weight is None else 1e-12 * totals
        turned = np.ascontiguousarray(counts.T)
        return self._run(_kernels().medians, self._weight, turned, 0.5 * totals, slack, counts=counts)


def _sorted(values: Array, n_threads: int) -> Array:
    step = max(1, -(-len(values) // (4 * n_threads)))
    cut = [(at, at + step) for at in range(0, len(values), step)]
    return np.concatenate(blocks.run(lambda a, b: np.argsort(values[a:b], axis=1).astype(np.int32), cut, n_threads))


class AveragePrecision(Metric):
    """Precision averaged over the recall gained at each threshold, for the second of two classes."""

    name = "average_precision"
    task: Task = "classification"
    responses = ("decision_function", "predict_proba")
    pools_scores = True
    min_classes = max_classes = 2

    def core(self, part: Part, n_threads: int = 1) -> Core:
        values = np.ascontiguousarray(part.values.T)
        return PrecisionCore(part, values, _sorted(-values, n_threads))


class MedianAbsoluteError(Metric):
    """Median of the absolute errors."""

    name = "neg_median_absolute_error"
    task: Task = "regression"
    greater_is_better = False
    range = (-np.inf, 0.0)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        errors = np.ascontiguousarray(np.abs(part.values.T - part.y))
        return MedianCore(part, errors, _sorted(errors, n_threads))


def metrics() -> list[Metric]:
    """All metrics of this file."""
    return [
        RocAuc("roc_auc"),
        RocAuc("roc_auc_ovr", "ovr"),
        RocAuc("roc_auc_ovo", "ovo"),
        RocAuc("roc_auc_ovr_weighted", "ovr", weighted=True),
        RocAuc("roc_auc_ovo_weighted", "ovo", weighted=True),
        AveragePrecision(),
        MedianAbsoluteError(),
    ]
