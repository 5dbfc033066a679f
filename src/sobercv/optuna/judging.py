"""What a study comes to: its trials as a table, the best one judged, and what the reader should know.

Takes the trials of a study and their outcomes, gives an `Estimate`; never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Question
from ..inference.bbc import corrected
from ..inference.notes import adaptive
from ..inference.tables import ApartTable, Table, open_predictions
from ..search.results import leavers
from ..training import MemoryStore, Plan, Problem
from ..training.fit.task import Outcome
from .kept_trials import PLACE, PROPOSED
from .proposing import proposed_by


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
        """Refuse trials that were proposed by the scores of other samples: nobody could judge them."""
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
        raise SoberError("E132", "The study has no complete trial of this objective; run study.optimize(objective).")
    table = _table(seen, store, finished, pruned if count_pruned else np.zeros_like(pruned), question)
    found = corrected(table)
    by_scores = bool(seen.proposing.all()) and any(trial.user_attrs[PROPOSED]["by_scores"] for trial in own)
    notes = [*_absent(trials, len(ended) - len(own), pruned, table)]
    if by_scores and len(table.configurations) > 1:
        notes.append(adaptive(table.n_units, len(table.configurations)))
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
    return open_predictions(replace(predictions, leavers=leavers(store, taking_part)), question)


def _absent(trials: Sequence[FrozenTrial], n_foreign: int, pruned: Array, table: Table) -> list[Note]:
    """Say which trials the correction does not know."""
    left_out = int((pruned & ~np.isin(np.arange(len(trials)), table.configurations)).sum())
    failed = sum(trial.state == TrialState.FAIL for trial in trials)
    counted = {"were pruned": left_out, "failed": failed, "were run by something else": n_foreign}
    parts = [f"{n} {what}" for what, n in counted.items() if n]
    if not parts:
        return []
    small = n_foreign or (left_out and not isinstance(table, ApartTable))
    text = f"Of {len(trials)} trials {' and '.join(parts)}, and took no part in the correction"
    return [Note("W223", f"{text}{'; it may be slightly too small' if small else ''}.")]
