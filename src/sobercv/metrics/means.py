"""Metrics that are a mean over samples, a function of such means, or the share of a loss that is explained.

Losses `[C, N]` of single predictions are computed once; every resample is then a matrix product with its counts. They
are plain functions, and `partial` of them, so that a metric can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array, whole_number
from ..errors import SoberError
from ..targets import TaskName
from . import blocks
from .blocks import product
from .confusion import ACCURACY
from .contract import Core, Metric, Part, Registry

#: (part, values [C, N(, K)]) -> [C, N]
Loss = Callable[[Part, Array], Array]
#: counts [B, N] -> sum [B] of the loss of the best constant guess over the samples present; NaN where it is 0
Constant = Callable[[Array], Array]

_TOGETHER = 1 << 15  # losses computed at a time: what is written down on the way stays in the cache of a core


def _hit(part: Part, values: Array) -> Array:
    """1 where the label is right."""
    return values == part.y


def _log_loss(part: Part, values: Array) -> Array:
    """Minus the logarithm of the probability of what happened."""
    smallest = np.finfo(values.dtype).eps
    if values.ndim == 3:
        true = np.take_along_axis(values, part.y[None, :, None], axis=2)[:, :, 0]
    else:
        true = np.where(part.y == 1, values, 1.0 - values)
    return -np.log(np.clip(true, smallest, 1.0 - smallest))


def _brier_loss(part: Part, values: Array) -> Array:
    """Squared distance to what happened, over all classes; of two classes half of it, as in scikit-learn."""
    if values.ndim == 2:
        return (values - (part.y == 1)) ** 2  # the same for both classes
    return np.sum((values - (np.arange(part.n_classes) == part.y[:, None])) ** 2, axis=2)


def _among_first(part: Part, values: Array, *, k: int) -> Array:
    """1 where the true class is among the k with the highest values; of equals the later class is ahead."""
    true = np.take_along_axis(values, part.y[None, :, None], axis=2)
    later = np.arange(part.n_classes) > part.y[:, None]
    return ((values > true) | ((values == true) & later)).sum(axis=2) < k


def _squared(part: Part, values: Array) -> Array:
    return (part.y - values) ** 2


def _absolute(part: Part, values: Array) -> Array:
    return np.abs(part.y - values)


def _relative(part: Part, values: Array) -> Array:
    """Absolute error as a share of the truth."""
    return np.abs(part.y - values) / np.maximum(np.abs(part.y), np.finfo(np.float64).eps)


def _squared_log(part: Part, values: Array) -> Array:
    """Squared error of log(1 + value)."""
    _check_above(part, -1.0, values)
    return (np.log1p(part.y) - np.log1p(values)) ** 2


def _poisson_deviance(part: Part, values: Array) -> Array:
    y = part.y
    _check_above(part, 0.0, values, zero_counts=True)
    return 2.0 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / values), 0.0) - y + values)


def _gamma_deviance(part: Part, values: Array) -> Array:
    _check_above(part, 0.0, values)
    return 2.0 * (np.log(values / part.y) + part.y / values - 1.0)


def _check_above(part: Part, low: float, values: Array, zero_counts: bool = False) -> None:
    """Refuse numbers for which a loss does not exist; with `zero_counts` the truth may be the bound itself."""
    for what, array, allowed in (("`y`", part.y, zero_counts), ("predictions", values, False)):
        least = float(array.min())
        if least < low or (least == low and not allowed):
            bound = f"of {low:g} or more" if allowed else f"above {low:g}"
            raise SoberError("E112", f"{part.metric} needs {what} {bound}; got {least:.4g}. Choose another metric.")


def losses_of(part: Part, loss: Loss, exact: bool = False) -> Array:
    """Loss of every prediction [C, N]; flags where it can only be 0 or 1."""
    kind = np.float64 if part.values.dtype.kind == "f" else None  # losses of float32 are computed in double
    out: Array = np.empty(part.values.shape[1::-1], np.bool_ if exact else np.float64)

    def some(first: int, last: int) -> None:
        values = np.ascontiguousarray(np.moveaxis(part.values[:, first:last], 0, 1), kind)  # [C, N(, K)]
        out[first:last] = loss(part, values)

    blocks.run(some, blocks.cut(len(out), _TOGETHER // len(part.y)), part.n_threads)
    return out


def mean(part: Part, *more: Part, loss: Loss, link: Callable[[Array], Array] | None, exact: bool) -> Core:
    """The mean of a loss over the samples present, sent through a link such as the square root."""
    losses = losses_of(part, loss, exact)
    if more:
        # The mean over complete repeats of a mean over samples is the mean over samples of the mean over repeats.
        losses = losses.astype(np.float64, copy=False)
        for other in more:
            losses += losses_of(other, loss, exact)
        losses /= 1 + len(more)
    losses = part.weighted(losses)

    def scores(counts: Array, picked: Array | None = None) -> Array:
        sums, totals = product(counts, losses, picked), part.totals(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.divide(sums, np.where(totals > 0, totals, np.nan), sums)
        return means if link is None else link(means)

    return scores


def pointwise(
    task: TaskName, loss: Loss, *, link: Callable[[Array], Array] | None = None, exact: bool = False, **declared: Any
) -> Metric:
    """Declare a mean over samples of a loss; it is exact where the loss is 0 or 1, so that samples are counted."""
    usual: dict[str, Any] = {"greater_is_better": False, "range": (-np.inf, 0.0), "linear": link is None}
    if declared.get("responses") == _PROBABILITY:
        usual["min_classes"] = 2
    return Metric(task=task, core=partial(mean, loss=loss, link=link, exact=exact), **usual | declared)


def spread(part: Part, *, centred: bool) -> Core:
    """R2, and with the mean residual removed, explained variance; undefined where the truth does not vary."""
    # Centred once, so that sums of squares do not cancel; by the median, which one far-out value does not move.
    y = part.y - np.median(part.y)
    residual = part.y - np.ascontiguousarray(part.values.T, np.float64)
    if centred:
        residual -= np.median(residual, axis=1, keepdims=True)
    squares, truth = part.weighted(residual**2), part.weighted(np.stack([y, y**2]))
    residuals = part.weighted(residual) if centred else None

    def scores(counts: Array, picked: Array | None = None) -> Array:
        left, totals = product(counts, squares, picked), part.totals(counts)
        first, second = np.split(product(counts, truth), 2, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = second - first**2 / totals
            constant = ~(total > 1e-12 * second)
            if residuals is not None:
                left = left - product(counts, residuals, picked) ** 2 / totals
            return 1.0 - left / np.where(constant, np.nan, total)

    return scores


def explained(part: Part, *, loss: Loss, constant: Callable[[Part], Constant]) -> Core:
    """1 - (sum of losses) / (sum of losses of the best constant)."""
    losses, best = part.weighted(losses_of(part, loss)), constant(part)

    def scores(counts: Array, picked: Array | None = None) -> Array:
        return 1.0 - product(counts, losses, picked) / best(counts)[:, None]

    return scores


def best_number(part: Part) -> Constant:
    """The median as the guess for every sample, found anew in every resample; absolute errors."""
    order = np.argsort(part.y, kind="stable")
    y, weight = part.y[order], part.weights[order]

    def loss(row: Array) -> float:
        mass = row[order] * weight
        below = np.cumsum(mass)
        # Where the median lies between two values, all between them are equally good: rounding cannot hurt.
        median = y[min(int(np.searchsorted(below, 0.5 * below[-1])), len(y) - 1)]
        return float((mass * np.abs(y - median)).sum()) or np.nan

    return lambda counts: np.array([loss(row) for row in counts], np.float64)


def best_shares(part: Part, surprise: bool) -> Constant:
    """The shares of the classes as the probabilities of every sample; log loss (surprise), else squares."""
    classes = np.stack([(part.y == k) * part.weights for k in range(part.n_classes)])  # [K, N]

    def constant(counts: Array) -> Array:
        mass = product(counts, classes)  # [B, K]
        with np.errstate(invalid="ignore", divide="ignore"):
            p = mass / mass.sum(axis=1, keepdims=True)
            if surprise:
                loss = -(mass * np.log(np.where(mass > 0, p, 1.0))).sum(axis=1)
            else:
                loss = (mass * (1.0 - p)).sum(axis=1) * (0.5 if mass.shape[1] == 2 else 1.0)
        return np.where((mass > 0).sum(axis=1) > 1, loss, np.nan)

    return constant


_PROBABILITY = ("predict_proba",)
_SHARE: dict[str, Any] = {"greater_is_better": True, "range": (0.0, 1.0), "exact": True}
_regression = partial(pointwise, "regression")


def _explained(task: TaskName, core: Callable[..., Core], **declared: Any) -> Metric:
    return Metric(task=task, core=core, range=(-np.inf, 1.0), **declared)


def _explained_classes(loss: Loss, surprise: bool) -> Metric:
    core = partial(explained, loss=loss, constant=partial(best_shares, surprise=surprise))
    return _explained("classification", core, responses=_PROBABILITY, min_classes=2)


def top_k(*, k: int = 2) -> Metric:
    """Share of samples whose class is among the k likeliest; for more than two classes."""
    loss, ranked = partial(_among_first, k=whole_number("k", k)), ("decision_function", "predict_proba")
    return pointwise("classification", loss, responses=ranked, min_classes=3, **_SHARE)


D2_BRIER = _explained_classes(_brier_loss, surprise=False)

#: Every metric of this file.
METRICS: Registry = {
    "accuracy": pointwise("classification", _hit, at_cuts=ACCURACY, **_SHARE),
    "top_k_accuracy": top_k,
    "neg_log_loss": pointwise("classification", _log_loss, responses=_PROBABILITY),
    "neg_brier_score": pointwise(
        "classification", _brier_loss, responses=_PROBABILITY, range=(-2.0, 0.0), halved_for_two=True
    ),
    "neg_mean_squared_error": _regression(_squared),
    "neg_root_mean_squared_error": _regression(_squared, link=np.sqrt),
    "neg_mean_absolute_error": _regression(_absolute),
    "neg_mean_absolute_percentage_error": _regression(_relative),
    "neg_mean_squared_log_error": _regression(_squared_log),
    "neg_root_mean_squared_log_error": _regression(_squared_log, link=np.sqrt),
    "neg_mean_poisson_deviance": _regression(_poisson_deviance),
    "neg_mean_gamma_deviance": _regression(_gamma_deviance),
    "r2": _explained("regression", partial(spread, centred=False)),
    "explained_variance": _explained("regression", partial(spread, centred=True)),
    "d2_absolute_error_score": _explained("regression", partial(explained, loss=_absolute, constant=best_number)),
    "d2_log_loss_score": _explained_classes(_log_loss, surprise=True),
    "d2_brier_score": D2_BRIER,
}
