"""Metrics that are a mean over samples, a function of such means, or the share of one that is explained.

Losses `[C, N]` of single predictions are computed once; every resample is then a matrix product with its counts.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import Target, TaskName
from . import blocks, cuts, losses
from .blocks import per_resample, product
from .contract import Core, Metric, Part, is_number

#: (part, values [C, N(, K)]) -> [C, N]
Loss = Callable[[Part, Array], Array]
#: (name of the metric, y, values) -> None; raises where the loss does not exist
Check = Callable[[str, Array, Array], None]
#: counts [B, N] -> sum [B] of the loss of the best constant guess over the samples present; NaN where it is perfect
Constant = Callable[[Array], Array]

_TOGETHER = 1 << 15  # losses computed at a time: what is written down on the way stays in the cache of a core
_CONSTANTS = 1 << 21  # losses of constants computed at a time


class MeanCore(Core):
    """The mean of a loss over the samples present, sent through a link such as the square root."""

    def __init__(self, losses: Array, part: Part, link: Callable[[Array], Array] | None) -> None:
        self._losses = losses if part.weight is None else losses * part.weight
        self._part = part
        self._link = link

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        sums, totals = product(counts, self._losses, picked), self._part.totals(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.divide(sums, per_resample(np.where(totals > 0, totals, np.nan), sums), sums)
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
        weight = 1.0 if part.weight is None else part.weight
        self._squares = residual**2 * weight
        self._residuals = residual * weight if centred else None
        self._truth = np.stack([y * weight, y**2 * weight])
        self._part = part

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        left, totals = product(counts, self._squares, picked), self._part.totals(counts)
        first, second = product(counts, self._truth).T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = second - first**2 / totals
            constant = ~(spread > 1e-12 * second)
            if self._residuals is not None:
                left = left - product(counts, self._residuals, picked) ** 2 / per_resample(totals, left)
            return 1.0 - left / per_resample(np.where(constant, np.nan, spread), left)


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

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        left = product(counts, self._losses, picked)
        return 1.0 - left / per_resample(self._constant(counts), left)


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
        self._weight = np.ones(len(part.y)) if part.weight is None else part.weight[self._order]

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
        return losses.deviance(self._y, mean[:, None], self._power)


class Shares:
    """The shares of the classes, as the probabilities of every sample."""

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
_PROBABILITY = ("predict_proba",)


def _shares(loss: Loss, greater_is_better: bool) -> Pointwise:
    ends = (0.0, 1.0) if greater_is_better else (-1.0, 0.0)
    return Pointwise("classification", loss, greater_is_better=greater_is_better, range=ends, exact=True)


def _regression(loss: Loss, link: Callable[[Array], Array] | None = None, check: Check | None = None) -> Pointwise:
    return Pointwise("regression", loss, link=link, check=check)


def accuracy() -> Pointwise:
    """Share of labels that are right."""
    made = _shares(losses.hit, True)
    made.at_cuts = cuts.ACCURACY
    return made


class Brier(Pointwise):
    """Mean squared distance of probabilities to what happened, summed over the classes; see `brier`."""

    def __init__(self, scale_by_half: bool | str) -> None:
        worst = 1.0 if scale_by_half is True else 2.0
        loss = partial(losses.brier, scale_by_half=scale_by_half)
        super().__init__("classification", loss, responses=_PROBABILITY, range=(-worst, 0.0))
        self._is_halved_for_two = scale_by_half == "auto"

    def for_target(self, target: Target) -> Metric:
        if not self._is_halved_for_two or target.n_classes != 2:
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
    made = _shares(partial(losses.among_first, k=int(k)), True)
    made.responses, made.min_classes = ("decision_function", "predict_proba"), 3
    return made


def hinge() -> Pointwise:
    """Hinge loss of decision values."""
    made = Pointwise("classification", losses.hinge, responses=("decision_function",))
    made.min_classes = 2
    return made


def pinball(*, alpha: float = 0.5) -> Pointwise:
    """Pinball loss of a predicted quantile.

    Parameters
    ----------
    alpha : float, default=0.5
        The quantile that is predicted, from 0 to 1.
    """
    return _regression(partial(losses.pinball, alpha=share("alpha", alpha)))


def tweedie(*, power: float = 0) -> Pointwise:
    """Mean deviance of a Tweedie distribution.

    Parameters
    ----------
    power : float, default=0
        0 is squared error, 1 Poisson, 2 gamma, 3 inverse Gaussian; nothing between 0 and 1 exists.
    """
    return _regression(partial(losses.tweedie, power=power), check=check_power(power))


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
    return partial(losses.need, truth=truth, guess=(0.0, True))


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
    above = partial(losses.need, truth=(-1.0, True), guess=(-1.0, True))
    return {
        "accuracy": accuracy,
        "neg_zero_one_loss": partial(_shares, losses.miss, False),
        "neg_hamming_loss": partial(_shares, losses.miss, False),  # the same, for one label per sample
        "top_k_accuracy": top_k,
        "neg_log_loss": partial(Pointwise, "classification", losses.log_loss, responses=_PROBABILITY),
        "neg_brier_score": brier,
        "neg_hinge_loss": hinge,
        "neg_mean_squared_error": partial(_regression, losses.squared),
        "neg_root_mean_squared_error": partial(_regression, losses.squared, np.sqrt),
        "neg_mean_absolute_error": partial(_regression, losses.absolute),
        "neg_mean_absolute_percentage_error": partial(_regression, losses.relative),
        "neg_mean_squared_log_error": partial(_regression, losses.squared_log, None, above),
        "neg_root_mean_squared_log_error": partial(_regression, losses.squared_log, np.sqrt, above),
        "neg_mean_poisson_deviance": partial(tweedie, power=1),
        "neg_mean_gamma_deviance": partial(tweedie, power=2),
        "neg_mean_tweedie_deviance": tweedie,
        "neg_mean_pinball_loss": pinball,
        "r2": partial(Spread, centred=False),
        "explained_variance": partial(Spread, centred=True),
        "d2_absolute_error_score": partial(d2_pinball, alpha=0.5),
        "d2_pinball_score": d2_pinball,
        "d2_tweedie_score": d2_tweedie,
        "d2_log_loss_score": partial(_d2_classes, losses.log_loss, True),
        "d2_brier_score": d2_brier,
    }
