"""Metrics that are a mean over samples, a function of such means, or the share of one that is explained.

Losses `[C, N]` of single predictions are computed once; every resample is then a matrix product with its counts. They
are plain functions, and `partial` of them, so that a metric can be sent to other machines.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import Target, TaskName
from . import blocks, cuts
from .blocks import product
from .contract import Core, Metric, Part, is_number

#: (part, values [C, N(, K)]) -> [C, N]
Loss = Callable[[Part, Array], Array]
#: (name of the metric, y, values) -> None; raises where the loss does not exist
Check = Callable[[str, Array, Array], None]
#: counts [B, N] -> sum [B] of the loss of the best constant guess over the samples present; NaN where it is perfect
Constant = Callable[[Array], Array]

_TOGETHER = 1 << 15  # losses computed at a time: what is written down on the way stays in the cache of a core
_CONSTANTS = 1 << 21  # losses of constants computed at a time


# ---- what a single prediction costs: (part, values [C, N(, K)]) -> [C, N] --------------------------------------------
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


def brier_loss(part: Part, values: Array, *, scale_by_half: bool | str = "auto") -> Array:
    """Squared distance to what happened, over all classes; halved for two, unless told otherwise."""
    if values.ndim == 2:
        square = (values - (part.y == 1)) ** 2  # the same for both classes
        return square if scale_by_half else 2.0 * square
    truth = np.arange(part.n_classes) == part.y[:, None]
    squares = np.sum((values - truth) ** 2, axis=2)
    return 0.5 * squares if scale_by_half is True else squares


def hinge_loss(part: Part, values: Array) -> Array:
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


def pinball_loss(part: Part, values: Array, *, alpha: float) -> Array:
    """What a guess at the quantile `alpha` costs: too low costs alpha, too high 1 - alpha, for each unit."""
    error = part.y - values
    return np.where(error >= 0, alpha * error, (alpha - 1.0) * error)


def tweedie_loss(part: Part, values: Array, *, power: float) -> Array:
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


# ---- means -----------------------------------------------------------------------------------------------------------
class MeanCore(Core):
    """The mean of a loss over the samples present, sent through a link such as the square root."""

    def __init__(self, losses: Array, part: Part, link: Callable[[Array], Array] | None) -> None:
        self._losses, self._part, self._link = part.weighted(losses), part, link

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        sums, totals = product(counts, self._losses, picked), self._part.totals(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.divide(sums, np.where(totals > 0, totals, np.nan), sums)
        return means if self._link is None else self._link(means)


class Pointwise(Metric):
    """A mean over samples of `loss(y, values)`.

    Parameters
    ----------
    task : {"classification", "regression"}
    loss : callable
        (part, values [C, N(, K)]) -> [C, N].
    responses : tuple of str
    greater_is_better : bool
    range : (float, float)
    link : callable, optional
        Applied to the mean of each repeat.
    check : callable, optional
        (name, y, values) -> None, raises where the loss does not exist.
    exact : bool
        Whether the loss is 0 or 1, so that samples are counted.
    """

    def __init__(
        self,
        task: TaskName,
        loss: Loss,
        *,
        responses: tuple[str, ...] = ("predict",),
        greater_is_better: bool = False,
        range: tuple[float, float] = (-np.inf, 0.0),
        link: Callable[[Array], Array] | None = None,
        check: Check | None = None,
        exact: bool = False,
    ) -> None:
        self.task, self.responses = task, responses
        self.greater_is_better, self.range = greater_is_better, range
        self.linear = link is None
        self.min_classes = 2 if responses == ("predict_proba",) else 0
        self._loss, self._link, self._check, self._exact = loss, link, check, exact

    def losses(self, part: Part, n_threads: int = 1) -> Array:
        """Loss of every prediction [C, N]; flags where it can only be 0 or 1."""
        if self._check is not None:
            self._check(self.name, part.y, part.values)
        kind = np.float64 if part.values.dtype.kind == "f" else None  # losses of float32 are computed in double
        out: Array = np.empty(part.values.shape[1::-1], np.bool_ if self._exact else np.float64)

        def some(first: int, last: int) -> None:
            values = np.ascontiguousarray(np.moveaxis(part.values[:, first:last], 0, 1), kind)  # [C, N(, K)]
            out[first:last] = self._loss(part, values)

        blocks.run(some, blocks.cut(len(out), _TOGETHER // len(part.y)), n_threads)
        return out

    def core(self, part: Part, n_threads: int = 1) -> Core:
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


# ---- how much of a loss is explained: 1 - (what is left) / (what the best constant guess would leave) ----------------
class SpreadCore(Core):
    """1 - (loss that is left) / (spread of y): R2, and with the mean residual removed, explained variance."""

    def __init__(self, part: Part, centred: bool) -> None:
        # Centred once, so that sums of squares do not cancel; by the median, which one far-out value does not move.
        y = part.y - np.median(part.y)
        residual = part.y - np.ascontiguousarray(part.values.T, np.float64)
        if centred:
            residual -= np.median(residual, axis=1, keepdims=True)
        self._squares = part.weighted(residual**2)
        self._residuals = part.weighted(residual) if centred else None
        self._truth, self._part = part.weighted(np.stack([y, y**2])), part

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        left, totals = product(counts, self._squares, picked), self._part.totals(counts)
        first, second = np.split(product(counts, self._truth), 2, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = second - first**2 / totals
            constant = ~(spread > 1e-12 * second)
            if self._residuals is not None:
                left = left - product(counts, self._residuals, picked) ** 2 / totals
            return 1.0 - left / np.where(constant, np.nan, spread)


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
        self._losses, self._constant = part.weighted(losses), constant

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        return 1.0 - product(counts, self._losses, picked) / self._constant(counts)[:, None]


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
        made._left.name = name  # the name that errors mention
        return made

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return ExplainedCore(self._left.losses(part, n_threads), part, self._constant(part))


class _Numbers:
    """The best constant guess at numbers, found anew in every resample."""

    def __init__(self, part: Part) -> None:
        self._order = np.argsort(part.y, kind="stable")
        self._y = part.y[self._order].astype(np.float64)
        self._weight = part.weights[self._order]

    def __call__(self, counts: Array) -> Array:
        step = max(1, _CONSTANTS // max(1, counts.shape[1]))
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
        return deviance(self._y, mean[:, None], self._power)


class Shares:
    """The shares of the classes, as the probabilities of every sample."""

    def __init__(self, part: Part, surprise: bool) -> None:
        self._classes = np.stack([(part.y == k) * part.weights for k in range(part.n_classes)])  # [K, N]
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
_PROBABILITY = ("predict_proba",)


def _shares(loss: Loss, greater_is_better: bool) -> Pointwise:
    ends = (0.0, 1.0) if greater_is_better else (-1.0, 0.0)
    return Pointwise("classification", loss, greater_is_better=greater_is_better, range=ends, exact=True)


def _regression(loss: Loss, link: Callable[[Array], Array] | None = None, check: Check | None = None) -> Pointwise:
    return Pointwise("regression", loss, link=link, check=check)


def accuracy() -> Pointwise:
    """Share of labels that are right."""
    made = _shares(hit, True)
    made.at_cuts = cuts.ACCURACY
    return made


class Brier(Pointwise):
    """Mean squared distance of probabilities to what happened, summed over the classes; see `brier`."""

    def __init__(self, scale_by_half: bool | str) -> None:
        worst = 1.0 if scale_by_half is True else 2.0
        loss = partial(brier_loss, scale_by_half=scale_by_half)
        super().__init__("classification", loss, responses=_PROBABILITY, range=(-worst, 0.0))
        self._is_halved_for_two = scale_by_half == "auto"

    def for_target(self, y: Any) -> Metric:
        if not self._is_halved_for_two or not isinstance(y, Target) or y.n_classes != 2:
            return self
        made = copy(self)
        made.range = (0.0, 1.0) if self.greater_is_better else (-1.0, 0.0)
        return made


def brier(*, scale_by_half: bool | str = "auto") -> Pointwise:
    """Squared distance of probabilities to what happened.

    Parameters
    ----------
    scale_by_half : bool or "auto"
        Divide by two, so that the worst is 1; "auto" does for two classes.
    """
    if scale_by_half not in (True, False, "auto"):
        raise SoberError("E122", f'`scale_by_half` must be True, False or "auto"; got {scale_by_half!r}.')
    return Brier(scale_by_half)


def top_k(*, k: int = 2) -> Pointwise:
    """Share of samples whose class is among the k likeliest; for more than two classes.

    Parameters
    ----------
    k : int, default=2
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise SoberError("E108", f"`k` must be a whole number of 1 or more; got {k!r}.")
    made = _shares(partial(among_first, k=int(k)), True)
    made.responses, made.min_classes = ("decision_function", "predict_proba"), 3
    return made


