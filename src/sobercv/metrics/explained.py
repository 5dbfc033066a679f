"""Metrics that say how much of a loss is explained: 1 - (what is left) / (what the best constant guess would leave).

Takes one part, gives products with counts for what is left, and for each resample the loss of the constant: R2,
explained variance and the D2 family. Undefined where the truth does not vary, for then the constant is perfect.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial

import numpy as np

from ..containers import Array
from ..targets import TaskName
from . import blocks, losses
from .base import Metric
from .part import Core, Part
from .pointwise import Loss, Pointwise, check_power, picked_product, product, share

#: counts [B, N] -> sum [B] of the loss of the best constant guess over the samples present; NaN where it is perfect
Constant = Callable[[Array], Array]

_TOGETHER = 1 << 21  # losses of constants computed at a time


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

    def __init__(self, centred: bool) -> None:
        self._centred = centred

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return SpreadCore(part, self._centred)


class ExplainedCore(Core):
    """1 - (sum of losses) / (sum of losses of the best constant)."""

    def __init__(self, losses: Array, part: Part, constant: Constant) -> None:
        self._losses = losses if part.weight is None else losses * part.weight
        self._constant = constant

    def scores(self, counts: Array) -> Array:
        return 1.0 - product(counts, self._losses) / self._constant(counts)[:, None]

    def picked(self, counts: Array, winners: Array) -> Array:
        return 1.0 - picked_product(counts, self._losses, winners) / self._constant(counts)


class Explained(Metric):
    """Share of a loss that a constant guess would leave and that the predictions do not.

    Parameters
    ----------
    left : Pointwise
        The loss.
    constant : callable
        part -> `Constant`.
    """

    range = (-np.inf, 1.0)

    def __init__(self, left: Pointwise, constant: Callable[[Part], Constant]) -> None:
        self.task, self.responses, self.min_classes = left.task, left.responses, left.min_classes
        self._left, self._constant = left, constant

    def named(self, name: str) -> Metric:
        made = copy(self)
        made.name, made._left = name, copy(self._left)
        made._left.name = name  # whoever is refused is told the name that was asked for
        return made

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return ExplainedCore(self._left.losses(part, n_threads), part, self._constant(part))


class _Numbers:
    """The best constant guess at numbers, found anew in every resample."""

    def __init__(self, part: Part) -> None:
        self._order = np.argsort(part.y, kind="stable")
        self._y = part.y[self._order].astype(np.float64)
        self._weight = np.ones(len(part.y)) if part.weight is None else part.weight[self._order]

    def __call__(self, counts: Array) -> Array:
        step = max(1, _TOGETHER // max(1, counts.shape[1]))
        with np.errstate(all="ignore"):
            done = [self._some(counts[a:b]) for a, b in blocks.cut(len(counts), step)]
        return np.concatenate([*done, np.empty(0)])

    def _some(self, counts: Array) -> Array:
        mass = counts[:, self._order] * self._weight  # by ascending y
        some = mass > 0
        lowest, highest = some.argmax(axis=1), some.shape[1] - 1 - some[:, ::-1].argmax(axis=1)
        varies = some.any(axis=1) & (self._y[lowest] < self._y[highest])
        return np.where(varies, (mass * self._loss(mass)).sum(axis=1), np.nan)

    def _loss(self, mass: Array) -> Array:
        raise NotImplementedError


class Quantile(_Numbers):
    """The quantile that a pinball loss asks for."""

    def __init__(self, part: Part, alpha: float) -> None:
        super().__init__(part)
        self._alpha = alpha

    def _loss(self, mass: Array) -> Array:
        below = np.cumsum(mass, axis=1)
        # Where the quantile lies between two values, all between them are equally good: rounding cannot hurt.
        at = (below < self._alpha * below[:, -1:]).sum(axis=1)
        error = self._y - self._y[np.minimum(at, len(self._y) - 1)][:, None]
        return np.where(error >= 0, self._alpha * error, (self._alpha - 1.0) * error)


class Mean(_Numbers):
    """The mean, which every Tweedie deviance asks for."""

    def __init__(self, part: Part, power: float) -> None:
        super().__init__(part)
        self._power = power

    def _loss(self, mass: Array) -> Array:
        mean = (mass * self._y).sum(axis=1) / mass.sum(axis=1)
        return losses.deviance(self._y, mean[:, None], self._power)


class Shares:
    """The shares of the classes, as probabilities for everybody."""

    def __init__(self, part: Part, surprise: bool) -> None:
        weight = 1.0 if part.weight is None else part.weight
        self._classes = np.stack([(part.y == k) * weight for k in range(part.n_classes)])  # [K, N]
        self._surprise = surprise  # log loss, else squares

    def __call__(self, counts: Array) -> Array:
        mass = product(counts, self._classes)  # [B, K]
        total = mass.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = mass / total
            if self._surprise:
                loss = -(mass * np.log(np.where(mass > 0, p, 1.0))).sum(axis=1)
            else:
                loss = (mass * (1.0 - p)).sum(axis=1) * (0.5 if mass.shape[1] == 2 else 1.0)
        return np.where((mass > 0).sum(axis=1) > 1, loss, np.nan)


# ---- all of them ----------------------------------------------------------------------------------------------------
def d2_pinball(*, alpha: float = 0.5) -> Explained:
    """Share of the pinball loss that is explained.

    Parameters
    ----------
    alpha : float, default=0.5
        The quantile that is predicted, from 0 to 1; 0.5 is half the absolute error.
    """
    loss = partial(losses.pinball, alpha=share("alpha", alpha))
    return Explained(Pointwise("regression", loss), partial(Quantile, alpha=float(alpha)))


def d2_tweedie(*, power: float = 0) -> Explained:
    """Share of a Tweedie deviance that is explained.

    Parameters
    ----------
    power : float, default=0
        0 is R2, 1 Poisson, 2 gamma, 3 inverse Gaussian.
    """
    left = Pointwise("regression", partial(losses.tweedie, power=power), check=check_power(power))
    return Explained(left, partial(Mean, power=power))


def d2_brier() -> Explained:
    """Share of the Brier score that is explained: the scaled Brier score."""
    return _d2_classes(losses.brier, False)


def _d2_classes(loss: Loss, surprise: bool) -> Explained:
    left = Pointwise("classification", loss, responses=("predict_proba",))
    return Explained(left, partial(Shares, surprise=surprise))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "r2": partial(Spread, centred=False),
        "explained_variance": partial(Spread, centred=True),
        "d2_absolute_error_score": partial(d2_pinball, alpha=0.5),
        "d2_pinball_score": d2_pinball,
        "d2_tweedie_score": d2_tweedie,
        "d2_log_loss_score": partial(_d2_classes, losses.log_loss, True),
        "d2_brier_score": d2_brier,
    }
