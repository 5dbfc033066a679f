"""What a study comes to: its trials as a table, the best one judged, and what the reader should know.

Takes the trials of a study and their outcomes, gives an `Estimate`; never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

import optuna

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Question
from ..inference.bbc import corrected
from ..inference.notes import adaptive
from ..inference.tables import ApartTable, MemoryTable, RacedTable, Table
from ..search.results import leavers
from ..training import MemoryStore, Plan, Problem
from ..training.fit.task import Outcome
from .kept_trials import PLACE

#: Samplers that look at no scores; whatever else is plugged in may.
_BLIND = (
    optuna.samplers.RandomSampler,
    optuna.samplers.GridSampler,
    optuna.samplers.QMCSampler,
    optuna.samplers.BruteForceSampler,
)


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

    @property
    def is_adaptive(self) -> bool:
        """Whether the sampler may have learnt from the scores of all samples."""
        return bool(self.proposing.all()) and not isinstance(self.study.sampler, _BLIND)


def judged(
    seen: Study, outcomes: Callable[[FrozenTrial], Sequence[Outcome]], question: Question, count_pruned: bool
) -> Any:
    """Give an estimate for each metric, at the best trial.

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
    store = MemoryStore(seen.problem, seen.plan, len(trials))
    finished, pruned = np.zeros(len(trials), bool), np.zeros(len(trials), bool)
    for trial in trials:
        if PLACE not in trial.user_attrs or trial.state not in (TrialState.COMPLETE, TrialState.PRUNED):
            continue
        for outcome in outcomes(trial):
            store.record(replace(outcome, configuration=trial.number))
        finished[trial.number] = trial.state == TrialState.COMPLETE
        pruned[trial.number] = not finished[trial.number] and store.done[trial.number].any()
    if not finished.any():
        raise SoberError("E132", "The study has no complete trial of this objective; run study.optimize(objective).")
    table = _table(seen, store, finished, pruned if count_pruned else np.zeros_like(pruned), question)
    found = corrected(table)
    notes = _notes(seen, trials, pruned, table)
    params = dict(trials[next(iter(found.values())).winner].params)
    told = {
        name: replace(one, winner_params=params, notes=(*one.notes, *notes), n_left_out=0)
        for name, one in found.items()
    }
    return question.answer(told)


def _table(seen: Study, store: MemoryStore, finished: Array, taking_part: Array, question: Question) -> Table:
    predictions = replace(store.predictions(finished), n_dropped=0)
    if not seen.proposing.all():  # who was pruned was pruned by the samples that led the sampler, as it was proposed
        return ApartTable(predictions, ~seen.proposing, question)
    left = leavers(store, taking_part)
    return RacedTable(predictions, left, question) if left else MemoryTable(predictions, question)


def _notes(seen: Study, trials: Sequence[FrozenTrial], pruned: Array, table: Table) -> list[Note]:
    """Say whom the correction does not know, and what it cannot correct."""
    found = []
    absent = pruned & ~np.isin(np.arange(len(trials)), table.configurations)
    failed = sum(trial.state == TrialState.FAIL for trial in trials)
    if absent.any() or failed:
        parts = [f"{int(absent.sum())} were pruned"] if absent.any() else []
        parts += [f"{failed} failed"] if failed else []
        small = not isinstance(table, ApartTable) and bool(absent.any())
        found.append(
            Note(
                "W223",
                f"Of {len(trials)} trials {' and '.join(parts)}, and took no part in the correction"
                + ("; it may be slightly too small. count_pruned=True counts the pruned." if small else "."),
            )
        )
    if seen.is_adaptive and len(table.configurations) > 1:
        found.append(adaptive(table.n_units, len(table.configurations)))
    return found
