"""Metrics of ranks: areas under the ROC curve, average precision, and the median and largest of sorted errors.

Every configuration is sorted once; every resample is then a scan of the sorted samples. The area under the curve is the
share of pairs of a positive and a negative that are ranked right, a tie counting half. Strata confine pairs to a fold,
or to samples of which one outlived the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks
from .blocks import product
from .contract import Core, Metric, Part, is_number

#: Scans of sorted samples: (samples, actions, where the scan of each configuration ends).
Steps = tuple[Array, Array, Array]
#: Those of a range of configurations: first, last, steps.
Piece = tuple[int, int, Steps]

_KEPT = 1 << 30  # bytes of scans that are kept; beyond, they are made again for each block of resamples
_VECTOR = 64  # bytes: arrays that begin and end at such places are scanned a fifth faster
_FLUSH = 8  # positives between two flushes of 16-bit sums; where it must be less, 32 bits are faster
_FEW = 4  # resamples that are scanned one by one rather than as a vector


# ---- pairs -----------------------------------------------------------------------------------------------------------
def count_pairs(scans: Iterator[Piece], n: int, counts: Array, weight: Array | None) -> Array:
    """Twice the pairs that each of n configurations ranks right in each resample, a tie counting half [n, B].

    Parameters
    ----------
    scans : iterator of Piece
        Of all configurations.
    n : int
    counts : array [B, N]
    weight : float array [N] or None
    """
    from .kernels import pairs  # numba takes a while to import

    out = np.empty((n, len(counts)))
    total = int(counts.sum(axis=1, dtype=np.int64).max(initial=1))  # samples in the largest resample
    most = total * int(counts.max(initial=1))  # what a positive adds at the most: the largest count times all others
    ones = np.ones(counts.shape[1]) if weight is None else weight
    in_whole_numbers = weight is None and counts.dtype == np.uint8 and most < 2**32
    if in_whole_numbers and len(counts) <= _FEW:
        for first, last, steps in scans:
            each, b = np.indices((last - first, len(counts)), np.int64).reshape(2, -1)
            pairs.weigh_pairs_of(*steps, counts, ones, each, b, out[first:last].reshape(-1))
        return out
    turned = turn(counts)
    bits = 16 if _FLUSH * most < 2**16 else 32
    below = np.uint16 if total < 2**16 else np.uint32
    sums, twice = (np.uint16, np.uint32) if bits == 16 else (np.uint32, np.float64)
    room = [_aligned((turned.shape[1],), kind) for kind in (below, sums, sums, twice)]
    for first, last, steps in scans:
        if in_whole_numbers:
            interval = (2**bits - 1) // most
            pairs.count_pairs(*steps, turned, turned.ctypes.data, *room, interval, out[first:last])
        else:
            pairs.weigh_pairs(*steps, turned, turned.ctypes.data, ones, out[first:last])
    return out


def turn(counts: Array) -> Array:
    """The counts as [N, B], with resamples of zeros added up to a whole number of vectors."""
    n_resamples, n = counts.shape
    out = _aligned((n, -(-n_resamples // _VECTOR) * _VECTOR), counts.dtype)
    out[:, :n_resamples] = counts.T
    out[:, n_resamples:] = 0
    return out


def _aligned(shape: tuple[int, ...], kind: Any) -> Array:
    """An empty array that begins at a whole vector: numpy's own begin anywhere."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    room = np.empty(size + _VECTOR, np.uint8)
    start = -room.ctypes.data % _VECTOR
    return room[start : start + size].view(kind).reshape(shape)


