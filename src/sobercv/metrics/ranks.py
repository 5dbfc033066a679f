"""Metrics of ranks: areas under the ROC curve, average precision, and the median and largest of sorted errors.

Every configuration is sorted once; every resample is then a scan of the sorted samples. The area under the curve is the
share of pairs of a positive and a negative that are ranked right, a tie counting half. Strata confine pairs to a fold,
or to samples of which one outlived the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from . import blocks
from .blocks import product
from .contract import Core, Metric, Part, Registry

#: Scans of sorted samples: (samples, actions, where the scan of each configuration ends).
Steps = tuple[Array, Array, Array]
#: Those of a range of configurations: first, last, steps.
Piece = tuple[int, int, Steps]

_KEPT = 1 << 30  # bytes of scans that are kept; beyond, they are made again for each block of resamples
_VECTOR = 64  # bytes: arrays that begin and end at such places are scanned a fifth faster
_FLUSH = 8  # positives between two flushes of 16-bit sums; where it must be less, 32 bits are faster
_FEW = 4  # resamples that are scanned one by one rather than as a vector


# ---- pairs -----------------------------------------------------------------------------------------------------------
class SortedScans:
    """The scans of all configurations through their sorted samples, made once and kept where memory allows.

    scores [C, N]. Strata [L, N] say which pairs are compared, whatever the scores: for each level the stratum of each
    sample, from 0; -1 for none. Roles [L, N]: 1 is a positive, which ought to score higher, 0 a negative, -1 neither.
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
        self._kept: list[Piece] | None = None
        if self._room * self.n * 5 <= _KEPT:
            self._kept = blocks.run(self._make, blocks.cut(self.n, -(-self.n // (4 * n_threads))), n_threads)

    def pieces(self, wanted: Array | None = None) -> Iterable[Piece]:
        """Return the scans, some configurations at a time; where they are not kept, those wanted are made."""
        if self._kept is not None:
            return self._kept
        return (self._make(int(c), int(c) + 1) for c in (range(self.n) if wanted is None else wanted))

    def _make(self, first: int, last: int) -> Piece:
        from .kernels.pairs import make_scans  # numba takes a while to import

        score = self._scores[first:last]
        samples = np.empty((last - first) * self._room, np.int32)
        actions = np.empty((last - first) * self._room, np.int8)
        ends = np.zeros(last - first + 1, np.int64)
        make_scans(np.argsort(score, axis=1), score, *self._where, samples, actions, ends)
        return first, last, (samples[: ends[-1]].copy(), actions[: ends[-1]].copy(), ends)

    def share_right(
        self,
        counts: Array,
        picked: Array | None,
        weight: Array | None,
        twice_all: Array,
        positives: Array | None = None,
    ) -> Array:
        """Share of `twice_all` [B], twice the weight of all pairs, that is ranked right [B, C] or [B, 1], else NaN."""
        from .kernels.pairs import weigh_pairs_of

        if picked is None:
            twice = right_pairs(self.pieces(), self.n, counts, weight, positives).T
        else:
            twice, above = np.empty((len(counts), 1)), counts if positives is None else positives
            for first, last, steps in self.pieces(np.unique(picked)):
                here = np.flatnonzero((picked >= first) & (picked < last))
                some = np.empty(len(here))
                weigh_pairs_of(*steps, counts, above, weight, picked[here] - first, here, some)
                twice[here, 0] = some
        return np.divide(twice, np.where(twice_all > 0, twice_all, np.nan)[:, None], out=twice)


def right_pairs(
    scans: Iterable[Piece], n: int, counts: Array, weight: Array | None, positives: Array | None = None
) -> Array:
    """Twice the pairs that each of n configurations ranks right in each resample, a tie counting half [n, B].

    `positives` [B, N] are the weights that samples have as positives, where they differ; `counts` are then those that
    they have as negatives, both with the weights of the samples included.
    """
    from .kernels import pairs

    out, ones = np.empty((n, len(counts))), np.ones(counts.shape[1]) if weight is None else weight
    whole, total, most = weight is None and positives is None and counts.dtype == np.uint8, 1, 1
    if whole:
        total = int(counts.sum(axis=1, dtype=np.int64).max(initial=1))  # samples in the largest resample
        most = total * int(counts.max(initial=1))  # that a positive adds: the largest count times all others
    whole = whole and most < 2**32
    if whole and len(counts) <= _FEW:
        for first, last, steps in scans:
            each, b = np.indices((last - first, len(counts)), np.int64).reshape(2, -1)
            pairs.weigh_pairs_of(*steps, counts, counts, None, each, b, out[first:last].reshape(-1))
        return out
    below = turn(counts)
    above = below if positives is None else turn(positives)
    bits = 16 if _FLUSH * most < 2**16 else 32
    sums, twice = (np.uint16, np.uint32) if bits == 16 else (np.uint32, np.float64)
    kinds = np.uint16 if total < 2**16 else np.uint32, sums, sums, twice
    room = [row.view(kind)[: below.shape[1]] for row, kind in zip(turn(np.zeros((len(counts), 4))), kinds, strict=True)]
    for first, last, steps in scans:
        if whole:
            pairs.count_pairs(*steps, below, below.ctypes.data, *room, (2**bits - 1) // most, out[first:last])
        else:
            pairs.weigh_pairs(*steps, below, above, below.ctypes.data, ones, positives is None, out[first:last])
    return out


def turn(counts: Array) -> Array:
    """Counts as [N, B], begun at a whole vector (numpy's begin anywhere) and filled up to one by zeros."""
    n_resamples, n = counts.shape
    wide = -(-n_resamples // _VECTOR) * _VECTOR
    room = np.empty(n * wide * counts.itemsize + _VECTOR, np.uint8)
    start = -room.ctypes.data % _VECTOR
    out = room[start : len(room) - _VECTOR + start].view(counts.dtype).reshape(n, wide)
    out[:, :n_resamples] = counts.T
    out[:, n_resamples:] = 0
    return out


def area(part: Part) -> Core:
    """Area under the curve of positives (y is 1) against negatives (0), within folds where the part has several."""
    stratum = part.fold
    ranked = np.ascontiguousarray(part.values.T, None if part.values.dtype.kind == "f" else np.float64)  # labels rank
    scans = SortedScans(ranked, stratum[None], part.y.astype(np.int8)[None], part.n_threads)
    sides = np.stack([(part.y == side) & (stratum == f) for side in (1, 0) for f in range(stratum.max() + 1)])
    sides = sides if part.weight is None else sides * part.weight  # [2 F, N]

    def scores(counts: Array, picked: Array | None = None) -> Array:
        positives, negatives = np.split(product(counts, sides), 2, axis=1)
        return scans.share_right(counts, picked, part.weight, 2.0 * (positives * negatives).sum(axis=1))

    return scores


# ---- several classes ------------------------------------------------------------------------------------------------
def over_classes(part: Part, two: Callable[[Part], Core], average: str, one_vs_one: bool = False) -> Core:
    """Mean over problems of two classes, where y is 1 for one class and 0 for another or all others.

    Problems count equally ("macro"), or by how many samples they concern ("weighted"); the mean is undefined where one
    of them is. Of two classes, every form is the plain one.
    """
    if part.values.ndim == 2:
        return two(part)
    n_classes = part.n_classes
    problems: list[tuple[Core, Array | None]] = []
    for k in range(n_classes):
        for other in [j for j in range(n_classes) if j != k] if one_vs_one else [None]:
            y = np.where(part.y == k, 1, 0 if other is None else np.where(part.y == other, 0, -1))
            members = (y >= 0 if one_vs_one else y == 1) * part.weights
            core = two(replace(part, y=y, values=part.values[:, :, k]))
            problems.append((core, members if average == "weighted" else None))

    def scores(counts: Array, picked: Array | None = None) -> Array:
        total: Any = 0.0
        carried: Any = 0.0
        for core, members in problems:
            size = np.ones((len(counts), 1)) if members is None else product(counts, members[None])
            total, carried = total + size * core(counts, picked), carried + size
        return np.asarray(total / carried)

    return scores


# ---- other scans ----------------------------------------------------------------------------------------------------
def sorted_scan(part: Part, values: Array, sign: int, finish: Callable[..., Array]) -> Core:
    """Sort values [C, N] once, ascending or with a sign of -1 descending, for kernels that scan them in order.

    `finish` takes counts and `run`, which lets a kernel scan every configuration, and returns scores [B, C].
    """
    cut = blocks.cut(len(values), -(-len(values) // (4 * part.n_threads)))
    orders = blocks.run(lambda a, b: np.argsort(sign * values[a:b], axis=1).astype(np.int32), cut, part.n_threads)
    order = np.concatenate(orders)

    def run(columns: slice, counts: Array, kernel: str, *arguments: Any) -> Array:
        from .kernels import sorted_scan

        out = np.empty((len(order[columns]), len(counts)))
        turned = np.ascontiguousarray(counts.T)
        getattr(sorted_scan, kernel)(order[columns], values[columns], *arguments, turned, out)
        return out.T

    def scores(counts: Array, picked: Array | None = None) -> Array:
        if picked is None:
            return finish(counts, partial(run, slice(None), counts))
        out = np.empty((len(picked), 1))
        for c in np.unique(picked):
            here = picked == c
            out[here] = finish(counts[here], partial(run, slice(c, c + 1), counts[here]))
        return out

    return scores


def _average_precision(part: Part, *, average: str) -> Core:
    if part.fold.any():
        raise SoberError("E114", f"{part.metric} does not compare pairs, within folds or not; roc_auc does.")
    if part.values.ndim == 3:
        return over_classes(part, _precision, average)
    values = part.values if part.positive == 1 else -part.values
    return _precision(replace(part, y=part.y == part.positive, values=values))


def _precision(part: Part) -> Core:
    """Average precision of two classes; y is 1 for the positive one."""
    kind = None if part.values.dtype.kind == "f" else np.float64  # labels are thresholds too
    positive = part.y == 1

    def finish(counts: Array, run: Callable[..., Array]) -> Array:
        found = run("average_precision", positive, part.weights)
        positives = product(counts, (positive * part.weights)[None])
        return np.asarray(found / np.where(positives > 0, positives, np.nan))

    return sorted_scan(part, np.ascontiguousarray(part.values.T, kind), -1, finish)


def _error_at(part: Part, *, share: float, sign: int) -> Core:
    """The absolute error at a share of the samples, counted from the smallest up or, with a sign of -1, down."""

    def finish(counts: Array, run: Callable[..., Array]) -> Array:
        totals = part.totals(counts)[:, 0] if share else np.zeros(len(counts))
        slack = np.zeros_like(totals) if part.weight is None or not share else 1e-12 * totals
        return run("quantiles", part.weights, np.maximum(share * totals, np.finfo(np.float64).tiny), slack)

    return sorted_scan(part, np.ascontiguousarray(np.abs(part.values.T - part.y)), sign, finish)


# ---- all of them ----------------------------------------------------------------------------------------------------
_RANKED = ("decision_function", "predict_proba")


#: What metrics that rank samples have in common.
_RANKING: dict[str, Any] = {"task": "classification", "pools_scores": True, "min_classes": 2}
_AVERAGES = ("macro", "weighted")


def roc_auc(*, average: str = "macro", multi_class: str | None = None) -> Metric:
    """Area under the ROC curve; of several classes each against the rest (ovr) or against each other one (ovo)."""
    if multi_class not in (None, "ovr", "ovo"):
        raise SoberError("E122", f'`multi_class` must be None, "ovr" or "ovo"; got {multi_class!r}.')
    if average not in _AVERAGES:
        raise SoberError("E122", f"`average` must be macro or weighted; got {average!r}.")
    if multi_class is None:
        return Metric(core=area, responses=_RANKED, max_classes=2, **_RANKING)
    core = partial(over_classes, two=area, average=average, one_vs_one=multi_class == "ovo")
    return Metric(core=core, responses=("predict_proba",), **_RANKING)


def average_precision(*, average: str = "macro", pos_label: Any = None) -> Metric:
    """Precision averaged over the recall gained at each threshold, for one class or the mean over classes."""
    if average not in _AVERAGES:
        raise SoberError("E122", f"`average` must be macro or weighted; got {average!r}.")
    core = partial(_average_precision, average=average)
    return Metric(core=core, responses=_RANKED, depends_on_positive=True, pos_label=pos_label, **_RANKING)


def _errors(share: float, sign: int) -> Metric:
    core = partial(_error_at, share=share, sign=sign)
    return Metric(task="regression", core=core, greater_is_better=False, range=(-np.inf, 0.0))


#: Every metric of this file.
METRICS: Registry = {
    "roc_auc": roc_auc,
    **{f"roc_auc_{each}": f"roc_auc(multi_class={each!r})" for each in ("ovr", "ovo")},
    **{f"roc_auc_{each}_weighted": f"roc_auc(average='weighted', multi_class={each!r})" for each in ("ovr", "ovo")},
    "average_precision": average_precision,
    "neg_median_absolute_error": _errors(0.5, 1),
    "neg_max_error": _errors(0.0, -1),
}
