"""Metrics that are a mean over samples, a function of such means, or the share of one that is explained.

Losses `[C, N]` of single predictions are computed once; every resample is then a matrix product with its counts. They
are plain functions, and `partial` of them, so that a metric can be sent to other machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks, cuts
from .blocks import product
from .contract import Core, Metric, Part, is_number

#: (part, values [C, N(, K)]) -> [C, N]
Loss = Callable[[Part, Array], Array]
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
    return _tilted(part.y - values, alpha)


def _tilted(error: Array, alpha: float) -> Array:
    return np.where(error >= 0, alpha * error, (alpha - 1.0) * error)


def tweedie_loss(part: Part, values: Array, *, power: float) -> Array:
    """Deviance of a Tweedie distribution: 0 is normal, 1 Poisson, 2 gamma, 3 inverse Gaussian."""
    return _deviance(part.y, values, power)


def _deviance(y: Array, values: Array, power: float) -> Array:
    if power == 0:
        return (y - values) ** 2
    if power == 1:
        return 2.0 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / values), 0.0) - y + values)
    if power == 2:
        return 2.0 * (np.log(values / y) + y / values - 1.0)
    one, two = 1.0 - power, 2.0 - power
    base = np.maximum(y, 0.0) if power < 0 else y
    return 2.0 * (base**two / (one * two) - y * values**one / one + values**two / two)


# ---- means -----------------------------------------------------------------------------------------------------------
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
    core = partial(mean, loss=loss, link=link, exact=exact)
    least = 2 if declared.get("responses") == _PROBABILITY else 0
    usual: dict[str, Any] = {
        "greater_is_better": False,
        "range": (-np.inf, 0.0),
        "min_classes": least,
        "linear": link is None,
    }
    return Metric(task=task, core=core, **usual | declared)


def bounded(metric: Metric, truth: tuple[float, bool], guess: tuple[float, bool]) -> Metric:
    """The metric of a loss that exists for y and predictions from a bound on, or above it where the bound is strict."""
    assert metric.core is not None
    return replace(metric, core=partial(_refusing, core=metric.core, truth=truth, guess=guess))


def _refusing(*parts: Part, core: Callable[..., Core], truth: tuple[float, bool], guess: tuple[float, bool]) -> Core:
    for part in parts:
        for what, array, (low, strict) in (("`y`", part.y, truth), ("predictions", part.values, guess)):
            least = float(array.min())
            if least < low or (strict and least == low):
                bound = f"above {low:g}" if strict else f"of {low:g} or more"
                raise SoberError("E112", f"{part.metric} needs {what} {bound}; got {least:.4g}. Choose another metric.")
    return core(*parts)


# ---- how much of a loss is explained: 1 - (what is left) / (what the best constant guess would leave) ----------------
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


def best_number(part: Part, loss: Callable[[Array, Array], Array]) -> Constant:
    """The best constant guess at numbers, found anew in every resample.

    `loss` takes y [N], ascending, and the weights of the samples [B, N], and returns the loss [B, N] of the guess.
    """
    order = np.argsort(part.y, kind="stable")
    y, weight = part.y[order].astype(np.float64), part.weights[order]

    def some(counts: Array) -> Array:
        mass = counts[:, order] * weight
        here = mass > 0
        lowest, highest = here.argmax(axis=1), here.shape[1] - 1 - here[:, ::-1].argmax(axis=1)
        varies = here.any(axis=1) & (y[lowest] < y[highest])
        return np.where(varies, (mass * loss(y, mass)).sum(axis=1), np.nan)

    def constant(counts: Array) -> Array:
        step = max(1, _CONSTANTS // max(1, counts.shape[1]))
        with np.errstate(all="ignore"):
            return np.concatenate([*(some(counts[a:b]) for a, b in blocks.cut(len(counts), step)), np.empty(0)])

    return constant


def _around_quantile(y: Array, mass: Array, alpha: float) -> Array:
    below = np.cumsum(mass, axis=1)
    # Where the quantile lies between two values, all between them are equally good: rounding cannot hurt.
    at = (below < alpha * below[:, -1:]).sum(axis=1)
    return _tilted(y - y[np.minimum(at, len(y) - 1)][:, None], alpha)


def _around_mean(y: Array, mass: Array, power: float) -> Array:
    centre = (mass * y).sum(axis=1) / mass.sum(axis=1)  # which every Tweedie deviance asks for
    return _deviance(y, centre[:, None], power)


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


# ---- all of them ----------------------------------------------------------------------------------------------------
_PROBABILITY = ("predict_proba",)


def _regression(loss: Loss, link: Callable[[Array], Array] | None = None) -> Metric:
    return pointwise("regression", loss, link=link)


def _share(task: TaskName, core: Callable[..., Core], **declared: Any) -> Metric:
    return Metric(task=task, core=core, range=(-np.inf, 1.0), **declared)


def brier(*, scale_by_half: bool | str = "auto") -> Metric:
    """Squared distance of probabilities to what happened; halved, the worst is 1, as "auto" does for two classes."""
    if scale_by_half not in (True, False, "auto"):
        raise SoberError("E122", f'`scale_by_half` must be True, False or "auto"; got {scale_by_half!r}.')
    loss, worst = partial(brier_loss, scale_by_half=scale_by_half), 1.0 if scale_by_half is True else 2.0
    auto = scale_by_half == "auto"
    return pointwise("classification", loss, responses=_PROBABILITY, range=(-worst, 0.0), halved_for_two=auto)


def top_k(*, k: int = 2) -> Metric:
    """Share of samples whose class is among the k likeliest; for more than two classes."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise SoberError("E108", f"`k` must be a whole number of 1 or more; got {k!r}.")
    loss, ranked = partial(among_first, k=int(k)), ("decision_function", "predict_proba")
    return pointwise("classification", loss, exact=True, responses=ranked, min_classes=3, **_SHARE)


