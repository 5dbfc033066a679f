"""Early dropping replayed on a finished table: what a race would have trained, and which configurations survive.

Dropping only ever skips models, so a replay and a real race agree to the bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sobercv import Predictions
from sobercv.inference import DropRule, Question


class Replay(NamedTuple):
    """Outcome of a race."""

    survivors: Predictions
    counted: Predictions  # the same with what the dropped ones have predicted, which take part in the correction
    models: float  # share of all models of the cross-validation that was trained
    alive: list[float]  # share of the configurations that was alive after each fold


def replay(table: Predictions, rule: DropRule, question: Question) -> Replay:
    """Run through the folds of a table, repeat by repeat, and drop after each of them; a verdict of None keeps all."""
    per_repeat = int(table.fold_of.max()) + 1
    round_of = table.fold_of + per_repeat * np.arange(table.n_repeats)  # [N, R]
    n_folds = per_repeat * table.n_repeats
    survivors, dropped, running = table, [], []
    for k in range(n_folds):
        running.append(survivors.n_configurations)
        so_far = replace(survivors, seen=round_of <= k)
        verdict = rule(so_far, question, k)
        if verdict is not None and not verdict.keep.all():
            dropped.append(so_far.take_configurations(~verdict.keep))
            survivors = survivors.take_configurations(verdict.keep)
    return outcome(survivors, dropped, running)


def outcome(survivors: Predictions, dropped: list[Predictions], running: list[int]) -> Replay:
    """Put together what is left, what was dropped, and how many configurations were trained on each fold."""
    n, left = running[0], survivors.n_configurations
    survivors = replace(survivors, n_dropped=n - left)
    models, alive = sum(running) / (n * len(running)), [count / n for count in (*running[1:], left)]
    return Replay(survivors, replace(survivors, dropped=tuple(dropped)), models, alive)
