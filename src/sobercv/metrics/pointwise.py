"""Metrics that are a mean over samples, or a function of such means: one matrix product for all resamples.

Takes one part, gives losses `[C, N]` and products with counts. Products are cut at fixed places (`blocks.UNIT`
resamples, `blocks.ROWS` samples), so that they round the same way however the work is divided. Losses that are 0 or 1
are kept as bits and counted instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks
from .base import Core, Metric, Part
from .bits import pack, picked_tallies, tallies
from .blocks import ROWS, UNIT

_TOGETHER = 1 << 15  # losses computed at a time: what is written down on the way stays in the cache of a core


def product(counts: Array, columns: Array) -> Array:
    """Multiply counts [B, N] with columns [C, N], giving [B, C]."""
    out = np.empty((len(counts), len(columns)))
    for b in range(0, len(counts), UNIT):
        some = out[b : b + UNIT]
        np.matmul(counts[b : b + UNIT, :ROWS].astype(np.float64), columns[:, :ROWS].T, out=some)
        for at in range(ROWS, columns.shape[1], ROWS):
            some += counts[b : b + UNIT, at : at + ROWS].astype(np.float64) @ columns[:, at : at + ROWS].T
    return out


def picked_product(counts: Array, columns: Array, winners: Array) -> Array:
    """Multiply counts [B, N] with the one column that each resample picked, giving [B]."""
    out = np.zeros(len(counts))
    for at in range(0, columns.shape[1], ROWS):
        for b in range(0, len(counts), UNIT):
            left = counts[b : b + UNIT, at : at + ROWS].astype(np.float64)
            out[b : b + UNIT] += np.einsum("bn,bn->b", left, columns[winners[b : b + UNIT], at : at + ROWS])
    return out


class MeanCore(Core):
    """The mean of a loss over the samples present, sent through a link such as the square root."""

    def __init__(self, losses: Array, part: Part, link: Callable[[Array], Array] | None) -> None:
        self._losses = losses if part.weight is None else losses * part.weight
        self._part = part
        self._link = link

    def scores(self, counts: Array) -> Array:
        return self._finish(product(counts, self._losses), counts)

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._finish(picked_product(counts, self._losses, winners), counts)

    def _finish(self, sums: Array, counts: Array) -> Array:
        totals = self._part.totals(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.divide(sums, np.where(totals > 0, totals, np.nan).reshape((-1,) + (1,) * (sums.ndim - 1)), sums)
        return means if self._link is None else self._link(means)


class ShareCore(MeanCore):
    """The mean of a loss that is 0 or 1, kept as bits [C, W]: the share of the samples present that have theirs set."""

    def scores(self, counts: Array) -> Array:
        return self._finish(tallies(counts, self._losses), counts)

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._finish(picked_tallies(counts, self._losses, winners), counts)


class Pointwise(Metric):
    """A mean over samples of `loss(y, values)`.

    Parameters
    ----------
    name : str
    task : {"classification", "regression"}
    loss : callable
        (part, values [C, N(, K)]) -> [C, N].
    responses : tuple of str
    greater_is_better : bool
    range : (float, float)
    link : callable, optional
        Applied to the mean of each repeat.
    check : callable, optional
        (y, values) -> None, raises where the loss does not exist.
    exact : bool
        The loss is 0 or 1, so that bits will do.
    """

    def __init__(
        self,
        name: str,
        task: TaskName,
        loss: Callable[[Part, Array], Array],
        *,
        responses: tuple[str, ...] = ("predict",),
        greater_is_better: bool = False,
        range: tuple[float, float] = (-np.inf, 0.0),
        link: Callable[[Array], Array] | None = None,
        check: Callable[[Array, Array], None] | None = None,
        exact: bool = False,
    ) -> None:
        self.name, self.task, self.responses = name, task, responses
        self.greater_is_better, self.range = greater_is_better, range
        self.linear = link is None
        self.min_classes = 2 if responses == ("predict_proba",) else 0
        self._loss, self._link, self._check, self._exact = loss, link, check, exact

    def losses(self, part: Part, n_threads: int = 1) -> Array:
        """Loss of every prediction, a row for each configuration: [C, N]; float32 where it can only be 0 or 1."""
        exact = self._exact and part.weight is None
        return self._each(part, n_threads, np.empty(part.values.shape[1::-1], np.float32 if exact else np.float64))

    def _each(self, part: Part, n_threads: int, out: Array) -> Array:
        """Write the losses of all configurations, or their bits, a few at a time."""
        if self._check is not None:
            self._check(part.y, part.values)
        kind = np.float64 if part.values.dtype.kind == "f" else None  # losses of float32 are computed in double
        as_bits = out.dtype == np.uint64

        def some(first: int, last: int) -> None:
            values = np.ascontiguousarray(np.moveaxis(part.values[:, first:last], 0, 1), kind)  # [C, N(, K)]
            loss = self._loss(part, values)
            out[first:last] = pack(loss) if as_bits else loss

        blocks.run(some, blocks.cut(len(out), _TOGETHER // len(part.y)), n_threads)
        return out

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if self._exact and part.weight is None:
            n, c = part.values.shape
            return ShareCore(self._each(part, n_threads, np.empty((c, -(-n // 64)), np.uint64)), part, None)
        return MeanCore(self.losses(part, n_threads), part, self._link)

    def merged(self, parts: list[Part], n_threads: int = 1) -> Core:
        if len(parts) == 1:
            return self.core(parts[0], n_threads)
        # The mean over complete repeats of a mean over samples is the mean over samples of the mean over repeats.
        losses = self.losses(parts[0], n_threads).astype(np.float64, copy=False)
        for part in parts[1:]:
            losses += self.losses(part, n_threads)
        losses /= len(parts)
        return MeanCore(losses, parts[0], None)


class SpreadCore(Core):
    """1 - (loss that is left) / (spread of y): R2, and with the mean residual removed, explained variance."""

    def __init__(self, part: Part, centred: bool) -> None:
        # Centred once, so that sums of squares do not cancel; by the median, which one far-out value does not move.
        y = part.y - np.median(part.y)
        residual = part.y - np.ascontiguousarray(part.values.T, np.float64)
        if centred:
            residual -= np.median(residual, axis=1, keepdims=True)
        weight = 1.0 if part.weight is None else part.weight
        self._squares = residual**2 * weight
        self._residuals = residual * weight if centred else None
        self._truth = np.stack([y * weight, y**2 * weight])
        self._part = part

    def scores(self, counts: Array) -> Array:
        squares = product(counts, self._squares)
        residuals = None if self._residuals is None else product(counts, self._residuals)
        return self._finish(counts, squares, residuals)

    def picked(self, counts: Array, winners: Array) -> Array:
        squares = picked_product(counts, self._squares, winners)
        residuals = None if self._residuals is None else picked_product(counts, self._residuals, winners)
        return self._finish(counts, squares, residuals)

    def _finish(self, counts: Array, squares: Array, residuals: Array | None) -> Array:
        totals = self._part.totals(counts)
        first, second = product(counts, self._truth).T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = second - first**2 / totals
            constant = ~(spread > 1e-12 * second)
            shape = (-1,) + (1,) * (squares.ndim - 1)
            left = squares if residuals is None else squares - residuals**2 / totals.reshape(shape)
            return 1.0 - left / np.where(constant, np.nan, spread).reshape(shape)


class Spread(Metric):
    """R2 or explained variance; undefined where the truth does not vary."""

    task: TaskName = "regression"
    range = (-np.inf, 1.0)

    def __init__(self, name: str, centred: bool) -> None:
        self.name, self._centred = name, centred

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return SpreadCore(part, self._centred)


# ---- losses; values are [C, N(, K)] --------------------------------------------------------------------------------
def _hit(part: Part, values: Array) -> Array:
    return values == part.y


def _log_loss(part: Part, values: Array) -> Array:
    smallest = np.finfo(values.dtype).eps
    if values.ndim == 3:
        true = np.take_along_axis(values, part.y[None, :, None], axis=2)[:, :, 0]
    else:
        true = np.where(part.y == 1, values, 1.0 - values)
    return -np.log(np.clip(true, smallest, 1.0 - smallest))


def _brier(part: Part, values: Array) -> Array:
    if values.ndim == 2:
        return (values - (part.y == 1)) ** 2
    truth = np.arange(part.n_classes) == part.y[:, None]
    return np.sum((values - truth) ** 2, axis=2)


def _squared(part: Part, values: Array) -> Array:
    return (part.y - values) ** 2


def _absolute(part: Part, values: Array) -> Array:
    return np.abs(part.y - values)


def _relative(part: Part, values: Array) -> Array:
    return np.abs(part.y - values) / np.maximum(np.abs(part.y), np.finfo(np.float64).eps)


def _squared_log(part: Part, values: Array) -> Array:
    return (np.log1p(part.y) - np.log1p(values)) ** 2


def _poisson(part: Part, values: Array) -> Array:
    y = part.y
    return 2.0 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / values), 0.0) - y + values)


def _gamma(part: Part, values: Array) -> Array:
    return 2.0 * (np.log(values / part.y) + part.y / values - 1.0)


def _need(name: str, y_from: float, y_strict: bool, p_from: float, p_strict: bool) -> Callable[[Array, Array], None]:
    def check(y: Array, values: Array) -> None:
        for what, array, low, strict in (("`y`", y, y_from, y_strict), ("predictions", values, p_from, p_strict)):
            smallest = float(array.min())
            if smallest < low or (strict and smallest == low):
                bound = f"above {low:g}" if strict else f"of {low:g} or more"
                raise SoberError("E112", f"{name} needs {what} {bound}; got {smallest:.4g}. Choose another metric.")

    return check


def metrics() -> list[Metric]:
    """All metrics of this file."""
    probability = ("predict_proba",)
    unit = (0.0, 1.0)
    root = np.sqrt
    return [
        Pointwise("accuracy", "classification", _hit, greater_is_better=True, range=unit, exact=True),
        Pointwise("neg_log_loss", "classification", _log_loss, responses=probability),
        Pointwise("neg_brier_score", "classification", _brier, responses=probability, range=(-2.0, 0.0)),
        Pointwise("neg_mean_squared_error", "regression", _squared),
        Pointwise("neg_root_mean_squared_error", "regression", _squared, link=root),
        Pointwise("neg_mean_absolute_error", "regression", _absolute),
        Pointwise("neg_mean_absolute_percentage_error", "regression", _relative),
        Pointwise(
            "neg_mean_squared_log_error",
            "regression",
            _squared_log,
            check=_need("neg_mean_squared_log_error", -1.0, True, -1.0, True),
        ),
        Pointwise(
            "neg_root_mean_squared_log_error",
            "regression",
            _squared_log,
            link=root,
            check=_need("neg_root_mean_squared_log_error", -1.0, True, -1.0, True),
        ),
        Pointwise(
            "neg_mean_poisson_deviance",
            "regression",
            _poisson,
            check=_need("neg_mean_poisson_deviance", 0.0, False, 0.0, True),
        ),
        Pointwise(
            "neg_mean_gamma_deviance",
            "regression",
            _gamma,
            check=_need("neg_mean_gamma_deviance", 0.0, True, 0.0, True),
        ),
        Spread("r2", centred=False),
        Spread("explained_variance", centred=True),
    ]
