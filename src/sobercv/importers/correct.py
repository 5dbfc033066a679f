"""correct: the honest score of what another tool has tuned, or a refusal where it would mislead.

Takes a `Foreign`, gives a `Corrected`; trains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import metrics
from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate
from ..inference.bbc import bbc
from ..targets import guess_task
from .table import Foreign

_ENSEMBLE = re.compile(r"WeightedEnsemble|_L[2-9]\b|_L[2-9]$|stack(ed|ing|_?ensemble)|super_?learner|blend", re.I)
#: So many rows all predicted rightly are more likely predictions of training rows than a perfect model.
LEAST_PERFECT = 30


@dataclass(frozen=True, eq=False)
class Corrected:
    """What was found, by metric, the one that selects first; `name` is the winner's, `notes` are (code, sentence)."""

    estimates: dict[str, Estimate]
    name: str
    foreign: Foreign
    notes: tuple[tuple[str, str], ...]

    @property
    def first(self) -> Estimate:
        """The estimate of the metric that selects."""
        return next(iter(self.estimates.values()))


def correct(
    foreign: Foreign, metric: Sequence[str] = (), *, seed: int = 0, jobs: int | None = None, force: bool = False
) -> Corrected:
    """Correct the score of the winner among another tool's configurations.

    Parameters
    ----------
    foreign : Foreign
    metric : sequence of str
        ROC AUC for scores of two classes, accuracy for labels, R2 for numbers unless given.
    seed : int
    jobs : int, optional
    force : bool
        Go on where the answer could mislead; the reason becomes a note.
    """
    notes = []
    for code, text in _objections(foreign):
        if not force:
            raise SoberError(code, text)
        notes.append((code, text))
    names = list(metric) or [_usual(foreign)]
    found = [metrics.get(name) for name in names]
    if "" in foreign.responses and len(foreign.responses) == 1:
        predictions: Any = foreign.responses[""]
    else:
        predictions = {name or "decision_function": values for name, values in foreign.responses.items()}
    estimates: dict[str, Estimate] = bbc(
        foreign.y, predictions, found, groups=foreign.groups, folds=foreign.folds, random_state=seed, n_jobs=jobs
    )
    first = next(iter(estimates.values()))
    perfect = _perfect(foreign, first)
    if perfect is not None:
        if not force:
            raise SoberError("E814", perfect)
        notes.append(("E814", perfect))
    if foreign.is_adaptive:
        text = (
            "Later configurations were chosen by the scores of earlier ones; the correction can be a little too small."
        )
        notes.append(("W811", text))
    return Corrected(estimates, foreign.names[first.winner], foreign, tuple(notes))


def _objections(foreign: Foreign) -> list[tuple[str, str]]:
    found = []
    stacked = [name for name in foreign.names if _ENSEMBLE.search(name)]
    if stacked:
        first = stacked[0][:60]
        found.append(
            (
                "E815",
                f"{first!r} looks like a stacked ensemble, whose predictions were fitted to the same truth; its score "
                f"cannot be corrected. Leave it out with --ignore {first}.",
            )
        )
    if len(foreign.names) == 1:
        found.append(
            (
                "E813",
                "There is only one configuration, so nothing was chosen here and nothing can be corrected. Save the "
                "predictions of every configuration that was tried, not of the winner alone.",
            )
        )
    return found


def _usual(foreign: Foreign) -> str:
    task = guess_task(foreign.y).task
    if task != "classification":
        return "concordance_index" if task == "survival" else "r2"
    two = len(set(foreign.y.tolist())) == 2
    bare = foreign.responses.get("")
    if "predict_proba" in foreign.responses:
        return "roc_auc" if two else "roc_auc_ovr"
    return "roc_auc" if two and bare is not None and bare.dtype.kind == "f" else "accuracy"


def _perfect(foreign: Foreign, estimate: Estimate) -> str | None:
    """Say which configuration knows every answer, if there is one."""
    best: Array = np.asarray(estimate.scores)
    limit = 0.0 if estimate.metric.startswith("neg_") else 1.0
    if len(foreign.y) < LEAST_PERFECT or float(best.max()) < limit - 1e-9:
        return None
    name = foreign.names[estimate.winner][:60]
    return (
        f"{name!r} predicts all {len(foreign.y)} rows perfectly, as models do with rows that they were trained on. "
        "Save out-of-fold predictions; if they are, add --force."
    )
