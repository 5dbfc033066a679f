"""Metrics of right-censored survival times: concordance (Harrell, Uno), areas and Brier scores at a time.

A higher risk means an earlier event, as in scikit-survival. Uno's concordance and the scores at a time weight samples
by the inverse probability of being censored (IPCW), estimated anew in every resample from its own samples, so that
their limit does not depend on the censoring. NaN where the truth allows no score: no comparable pair, no case, no
sample beyond the time.
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
from .blocks import product
from .contract import Core, Metric, Part, is_number
from .ranks import PairsCore, SortedScans, Steps, count_pairs

_TOGETHER = 1 << 22  # weights of samples in resamples made at a time


def outlived(event: Array, time: Array, fold: Array) -> tuple[Array, Array]:
    """Lay all comparable pairs out as strata and roles [L, N], each pair in exactly one stratum.

    Write the distinct times of a fold as binary numbers. Two different times agree in their leading bits up to the
    first bit in which they differ: at that bit's level both are in the same stratum (the agreeing prefix), the earlier
    with a 0 and the later with a 1. So log2(N) levels hold all pairs of different times. One more level compares
    an event with those censored at the same time: they outlived it.
    """
    folds = np.unique(fold, return_inverse=True)[1].reshape(-1)
    code = np.unique(time, return_inverse=True)[1].reshape(-1)
    bits = max(1, int(code.max(initial=0)).bit_length())
    key = folds.astype(np.int64) << bits | code
    strata, roles = [key], [np.where(event, 1, 0)]
    for level in range(bits):
        later = (code >> level) & 1 == 1
        strata.append(key >> (level + 1))
        roles.append(np.where(later, 0, np.where(event, 1, -1)))
    dense = [np.unique(stratum, return_inverse=True)[1].reshape(-1) for stratum in strata]
    return np.stack(dense), np.stack(roles)


def comparable_pairs(part: Part, event: Array) -> Steps:
    """A scan of the comparable pairs: those that a perfect ranking has right.

    Scanned backwards in time, all samples that come first outlived those that come later. At equal times the censored
    come first, because they outlived the events, and every event is a positive before it becomes a negative.
    """
    from .kernels.pairs import NEGATIVE, POSITIVE, START

    samples, actions = [], []
    for f in np.unique(part.fold):
        here = np.flatnonzero(part.fold == f)
        censored, events = here[~event[here]], here[event[here]]
        each = np.concatenate([censored, events, events])
        turn = np.repeat([0, 1, 2], [len(censored), len(events), len(events)])
        order = np.lexsort((turn, -part.y["time"][each]))
        action = np.where(turn[order] == 1, POSITIVE, NEGATIVE)
        first = int(np.argmax(action == NEGATIVE))  # a positive before it has no negative below
        action[first] = START
        samples.append(each[order][first:])
        actions.append(action[first:])
    scanned = np.concatenate(samples).astype(np.int32)
    return scanned, np.concatenate(actions).astype(np.int8), np.array([0, len(scanned)])


class Concordance(Metric):
    """Share of comparable pairs in which the earlier event had the higher risk, a tie counting half."""

    task: TaskName = "survival"
    pools_scores = True

    def core(self, part: Part, n_threads: int = 1) -> Core:
        event, time = part.y["event"], part.y["time"]
        scans = SortedScans(np.ascontiguousarray(part.values.T), *outlived(event, time, part.fold), n_threads)
        steps = comparable_pairs(part, event)

        def all_pairs(counts: Array) -> Array:
            return 0.5 * count_pairs(iter([(0, 1, steps)]), 1, counts, part.weight)[0]

        return PairsCore(scans, all_pairs, part.weight)


# ---- inverse probability of censoring weighting ---------------------------------------------------------------------
class Censoring:
    """The chance to be still observed, by Kaplan and Meier, in every resample.

    Of an event and a censoring at the same time the event came first. A sample that is observed at a time had a chance
    to be, so that no weight is ever infinite.

    Parameters
    ----------
    part : Part
    """

    def __init__(self, part: Part) -> None:
        time, event = part.y["time"], part.y["event"]
        self.times, self._code = np.unique(time, return_inverse=True)
        self._code = self._code.reshape(-1)
        self._order = np.argsort(self._code, kind="stable")
        self._starts = np.searchsorted(self._code[self._order], np.arange(len(self.times)))
        self._event = event[self._order].astype(np.float64)

    def before(self, mass: Array) -> Array:
        """Chance to be observed until just before one's own time: weights of samples [B, N] -> [B, N]."""
        chance = self._chance(mass)
        return np.concatenate([np.ones((len(mass), 1)), chance], axis=1)[:, self._code]

    def at(self, mass: Array, time: float) -> Array:
        """Chance to be observed beyond a time: [B, N] -> [B]."""
        passed = int(np.searchsorted(self.times, time, side="right"))
        return self._chance(mass)[:, passed - 1] if passed else np.ones(len(mass))

    def _chance(self, mass: Array) -> Array:
        """G at every distinct time [B, U]."""
        by_time = mass[:, self._order]
        events = np.add.reduceat(by_time * self._event, self._starts, axis=1)
        lost = np.add.reduceat(by_time * (1.0 - self._event), self._starts, axis=1)
        at_risk = np.cumsum((events + lost)[:, ::-1], axis=1)[:, ::-1] - events
        share = np.divide(lost, at_risk, out=np.zeros_like(lost), where=lost > 0)
        return np.cumprod(np.maximum(1.0 - share, 0.0), axis=1)


