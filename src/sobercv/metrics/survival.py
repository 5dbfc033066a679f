"""Metrics of right-censored survival times: concordance (Harrell, Uno), areas and Brier scores at a time.

A higher risk means an earlier event, as in scikit-survival. Uno's concordance and the scores at a time weight samples
by the inverse probability of being censored (IPCW), estimated anew in every resample from its own samples, so that
their limit does not depend on the censoring. NaN where the truth allows no score: no comparable pair, no case, no
sample beyond the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..containers import Array, is_number
from ..errors import SoberError
from ..responses import survival_at
from . import blocks
from .blocks import product
from .contract import Core, Metric, Part, Registry
from .ranks import SortedScans, Steps, right_pairs

_TOGETHER = 1 << 22  # weights of samples in resamples made at a time


def outlived(part: Part, event: Array) -> SortedScans:
    """Lay all comparable pairs out as strata and roles [L, N], each pair in exactly one stratum.

    Write the distinct times of a fold as binary numbers. Two different times agree in their leading bits up to the
    first bit in which they differ: at that bit's level both are in the same stratum (the agreeing prefix), the earlier
    with a 0 and the later with a 1. So log2(N) levels hold all pairs of different times. One more level compares
    an event with those censored at the same time: they outlived it.
    """
    code = np.unique(part.y["time"], return_inverse=True)[1].reshape(-1)
    bits = max(1, int(code.max(initial=0)).bit_length())
    key = part.fold.astype(np.int64) << bits | code
    strata, roles = [key], [np.where(event, 1, 0)]
    for level in range(bits):
        later = (code >> level) & 1 == 1
        strata.append(key >> (level + 1))
        roles.append(np.where(later, 0, np.where(event, 1, -1)))
    dense = [np.unique(stratum, return_inverse=True)[1].reshape(-1) for stratum in strata]
    return SortedScans(np.ascontiguousarray(part.values.T), np.stack(dense), np.stack(roles), part.n_threads)


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


def concordance(part: Part) -> Core:
    """Harrell's concordance: share of comparable pairs in which the earlier event had the higher risk."""
    event = part.y["event"]
    scans, steps = outlived(part, event), comparable_pairs(part, event)

    def scores(counts: Array, picked: Array | None = None) -> Array:
        every = right_pairs([(0, 1, steps)], 1, counts, part.weight)[0]
        return scans.share_right(counts, picked, part.weight, every)

    return scores


class Censoring:
    """The chance to be still observed, by Kaplan and Meier, in every resample.

    Of an event and a censoring at the same time the event came first. A sample that is observed at a time had a chance
    to be, so that no weight is ever infinite.
    """

    def __init__(self, part: Part) -> None:
        time, event = part.y["time"], part.y["event"]
        self.times, self._code = np.unique(time, return_inverse=True)
        self._code = self._code.reshape(-1)
        self._order = np.argsort(self._code, kind="stable")
        self._starts = np.searchsorted(self._code[self._order], np.arange(len(self.times)))
        self._event = event[self._order].astype(np.float64)

    def raised(self, mass: Array, power: int) -> Array:
        """Weights of samples [B, N], divided by the chance to be observed until just before one's own time."""
        chance = np.concatenate([np.ones((len(mass), 1)), self._chance(mass)], axis=1)[:, self._code]
        return np.divide(mass, chance**power, out=np.zeros_like(mass), where=mass > 0)  # 0 for absent samples

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