class SortedScans:
    """The scans of all configurations through their sorted samples, made once and kept where memory allows.

    Parameters
    ----------
    scores : float array [C, N]
    stratum : int array [L, N]
        Which pairs are compared, whatever the scores: for each level the stratum of each sample, from 0; -1 for none.
    role : int array [L, N]
        1 is a positive, which ought to score higher, 0 a negative, -1 neither.
    n_threads : int
    """

    def __init__(self, scores: Array, stratum: Array, role: Array, n_threads: int) -> None:
        n_strata = int(stratum.max(initial=0)) + 1
        starts = np.zeros((len(stratum), n_strata + 1), np.int64)  # where a stratum begins, laid out by stratum
        begins = np.zeros(stratum.shape, np.uint8)
        for level, (where, part) in enumerate(zip(stratum, role, strict=True)):
            starts[level, 1:] = np.cumsum(np.bincount(where[part >= 0], minlength=n_strata))
            begins[level, starts[level][starts[level] < len(where)]] = 1
        self._where = np.ascontiguousarray(stratum, np.int32), np.ascontiguousarray(role, np.int8), starts, begins
        self._room = int((role >= 0).sum() + (role == 1).sum())  # steps of a scan at the most
        self._scores, self.n = scores, len(scores)
        self._n_threads, self._kept, self._lock = n_threads, list[Piece](), Lock()

    def pieces(self, wanted: Array | None = None) -> Iterator[Piece]:
        """Return the scans, some configurations at a time; where they are not kept, those wanted are made."""
        if self._room * self.n * 5 <= _KEPT:
            with self._lock:
                if not self._kept:
                    some = blocks.cut(self.n, -(-self.n // (4 * self._n_threads)))
                    self._kept = blocks.run(self._make, some, self._n_threads)
            return iter(self._kept)
        return (self._make(int(c), int(c) + 1) for c in (range(self.n) if wanted is None else wanted))

    def _make(self, first: int, last: int) -> Piece:
        from .kernels.pairs import make_scans

        score = self._scores[first:last]
        samples = np.empty((last - first) * self._room, np.int32)
        actions = np.empty((last - first) * self._room, np.int8)
        ends = np.zeros(last - first + 1, np.int64)
        make_scans(np.argsort(score, axis=1), score, *self._where, samples, actions, ends)
        return first, last, (samples[: ends[-1]].copy(), actions[: ends[-1]].copy(), ends)


@dataclass(frozen=True, eq=False)
class PairsCore(Core):
    """Share of the pairs of positives and negatives that are ranked right.

    Attributes
    ----------
    scans : SortedScans
    all_pairs : callable
        counts [B, N] -> weight of all pairs in each resample [B].
    weight : float array [N] or None
    """

    scans: SortedScans
    all_pairs: Callable[[Array], Array]
    weight: Array | None

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        from .kernels.pairs import weigh_pairs_of

        if picked is None:
            twice = count_pairs(self.scans.pieces(), self.scans.n, counts, self.weight).T
        else:
            twice = np.empty((len(counts), 1))
            weight = np.ones(counts.shape[1]) if self.weight is None else self.weight
            for first, last, steps in self.scans.pieces(np.unique(picked)):
                here = np.flatnonzero((picked >= first) & (picked < last))
                alone = np.empty(len(here))
                weigh_pairs_of(*steps, counts, weight, picked[here] - first, here, alone)
                twice[here, 0] = alone
        pairs = self.all_pairs(counts)
        return np.divide(twice, np.where(pairs > 0, 2.0 * pairs, np.nan)[:, None], out=twice)


def area(part: Part, values: Array, role: Array, n_threads: int) -> Core:
    """Area under the curve of positives (1) against negatives (0), within folds where the part has several."""
    stratum = np.unique(part.fold, return_inverse=True)[1].reshape(-1)
    scores = np.ascontiguousarray(values.T, None if values.dtype.kind == "f" else np.float64)  # labels rank too
    scans = SortedScans(scores, stratum[None], role.astype(np.int8)[None], n_threads)
    sides = np.stack([(role == side) & (stratum == f) for side in (1, 0) for f in range(stratum.max() + 1)])
    weights = sides if part.weight is None else sides * part.weight  # [2 F, N]

    def all_pairs(counts: Array) -> Array:
        positives, negatives = np.split(product(counts, weights), 2, axis=1)
        return (positives * negatives).sum(axis=1)

    return PairsCore(scans, all_pairs, part.weight)


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
            size = np.ones((len(counts), 1)) if members is None else product(counts, members[None])
            total, carried = total + size * core.scores(counts, picked), carried + size
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
            return area(part, part.values, part.y == 1, n_threads)
        if self._average == "micro":
            return SpreadOut(part, lambda one: area(one, one.values, one.y == 1, n_threads))
        problems: list[tuple[Core, Array | None]] = []
        for k in range(part.n_classes):
            for other in [None] if self._multi == "ovr" else [j for j in range(part.n_classes) if j != k]:
                # One-vs-rest counts by the class, one-vs-one by both classes.
                role = np.where(part.y == k, 1, 0 if other is None else np.where(part.y == other, 0, -1))
                members = (part.y == k if other is None else role >= 0) * part.weights
                core = area(part, part.values[:, :, k], role, n_threads)
                problems.append((core, members if self._average == "weighted" else None))
        return ClassMean(problems)


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
        self.weight = part.weights

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        if picked is None:
            return self._finish(self, counts)
        out = np.empty((len(picked), 1))
        for c in np.unique(picked):
            here, one = picked == c, slice(c, c + 1)
            alone = SortedCore(self.part, self._values[one], self._order[one], self._finish)
            out[here] = alone.scores(counts[here])
        return out

    def run(self, kernel: str, counts: Array, *arguments: Any) -> Array:
        """Let a kernel of this name scan every configuration: [C, B], transposed."""
        from .kernels import sorted_scan

        out = np.empty((len(self._order), len(counts)))
        getattr(sorted_scan, kernel)(self._order, self._values, *arguments, np.ascontiguousarray(counts.T), out)
        return out.T


def sorted_core(part: Part, values: Array, sign: int, finish: Callable[..., Array], n_threads: int) -> SortedCore:
    """Sort values [C, N], ascending or, with a sign of -1, descending."""
    cut = blocks.cut(len(values), -(-len(values) // (4 * n_threads)))

    def some(first: int, last: int) -> Array:
        return np.argsort(sign * values[first:last], axis=1).astype(np.int32)

    return SortedCore(part, values, np.concatenate(blocks.run(some, cut, n_threads)), finish)


# ---- thresholds -----------------------------------------------------------------------------------------------------
def _precision(core: SortedCore, counts: Array) -> Array:
    positive = core.part.y == 1
    found = core.run("average_precision", counts, positive, core.weight)
    positives = product(counts, (positive * core.weight)[None])
    return np.asarray(found / np.where(positives > 0, positives, np.nan))


def _start_of_curve(max_fpr: float, core: SortedCore, counts: Array) -> Array:
    positive = core.part.y == 1
    sides = product(counts, np.stack([positive, ~positive]) * core.weight)  # [B, 2]
    defined = np.all(sides > 0, axis=1, keepdims=True)
    found = core.run("partial_area", counts, positive, core.weight, max_fpr * sides[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        found /= (sides[:, 0] * sides[:, 1])[:, None]
    least, most = 0.5 * max_fpr**2, max_fpr
    return np.where(defined, 0.5 * (1.0 + (found - least) / (most - least)), np.nan)


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

    def __init__(self, *, average: str = "macro", pos_label: Any = None) -> None:
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
            members = one.y * one.weights if self._average == "weighted" else None
            problems.append((self._sorted(one, _precision, n_threads), members))
        return ClassMean(problems)


# ---- errors ---------------------------------------------------------------------------------------------------------
def _median(core: SortedCore, counts: Array) -> Array:
    totals = core.part.totals(counts)[:, 0]
    slack = np.zeros_like(totals) if core.part.weight is None else 1e-12 * totals
    return core.run("medians", counts, core.weight, 0.5 * totals, slack)


def _first(core: SortedCore, counts: Array) -> Array:
    return core.run("first_present", counts, core.weight)


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


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "roc_auc": roc_auc,
        "roc_auc_ovr": partial(RocAuc, "ovr"),
        "roc_auc_ovo": partial(RocAuc, "ovo"),
        "roc_auc_ovr_weighted": partial(RocAuc, "ovr", "weighted"),
        "roc_auc_ovo_weighted": partial(RocAuc, "ovo", "weighted"),
        "average_precision": AveragePrecision,
        "neg_median_absolute_error": partial(OrderedErrors, _median, 1),
        "neg_max_error": partial(OrderedErrors, _first, -1),
    }
