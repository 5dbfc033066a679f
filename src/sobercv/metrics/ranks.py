"""Metrics of ranks: areas under the ROC curve, average precision, and the median and largest of sorted errors.

Every configuration is sorted once; every resample is then a scan of the sorted samples. The area under the curve is the
share of pairs of a positive and a negative that are ranked right, a tie counting half. Strata confine pairs to a fold,
or to samples of which one outlived the other.
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
from . import blocks
from .blocks import per_resample, product
from .contract import Core, Metric, Part, is_number

#: Scans of sorted samples: (samples, actions, where the scan of each configuration ends).
Steps = tuple[Array, Array, Array]
#: Those of a range of configurations: first, last, steps.
Piece = tuple[int, int, Steps]

_KEPT = 1 << 30  # bytes of scans that are kept; beyond, they are made again for each block of resamples
_VECTOR = 64  # bytes: arrays that begin and end at such places are scanned a fifth faster
_FLUSH = 8  # positives between two flushes of 16-bit sums; where it must be less, 32 bits are faster
_FEW = 4  # resamples that are scanned one by one rather than as a vector


@dataclass(frozen=True, eq=False)
class Strata:
    """Which pairs are compared, whatever the scores: for each level the stratum of each sample and its role in it.

    Attributes
    ----------
    stratum : int array [L, N]
        From 0; -1 for none.
    role : int array [L, N]
        1 is a positive, which ought to score higher, 0 a negative, -1 neither.
    """

    stratum: Array
    role: Array

    def starts(self) -> Array:
        """Where each stratum begins when the samples of a level are laid out by stratum [L, M + 1]."""
        m = int(self.stratum.max(initial=0)) + 1
        out = np.zeros((len(self.stratum), m + 1), np.int64)
        for level, (stratum, role) in enumerate(zip(self.stratum, self.role, strict=True)):
            out[level, 1:] = np.cumsum(np.bincount(stratum[role >= 0], minlength=m))
        return out


class Block:
    """A block of resamples, laid out for scans.

    Parameters
    ----------
    counts : array [B, N]
    weight : float array [N] or None
    """

    def __init__(self, counts: Array, weight: Array | None) -> None:
        self.counts, self.weight = counts, weight

    def count(self, steps: Steps, out: Array) -> None:
        """Scan every resample: twice the pairs ranked right, out [C, B]."""
        from .kernels import pairs

        weight = np.ones(self.counts.shape[1]) if self.weight is None else self.weight
        if self.weight is not None or self.counts.dtype != np.uint8 or self._most >= 2**32:
            pairs.weigh_pairs(*steps, self._turned, self._turned.ctypes.data, weight, out)
        elif len(self.counts) <= _FEW:
            each, b = np.indices(out.shape, np.int64).reshape(2, -1)
            pairs.weigh_pairs_of(*steps, self.counts, weight, each, b, out.reshape(-1))
        else:
            bits = 16 if _FLUSH * self._most < 2**16 else 32
            below = np.uint16 if self._total < 2**16 else np.uint32
            sums, twice = (np.uint16, np.uint32) if bits == 16 else (np.uint32, np.float64)
            room = [_aligned((self._turned.shape[1],), kind) for kind in (below, sums, sums, twice)]
            interval = (2**bits - 1) // self._most
            pairs.count_pairs(*steps, self._turned, self._turned.ctypes.data, *room, interval, out)

    @cached_property
    def _total(self) -> int:
        """Samples in the largest resample."""
        return int(self.counts.sum(axis=1, dtype=np.int64).max(initial=1))

    @cached_property
    def _most(self) -> int:
        """What a positive adds at the most: the largest count times all others."""
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


class SortedScans:
    """The scans of all configurations through their sorted samples, made once and kept where memory allows."""

    def __init__(self, scores: Array, strata: Strata, n_threads: int) -> None:
        self._stratum = np.ascontiguousarray(strata.stratum, np.int32)
        self._role = np.ascontiguousarray(strata.role, np.int8)
        self._starts = strata.starts()
        self._begins = np.zeros(strata.stratum.shape, np.uint8)
        for begins, starts in zip(self._begins, self._starts, strict=True):
            begins[starts[starts < len(begins)]] = 1
        self._room = int((strata.role >= 0).sum() + (strata.role == 1).sum())  # steps of a scan at the most
        self._scores = scores  # [C, N]
        self.n = len(scores)
        self._n_threads, self._kept, self._lock = n_threads, list[Piece](), Lock()

    def _make(self, first: int, last: int) -> Piece:
        from .kernels.pairs import make_scans

        score = self._scores[first:last]
        samples = np.empty((last - first) * self._room, np.int32)
        actions = np.empty((last - first) * self._room, np.int8)
        ends = np.zeros(last - first + 1, np.int64)
        order = np.argsort(score, axis=1)
        where = self._stratum, self._role, self._starts, self._begins
        make_scans(order, score, *where, samples, actions, ends)
        return first, last, (samples[: ends[-1]].copy(), actions[: ends[-1]].copy(), ends)

    def right(self, block: Block) -> Array:
        """Twice the pairs that every configuration ranks right in every resample, a tie counting half [B, C]."""
        out = np.empty((self.n, len(block.counts)))
        for first, last, steps in self.pieces():
            block.count(steps, out[first:last])
        return out.T

    def right_of(self, block: Block, winners: Array) -> Array:
        """Twice the pairs that the configuration picked for each resample ranks right [B]."""
        from .kernels.pairs import weigh_pairs_of

        counts = block.counts
        out = np.empty(len(counts))
        weight = np.ones(counts.shape[1]) if block.weight is None else block.weight
        for first, last, steps in self.pieces(np.unique(winners)):
            here = np.flatnonzero((winners >= first) & (winners < last))
            alone = np.empty(len(here))
            weigh_pairs_of(*steps, counts, weight, winners[here] - first, here, alone)
            out[here] = alone
        return out

    def pieces(self, wanted: Array | None = None) -> Iterator[Piece]:
        """Give the scans, some configurations at a time; where they are not kept, those wanted are made."""
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
    """Weight of the pairs of a positive and a negative of the same fold, for each resample."""

    def __init__(self, role: Array, part: Part) -> None:
        weight = np.ones(len(role)) if part.weight is None else part.weight
        sides = [(role == side) & (part.fold == f) for side in (1, 0) for f in np.unique(part.fold)]
        self._sides = np.stack(sides) * weight  # [2 F, N]

    def __call__(self, block: Block) -> Array:
        positives, negatives = np.split(product(block.counts, self._sides), 2, axis=1)
        return (positives * negatives).sum(axis=1)


class PairsCore(Core):
    """Share of the pairs of positives and negatives that are ranked right.

    Parameters
    ----------
    scans : SortedScans
    pairs : callable
        Block -> weight of all pairs in each resample [B].
    weight : float array [N] or None
    """

    def __init__(self, scans: SortedScans, pairs: Callable[[Block], Array], weight: Array | None) -> None:
        self._scans, self._pairs, self._weight = scans, pairs, weight

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        block = Block(counts, self._weight)
        twice = self._scans.right(block) if picked is None else self._scans.right_of(block, picked)
        pairs = self._pairs(block)
        return np.divide(twice, per_resample(np.where(pairs > 0, 2.0 * pairs, np.nan), twice), out=twice)


# ---- several classes ------------------------------------------------------------------------------------------------
class SpreadOut(Core):
    """Several classes as one problem of two: each sample counts once for each class, as being of it or not."""

    def __init__(self, part: Part, core_of: Callable[[Part], Core]) -> None:
        n, c, self._k = part.values.shape
        one = Part(
            y=(part.y == np.arange(self._k)[:, None]).reshape(-1).astype(np.int64),
            values=np.moveaxis(part.values, 2, 0).reshape(self._k * n, c),
            weight=None if part.weight is None else np.tile(part.weight, self._k),
            fold=np.tile(part.fold, self._k),
            classes=np.array([0, 1]),
        )
        self._core = core_of(one)

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        return self._core.scores(np.tile(counts, self._k), picked)


class ClassMean(Core):
    """Mean over problems of two classes; undefined where one of them is.

    Parameters
    ----------
    problems : list of (core, members)
        `members` [N] are the weights of the samples by which a problem counts; None where all count equally.
    """

    def __init__(self, problems: list[tuple[Core, Array | None]]) -> None:
        self._problems = problems

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        total: Any = 0.0
        carried: Any = 0.0
        for core, members in self._problems:
            found = core.scores(counts, picked)
            size = np.ones(len(counts)) if members is None else product(counts, members[None])[:, 0]
            size = per_resample(size, found)
            total, carried = total + size * found, carried + size
        return np.asarray(total / carried)


class RocAuc(Metric):
    """Area under the ROC curve: of two classes, or the mean over problems of two of several classes.

    Parameters
    ----------
    multi_class : {None, "ovr", "ovo"}
        Each class against the rest, or against each other one; None is for two classes.
    average : {"macro", "weighted", "micro"}
        Problems count equally, by how many samples they concern, or are one of all samples and classes ("ovr" only).
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
            return _area(part, part.values, part.y == 1, n_threads)
        if self._average == "micro":
            return SpreadOut(part, lambda one: _area(one, one.values, one.y == 1, n_threads))
        weight = 1.0 if part.weight is None else part.weight
        problems: list[tuple[Core, Array | None]] = []
        for k in range(part.n_classes):
            for other in [None] if self._multi == "ovr" else [j for j in range(part.n_classes) if j != k]:
                # One-vs-rest counts by the class, one-vs-one by both classes.
                role = np.where(part.y == k, 1, 0 if other is None else np.where(part.y == other, 0, -1))
                members = (part.y == k if other is None else role >= 0) * weight
                core = _area(part, part.values[:, :, k], role, n_threads)
                problems.append((core, members if self._average == "weighted" else None))
        return ClassMean(problems)


