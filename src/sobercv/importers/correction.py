"""correct: the honest score of what another tool has tuned, or a refusal where it would mislead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import metrics
from ..containers import Array
from ..errors import Note, SoberError
from ..inference import Estimate
from ..inference.bbc import bbc
from ..inference.notes import adaptive
from ..positive_class import obvious_positive
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
    pos_label: Any = None,
    **options: Any,
) -> Corrected:
    """Correct the score of the winner among another tool's configurations.

    Parameters
    ----------
    imported : ImportedPredictions
    metric : sequence of str
        ROC AUC for scores of two classes, accuracy for labels, R2 for numbers by default.
    seed : int
    jobs : int, optional
    force : bool
        Go on where the answer could mislead; the reason becomes a note.
    pos_label : label, optional
        The positive one of two classes; columns of scores that name no class are scores of it.
    **options
        `aggregate`, `stratify`, `within_folds`, `interval` and `fixed_models`, as in `sobercv.bbc`.
    """
    notes = [*imported.notes]
    for note in _objections(imported):
        if not force:
            raise SoberError(note.code, note.text)
        notes.append(note)
    if pos_label is None:
        check_class_of_scores(imported)
    names = list(metric) or [usual_metric(imported)]
    found = [metrics.get(name) for name in names]
    responses = _of_positive(imported, pos_label)
    if "" in responses and len(responses) == 1:
        predictions: Any = responses[""]
    else:
        predictions = {name or "decision_function": values for name, values in responses.items()}
    estimates: dict[str, Estimate] = bbc(
        imported.y, predictions, found, groups=imported.groups, folds=imported.folds, random_state=seed, n_jobs=jobs,
        pos_label=pos_label, **options,
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


def classes_of(imported: ImportedPredictions) -> list[Any]:
    """Return the classes of the truth in sorted order; an empty list where it holds numbers or times."""
    return np.unique(imported.y).tolist() if guess_task(imported.y).task == "classification" else []


def names_no_class(imported: ImportedPredictions) -> bool:
    """Whether columns hold scores of one of two classes without saying of which."""
    bare, classes = imported.responses.get(""), classes_of(imported)
    if bare is None or bare.dtype.kind not in "iuf" or len(classes) != 2:
        return False
    return bare.dtype.kind == "f" or not set(np.unique(np.ma.compressed(bare)).tolist()) <= set(classes)


def check_class_of_scores(imported: ImportedPredictions) -> None:
    """Refuse scores that may be of either class.

    They are taken as scores of the greater label, as most tools write them, only where that one is also the positive
    class by its name: 0 and 1, no and yes.
    """
    if not names_no_class(imported):
        return
    one, other = classes_of(imported)
    if obvious_positive([one, other]) == other:
        return
    raise SoberError(
        "E120",
        f"The columns of predictions are scores of one of two classes, {str(one)!r} or {str(other)!r}, and the table "
        f"does not say which; a wrong guess turns every ranking upside down. Write --positive {one} if larger values "
        f"mean {str(one)!r}, else --positive {other}.",
    )


def _of_positive(imported: ImportedPredictions, pos_label: Any) -> dict[str, Any]:
    """Return the responses as scores of the positive class: tables that name classes hold those of the greater."""
    classes = classes_of(imported)
    if pos_label is None or len(classes) != 2 or str(pos_label) != str(classes[0]):
        return dict(imported.responses)
    turned = {"predict_proba": lambda values: 1.0 - values, "decision_function": lambda values: -values}
    return {name: turned[name](v) if name in turned else v for name, v in imported.responses.items()}


def _objections(imported: ImportedPredictions) -> list[Note]:
    found = []
    stacked = [name for name in imported.names if _ENSEMBLE.search(name)]
    if stacked:
        first = stacked[0][:60]
        found.append(
            Note(
                "E814",
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


def usual_metric(imported: ImportedPredictions) -> str:
    """Return the usual metric of the task and the kind of predictions."""
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


# ---- what other tools keep in memory or in folders -----------------------------------------------------------------
def by_model(tool: str, y: Array, predictions: Mapping[str, Array], method: str) -> ImportedPredictions:
    """Put the columns of models side by side.

    Parameters
    ----------
    tool : str
    y : array [N]
    predictions : mapping of str to array [N] or [N, K]
        Of each model; columns are classes in sorted order, and of two classes the greater one's counts.
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}
    """
    shapes = {np.shape(column) for column in predictions.values()}
    if len(shapes) > 1 or any(len(shape) not in (1, 2) or shape[0] != len(y) for shape in shapes):
        said = ", ".join(sorted(map(str, shapes)))
        raise SoberError(
            "E101", f"Predictions of every model must be [N] or [N, K] of one shape; y has {len(y)} rows: {said}."
        )
    stacked = np.stack([np.asarray(column) for column in predictions.values()], axis=1)
    if method == "predict_log_proba":
        method, stacked = "predict_proba", np.exp(stacked)
    if stacked.ndim == 3:
        stacked = stacked[:, :, 1] if stacked.shape[2] == 2 else stacked[:, :, None, :]
    return ImportedPredictions(tool, y, {method: stacked}, list(predictions))


def judge(imported: ImportedPredictions, metric: str | Sequence[str] | None, options: Mapping[str, Any]) -> Any:
    """Return the estimate of the best model, or one for each of several metrics.

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