def _pinball(alpha: float) -> Loss:
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise SoberError("E108", f"`alpha` must be a number from 0 to 1; got {alpha!r}.")
    return partial(pinball_loss, alpha=float(alpha))


def pinball(*, alpha: float = 0.5) -> Metric:
    """Pinball loss of the predicted quantile `alpha`, from 0 to 1."""
    return _regression(_pinball(alpha))


def d2_pinball(*, alpha: float = 0.5) -> Metric:
    """Share of the pinball loss that is explained; with an alpha of 0.5 of the absolute error."""
    best = partial(best_number, loss=partial(_around_quantile, alpha=alpha))
    return _share("regression", partial(explained, loss=_pinball(alpha), constant=best))


def _of_power(power: float, make: Callable[[Loss], Metric]) -> Metric:
    """Refuse a power that no Tweedie distribution has; let the metric refuse numbers that it has no deviance for."""
    if not is_number(power) or 0 < power < 1:
        raise SoberError("E108", f"`power` must be 0 or less, or 1 or more; got {power!r}.")
    metric = make(partial(tweedie_loss, power=power))
    truth = (-np.inf, False) if power < 0 else (0.0, bool(power >= 2))
    return metric if power == 0 else bounded(metric, truth, (0.0, True))


def tweedie(*, power: float = 0) -> Metric:
    """Mean deviance of a Tweedie distribution; of a power between 0 and 1 there is none."""
    return _of_power(power, _regression)


def d2_tweedie(*, power: float = 0) -> Metric:
    """Share of a Tweedie deviance that is explained; with a power of 0 it is R2."""
    best = partial(best_number, loss=partial(_around_mean, power=power))
    return _of_power(power, lambda loss: _share("regression", partial(explained, loss=loss, constant=best)))


def _d2_classes(loss: Loss, surprise: bool) -> Metric:
    core = partial(explained, loss=loss, constant=partial(best_shares, surprise=surprise))
    return _share("classification", core, responses=_PROBABILITY, min_classes=2)


_SHARE: dict[str, Any] = {"greater_is_better": True, "range": (0.0, 1.0)}
_WRONG = pointwise("classification", miss, exact=True, range=(-1.0, 0.0))
_LOGS = (-1.0, True), (-1.0, True)  # where log(1 + value) exists
D2_BRIER = _d2_classes(brier_loss, surprise=False)

#: Every metric of this file by name, or what makes it of arguments.
METRICS: dict[str, Metric | Callable[..., Metric]] = {
    "accuracy": pointwise("classification", hit, exact=True, at_cuts=cuts.ACCURACY, **_SHARE),
    "neg_zero_one_loss": _WRONG,
    "neg_hamming_loss": _WRONG,  # the same, for one label per sample
    "top_k_accuracy": top_k,
    "neg_log_loss": pointwise("classification", log_loss, responses=_PROBABILITY),
    "neg_brier_score": brier,
    "neg_hinge_loss": pointwise("classification", hinge_loss, responses=("decision_function",), min_classes=2),
    "neg_mean_squared_error": _regression(squared),
    "neg_root_mean_squared_error": _regression(squared, np.sqrt),
    "neg_mean_absolute_error": _regression(absolute),
    "neg_mean_absolute_percentage_error": _regression(relative),
    "neg_mean_squared_log_error": bounded(_regression(squared_log), *_LOGS),
    "neg_root_mean_squared_log_error": bounded(_regression(squared_log, np.sqrt), *_LOGS),
    "neg_mean_poisson_deviance": tweedie(power=1),
    "neg_mean_gamma_deviance": tweedie(power=2),
    "neg_mean_tweedie_deviance": tweedie,
    "neg_mean_pinball_loss": pinball,
    "r2": _share("regression", partial(spread, centred=False)),
    "explained_variance": _share("regression", partial(spread, centred=True)),
    "d2_absolute_error_score": d2_pinball(alpha=0.5),
    "d2_pinball_score": d2_pinball,
    "d2_tweedie_score": d2_tweedie,
    "d2_log_loss_score": _d2_classes(log_loss, surprise=True),
    "d2_brier_score": D2_BRIER,
}
