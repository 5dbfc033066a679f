"""recognise: whose table of predictions is it, and which column plays which part.

Takes a data frame from tidymodels, caret, mlr3, AutoGluon, or anything wide, gives a `Foreign`: truth, predictions by
response, names of the configurations. Never scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import SoberError
from ..tables.roles import find, target_names
from .long import Parts, pivot
from .table import Foreign
from .wide import wide

_CARET_REPEAT = re.compile(r"\.?(Rep\d+)$")
_MLR3_CONFIGURATION = ("uhash", "nr", "config", "learner_id", "batch_nr")


def recognise(
    frame: Any,
    *,
    target: str | None = None,
    time: str | None = None,
    event: str | None = None,
    group: str | None = None,
    ignore: Sequence[str] = (),
) -> Foreign:
    """Read a table of predictions.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str, optional
        The column with the truth; long tables of known tools tell it themselves.
    time, event : str, optional
        The truth of survival times, in wide tables of risks.
    group : str, optional
        Rows of one group are resampled together.
    ignore : sequence of str
        Columns or, in long tables, configurations to leave out.
    """
    truth = [] if (target, time, event) == (None, None, None) else target_names(target, time, event, None)
    for name in [*truth, *filter(None, [group])]:
        find(frame, name)
    columns = set(frame.columns)
    for needed, reader in _READERS:
        if needed <= columns:
            if len(truth) == 2:
                raise SoberError("E812", "Survival predictions are read from wide tables: one column a configuration.")
            return reader(frame, target, group, ignore)
    return wide(frame, truth, group, ignore)


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
