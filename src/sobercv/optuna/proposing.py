"""Which samples lead a sampler, and which are kept from it.

Takes a plan and a share, gives a mask of samples, the plan with their folds first, and what is remembered of it; never
fits and never scores.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import optuna

from ..containers import Array
from ..errors import SoberError
from ..training import Plan, Split
from ..training.keep.fingerprint import digest

#: Samplers that look at no scores; whatever else is plugged in may.
_BLIND = (
    optuna.samplers.RandomSampler,
    optuna.samplers.GridSampler,
    optuna.samplers.QMCSampler,
    optuna.samplers.BruteForceSampler,
)


def learns_from_scores(study: optuna.Study) -> bool:
    """Whether the sampler of a study may look at scores of earlier trials."""
    return not isinstance(study.sampler, _BLIND)


def proposed_by(study: optuna.Study, proposing: Array) -> dict[str, Any]:
    """Give what is remembered of how a trial was proposed: whether by scores, and by those of which samples."""
    return {"by_scores": learns_from_scores(study), "from": digest(proposing, size=8).hex()}


def rows_that_propose(plan: Plan, share: Any) -> Array:
    """Give the samples whose scores lead the sampler, bool [N]: whole folds of the first repeat, evenly among them.

    Parameters
    ----------
    plan : Plan
    share : float
        Of the folds; 1 takes all samples.
    """
    if isinstance(share, bool) or not isinstance(share, Real) or not 0.0 < float(share) <= 1.0:
        raise SoberError("E108", f"`propose_from` must lie above 0 and be at most 1; got {share!r}. Write 0.5.")
    part = float(share)
    if part == 1.0:
        return np.ones(plan.n_samples, bool)
    first = [i for i, split in enumerate(plan.splits) if split.repeat == 0]
    if len(first) < 2 or not plan.seen(first)[:, 0].all():
        raise SoberError(
            "E114",
            "`propose_from` below 1 divides the folds of a partition of the samples, and these splits are none. Write "
            "cv=10, or leave it out.",
        )
    n = len(first)
    # Every other fold for 0.5: where rows have an order, both parts have some of its beginning and of its end.
    chosen = np.floor((np.arange(n) + 1) * part + 1e-9) > np.floor(np.arange(n) * part + 1e-9)
    if not chosen.any() or chosen.all():
        chosen = np.arange(n) < (1 if not chosen.any() else n - 1)
    return np.asarray(chosen[plan.fold_of[:, 0]])


def proposing_first(plan: Plan, proposing: Array) -> Plan:
    """Run the folds that lead the sampler first: nothing is pruned by the others."""

    def is_late(part: tuple[Split, ...]) -> bool:
        return not any(proposing[split.test].any() for split in part)

    ordered = sorted(plan.rounds, key=is_late)  # stable
    return plan if ordered == list(plan.rounds) else replace(plan, rounds=tuple(ordered))
