"""What a single prediction costs: the losses of which metrics are means.

From a part and values `[C, N]` or `[C, N, K]` to losses `[C, N]`; nothing is counted or averaged. Plain functions,
and `partial` of them, so that they can be sent to other machines.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..errors import SoberError
from .contract import Part


# ---- labels ---------------------------------------------------------------------------------------------------------
def hit(part: Part, values: Array) -> Array:
    """1 where the label is right."""
    return values == part.y


def miss(part: Part, values: Array) -> Array:
    """1 where the label is wrong."""
    return values != part.y


# ---- probabilities and decision values; of two classes, those of the second ------------------------------------------
def log_loss(part: Part, values: Array) -> Array:
    """Minus the logarithm of the probability of what happened."""
    smallest = np.finfo(values.dtype).eps
    if values.ndim == 3:
        true = np.take_along_axis(values, part.y[None, :, None], axis=2)[:, :, 0]
    else:
        true = np.where(part.y == 1, values, 1.0 - values)
    return -np.log(np.clip(true, smallest, 1.0 - smallest))


def brier(part: Part, values: Array, *, scale_by_half: bool | str = "auto") -> Array:
    """Squared distance to what happened, over all classes; halved for two, unless told otherwise."""
    if values.ndim == 2:
        square = (values - (part.y == 1)) ** 2  # the same for both classes
        return square if scale_by_half else 2.0 * square
    truth = np.arange(part.n_classes) == part.y[:, None]
    squares = np.sum((values - truth) ** 2, axis=2)
    return 0.5 * squares if scale_by_half is True else squares


def hinge(part: Part, values: Array) -> Array:
    """How much the decision value of the true class lacks of being 1 ahead of the others."""
    if values.ndim == 2:
        margin = np.where(part.y == 1, values, -values)
    else:
        mine = (np.arange(part.n_classes) == part.y[:, None])[None]
        margin = values[:, np.arange(len(part.y)), part.y] - np.where(mine, -np.inf, values).max(axis=2)
    return np.maximum(0.0, 1.0 - margin)


def among_first(part: Part, values: Array, *, k: int) -> Array:
    """1 where the true class is among the k with the highest values; of equals the later class is ahead."""
    true = np.take_along_axis(values, part.y[None, :, None], axis=2)
    later = np.arange(part.n_classes) > part.y[:, None]
    ahead = (values > true) | ((values == true) & later)
    return ahead.sum(axis=2) < k


# ---- numbers --------------------------------------------------------------------------------------------------------
def squared(part: Part, values: Array) -> Array:
    """Squared error."""
    return (part.y - values) ** 2


def absolute(part: Part, values: Array) -> Array:
    """Absolute error."""
    return np.abs(part.y - values)


def relative(part: Part, values: Array) -> Array:
    """Absolute error as a share of the truth."""
    return np.abs(part.y - values) / np.maximum(np.abs(part.y), np.finfo(np.float64).eps)


def squared_log(part: Part, values: Array) -> Array:
    """Squared error of log(1 + value)."""
    return (np.log1p(part.y) - np.log1p(values)) ** 2


def pinball(part: Part, values: Array, *, alpha: float) -> Array:
    """What a guess at the quantile `alpha` costs: too low costs alpha, too high 1 - alpha, for each unit."""
    error = part.y - values
    return np.where(error >= 0, alpha * error, (alpha - 1.0) * error)


def tweedie(part: Part, values: Array, *, power: float) -> Array:
    """Deviance of a Tweedie distribution: 0 is normal, 1 Poisson, 2 gamma, 3 inverse Gaussian."""
    return deviance(part.y, values, power)


def deviance(y: Array, values: Array, power: float) -> Array:
    """Tweedie's deviance of any arrays that fit together."""
    if power == 0:
        return (y - values) ** 2
    if power == 1:
        return 2.0 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / values), 0.0) - y + values)
    if power == 2:
        return 2.0 * (np.log(values / y) + y / values - 1.0)
    one, two = 1.0 - power, 2.0 - power
    base = np.maximum(y, 0.0) if power < 0 else y
    return 2.0 * (base**two / (one * two) - y * values**one / one + values**two / two)


# ---- where a loss does not exist ------------------------------------------------------------------------------------
def need(name: str, y: Array, values: Array, *, truth: tuple[float, bool], guess: tuple[float, bool]) -> None:
    """Refuse numbers below a bound, or at it where the bound is strict."""
    for what, array, (low, strict) in (("`y`", y, truth), ("predictions", values, guess)):
        smallest = float(array.min())
        if smallest < low or (strict and smallest == low):
            bound = f"above {low:g}" if strict else f"of {low:g} or more"
            raise SoberError("E112", f"{name} needs {what} {bound}; got {smallest:.4g}. Choose another metric.")
