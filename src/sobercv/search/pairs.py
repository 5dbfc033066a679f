"""Pair models: the winner of a search, trained again without each two folds, to see how unstable it is.

Each round of a tournament of the folds is a repeat of the cross-validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..containers import Array
from ..inference import Question
from ..training import MemoryStore, Plan, Split

#: Pair models are trained by default where they are no more than this share of the fits of the search.
SMALL_SHARE = 0.1


@dataclass(frozen=True)
class PairModels:
    """What the pair models of a search told."""

    n_fits: int  #: how many were trained
    #: By metric: how many times more the winner's score errs, in variance, than resampling its predictions shows. The
    #: interval was made with it instead of the usual 1.2.
    factors: Mapping[str, float]


def tournament(plan: Plan) -> tuple[Plan, Array]:
    """Return a plan with a repeat per round, in which every fold is paired once, with another one each time.

    Beside it the other fold of each, int [K, R]; -1 where an odd number leaves one out.
    """
    folds = plan.splits
    k = len(folds)
    seats = [*range(k), *([-1] if k % 2 else [])]
    partner = np.full((k, len(seats) - 1), -1)
    rounds = []
    for r in range(len(seats) - 1):
        splits: list[Split] = []
        for a, b in zip(seats[: len(seats) // 2], seats[::-1], strict=False):
            if min(a, b) >= 0:
                partner[a, r], partner[b, r] = b, a
                train = np.intersect1d(folds[a].train, folds[b].train, assume_unique=True)
                test = np.sort(np.concatenate([folds[a].test, folds[b].test]))
                splits.append(Split(r, len(splits), train, test))
        rounds.append(tuple(splits))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return Plan(plan.n_samples, len(rounds), tuple(rounds)), partner


def pairs_pay(
    asked: bool | str, question: Question, store: MemoryStore, winner: int, seconds_left: float | None
) -> bool:
    """Whether pair models are asked for, make sense here, and fit into the time that is left (None: no limit).

    They need one repeat of at least four folds, and the calibrated interval of a single configuration.
    """
    suits = question.by == "sample" and question.interval == "calibrated" and question.procedure is None
    k = store.done.shape[1]
    if not asked or not suits or store.plan.n_repeats != 1 or k < 4 or not store.done[winner].all():
        return False
    n_pairs = k * (k - 1) // 2
    seconds = n_pairs * float((store.fit_seconds + store.predict_seconds)[winner].mean())
    is_small = asked != "auto" or n_pairs <= SMALL_SHARE * store.done.sum()
    return is_small and (seconds_left is None or seconds <= seconds_left)