def hinge() -> Pointwise:
    """Hinge loss of decision values."""
    made = Pointwise("classification", hinge_loss, responses=("decision_function",))
    made.min_classes = 2
    return made


def pinball(*, alpha: float = 0.5) -> Pointwise:
    """Pinball loss of a predicted quantile.

    Parameters
    ----------
    alpha : float, default=0.5
        The quantile that is predicted, from 0 to 1.
    """
    return _regression(partial(pinball_loss, alpha=share("alpha", alpha)))


def tweedie(*, power: float = 0) -> Pointwise:
    """Mean deviance of a Tweedie distribution.

    Parameters
    ----------
    power : float, default=0
        0 is squared error, 1 Poisson, 2 gamma, 3 inverse Gaussian; nothing between 0 and 1 exists.
    """
    return _regression(partial(tweedie_loss, power=power), check=check_power(power))


def share(name: str, value: float) -> float:
    """Refuse what is no number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise SoberError("E108", f"`{name}` must be a number from 0 to 1; got {value!r}.")
    return float(value)


def check_power(power: float) -> Check | None:
    """Refuse a power that no Tweedie distribution has; give the check of what it can be used on."""
    if not is_number(power) or 0 < power < 1:
        raise SoberError("E108", f"`power` must be 0 or less, or 1 or more; got {power!r}.")
    if power == 0:
        return None
    truth = (-np.inf, False) if power < 0 else (0.0, bool(power >= 2))
    return partial(need, truth=truth, guess=(0.0, True))


def d2_pinball(*, alpha: float = 0.5) -> Explained:
    """Share of the pinball loss that is explained.

    Parameters
    ----------
    alpha : float, default=0.5
        The quantile that is predicted, from 0 to 1; 0.5 is half the absolute error.
    """
    loss = partial(pinball_loss, alpha=share("alpha", alpha))
    return Explained(Pointwise("regression", loss), partial(Quantile, alpha=float(alpha)))


def d2_tweedie(*, power: float = 0) -> Explained:
    """Share of a Tweedie deviance that is explained.

    Parameters
    ----------
    power : float, default=0
        0 is R2, 1 Poisson, 2 gamma, 3 inverse Gaussian.
    """
    left = Pointwise("regression", partial(tweedie_loss, power=power), check=check_power(power))
    return Explained(left, partial(Mean, power=power))


def d2_brier() -> Explained:
    """Share of the Brier score that is explained: the scaled Brier score."""
    return _d2_classes(brier_loss, False)


def _d2_classes(loss: Loss, surprise: bool) -> Explained:
    left = Pointwise("classification", loss, responses=("predict_proba",))
    return Explained(left, partial(Shares, surprise=surprise))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    above = partial(need, truth=(-1.0, True), guess=(-1.0, True))
    return {
        "accuracy": accuracy,
        "neg_zero_one_loss": partial(_shares, miss, False),
        "neg_hamming_loss": partial(_shares, miss, False),  # the same, for one label per sample
        "top_k_accuracy": top_k,
        "neg_log_loss": partial(Pointwise, "classification", log_loss, responses=_PROBABILITY),
        "neg_brier_score": brier,
        "neg_hinge_loss": hinge,
        "neg_mean_squared_error": partial(_regression, squared),
        "neg_root_mean_squared_error": partial(_regression, squared, np.sqrt),
        "neg_mean_absolute_error": partial(_regression, absolute),
        "neg_mean_absolute_percentage_error": partial(_regression, relative),
        "neg_mean_squared_log_error": partial(_regression, squared_log, None, above),
        "neg_root_mean_squared_log_error": partial(_regression, squared_log, np.sqrt, above),
        "neg_mean_poisson_deviance": partial(tweedie, power=1),
        "neg_mean_gamma_deviance": partial(tweedie, power=2),
        "neg_mean_tweedie_deviance": tweedie,
        "neg_mean_pinball_loss": pinball,
        "r2": partial(Spread, centred=False),
        "explained_variance": partial(Spread, centred=True),
        "d2_absolute_error_score": partial(d2_pinball, alpha=0.5),
        "d2_pinball_score": d2_pinball,
        "d2_tweedie_score": d2_tweedie,
        "d2_log_loss_score": partial(_d2_classes, log_loss, True),
        "d2_brier_score": d2_brier,
    }
