"""From the trials of a study to the estimate of the best one; which samples lead the sampler, and which judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Question
from ..inference.bootstrap import corrected
from ..inference.notes import adaptive
from ..inference.tables import Table, open_table
from ..search.judging import dropped_predictions
from ..training import MemoryStore, Plan, Problem, Split
from ..training.fit.task import Outcome
from ..training.keep.fingerprint import digest
from .kept_trials import PLACE, PROPOSED

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
    """Return what is remembered of how a trial was proposed: whether by scores, and by those of which samples."""
    return {"by_scores": learns_from_scores(study), "from": digest(proposing, size=8).hex()}


def rows_that_propose(plan: Plan, share: Any) -> Array:
    """Return the samples whose scores lead the sampler, bool [N]: whole folds of the first repeat, evenly among them.

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


@dataclass(frozen=True, eq=False)
class Study:
    """A study, and what its trials were run on.

    Attributes
    ----------
    study : optuna.Study
    problem : Problem
    plan : Plan
    proposing : bool array [N]
        The samples whose scores led the sampler.
    """

    study: optuna.Study
    problem: Problem
    plan: Plan
    proposing: Array

    def check(self, trials: Sequence[FrozenTrial]) -> None:
        """Refuse trials that were proposed by the scores of other samples: no sample is left to judge them."""
        mine = proposed_by(self.study, self.proposing)["from"]
        for trial in trials:
            if trial.user_attrs[PROPOSED]["from"] != mine:
                raise SoberError(
                    "E114",
                    f"Trial {trial.number} was run with another `propose_from`, so that other samples led the sampler. "
                    "Judge it by an objective like the one that ran it, or start a new study.",
                )


def judged(
    seen: Study, outcomes: Callable[[FrozenTrial], Sequence[Outcome]], question: Question, count_pruned: bool
) -> Any:
    """Return an estimate for each metric, at the best trial.

    Parameters
    ----------
    seen : Study
    outcomes : callable
        Trial -> what it gave.
    question : Question
    count_pruned : bool
        Whether pruned trials take part.
    """
    trials = seen.study.get_trials(deepcopy=False)
    ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    own = [t for t in ended if PLACE in t.user_attrs]
    seen.check(own)
    store = MemoryStore(seen.problem, seen.plan, len(trials))
    finished, pruned = np.zeros(len(trials), bool), np.zeros(len(trials), bool)
    for trial in own:
        for outcome in outcomes(trial):
            store.record(replace(outcome, configuration=trial.number))
        finished[trial.number] = trial.state == TrialState.COMPLETE
        pruned[trial.number] = not finished[trial.number] and store.done[trial.number].any()
    if not finished.any():
        raise SoberError("E111", "The study has no complete trial of this objective; run study.optimize(objective).")
    table = _table(seen, store, finished, pruned if count_pruned else np.zeros_like(pruned), question)
    found = corrected(table)
    by_scores = bool(seen.proposing.all()) and any(trial.user_attrs[PROPOSED]["by_scores"] for trial in own)
    notes = [*_absent(trials, len(ended) - len(own), pruned, table)]
    if by_scores and len(table.configurations) > 1:
        notes.append(adaptive(table.units.n, len(table.configurations)))
    params = dict(trials[next(iter(found.values())).winner].params)
    told = {
        name: replace(one, winner_params=params, notes=(*one.notes, *notes), n_left_out=0)
        for name, one in found.items()
    }
    return question.answer(told)


def _table(seen: Study, store: MemoryStore, finished: Array, taking_part: Array, question: Question) -> Table:
    predictions = replace(store.predictions(finished), n_dropped=0)
    if not seen.proposing.all():  # trials were pruned by the samples that led the sampler, as they were proposed
        return Table(predictions, question, judges=~seen.proposing)
    return open_table(replace(predictions, dropped=dropped_predictions(store, taking_part)), question)


def _absent(trials: Sequence[FrozenTrial], n_foreign: int, pruned: Array, table: Table) -> list[Note]:
    """Say which trials the correction does not know."""
    left_out = int((pruned & ~np.isin(np.arange(len(trials)), table.configurations)).sum())
    failed = sum(trial.state == TrialState.FAIL for trial in trials)
    counted = {"were pruned": left_out, "failed": failed, "were run by something else": n_foreign}
    parts = [f"{n} {what}" for what, n in counted.items() if n]
    if not parts:
        return []
    small = n_foreign or (left_out and table.judges is None)
    text = f"Of {len(trials)} trials {' and '.join(parts)}, and took no part in the correction"
    return [Note("W204", f"{text}{'; it may be slightly too small' if small else ''}.")]
