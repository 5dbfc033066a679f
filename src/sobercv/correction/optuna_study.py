"""What the trials of an Optuna study kept: fold scores or out-of-fold predictions.

A trial keeps fold scores as a list in a user attribute, as ``split0_test_score`` and so on (OptunaSearchCV), or as
values that it reported fold by fold: each fold's own score, or the mean so far. It keeps predictions as a list in a
user attribute. Studies that `sobercv.optuna.Objective` ran are judged by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.estimate import shown
from ..inference.notes import adaptive
from .judging import FoldScores, ToolPredictions

#: How far the mean of fold scores may lie from the value of the trial.
CLOSE = 1e-6


def is_study(thing: Any) -> bool:
    """Whether this is an Optuna study."""
    return hasattr(thing, "trials") and hasattr(thing, "best_trials")


def read_study(study: Any, metric: str | None = None, n_repeats: int | None = None) -> FoldScores:
    """Read the fold scores of the complete trials; `metric` is a name for the score (default: "value")."""
    if len(study.directions) > 1:
        raise SoberError("E114", "The study has several objectives, so no single trial was selected. Pass fold scores.")
    complete = _complete(study)
    kept = [(trial, folds) for trial in complete if (folds := fold_scores_of(trial)) is not None]
    if not kept:
        raise SoberError(
            "E812",
            f"None of the {len(complete)} complete trials keeps scores by fold whose mean is its value. Run the trials "
            "again with their folds: sobercv.optuna.replay(study, make, X, y); or keep them in the objective: "
            'trial.set_user_attr("fold_scores", scores). If they keep out-of-fold predictions, pass y=.',
        )
    if len(lengths := {len(folds) for _, folds in kept}) > 1:
        raise SoberError("E101", f"Trials have different numbers of folds: {', '.join(map(str, sorted(lengths)))}.")
    sign, name = (1.0 if study.direction.name == "MAXIMIZE" else -1.0), metric or "value"
    name = name if sign > 0 or name.startswith("neg_") else f"neg_{name}"
    return FoldScores(
        {name: sign * np.array([folds for _, folds in kept]).T},
        params=[dict(trial.params) for trial, _ in kept],
        names=[f"trial {trial.number}: {shown(trial.params)}".removesuffix(": ") for trial, _ in kept],
        n_repeats=n_repeats or 1,
        notes=_notes(study, len(kept), "fold scores") + ((adaptive(None, len(kept)),) if _is_adaptive(study) else ()),
    )


def read_study_predictions(
    study: Any, y: Any, predictions: str | Mapping[int, Any] = "oof", method: str = "predict_proba"
) -> ToolPredictions:
    """Read the out-of-fold predictions of the complete trials.

    `y` [N]: the truth. `predictions`: the user attribute in which the objective kept a trial's out-of-fold predictions,
    ``trial.set_user_attr("oof", predicted.tolist())``; or the predictions by the number of the trial. [N], or [N, K]
    with classes in sorted order. `method`: what they are: labels or numbers, probabilities (of two classes: of the
    greater), or scores.
    """
    complete = _complete(study)
    where = f"the user attribute {predictions!r}" if isinstance(predictions, str) else "`predictions`"
    if isinstance(predictions, str):
        predictions = {trial.number: trial.user_attrs.get(predictions) for trial in complete}
    kept = [(t, np.asarray(column)) for t in complete if (column := predictions.get(t.number)) is not None]
    if not kept:
        raise SoberError(
            "E111",
            f"None of the {len(complete)} complete trials has its out-of-fold predictions in {where}. In the objective "
            'write trial.set_user_attr("oof", predicted.tolist()).',
        )
    return ToolPredictions.by_model(
        "Optuna",
        y,
        {f"trial {trial.number}": column for trial, column in kept},
        method,
        params=[dict(trial.params) for trial, _ in kept],
        is_adaptive=_is_adaptive(study),
        notes=_notes(study, len(kept), "predictions"),
    )


def with_study_winner(study: Any, found: ToolPredictions, estimates: dict[str, Estimate]) -> dict[str, Estimate]:
    """Note where the study itself selected another trial than its predictions do."""
    first = next(iter(estimates.values()))
    winner = str(first.winner_name)
    best = "" if len(study.directions) > 1 else f"trial {study.best_trial.number}"
    if best in ("", winner):
        return estimates
    kept = "" if best in found.names else ", which kept no predictions"
    text = (
        f"The study's own best trial is {best[6:]} (value {study.best_value:.6g}){kept}; by {first.metric} of the kept "
        f"predictions it is {winner[6:]}, and this is the score of {winner[6:]}. For the score of {best[6:]} correct "
        "by the metric that the objective returned."
    )
    return {name: replace(one, notes=(*one.notes, Note("W212", text))) for name, one in estimates.items()}


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


def _complete(study: Any) -> list[Any]:
    return [trial for trial in study.trials if trial.state.name == "COMPLETE"]


def _is_adaptive(study: Any) -> bool:
    from ..optuna.objective import learns_from_scores  # needs Optuna, as the study does

    return bool(learns_from_scores(study))


def _notes(study: Any, n_judged: int, what: str) -> tuple[Note, ...]:
    n_trials = len(study.trials)
    text = (
        f"{n_trials - n_judged} of {n_trials} trials were pruned, failed or keep no {what}, and took no part in the "
        "correction; it may be slightly too small."
    )
    return (Note("W204", text),) if n_trials > n_judged else ()
