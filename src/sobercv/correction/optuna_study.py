"""Fold scores that the trials of an Optuna study kept.

A trial keeps them as a list in a user attribute, as ``split0_test_score`` and so on (OptunaSearchCV), or as values that
it reported fold by fold: each fold's own score, or the mean so far.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from .fold_scores import FoldScores

#: How far the mean of fold scores may lie from the value of the trial.
CLOSE = 1e-6


def is_study(thing: Any) -> bool:
    """Whether this is an Optuna study."""
    return hasattr(thing, "trials") and hasattr(thing, "best_trials")


def read_study(study: Any, metric: str | None = None, n_repeats: int | None = None) -> FoldScores:
    """Read the fold scores of the complete trials.

    Parameters
    ----------
    study : optuna.Study
    metric : str, optional
        A name for the score (default: "value").
    n_repeats : int, optional
        Number of repeats (default: 1).
    """
    if len(study.directions) > 1:
        raise SoberError("E114", "The study has several objectives, so no single trial was selected. Pass fold scores.")
    complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    kept = [(trial, folds) for trial in complete if (folds := fold_scores_of(trial)) is not None]
    lengths = {len(folds) for _, folds in kept}
    if not kept:
        raise SoberError(
            "E812",
            f"None of the {len(complete)} complete trials keeps scores by fold whose mean is its value. Run the trials "
            "again with their folds: sobercv.optuna.replay(study, estimator, X, y); or keep them in the objective: "
            'trial.set_user_attr("fold_scores", scores).',
        )
    if len(lengths) > 1:
        raise SoberError("E101", f"Trials have different numbers of folds: {', '.join(map(str, sorted(lengths)))}.")
    sign = 1.0 if study.direction.name == "MAXIMIZE" else -1.0
    name = ("" if sign > 0 else "neg_") + (metric or "value")
    left_out = len(study.trials) - len(kept)
    note = Note("W204", f"{left_out} of {len(study.trials)} trials were pruned, failed or keep no fold scores.")
    return FoldScores(
        {name: sign * np.array([folds for _, folds in kept]).T},
        params=[dict(trial.params) for trial, _ in kept],
        names=[f"trial {trial.number}" for trial, _ in kept],
        n_repeats=n_repeats or 1,
        notes=(note,) if left_out else (),
    )


def fold_scores_of(trial: Any) -> Array | None:
    """Return the scores of one trial by fold, or None if it keeps none whose mean is its value."""
    attributes: Mapping[str, Any] = trial.user_attrs
    splits = sorted(
        (int(match[1]), value)
        for name, value in attributes.items()
        if (match := re.fullmatch(r"split(\d+)_test_score", name))
    )
    candidates: list[Any] = [[value for _, value in splits], *attributes.values()]
    steps = trial.intermediate_values
    if sorted(steps) == list(range(min(steps, default=0), min(steps, default=0) + len(steps))):
        reported = np.array([steps[step] for step in sorted(steps)], dtype=np.float64)
        counts = np.arange(1, len(reported) + 1)
        candidates += [reported, np.diff(counts * reported, prepend=0.0)]  # the mean so far, taken apart
    for candidate in candidates:
        try:
            folds = np.asarray(candidate, dtype=np.float64)
        except (TypeError, ValueError):
            continue
        if folds.ndim == 1 and len(folds) > 1 and abs(folds.mean() - trial.value) <= CLOSE * (1 + abs(trial.value)):
            return folds
    return None
