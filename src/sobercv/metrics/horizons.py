"""Survival metrics that weight by the chance of being observed: Uno's concordance, and scores at a time.

Takes one part with (event, time) and risks or survival probabilities, gives scores whose limit does not depend on who
was censored when (IPCW). The chance of being observed is found anew in every resample, from its own samples. A higher
risk means an earlier event. NaN where the truth allows no score: no comparable pair, no case, nobody beyond the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..predictions import Predictions
from ..responses import survival_at
from ..targets import TaskName
from . import blocks
from .base import Metric
from .censoring import Censoring
from .part import Core, Part
from .pointwise import picked_product, product
from .ranking import Contests, Walks
from .survival import ComparablePairs, outlived

_TOGETHER = 1 << 22  # weights of samples in resamples made at a time


def _kernels() -> Any:
    from . import kernels  # numba takes a while to import

    return kernels


class _WeightedCore(Core):
    """Scores from weights of samples [B, N], which are made for some resamples at a time."""

    def __init__(self, part: Part) -> None:
        self._part, self._censoring = part, Censoring(part)
        self._weight = np.ones(len(part.y)) if part.weight is None else part.weight

    def scores(self, counts: Array) -> Array:
        return np.concatenate([self._some(mass, None) for _, mass in self._masses(counts)])

    def picked(self, counts: Array, winners: Array) -> Array:
        return np.concatenate([self._some(mass, winners[here]) for here, mass in self._masses(counts)])

    def _masses(self, counts: Array) -> list[tuple[slice, Array]]:
        step = max(1, _TOGETHER // max(1, counts.shape[1]))
        cuts = blocks.cut(len(counts), step) or [(0, 0)]  # no resamples have no scores
        return [(slice(a, b), counts[a:b] * self._weight) for a, b in cuts]

    def _raised(self, mass: Array, power: int) -> Array:
        """Weights divided by the chance to have been observed; whoever is absent has neither."""
        return np.divide(mass, self._censoring.before(mass) ** power, out=np.zeros_like(mass), where=mass > 0)

    def _some(self, mass: Array, winners: Array | None) -> Array:
        raise NotImplementedError


# ---- pairs ----------------------------------------------------------------------------------------------------------
class UnequalDuel(_WeightedCore):
    """Share of pairs won, where a sample that ought to win weighs by its chance of having been observed.

    Parameters
    ----------
    part : Part
    walks : Walks
    pairs : (samples, actions, ends)
        A walk in which everybody wins whom they can win against.
    power : int
        Of the inverse chance.
    """

    def __init__(self, part: Part, walks: Walks, pairs: tuple[Array, Array, Array], power: int) -> None:
        super().__init__(part)
        self._walks, self._pairs, self._power = walks, pairs, power

    def _some(self, mass: Array, winners: Array | None) -> Array:
        kernels = _kernels()
        strong = self._raised(mass, self._power)
        turned, strong_turned = np.ascontiguousarray(mass.T), np.ascontiguousarray(strong.T)
        every = np.empty((1, len(mass)))
        kernels.walk_unequal(*self._pairs, turned, strong_turned, every)
        every = np.where(every[0] > 0, every[0], np.nan)
        if winners is None:
            out = np.empty((self._walks.n, len(mass)))
            for first, last, steps in self._walks.pieces():
                kernels.walk_unequal(*steps, turned, strong_turned, out[first:last])
            return out.T / every[:, None]
        alone = np.empty(len(mass))
        for first, last, steps in self._walks.pieces(np.unique(winners)):
            here = np.flatnonzero((winners >= first) & (winners < last))
            some = np.empty(len(here))
            kernels.walk_unequal_alone(*steps, mass[here], strong[here], winners[here] - first, some)
            alone[here] = some
        return alone / every


class UnoConcordance(Metric):
    """Uno's concordance: Harrell's pairs, each weighted by the squared inverse chance that its event was seen.

    Parameters
    ----------
    tau : float, optional
        Only events before this time; later ones have few at risk and large weights.
    """

    task: TaskName = "survival"
    pools_scores = True

    def __init__(self, *, tau: float | None = None) -> None:
        self._tau = None if tau is None else _time("tau", tau)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        event, time = part.y["event"], part.y["time"]
        event = event if self._tau is None else event & (time < self._tau)
        walks = Walks(np.ascontiguousarray(part.values.T), outlived(event, time, part.fold), n_threads)
        return UnequalDuel(part, walks, ComparablePairs(part, event).steps, power=2)


class AucAt(Metric):
    """Area under the ROC curve at a time: who had the event by then, against who is known to have passed it.

    Parameters
    ----------
    time : float
    """

    task: TaskName = "survival"
    pools_scores = True

    def __init__(self, *, time: float) -> None:
        self._time = _time("time", time)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        case = part.y["event"] & (part.y["time"] <= self._time)
        role = np.where(case, 1, np.where(part.y["time"] > self._time, 0, -1))
        node = np.unique(part.fold, return_inverse=True)[1].reshape(-1)
        contests = Contests(node[None], role[None])
        perfect = Walks(np.ascontiguousarray(role[None], np.float64), contests, 1)
        walks = Walks(np.ascontiguousarray(part.values.T), contests, n_threads)
        ((_, _, pairs),) = perfect.pieces()
        return UnequalDuel(part, walks, pairs, power=1)


# ---- probabilities --------------------------------------------------------------------------------------------------
class BrierCore(_WeightedCore):
    """Squared distance of survival probabilities [N, C, T] to what is known at each time, as a mean over the times."""

    def __init__(self, part: Part, times: Array) -> None:
        super().__init__(part)
        event, time = part.y["event"], part.y["time"]
        self._times = times
        self._gone = np.stack([event & (time <= t) for t in times])  # [T, N]
        self._there = np.stack([time > t for t in times])
        values = np.moveaxis(part.values.astype(np.float64), 0, 2)  # [C, T, N]
        self._losses = np.where(self._gone, values**2, (1.0 - values) ** 2)
        width = np.diff(times)
        # The rule of trapezoids; a single time is itself.
        share = np.ones(1) if len(times) == 1 else 0.5 * (np.append(width, 0.0) + np.append(0.0, width)) / width.sum()
        self._share = share

    def _some(self, mass: Array, winners: Array | None) -> Array:
        raised, total = self._raised(mass, 1), mass.sum(axis=1)
        out: Any = 0.0
        for k, time in enumerate(self._times):
            there = mass * self._there[k]
            known = there.any(axis=1)
            observed = np.where(known, self._censoring.at(mass, float(time)), np.nan)
            weight = raised * self._gone[k] + there / observed[:, None]
            losses = np.ascontiguousarray(self._losses[:, k])
            sums = product(weight, losses) if winners is None else picked_product(weight, losses, winners)
            out = out + self._share[k] * sums / total.reshape((-1,) + (1,) * (sums.ndim - 1))
        return np.asarray(out)


class SurvivalBrier(Metric):
    """Brier score of survival probabilities at a time, or its mean over a span of times.

    Parameters
    ----------
    times : sequence of float
    """

    task: TaskName = "survival"
    greater_is_better = False
    range = (-1.0, 0.0)  # the weights of a resample add up to its size, because their chances come from itself

    def __init__(self, times: Sequence[float]) -> None:
        self.times = tuple(_time("time", t) for t in times)
        self.responses = (survival_at(self.times[0]),)

    def response_of(self, predictions: Predictions) -> Array:
        missing = [survival_at(t) for t in self.times if survival_at(t) not in predictions.responses]
        if missing:
            raise SoberError(
                "E116",
                f"{self.name} is computed from survival probabilities, and the table holds no {missing[0]}, only "
                f"{', '.join(predictions.responses)}. Pass them under that name, or choose another metric.",
            )
        return np.stack([predictions.responses[survival_at(t)] for t in self.times], axis=-1)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return BrierCore(part, np.array(self.times))


def _time(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise SoberError("E108", f"`{name}` must be a time above 0, in the unit of the target; got {value!r}.")
    return float(value)


def brier_at(*, time: float) -> SurvivalBrier:
    """Brier score at a time.

    Parameters
    ----------
    time : float
    """
    return SurvivalBrier([time])


def integrated_brier(*, times: Sequence[float]) -> SurvivalBrier:
    """Mean of the Brier score over a span of times, by the rule of trapezoids.

    Parameters
    ----------
    times : sequence of float
        Two or more, ascending.
    """
    if not isinstance(times, (list, tuple)) or len(times) < 2 or any(not a < b for a, b in pairwise(times)):
        raise SoberError("E108", f"`times` must list two or more times, ascending; got {times!r}.")
    return SurvivalBrier(times)


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "concordance_index_ipcw": UnoConcordance,
        "cumulative_dynamic_auc": AucAt,
        "neg_survival_brier_score": brier_at,
        "neg_integrated_brier_score": integrated_brier,
    }
