"""What the functions for other tools' own objects and folders share: columns by model become an `Estimate`.

Takes arrays by the name of their model, or `ImportedPredictions`; gives estimates that name the winner and carry every
note. Refuses what `correct` refuses; trains nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note
from ..inference import Estimate
from .correction import correct
from .imported import ImportedPredictions


def by_model(tool: str, y: Array, predictions: Mapping[str, Array], method: str) -> ImportedPredictions:
    """Put the columns of models side by side.

    Parameters
    ----------
    tool : str
    y : array [N]
    predictions : mapping of str to array [N] or [N, K]
        Of each model; columns are classes in sorted order, and of two classes the greater one's counts.
    method : {"predict", "predict_proba"}
    """
    stacked = np.stack(list(predictions.values()), axis=1)
    if stacked.ndim == 3:
        stacked = stacked[:, :, 1] if stacked.shape[2] == 2 else stacked[:, :, None, :]
    return ImportedPredictions(tool, y, {method: stacked}, list(predictions))


def judge(imported: ImportedPredictions, metric: str | Sequence[str] | None, options: Mapping[str, Any]) -> Any:
    """Give the estimate of the best model, or one for each of several metrics.

    Parameters
    ----------
    imported : ImportedPredictions
    metric : str, list of str or None
        None takes the usual one of the task.
    options : mapping
        Those of `sobercv.bbc`, and `force`.
    """
    others = dict(options)
    imported = replace(
        imported, groups=others.pop("groups", imported.groups), folds=others.pop("folds", imported.folds)
    )
    several = metric is not None and not isinstance(metric, str)
    names = [] if metric is None else list(metric) if several else [str(metric)]
    seed, jobs = others.pop("random_state", 0), others.pop("n_jobs", None)
    found = correct(imported, names, seed=seed, jobs=jobs, **others)
    told = {name: _told(one, found.name, found.notes) for name, one in found.estimates.items()}
    return told if several else next(iter(told.values()))


def _told(estimate: Estimate, winner: str, notes: Sequence[Note]) -> Estimate:
    return replace(estimate, winner_name=winner, notes=(*estimate.notes, *notes))


def ensembles_left_out(names: Sequence[str], n_models: int) -> tuple[Note, ...]:
    """Say which models took no part because they are made of the others.

    Parameters
    ----------
    names : sequence of str
        Of those that were left out.
    n_models : int
        Of all.
    """
    if not names:
        return ()
    text = (
        f"{len(names)} of {n_models} models ({', '.join(names[:3])}) are ensembles of the others, fitted to the same "
        "truth, and were left out. select=sobercv.greedy_ensemble() judges an ensemble of the others."
    )
    return (Note("W204", text),)