def _area(part: Part, values: Array, role: Array, n_threads: int) -> Core:
    """Area under the curve of positives (1) against negatives (0), within folds where the part has several."""
    stratum = np.unique(part.fold, return_inverse=True)[1].reshape(-1)
    scores = np.ascontiguousarray(values.T, None if values.dtype.kind == "f" else np.float64)  # labels rank too
    scans = SortedScans(scores, Strata(stratum[None], role.astype(np.int8)[None]), n_threads)
    return PairsCore(scans, ClassPairs(role, part), part.weight)


# ---- other scans ----------------------------------------------------------------------------------------------------
class SortedCore(Core):
    """Configurations sorted once, for kernels that scan them in order.

    Parameters
    ----------
    part : Part
    values, order : array [C, N]
    finish : callable
        (core, counts) -> scores [B, C], by way of `core.run`.
    """

    def __init__(self, part: Part, values: Array, order: Array, finish: Callable[..., Array]) -> None:
        self.part, self._values, self._order, self._finish = part, values, order, finish
        self.weight = np.ones(len(part.y)) if part.weight is None else part.weight

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        if picked is None:
            return self._finish(self, counts)
        out = np.empty(len(picked))
        for c in np.unique(picked):
            here, one = picked == c, slice(c, c + 1)
            alone = SortedCore(self.part, self._values[one], self._order[one], self._finish)
            out[here] = alone.scores(counts[here])[:, 0]
        return out

    def run(self, kernel: Any, counts: Array, *arguments: Any) -> Array:
        """Let a kernel scan every configuration: [C, B], transposed."""
        out = np.empty((len(self._order), len(counts)))
        kernel(self._order, self._values, *arguments, np.ascontiguousarray(counts.T), out)
        return out.T


