"""Metrics that are a mean over samples, or a function of such means: one matrix product for all resamples.

Takes one part, gives losses `[C, N]` and products with counts. Products are cut at fixed places (`blocks.UNIT`
resamples, `blocks.ROWS` samples), so that they round the same way however the work is divided. Losses that are 0 or 1
are kept as bits and counted instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks, cuts, losses
from .base import Metric
from .bits import pack, picked_tallies, tallies
from .blocks import ROWS, UNIT
from .part import Core, Part

#: (part, values [C, N(, K)]) -> [C, N]
Loss = Callable[[Part, Array], Array]
#: (name of the metric, y, values) -> None; raises where the loss does not exist
Check = Callable[[str, Array, Array], None]

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
        The loss is 0 or 1, so that bits will do.
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
        """Loss of every prediction, a row for each configuration: [C, N]; float32 where it can only be 0 or 1."""
        exact = self._exact and part.weight is None
        return self._each(part, n_threads, np.empty(part.values.shape[1::-1], np.float32 if exact else np.float64))

    def _each(self, part: Part, n_threads: int, out: Array) -> Array:
        """Write the losses of all configurations, or their bits, a few at a time."""
        if self._check is not None:
            self._check(self.name, part.y, part.values)
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
            n, c = part.values.shape[:2]
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
    made.at_cuts = cuts.accuracy()
    return made


def brier(*, scale_by_half: bool | str = "auto") -> Pointwise:
    """Squared distance of probabilities to what happened.

    Parameters
    ----------
    scale_by_half : bool or "auto"
        Divide by two, so that the worst is 1; "auto" does for two classes.
    """
    if scale_by_half not in (True, False, "auto"):
        raise SoberError("E108", f'`scale_by_half` must be True, False or "auto"; got {scale_by_half!r}.')
    worst = 1.0 if scale_by_half is True else 2.0
    loss = partial(losses.brier, scale_by_half=scale_by_half)
    return Pointwise("classification", loss, responses=_PROBABILITY, range=(-worst, 0.0))


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
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
        raise SoberError("E108", f"`{name}` must be a number from 0 to 1; got {value!r}.")
    return float(value)


def check_power(power: float) -> Check | None:
    """Refuse a power that no Tweedie distribution has; give the check of what it can be used on."""
    if isinstance(power, bool) or not isinstance(power, (int, float, np.number)) or 0 < power < 1:
        raise SoberError("E108", f"`power` must be 0 or less, or 1 or more; got {power!r}.")
    if power == 0:
        return None
    truth = (-np.inf, False) if power < 0 else (0.0, bool(power >= 2))
    return partial(losses.need, truth=truth, guess=(0.0, True))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    above = partial(losses.need, truth=(-1.0, True), guess=(-1.0, True))
    return {
        "accuracy": accuracy,
        "neg_zero_one_loss": partial(_shares, losses.miss, False),
        "neg_hamming_loss": partial(_shares, losses.miss, False),  # the same, for one label a sample
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
    }
