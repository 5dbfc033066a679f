"""correct: the honest score of what another tool has tuned, or a refusal where it would mislead.

Takes `ImportedPredictions`, gives a `Corrected`; trains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import metrics
from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.bbc import bbc
from ..inference.notes import adaptive
from ..targets import guess_task
from .imported import ImportedPredictions

# AutoGluon calls stackers LightGBM_BAG_L2; a name that only ends in L2 may be a penalty.
_ENSEMBLE = re.compile(r"WeightedEnsemble|_BAG_L[2-9]|stack(ed|ing|_?ensemble)|super_?learner|blend", re.I)
#: So many rows all predicted rightly are more likely predictions of training rows than a perfect model.
LEAST_PERFECT = 30


@dataclass(frozen=True, eq=False)
class Corrected:
    """What was found, by metric, the one that selects first; `name` is the winner's, `notes` what to know about it."""

    estimates: dict[str, Estimate]
    name: str
    imported: ImportedPredictions
    notes: tuple[Note, ...]

    @property
    def first(self) -> Estimate:
        """The estimate of the metric that selects."""
        return next(iter(self.estimates.values()))


def correct(
    imported: ImportedPredictions,
    metric: Sequence[str] = (),
    *,
    seed: int = 0,
    jobs: int | None = None,
    force: bool = False,
    **options: Any,
) -> Corrected:
    """Correct the score of the winner among another tool's configurations.

    Parameters
    ----------
    imported : ImportedPredictions
    metric : sequence of str
        ROC AUC for scores of two classes, accuracy for labels, R2 for numbers unless given.
    seed : int
    jobs : int, optional
    force : bool
        Go on where the answer could mislead; the reason becomes a note.
    **options
        `aggregate`, `stratify`, `within_folds`, `interval` and `fixed_models`, as in `sobercv.bbc`.
    """
    notes = [*imported.notes]
    for note in _objections(imported):
        if not force:
            raise SoberError(note.code, note.text)
        notes.append(note)
    names = list(metric) or [_usual(imported)]
    found = [metrics.get(name) for name in names]
    if "" in imported.responses and len(imported.responses) == 1:
        predictions: Any = imported.responses[""]
    else:
        predictions = {name or "decision_function": values for name, values in imported.responses.items()}
    estimates: dict[str, Estimate] = bbc(
        imported.y, predictions, found, groups=imported.groups, folds=imported.folds, random_state=seed, n_jobs=jobs,
        **options,
    )  # fmt: skip
    first = next(iter(estimates.values()))
    perfect = _perfect(imported, first)
    if perfect is not None:
        if not force:
            raise SoberError("E814", perfect)
        notes.append(Note("E814", perfect))
    if imported.is_adaptive:
        notes.append(adaptive(first.n_groups or first.n_samples, first.n_configurations))
    return Corrected(estimates, imported.names[first.winner], imported, tuple(notes))


def _objections(imported: ImportedPredictions) -> list[Note]:
    found = []
    stacked = [name for name in imported.names if _ENSEMBLE.search(name)]
    if stacked:
        first = stacked[0][:60]
        found.append(
            Note(
                "E815",
                f"{first!r} looks like a stacked ensemble, whose predictions were fitted to the same truth; its score "
                f"cannot be corrected. Leave it out with --ignore {first}; an ensemble of the others is corrected by "
                "sobercv.bbc(..., select=sobercv.greedy_ensemble()).",
            )
        )
    if len(imported.names) == 1:
        found.append(
            Note(
                "E813",
                "There is only one configuration, so nothing was chosen here and nothing can be corrected. Save the "
                "predictions of every configuration that was tried, not of the winner alone.",
            )
        )
    return found


def _usual(imported: ImportedPredictions) -> str:
    task = guess_task(imported.y).task
    if task != "classification":
        return "concordance_index" if task == "survival" else "r2"
    two = len(set(imported.y.tolist())) == 2
    bare = imported.responses.get("")
    if "predict_proba" in imported.responses:
        return "roc_auc" if two else "roc_auc_ovr"
    return "roc_auc" if two and bare is not None and bare.dtype.kind == "f" else "accuracy"


def _perfect(imported: ImportedPredictions, estimate: Estimate) -> str | None:
    """Say which configuration knows every answer, if there is one."""
    best: Array = np.asarray(estimate.scores)
    limit = 0.0 if estimate.metric.startswith("neg_") else 1.0
    if len(imported.y) < LEAST_PERFECT or float(best.max()) < limit - 1e-9:
        return None
    name = imported.names[estimate.winner][:60]
    return (
        f"{name!r} predicts all {len(imported.y)} rows perfectly, as models do with rows that they were trained on. "
        "Save out-of-fold predictions; if they are, add --force."
    )