def reweighted(part: Part, some: Callable[[Censoring, Array, Array | None], Array]) -> Core:
    """Scores from weights of samples [B, N] and what was picked, for some resamples at a time."""
    censoring, weight = Censoring(part), part.weights

    def scores(counts: Array, picked: Array | None = None) -> Array:
        cut = blocks.cut(len(counts), max(1, _TOGETHER // max(1, counts.shape[1]))) or [(0, 0)]
        return np.concatenate(
            [some(censoring, counts[a:b] * weight, None if picked is None else picked[a:b]) for a, b in cut]
        )

    return scores


def unequal_pairs(part: Part, scans: SortedScans, pairs: Steps, power: int) -> Core:
    """Share of pairs ranked right, positives weighing by an inverse chance to be seen; `pairs` has all right."""

    def some(censoring: Censoring, mass: Array, picked: Array | None) -> Array:
        strong = censoring.raised(mass, power)
        every = right_pairs([(0, 1, pairs)], 1, mass, None, strong)[0]
        return scans.share_right(mass, picked, None, every, strong)

    return reweighted(part, some)


def uno(part: Part, *, tau: float | None) -> Core:
    """Harrell's pairs, each weighted by the squared inverse chance that its event was seen."""
    event = part.y["event"] if tau is None else part.y["event"] & (part.y["time"] < tau)
    return unequal_pairs(part, outlived(part, event), comparable_pairs(part, event), power=2)


def area_at(part: Part, *, time: float) -> Core:
    """Samples that had the event by a time against those observed beyond it."""
    case = part.y["event"] & (part.y["time"] <= time)
    role = np.where(case, 1, np.where(part.y["time"] > time, 0, -1))[None]
    stratum = part.fold[None]
    perfect = SortedScans(np.ascontiguousarray(role, np.float64), stratum, role, 1)
    scans = SortedScans(np.ascontiguousarray(part.values.T), stratum, role, part.n_threads)
    ((_, _, pairs),) = perfect.pieces()
    return unequal_pairs(part, scans, pairs, power=1)


def brier(part: Part, *, times: Array) -> Core:
    """Squared distance of survival probabilities [N, C, T] to what is known at each time, as a mean over the times."""
    event, time = part.y["event"], part.y["time"]
    gone = np.stack([event & (time <= t) for t in times])  # [T, N]
    values = np.moveaxis(part.values.astype(np.float64), 0, 2)  # [C, T, N]
    losses = np.where(gone, values**2, (1.0 - values) ** 2)
    width = np.diff(times)
    # The rule of trapezoids; a single time is itself.
    share = np.ones(1) if len(times) == 1 else 0.5 * (np.append(width, 0.0) + np.append(0.0, width)) / width.sum()

    def some(censoring: Censoring, mass: Array, picked: Array | None) -> Array:
        raised, total = censoring.raised(mass, 1), mass.sum(axis=1, keepdims=True)
        out: Any = 0.0
        for k, at in enumerate(times):
            there = mass * (time > at)
            observed = np.where(there.any(axis=1), censoring.at(mass, float(at)), np.nan)
            weight = raised * gone[k] + there / observed[:, None]
            out = out + share[k] * product(weight, np.ascontiguousarray(losses[:, k]), picked) / total
        return np.asarray(out)

    return reweighted(part, some)


def _time(name: str, value: Any) -> float:
    if not is_number(value) or not 0 < value < np.inf:
        raise SoberError("E108", f"`{name}` must be a time above 0, in the unit of the target; got {value!r}.")
    return float(value)


def _pairs(core: Callable[..., Core]) -> Metric:
    return Metric(task="survival", core=core, pools_scores=True)


def uno_concordance(*, tau: float | None = None) -> Metric:
    """Uno's concordance, of events before `tau` only: later ones have few at risk and large weights."""
    return _pairs(partial(uno, tau=None if tau is None else _time("tau", tau)))


def auc_at(*, time: float) -> Metric:
    """Area under the ROC curve at a time."""
    return _pairs(partial(area_at, time=_time("time", time)))


def brier_at(*, time: float) -> Metric:
    """Brier score at a time."""
    return _brier([time])


def integrated_brier(*, times: Sequence[float]) -> Metric:
    """Mean of the Brier score over a span of times, by the rule of trapezoids."""
    if not isinstance(times, (list, tuple)) or len(times) < 2 or any(not a < b for a, b in pairwise(times)):
        raise SoberError("E108", f"`times` must list two or more times, ascending; got {times!r}.")
    return _brier(times)


def _brier(times: Sequence[float]) -> Metric:
    at = tuple(_time("time", t) for t in times)
    return Metric(
        task="survival",
        core=partial(brier, times=np.array(at)),
        responses=(survival_at(at[0]),),
        times=at,
        greater_is_better=False,
        range=(-1.0, 0.0),  # the weights of a resample add up to its size, because their chances come from itself
    )


#: Every metric of this file.
METRICS: Registry = {
    "concordance_index": _pairs(concordance),
    "concordance_index_ipcw": uno_concordance,
    "cumulative_dynamic_auc": auc_at,
    "neg_survival_brier_score": brier_at,
    "neg_integrated_brier_score": integrated_brier,
}
