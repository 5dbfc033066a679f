"""Metrics that go through the samples in order: average precision, the start of a ROC curve, median and largest error.

Takes one part, sorts every configuration once, gives kernels that go through the order for all resamples at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks
from .base import Metric
from .classes import ClassMean, SpreadOut
from .part import Core, Part
from .pointwise import product


def _kernels() -> Any:
    from . import kernels  # numba takes a while to import

    return kernels


class SortedCore(Core):
    """Configurations sorted once, for kernels that walk them in order.

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

    def only(self, configuration: int) -> Core:
        one = slice(configuration, configuration + 1)
        return SortedCore(self.part, self._values[one], self._order[one], self._finish)

    def scores(self, counts: Array) -> Array:
        return self._finish(self, counts)

    def run(self, kernel: Any, counts: Array, *arguments: Any) -> Array:
        """Let a kernel walk every configuration: [C, B], turned round."""
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
    positive = core.part.y == 1
    area = core.run(_kernels().average_precision, counts, positive, core.weight)
    positives = product(counts, (positive * core.weight)[None])[:, 0]
    return np.asarray(area / np.where(positives > 0, positives, np.nan)[:, None])


def _start_of_curve(max_fpr: float, core: SortedCore, counts: Array) -> Array:
    positive = core.part.y == 1
    sides = product(counts, np.stack([positive, ~positive]) * core.weight)  # [B, 2]
    defined = np.all(sides > 0, axis=1, keepdims=True)
    area = core.run(_kernels().partial_area, counts, positive, core.weight, max_fpr * sides[:, 1])
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
            raise SoberError("E108", f"`average` must be macro, weighted or micro; got {average!r}.")
        self._average, self.pos_label, self.max_classes = average, pos_label, None

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if part.values.ndim == 2:
            return self._sorted(self._two(part, part.index_of_positive(self.pos_label)), _precision, n_threads)
        if self._average == "micro":
            return SpreadOut(part, lambda one: self._sorted(self._two(one, 1), _precision, n_threads))
        classes = [self._two(part, k) for k in range(part.n_classes)]
        return ClassMean([(one, self._sorted(one, _precision, n_threads)) for one in classes], self._average)


# ---- errors ---------------------------------------------------------------------------------------------------------
def _median(core: SortedCore, counts: Array) -> Array:
    totals = core.part.totals(counts)
    slack = np.zeros_like(totals) if core.part.weight is None else 1e-12 * totals
    return core.run(_kernels().medians, counts, core.weight, 0.5 * totals, slack)


def _first(core: SortedCore, counts: Array) -> Array:
    return core.run(_kernels().first_present, counts, core.weight)


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
        "average_precision": average_precision,
        "neg_median_absolute_error": partial(OrderedErrors, _median, 1),
        "neg_max_error": partial(OrderedErrors, _first, -1),
    }
