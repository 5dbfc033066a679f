"""Early dropping replayed on a finished table: what a race would have trained, and which configurations survive.

Dropping only ever skips models, so a replay and a real race agree to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import sobercv
from sobercv.inference import DropRule, Question


@dataclass(frozen=True)
class Replay:
    """Outcome of a race.

    Attributes
    ----------
    survivors : Predictions
    dropped : list of Predictions
        Configurations dropped before the last fold, together if after the same one.
    models : float
        Share of all models of the cross-validation that was trained.
    alive : list of float
        Share of the configurations that was alive after each fold.
    """

    survivors: sobercv.Predictions
    dropped: list[sobercv.Predictions]
    models: float
    alive: list[float]


def replay(table: sobercv.Predictions, rule: DropRule, question: Question) -> Replay:
    """Run through the folds of a table, repeat by repeat, and drop after each of them; a verdict of None keeps all."""
    per_repeat = int(table.fold_of.max()) + 1
    round_of = table.fold_of + per_repeat * np.arange(table.n_repeats)  # [N, R]
    n_folds = per_repeat * table.n_repeats
    trained, survivors, dropped, alive = 0, table, [], []
    for k in range(n_folds):
        trained += survivors.n_configurations
        so_far = replace(survivors, seen=round_of <= k)
        verdict = rule(so_far, question, k)
        if verdict is not None and not verdict.keep.all():
            dropped.append(so_far.take_configurations(np.flatnonzero(~verdict.keep)))
            survivors = survivors.take_configurations(np.flatnonzero(verdict.keep))
        alive.append(survivors.n_configurations / table.n_configurations)
    survivors = replace(survivors, n_dropped=table.n_configurations - survivors.n_configurations)
    return Replay(survivors, dropped, trained / (n_folds * table.n_configurations), alive)
