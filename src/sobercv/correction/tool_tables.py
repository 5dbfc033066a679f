"""What tables of fold scores and long tables of predictions have in common: where each row was, and of which model."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import reduce
from typing import Any

from ..errors import SoberError
from ..tables.tool_columns import CONFIGURATION, FOLDS, MODELS, REPEAT, first_named, measures, plain

#: Bootstraps and random hold-outs of caret and rsample, whose test sets overlap.
HOLD_OUT = r"(?i)(bootstrap|resample)\d+$"


def tidied(frame: Any) -> Any:
    """Make columns of an index that says where a row was; drop the row numbers that R and pandas write as a column.

    caret's `resamples()$values` becomes a long table.
    """
    if not {*FOLDS, *REPEAT, *MODELS}.isdisjoint(map(plain, frame.index.names)):
        frame = frame.reset_index()
    nameless = [c for c in frame.columns if re.fullmatch(r"(?i)Unnamed: \d+|X|V1|\.\.\.1|index|", str(c))]
    counts = [[str(i + start) for i in range(len(frame))] for start in (0, 1)]
    frame = frame.drop(columns=[c for c in nameless if frame[c].astype(str).tolist() in counts]).reset_index(drop=True)
    values = [str(c) for c in frame.columns if c != "Resample"]
    if values and "Resample" in frame and all("~" in name for name in values):  # model~measure
        frame = frame.melt("Resample", var_name="model", value_name="score")
        parts = frame.pop("model").str.rsplit("~", n=1)
        frame = frame.assign(model=parts.str[0], metric=parts.str[1])
    return frame


def places(frame: Any, words: Collection[str]) -> tuple[Any, Any]:
    """Return the fold and the repeat of each row by the columns so named; None where there are none."""
    own = [c for c in frame.columns if str(c)[:1] == "."]  # tidymodels' .iter is a step of the search
    fold, repeat = first_named(frame, words, own), first_named(frame, REPEAT, own)
    if repeat is None and fold == "id2" and "id" in frame:
        repeat = "id"
    if fold is None or repeat is not None:
        return frame.get(fold), frame.get(repeat)
    told = frame[fold].astype(str).str.extract(r"[._ ](Rep\w*)$")[0]  # caret names both at once: Fold03.Rep1
    return frame[fold], None if told.isna().any() else told.rename(None)


def configurations(frame: Any, columns: list[Any]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and plain(columns[0]) in CONFIGURATION:
        return complete(frame[columns[0]]).astype(str)
    return reduce(lambda text, more: text + ", " + more, (f"{c}=" + frame[c].astype(object).map(str) for c in columns))


def complete(column: Any) -> Any:
    """Return a column that every row needs; refuse gaps."""
    if column.isna().any():
        raise SoberError("E812", f"The column {column.name!r} has missing values. Every row needs one.")
    return column


def is_adaptive(frame: Any) -> bool:
    """Whether tidymodels' search went step by step, by the scores of earlier ones."""
    return len(set(frame.get(".iter", ()))) > 1


def check_no_means(frame: Any) -> None:
    """Refuse the summaries of R's tools, known by columns that tables of fold scores do not have."""
    names = set(map(str, frame.columns))
    save = ""
    if {".metric", "mean"} <= names and ".estimate" not in names:
        save = "collect_metrics(tuned, summarize = FALSE)"
    elif {"learner_id", "resampling_id", "iters"} <= names:
        save = "as.data.table(bmr$score())"
    elif any(f"{measure}SD" in names for measure in measures(names)):
        save = 'fit$resample, after trainControl(returnResamp = "all")'
    if save:
        raise SoberError("E812", f"These are means over folds, and the score of every fold is needed. Save {save}.")


def one_resampling(frame: Any) -> str:
    """Refuse rows of several tasks or resamplings of mlr3; return the name of the resampling, where there is one."""
    for column, what in (("task_id", "tasks"), ("resampling_id", "resamplings")):
        name = first_named(frame, (column,))
        found = [] if name is None else frame[name].dropna().astype(str).unique().tolist()
        if len(found) > 1:
            said = f"{', '.join(map(repr, found[:-1][:3]))} and {found[-1]!r}"
            raise SoberError("E812", f"The table holds the {what} {said}; keep the rows of one.")
    return found[0].casefold() if found else ""
