"""Pair models: the winner of a search, trained again without each two folds, to see how unstable it is.

Each round of a tournament of the folds is a repeat of the cross-validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..containers import Array
from ..inference import Estimate, Question
from ..inference.instability import missed, widened
from ..inference.intervals import Calibrated
from ..predictions import Predictions
from ..training import MemoryStore, Plan
from ..training.fit.plan import Split
from .design import Options

#: Pair models are trained by default where they are no more than this share of the fits of the search.
SMALL_SHARE = 0.1


@dataclass(frozen=True)
class PairModels:
    """What the pair models of a search told.

    Attributes
    ----------
    n_fits : int
        How many were trained.
    factors : mapping of str to float
        By metric: how many times more the winner's score errs, in variance, than resampling its predictions shows. The
        interval was made with it instead of the usual 1.2.
    """

    n_fits: int
    factors: Mapping[str, float]


def pair_plan(plan: Plan) -> tuple[Plan, Array] | None:
    """Pair every two folds of a plan once; None where the plan has other than one repeat of at least four folds.

    The plan has a repeat per round of a tournament: every fold plays once, against another one each time. Beside it the
    other fold of each, int [K, R]; -1 where an odd number leaves one out.
    """
    folds = plan.splits
    k = len(folds)
    if plan.n_repeats != 1 or k < 4:
        return None
    seats = [*range(k), *([-1] if k % 2 else [])]
    partner = np.full((k, len(seats) - 1), -1)
    rounds = []
    for r in range(len(seats) - 1):
        games = [(seats[i], seats[-1 - i]) for i in range(len(seats) // 2)]
        played = [(a, b) for a, b in games if min(a, b) >= 0]
        for a, b in played:
            partner[a, r], partner[b, r] = b, a
        rounds.append(tuple(_without(folds[a], folds[b], r, i) for i, (a, b) in enumerate(played)))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return Plan(plan.n_samples, len(rounds), tuple(rounds)), partner


def _without(one: Split, other: Split, repeat: int, position: int) -> Split:
    train = np.intersect1d(one.train, other.train, assume_unique=True)
    return Split(repeat, position, train, np.sort(np.concatenate([one.test, other.test])))


def pairs_pay(
    options: Options, question: Question, store: MemoryStore, winner: int, plan: Plan, seconds_left: float | None
) -> bool:
    """Whether pair models are asked for, make sense here, and fit into the time that is left (None: no limit)."""
    suits = question.by == "sample" and question.interval == "calibrated" and question.procedure is None
    if options.pair_models is False or not suits or not store.done[winner].all():
        return False
    if options.pair_models == "auto" and plan.n_splits > SMALL_SHARE * store.done.sum():
        return False
    seconds = plan.n_splits * float((store.fit_seconds + store.predict_seconds)[winner].mean())
    return seconds_left is None or seconds <= seconds_left


def with_pairs(
    estimates: Mapping[str, Estimate], question: Question, own: Predictions, paired: Predictions, partner: Array
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Widen the intervals, by metric, by what the pair models tell; return the estimates, and the factor of each.

    `own` are the winner's predictions out of fold, `paired` those without a second fold, `partner` that of `pair_plan`.
    """
    found, factors = dict(estimates), {}
    for metric in question.metrics:
        estimate = estimates[metric.name]
        if isinstance(estimate.bounds, Calibrated):
            variance = missed(question, metric, own, paired, partner).variance
            bounds = widened(estimate.bounds, variance)
            found[metric.name], factors[metric.name] = replace(estimate, bounds=bounds), bounds.excess
    return found, factors
