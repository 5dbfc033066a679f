"""Long tables of R's tools, known by their columns: tidymodels, caret, mlr3 and mlr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import SoberError
from ..tables import Roles
from .column_names import joined, only_truth
from .imported import ImportedPredictions, Parts, arrays_of

#: Columns by which a tool is known.
COLUMNS = {
    "tidymodels": (".row", ".config"),
    "caret": ("rowIndex", "obs", "pred", "Resample"),
    "mlr3": ("row_ids", "truth"),
    "mlr": ("learner.id", "id", "truth", "response", "iter"),
}


def _predicted(frame: Any, truth: str, said: Any, chances: Mapping[str, Any], is_number: bool) -> dict[str, Any]:
    """Return the parts that hold truth and predictions: numbers, or labels and probabilities."""
    return {
        "truth": frame[truth],
        "label": None if is_number else said,
        "number": said if is_number else None,
        "chances": chances,
    }


def _group(frame: Any, roles: Roles) -> Any:
    return None if roles.group is None else frame[roles.group]


def _chances(frame: Any) -> dict[str, Any]:
    return {c.removeprefix("prob."): frame[c] for c in frame.columns if c.startswith("prob.")}


def tidymodels(frame: Any, roles: Roles) -> ImportedPredictions:
    """Read collect_predictions() of a tuned workflow, or sober's own predictions.parquet, which has its names."""
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    group = roles.group or (".group" if ".group" in frame.columns else None)
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, group}
    others = [c for c in frame.columns if c not in taken and not c.startswith(".decision_")]
    truth = roles.target or only_truth([c for c in others if frame.groupby(".row")[c].nunique().max() == 1])
    resample = frame["id"].astype(str) if "id" in frame.columns else None
    split = frame["id2"].astype(str) if "id2" in frame.columns else resample
    # One level of resampling: Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
    if "id2" not in frame.columns and resample is not None and resample.str.match(r"(?i)fold").all():
        resample = None
    parts = Parts(
        sample=frame[".row"],
        configuration=frame[".config"].astype(str),
        repeat=resample,
        fold=split,
        truth=frame[truth],
        group=None if group is None else frame[group],
        label=frame.get(".pred_class"),
        number=frame.get(".pred"),
        chances={c.removeprefix(".pred_"): frame[c] for c in predicted if c not in (".pred", ".pred_class")},
    )
    is_adaptive = ".iter" in frame.columns and frame[".iter"].nunique() > 1
    return arrays_of("tidymodels", parts, roles.ignore, is_adaptive)


def caret(frame: Any, roles: Roles) -> ImportedPredictions:
    """Read train(...)$pred with savePredictions = "all"."""
    truth = roles.target or "obs"
    levels = set(frame[truth].astype(str))
    chances = {c: frame[c] for c in frame.columns if c in levels}
    taken = {*COLUMNS["caret"], "weights", truth, *chances, roles.group}
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(r"\.?(Rep\d+)$")[0]
    is_number = frame[truth].dtype.kind in "iuf" and not chances
    parts = Parts(
        sample=frame["rowIndex"],
        configuration=joined(frame, [c for c in frame.columns if c not in taken]),
        repeat=repeat if repeat.notna().all() else None if resample.str.match(r"(?i)fold").all() else resample,
        fold=resample,
        group=_group(frame, roles),
        **_predicted(frame, truth, frame["pred"], chances, is_number),
    )
    return arrays_of("caret", parts, roles.ignore)


def mlr3(frame: Any, roles: Roles) -> ImportedPredictions:
    """Read as.data.table() of predictions, bound together with a column that tells configurations apart."""
    truth = roles.target or "truth"
    named = next((c for c in ("uhash", "nr", "config", "learner_id", "batch_nr") if c in frame.columns), None)
    chances, response = _chances(frame), frame.get("response")
    if response is None and not chances:
        raise SoberError("E812", "The table has row_ids and truth but neither response nor prob. columns.")
    is_number = frame[truth].dtype.kind in "iuf" and not chances and response.dtype.kind == "f"
    parts = Parts(
        sample=frame["row_ids"],
        configuration=joined(frame, [named] if named else []),
        repeat=frame["repeat"].astype(str) if "repeat" in frame.columns else None,
        fold=frame["iteration"].astype(str) if "iteration" in frame.columns else None,
        group=_group(frame, roles),
        **_predicted(frame, truth, response, chances, is_number),
    )
    return arrays_of("mlr3", parts, roles.ignore, is_adaptive=named == "batch_nr" and frame[named].nunique() > 1)


def mlr(frame: Any, roles: Roles) -> ImportedPredictions:
    """Read getBMRPredictions(benchmark(..., keep.pred = TRUE), as.df = TRUE); rows of set == "train" are left out."""
    frame = frame[frame["set"].astype(str) == "test"] if "set" in frame.columns else frame
    truth, chances = roles.target or "truth", _chances(frame)
    parts = Parts(
        sample=frame["id"],
        configuration=frame["learner.id"].astype(str),
        repeat=_mlr_repeat(frame),
        fold=frame["iter"],
        group=_group(frame, roles),
        **_predicted(frame, truth, frame["response"], chances, frame[truth].dtype.kind in "iuf" and not chances),
    )
    return arrays_of("mlr", parts, roles.ignore)


def _mlr_repeat(frame: Any) -> Any:
    """Tell repeats by the number of the iteration: mlr counts through the folds of all repeats.

    Where samples are not predicted equally often (bootstraps, hold-outs), each iteration is a repeat of its own.
    """
    times = frame.groupby(["learner.id", "id"]).size()
    n_repeats, n_iterations = int(times.iloc[0]), int(frame["iter"].nunique())
    if (times == n_repeats).all() and n_iterations % n_repeats == 0:
        repeat = (frame["iter"] - 1) // (n_iterations // n_repeats)
        if not repeat.to_frame("repeat").assign(a=frame["learner.id"], b=frame["id"]).duplicated().any():
            return repeat
    return frame["iter"]


READERS = {"tidymodels": tidymodels, "caret": caret, "mlr3": mlr3, "mlr": mlr}
