"""recognise: whose table of predictions is it, and which column plays which part.

Takes a data frame from tidymodels, caret, mlr3, AutoGluon, or anything wide, gives a `Foreign`: truth, predictions by
response, names of the configurations. Never scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..tables.roles import find
from .long import Parts, pivot

_CARET_REPEAT = re.compile(r"\.?(Rep\d+)$")
_MLR3_CONFIGURATION = ("uhash", "nr", "config", "learner_id", "batch_nr")


@dataclass(frozen=True, eq=False)
class Foreign:
    """Predictions of another tool.

    Attributes
    ----------
    tool : str
    y : array [N]
    responses : mapping of str to masked array [N, C, R] or [N, C, R, K]
        By "predict" or "predict_proba", or "" where a bare column can be either.
    names : list of str
        Of the configurations.
    groups : array [N] or None
    folds : int array [N, R] or None
    is_adaptive : bool
        Whether later configurations were chosen by the scores of earlier ones.
    n_repeats : int
    """

    tool: str
    y: Array
    responses: Mapping[str, Any]
    names: list[str]
    groups: Array | None = None
    folds: Array | None = None
    is_adaptive: bool = False
    n_repeats: int = 1


def recognise(
    frame: Any, *, target: str | None = None, group: str | None = None, ignore: Sequence[str] = ()
) -> Foreign:
    """Read a table of predictions.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str, optional
        The column with the truth; long tables of known tools tell it themselves.
    group : str, optional
        Rows of one group are resampled together.
    ignore : sequence of str
        Columns or, in long tables, configurations to leave out.
    """
    for name in filter(None, [target, group]):
        find(frame, name)
    columns = set(frame.columns)
    for needed, reader in _READERS:
        if needed <= columns:
            return reader(frame, target, group, ignore)
    return _wide(frame, target, group, ignore)


# ---- long tables ---------------------------------------------------------------------------------------------------
def _tidymodels(frame: Any, target: str | None, group: str | None, ignore: Sequence[str]) -> Foreign:
    """collect_predictions(), and sober's own predictions.parquet."""
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, *filter(None, [group])}
    truth = target or _only(
        [c for c in frame.columns if c not in taken and frame.groupby(".row")[c].nunique().max() == 1]
    )
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
        label=frame[".pred_class"] if ".pred_class" in frame.columns else None,
        number=frame[".pred"] if ".pred" in frame.columns else None,
        chances={c.removeprefix(".pred_"): frame[c] for c in predicted if c not in (".pred", ".pred_class")},
    )
    adaptive = ".iter" in frame.columns and frame[".iter"].nunique() > 1
    return _of("tidymodels", parts, ignore, adaptive)


def _caret(frame: Any, target: str | None, group: str | None, ignore: Sequence[str]) -> Foreign:
    """train(...)$pred with savePredictions = "all"."""
    levels = set(frame["obs"].astype(str))
    chances = {c: frame[c] for c in frame.columns if c in levels}
    taken = {"rowIndex", "obs", "pred", "Resample", "weights", *chances, *filter(None, [group])}
    tuned = [c for c in frame.columns if c not in taken]
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(_CARET_REPEAT.pattern)[0]
    is_number = frame["obs"].dtype.kind in "iuf" and not chances
    parts = Parts(
        sample=frame["rowIndex"],
        configuration=_joined(frame, tuned),
        repeat=repeat if repeat.notna().all() else None if resample.str.match(r"(?i)fold").all() else resample,
        fold=resample,
        truth=frame["obs"],
        group=None if group is None else frame[group],
        label=None if is_number else frame["pred"],
        number=frame["pred"] if is_number else None,
        chances=chances,
    )
    return _of("caret", parts, ignore, adaptive=False)


def _mlr3(frame: Any, target: str | None, group: str | None, ignore: Sequence[str]) -> Foreign:
    """as.data.table() of predictions, bound together with a column that tells configurations apart."""
    named = next((c for c in _MLR3_CONFIGURATION if c in frame.columns), None)
    if "response" not in frame.columns and not any(c.startswith("prob.") for c in frame.columns):
        raise SoberError("E812", "The table has row_ids and truth but neither response nor prob. columns.")
    is_number = frame["truth"].dtype.kind in "iuf" and not any(c.startswith("prob.") for c in frame.columns)
    is_number = is_number and frame["response"].dtype.kind == "f"
    response = frame["response"] if "response" in frame.columns else None
    parts = Parts(
        sample=frame["row_ids"],
        configuration=_joined(frame, [named] if named else []),
        repeat=frame["repeat"].astype(str) if "repeat" in frame.columns else None,
        fold=frame["iteration"].astype(str) if "iteration" in frame.columns else None,
        truth=frame["truth"],
        group=None if group is None else frame[group],
        label=None if is_number else response,
        number=response if is_number else None,
        chances={c.removeprefix("prob."): frame[c] for c in frame.columns if c.startswith("prob.")},
    )
    return _of("mlr3", parts, ignore, adaptive=named == "batch_nr" and frame[named].nunique() > 1)


