"""ToolPredictions: out-of-fold predictions that another tool kept, and their judgement by BBC, or a refusal."""

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
from ..targets import classes_of, guess_task, obvious_positive

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
#: This many rows all predicted correctly are more likely training rows than a perfect model.
LEAST_PERFECT = 30
# AutoGluon calls stackers LightGBM_BAG_L2; a name that only ends in L2 may be a penalty.
_ENSEMBLE = re.compile(r"WeightedEnsemble|_BAG_L[2-9]|stack(ed|ing|_?ensemble)|super_?learner|blend", re.I)


@dataclass(frozen=True, eq=False)
class ToolPredictions:
    """Predictions of another tool in sober's axes."""

    tool: str
    y: Array
    #: By "predict" or "predict_proba", or "" where a bare column can be either [N, C, R(, K)].
    responses: Mapping[str, Any]
    #: Of the configurations.
    names: list[str]
    #: Parameters of the configurations, where they are known.
    params: list[dict[str, Any]] | None = None
    groups: Array | None = None
    folds: Array | None = None
    #: Whether later configurations were chosen by the scores of earlier ones.
    is_adaptive: bool = False
    #: Whether these are surely out-of-fold predictions of the caller's own, so that no name or score is suspect.
    is_trusted: bool = False
    n_repeats: int = 1
    #: What the reader should know about how the table was understood.
    notes: tuple[Note, ...] = ()

    @classmethod
    def by_model(cls, tool: str, y: Any, predictions: Mapping[str, Any], method: str, **about: Any) -> ToolPredictions:
        """Put the columns of models side by side.

        `predictions` [N]: of each model; columns are classes in sorted order, and of two classes the greater one's
        counts. `**about`: other attributes.
        """
        if method not in METHODS:
            raise SoberError("E122", f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
        if not predictions:
            raise SoberError("E813", "There are no predictions. Pass those of every model that was tried, by its name.")
        y = np.asarray(y)
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
        return cls(tool, y, {method: stacked}, list(predictions), **about)

    @property
    def classes(self) -> list[Any]:
        """The classes of the truth in sorted order; an empty list where it holds numbers or times."""
        return classes_of(self.y)[1].tolist() if guess_task(self.y).task == "classification" else []

    def names_no_class(self) -> bool:
        """Whether columns hold scores of one of two classes without saying of which."""
        bare, classes = self.responses.get(""), self.classes
        if bare is None or bare.dtype.kind not in "iuf" or len(classes) != 2:
            return False
        return bare.dtype.kind == "f" or not set(np.unique(np.ma.compressed(bare)).tolist()) <= set(classes)

    def usual_metric(self) -> str:
        """Return the usual metric of the task and the kind of predictions."""
        task = guess_task(self.y).task
        if task != "classification":
            return "concordance_index" if task == "survival" else "r2"
        two, bare = len(set(self.y.tolist())) == 2, self.responses.get("")
        if "predict_proba" in self.responses:
            return "roc_auc" if two else "roc_auc_ovr"
        scores = "decision_function" in self.responses or (bare is not None and bare.dtype.kind == "f")
        return "roc_auc" if two and scores else "accuracy"


def judge_predictions(
    found: ToolPredictions,
    metric: Any = None,
    *,
    force: bool = False,
    pos_label: Any = None,
    **options: Any,
) -> dict[str, Estimate]:
    """Correct the score of the winner among another tool's configurations, by every metric.

    By default ROC AUC for scores of two classes, accuracy for labels, R2 for numbers. `force`: go on where the answer
    could mislead; the reason becomes a note. `pos_label`: the positive one of two classes; columns of scores that name
    no class are scores of it. `**options`: those of `sobercv.bbc`.
    """
    notes = [*found.notes]
    for note in _objections(found):
        _refuse(note, force, notes)
    if pos_label is None:
        _check_class_of_scores(found)
    given = found.usual_metric() if metric is None or metric in ([], ()) else metric
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    responses = _of_positive(found, pos_label)
    bare = set(responses) == {""}
    estimates: dict[str, Estimate] = bbc(
        found.y,
        responses[""] if bare else {name or "decision_function": values for name, values in responses.items()},
        [metrics.get(one) if isinstance(one, str) else one for one in several],
        **{"groups": found.groups, "folds": found.folds, "random_state": 0, "pos_label": pos_label, **options},
    )
    first = next(iter(estimates.values()))
    perfect = _perfect(found, first)
    if perfect is not None:
        _refuse(perfect, force, notes)
    if found.is_adaptive:
        notes.append(adaptive(first.n_groups or first.n_samples, first.n_configurations))
    return {
        name: replace(
            one.with_winner(
                winner_name=found.names[one.winner],
                winner_params=found.params[one.winner] if found.params else None,
            ),
            notes=(*one.notes, *notes),
        )
        for name, one in estimates.items()
    }


def _refuse(note: Note, force: bool, notes: list[Note]) -> None:
    if not force:
        raise SoberError(note.code, note.text)
    notes.append(note)


def _check_class_of_scores(found: ToolPredictions) -> None:
    """Refuse scores that may be of either class.

    They are taken as scores of the greater label, as most tools write them, only where that one is also the positive
    class by its name: 0 and 1, no and yes.
    """
    if not found.names_no_class():
        return
    one, other = found.classes
    if obvious_positive([one, other]) == other:
        return
    raise SoberError(
        "E120",
        f"The columns of predictions are scores of one of two classes, {str(one)!r} or {str(other)!r}, and the table "
        f"does not say which; a wrong guess turns every ranking upside down. Write --positive {one} if larger values "
        f"mean {str(one)!r}, else --positive {other}.",
    )


def _of_positive(found: ToolPredictions, pos_label: Any) -> dict[str, Any]:
    """Return the responses as scores of the positive class: tables that name classes hold those of the greater."""
    classes = found.classes
    if pos_label is None or len(classes) != 2 or str(pos_label) != str(classes[0]):
        return dict(found.responses)
    turned = {"predict_proba": lambda values: 1.0 - values, "decision_function": lambda values: -values}
    return {name: turned[name](v) if name in turned else v for name, v in found.responses.items()}


def _objections(found: ToolPredictions) -> list[Note]:
    objections: list[Note] = []
    if found.is_trusted:
        return objections
    stacked = [name for name in found.names if _ENSEMBLE.search(name)]
    if stacked:
        first = stacked[0][:60]
        text = (
            f"{first!r} looks like a stacked ensemble, whose predictions were fitted to the same truth; its score "
            f"cannot be corrected. Leave it out with --ignore {first}; an ensemble of the others is corrected by "
            "sobercv.bbc(..., select=sobercv.greedy_ensemble())."
        )
        objections.append(Note("E814", text))
    if len(found.names) == 1:
        text = (
            "There is only one configuration, so nothing was chosen here and nothing can be corrected. Save the "
            "predictions of every configuration that was tried, not of the winner alone."
        )
        objections.append(Note("E813", text))
    return objections


def _perfect(found: ToolPredictions, estimate: Estimate) -> Note | None:
    """Say which configuration predicts every row correctly, if there is one."""
    limit = 0.0 if estimate.metric.startswith("neg_") else 1.0
    if found.is_trusted or len(found.y) < LEAST_PERFECT or float(np.asarray(estimate.scores).max()) < limit - 1e-9:
        return None
    name = found.names[estimate.winner][:60]
    text = (
        f"{name!r} predicts all {len(found.y)} rows perfectly, as models do with rows that they were trained on. "
        "Save out-of-fold predictions; if they are, add --force."
    )
    return Note("E814", text)


def ensembles_left_out(names: Sequence[str], n_models: int) -> tuple[Note, ...]:
    """Note which of n_models models were left out because they are made of the others."""
    if not names:
        return ()
    text = (
        f"{len(names)} of {n_models} models ({', '.join(names[:3])}) are ensembles of the others, fitted to the same "
        "truth, and were left out. select=sobercv.greedy_ensemble() judges an ensemble of the others."
    )
    return (Note("W204", text),)