class _WeightedCore(Core):
    """Scores from weights of samples [B, N], which are made for some resamples at a time."""

    def __init__(self, part: Part) -> None:
        self._censoring, self._weight = Censoring(part), part.weights

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        step = max(1, _TOGETHER // max(1, counts.shape[1]))
        some = blocks.cut(len(counts), step) or [(0, 0)]  # no resamples have no scores
        return np.concatenate(
            [self._some(counts[a:b] * self._weight, None if picked is None else picked[a:b]) for a, b in some]
        )

    def _raised(self, mass: Array, power: int) -> Array:
        """Weights divided by the chance to have been observed; 0 for samples that are absent."""
        return np.divide(mass, self._censoring.before(mass) ** power, out=np.zeros_like(mass), where=mass > 0)

    def _some(self, mass: Array, winners: Array | None) -> Array:
        raise NotImplementedError


# ---- pairs ----------------------------------------------------------------------------------------------------------
class UnequalPairs(_WeightedCore):
    """Share of the pairs that are ranked right, where a positive weighs by its inverse chance of being observed.

    Parameters
    ----------
    part : Part
    scans : SortedScans
    pairs : Steps
        A scan that has all pairs right.
    power : int
        Of the inverse chance.
    """

    def __init__(self, part: Part, scans: SortedScans, pairs: Steps, power: int) -> None:
        super().__init__(part)
        self._scans, self._pairs, self._power = scans, pairs, power

    def _some(self, mass: Array, winners: Array | None) -> Array:
        from .kernels.pairs import unequal_pairs, unequal_pairs_of

        strong = self._raised(mass, self._power)
        turned, strong_turned = np.ascontiguousarray(mass.T), np.ascontiguousarray(strong.T)
        every = np.empty((1, len(mass)))
        unequal_pairs(*self._pairs, turned, strong_turned, every)
        every = np.where(every > 0, every, np.nan).T
        if winners is None:
            out = np.empty((self._scans.n, len(mass)))
            for first, last, steps in self._scans.pieces():
                unequal_pairs(*steps, turned, strong_turned, out[first:last])
            return out.T / every
        alone = np.empty((len(mass), 1))
        for first, last, steps in self._scans.pieces(np.unique(winners)):
            here = np.flatnonzero((winners >= first) & (winners < last))
            some = np.empty(len(here))
            unequal_pairs_of(*steps, mass[here], strong[here], winners[here] - first, some)
            alone[here, 0] = some
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
        scans = SortedScans(np.ascontiguousarray(part.values.T), *outlived(event, time, part.fold), n_threads)
        return UnequalPairs(part, scans, comparable_pairs(part, event), power=2)


class AucAt(Metric):
    """Area under the ROC curve at a time: samples that had the event by then against those observed beyond it.

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
        stratum = np.unique(part.fold, return_inverse=True)[1].reshape(-1)
        perfect = SortedScans(np.ascontiguousarray(role[None], np.float64), stratum[None], role[None], 1)
        scans = SortedScans(np.ascontiguousarray(part.values.T), stratum[None], role[None], n_threads)
        ((_, _, pairs),) = perfect.pieces()
        return UnequalPairs(part, scans, pairs, power=1)


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
        raised, total = self._raised(mass, 1), mass.sum(axis=1, keepdims=True)
        out: Any = 0.0
        for k, time in enumerate(self._times):
            there = mass * self._there[k]
            known = there.any(axis=1)
            observed = np.where(known, self._censoring.at(mass, float(time)), np.nan)
            weight = raised * self._gone[k] + there / observed[:, None]
            losses = np.ascontiguousarray(self._losses[:, k])
            out = out + self._share[k] * product(weight, losses, winners) / total
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
    if not is_number(value) or not 0 < value < np.inf:
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
        "concordance_index": Concordance,
        "concordance_index_ipcw": UnoConcordance,
        "cumulative_dynamic_auc": AucAt,
        "neg_survival_brier_score": brier_at,
        "neg_integrated_brier_score": integrated_brier,
    }