_READERS: tuple[tuple[set[str], Callable[..., Foreign]], ...] = (
    ({".row", ".config"}, _tidymodels),
    ({"rowIndex", "obs", "pred", "Resample"}, _caret),
    ({"row_ids", "truth"}, _mlr3),
)


def _of(tool: str, parts: Parts, ignore: Sequence[str], adaptive: bool) -> Foreign:
    table = pivot(parts, ignore)
    return Foreign(
        tool, table.y, table.responses, table.names, table.groups, table.folds, adaptive, table.n_repeats
    )  # fmt: skip


def _joined(frame: Any, columns: list[str]) -> Any:
    """Name a configuration by its tuning columns."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    parts = [f"{c}=" + frame[c].astype(str) for c in columns] if len(columns) > 1 else [frame[columns[0]].astype(str)]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + ", " + part
    return joined


def _only(candidates: list[str]) -> str:
    if len(candidates) == 1:
        return candidates[0]
    found = "none of the columns is" if not candidates else f"{', '.join(map(repr, candidates[:4]))} could be"
    raise SoberError("E808", f"Which column holds the truth? It seems that {found} it. Write --target COLUMN.")


# ---- wide tables ---------------------------------------------------------------------------------------------------
def _wide(frame: Any, target: str | None, group: str | None, ignore: Sequence[str]) -> Foreign:
    """One row a sample, one column a configuration."""
    if target is None:
        raise SoberError(
            "E808", "Say which column holds the truth: --target COLUMN. (No known long table of predictions was found.)"
        )
    for name in ignore:
        find(frame, name)
    kept = frame.loc[frame[target].notna()]
    if not len(kept):
        raise SoberError("E805", f"The truth {target!r} is missing in every row. Name another column.")
    names = [c for c in frame.columns if c not in {target, group, *ignore}]
    names = [c for c in names if not _is_counter(kept[c], c)]
    if not names:
        raise SoberError("E812", "Beside the truth there is no column of predictions. Give one column a configuration.")
    values = [_column(kept[c], c, kept[target]) for c in names]
    stacked = np.ma.stack(values, axis=1) if len({v.dtype.kind for v in values}) == 1 else None
    if stacked is None:
        raise SoberError(
            "E812", "Some columns hold labels and others numbers. Give one kind; --ignore leaves some out."
        )
    trial = [re.match(r"(?i)trial[_ ]?\d+$|.*_trial\d+$", c) is not None for c in names]
    stacks = any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names)
    return Foreign(
        tool="AutoGluon" if stacks else "wide",
        y=kept[target].to_numpy(dtype=object) if kept[target].dtype.kind not in "iufb" else kept[target].to_numpy(),
        responses={"": stacked},
        names=names,
        groups=None if group is None else kept[group].astype(str).to_numpy(dtype=object).astype(str),
        is_adaptive=all(trial),
    )


def _is_counter(column: Any, name: str) -> bool:
    """Whether a column only numbers the rows, as pandas and R write them."""
    if not re.fullmatch(r"(?i)unnamed: \d+|index|row|row_?id|row_?index|id|x", name) or column.dtype.kind not in "iu":
        return False
    return bool((np.diff(column.to_numpy()) == 1).all()) and len(column) > 2


def _column(column: Any, name: str, truth: Any) -> Any:
    """Give a column of predictions as a masked array: numbers, or labels as text."""
    gaps = column.isna().to_numpy()
    if column.dtype.kind in "iufb":
        return np.ma.masked_array(column.fillna(0).to_numpy(), gaps)
    known = set(truth.astype(str)) if truth.dtype.kind not in "iufb" else set()
    strange = next((v for v in column.dropna().astype(str) if v not in known), None)
    if strange is not None:
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} holds {strange[:30]!r}, which is neither a number nor one of the classes. "
            f"Leave it out with --ignore {name[:40]}.",
        )
    return np.ma.masked_array(column.fillna(next(iter(known))).to_numpy(dtype=object), gaps)
