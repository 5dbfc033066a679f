"""Early dropping replayed on a finished table: what a race would have trained, and who would have survived.

Takes all predictions and a drop rule, gives the survivors' table; trains nothing. Dropping only ever skips models, so
the replay and a real race agree to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sobercv
from sobercv.inference import DropRule, Question


@dataclass(frozen=True)
class Replay:
    """Outcome of a race.

    Attributes
    ----------
    survivors : Predictions
    models : float
        Share of all models of the cross-validation that was trained.
    alive : list of float
        Share of the configurations that was alive after each fold.
    """

    survivors: sobercv.Predictions
    models: float
    alive: list[float]


def replay(table: sobercv.Predictions, rule: DropRule, question: Question) -> Replay:
    """Run through the folds of a table with one repeat and drop after each of them, the last included.

    A verdict of None keeps all.
    """
    fold_of = table.fold_of[:, 0]
    n_folds = int(fold_of.max()) + 1
    trained, survivors, alive = 0, table, []
    for k in range(n_folds):
        trained += survivors.n_configurations
        so_far = survivors.take_rows(np.flatnonzero(fold_of <= k))
        verdict = rule(so_far, question, k)
        if verdict is not None and not verdict.keep.all():
            survivors = survivors.take_configurations(np.flatnonzero(verdict.keep))
        alive.append(survivors.n_configurations / table.n_configurations)
    return Replay(survivors, trained / (n_folds * table.n_configurations), alive)