def sorted_core(part: Part, values: Array, sign: int, finish: Callable[..., Array], n_threads: int) -> SortedCore:
    """Sort values [C, N], ascending or, with a sign of -1, descending."""
    cut = blocks.cut(len(values), -(-len(values) // (4 * n_threads)))

    def some(first: int, last: int) -> Array:
        return np.argsort(sign * values[first:last], axis=1).astype(np.int32)

    return SortedCore(part, values, np.concatenate(blocks.run(some, cut, n_threads)), finish)


# ---- thresholds -----------------------------------------------------------------------------------------------------
def _precision(core: SortedCore, counts: Array) -> Array:
    from .kernels import sorted_scan

    positive = core.part.y == 1
    area = core.run(sorted_scan.average_precision, counts, positive, core.weight)
    positives = product(counts, (positive * core.weight)[None])[:, 0]
    return np.asarray(area / np.where(positives > 0, positives, np.nan)[:, None])


def _start_of_curve(max_fpr: float, core: SortedCore, counts: Array) -> Array:
    from .kernels import sorted_scan

    positive = core.part.y == 1
    sides = product(counts, np.stack([positive, ~positive]) * core.weight)  # [B, 2]
    defined = np.all(sides > 0, axis=1, keepdims=True)
    area = core.run(sorted_scan.partial_area, counts, positive, core.weight, max_fpr * sides[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        area /= (sides[:, 0] * sides[:, 1])[:, None]
    least, most = 0.5 * max_fpr**2, max_fpr
    return np.where(defined, 0.5 * (1.0 + (area - least) / (most - least)), np.nan)


class _Thresholds(Metric):
    """What two-class metrics of thresholds have in common."""

    task: TaskName = "classification"
    responses = ("decision_function", "predict_proba")
    pools_scores = True
    min_classes = 2
    max_classes: int | None = 2

    def _two(self, part: Part, k: int) -> Part:
        """The class k against the rest: y is 1 for it, and values are high for it."""
        if part.fold.any():
            raise SoberError(
                "E114", f"{self.name} is no metric of pairs, so it cannot compare `within_folds`; roc_auc can."
            )
        values = part.values[:, :, k] if part.values.ndim == 3 else part.values if k == 1 else -part.values
        return Part((part.y == k).astype(np.int64), values, part.weight, part.fold, np.array([0, 1]))

    @staticmethod
    def _sorted(part: Part, finish: Callable[..., Array], n_threads: int) -> Core:
        kind = None if part.values.dtype.kind == "f" else np.float64  # labels are thresholds too
        return sorted_core(part, np.ascontiguousarray(part.values.T, kind), -1, finish, n_threads)


class PartialArea(_Thresholds):
    """Area under the ROC curve up to a false positive rate, standardised (McClish): guessing 0.5, the best 1."""

    def __init__(self, max_fpr: float) -> None:
        self._max_fpr = max_fpr
        self.range = (0.5 * (1.0 - max_fpr / (2.0 - max_fpr)), 1.0)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return self._sorted(self._two(part, 1), partial(_start_of_curve, self._max_fpr), n_threads)


class AveragePrecision(_Thresholds):
    """Precision averaged over the recall gained at each threshold, for one class or the mean over classes.

    Parameters
    ----------
    average : {"macro", "weighted", "micro"}
        With more than two classes: classes count equally, by their samples, or are thrown together.
    pos_label : label, optional
        The positive one of two classes.
    """

    depends_on_positive = True

    def __init__(self, average: str = "macro", pos_label: Any = None) -> None:
        if average not in ("macro", "weighted", "micro"):
            raise SoberError("E122", f"`average` must be macro, weighted or micro; got {average!r}.")
        self._average, self.pos_label, self.max_classes = average, pos_label, None

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if part.values.ndim == 2:
            return self._sorted(self._two(part, part.index_of_positive(self.pos_label)), _precision, n_threads)
        if self._average == "micro":
            return SpreadOut(part, lambda one: self._sorted(self._two(one, 1), _precision, n_threads))
        problems: list[tuple[Core, Array | None]] = []
        for one in (self._two(part, k) for k in range(part.n_classes)):
            members = one.y * (1.0 if one.weight is None else one.weight) if self._average == "weighted" else None
            problems.append((self._sorted(one, _precision, n_threads), members))
        return ClassMean(problems)


# ---- errors ---------------------------------------------------------------------------------------------------------
def _median(core: SortedCore, counts: Array) -> Array:
    from .kernels import sorted_scan

    totals = core.part.totals(counts)
    slack = np.zeros_like(totals) if core.part.weight is None else 1e-12 * totals
    return core.run(sorted_scan.medians, counts, core.weight, 0.5 * totals, slack)


def _first(core: SortedCore, counts: Array) -> Array:
    from .kernels import sorted_scan

    return core.run(sorted_scan.first_present, counts, core.weight)


class OrderedErrors(Metric):
    """The median or the largest of the absolute errors.

    Parameters
    ----------
    finish : callable
    sign : {1, -1}
        From the smallest error up, or from the largest down.
    """

    task: TaskName = "regression"
    greater_is_better = False
    range = (-np.inf, 0.0)

    def __init__(self, finish: Callable[..., Array], sign: int) -> None:
        self._finish, self._sign = finish, sign

    def core(self, part: Part, n_threads: int = 1) -> Core:
        errors = np.ascontiguousarray(np.abs(part.values.T - part.y))
        return sorted_core(part, errors, self._sign, self._finish, n_threads)


# ---- all of them ----------------------------------------------------------------------------------------------------
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
        raise SoberError("E122", f'`multi_class` must be None, "ovr" or "ovo"; got {multi_class!r}.')
    allowed = ("macro", "weighted", "micro") if multi_class != "ovo" else ("macro", "weighted")
    if average not in allowed:
        raise SoberError("E122", f"`average` must be one of {', '.join(allowed)}; got {average!r}.")
    if max_fpr is None or max_fpr == 1:
        return RocAuc(multi_class, average)
    if not is_number(max_fpr) or not 0 < max_fpr < 1:
        raise SoberError("E108", f"`max_fpr` must lie above 0 and not above 1; got {max_fpr!r}.")
    return PartialArea(float(max_fpr))


def average_precision(*, average: str = "macro", pos_label: Any = None) -> AveragePrecision:
    """Average precision.

    Parameters
    ----------
    average : {"macro", "weighted", "micro"}
        With more than two classes.
    pos_label : label, optional
        The positive one of two classes.
    """
    return AveragePrecision(average, pos_label)


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "roc_auc": roc_auc,
        "roc_auc_ovr": partial(RocAuc, "ovr"),
        "roc_auc_ovo": partial(RocAuc, "ovo"),
        "roc_auc_ovr_weighted": partial(RocAuc, "ovr", "weighted"),
        "roc_auc_ovo_weighted": partial(RocAuc, "ovo", "weighted"),
        "average_precision": average_precision,
        "neg_median_absolute_error": partial(OrderedErrors, _median, 1),
        "neg_max_error": partial(OrderedErrors, _first, -1),
    }
