"""What is in a table: facts for people to look at, and which columns tell rows or patients apart."""

from __future__ import annotations

import re
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from .column import Column
from .naming import named_like
from .read_table import Table
from .roles import Dataset, kind_of

#: Tables can have many thousands of columns; no more than these are listed one by one.
MOST_LISTED = 500
#: Fewer rows show nothing: any ten measurements may be different, or grow.
LEAST_ROWS = 10
_IDENTIFIER = re.compile(r"(id|key|uuid|guid|mrn|pid|nr|no|index|row)$")
_SUBJECT = re.compile(
    r"(patient(s|en|in)?(nr|nummer|id|code)?|pat|subject|subj|person|participant|proband|individual|donor|client|animal|mouse|family|household|mrn|"
    r"pid|id)$"
)
_DATE = re.compile(r"\s*([0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2,4})")


class ColumnFacts(TypedDict):
    """A column of the table; `read_as` says what was special in reading it, such as "decimal comma"."""

    name: str
    role: str
    kind: str
    read_as: str
    values: str  # the least and the greatest, or how many different ones
    n_missing: int


class TableFacts(TypedDict):
    """What is in a table. It is part of results.json, so every type is checked when that is read."""

    file: str
    format: str
    sha256: str
    rows: int
    rows_without_target: int
    columns: int
    kinds: dict[str, int]
    missing_cells: int
    target: list[str]
    task: Literal["binary", "multiclass", "regression", "survival"]
    weights: tuple[float, float] | None
    groups: int | None
    columns_read: list[ColumnFacts]
    events: NotRequired[int]
    times: NotRequired[tuple[float, float, float]]
    classes: NotRequired[dict[str, int]]
    range: NotRequired[tuple[float, float]]


def facts_of(table: Table, data: Dataset) -> TableFacts:
    """Describe a table as plain data, and the first `MOST_LISTED` of its columns with their roles in `data`."""
    kinds = [kind if kind == "text" else f"{kind}s" for kind in map(kind_of, data.X.dtypes)]
    columns: list[ColumnFacts] = []
    for name in list(table.frame.columns)[:MOST_LISTED]:
        column, reading = table.frame[name], table.schema.columns[name]
        role = data.roles.get(name, "feature")
        columns.append({
            "name": name, "role": role, "kind": special_kind(column, name, role) or reading.kind,
            "read_as": reading.described,
            "values": _values(column.dropna(), reading), "n_missing": int(column.isna().sum()),
        })  # fmt: skip
    found: TableFacts = {
        "file": table.name,
        "format": table.format,
        "sha256": table.sha256,
        "rows": data.n_rows,
        "rows_without_target": data.n_without_target,
        "columns": data.X.shape[1],
        "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "missing_cells": int(data.X.isna().sum().sum()),
        "target": list(data.target),
        "task": data.task,  # type: ignore[typeddict-item]
        "weights": None if data.weight is None else (float(data.weight.min()), float(data.weight.max())),
        "groups": data.n_groups or None,
        "columns_read": columns,
    }
    if data.task == "survival":
        found["events"] = int(data.y["event"].sum())
        first, middle, last = np.quantile(data.y["time"], (0.0, 0.5, 1.0)).tolist()
        found["times"] = first, middle, last
    elif data.classes:
        found["classes"] = {str(c): int((data.y == c).sum()) for c in data.classes}
    else:
        found["range"] = float(data.y.min()), float(data.y.max())
    return found


def _values(known: Any, reading: Column) -> str:
    """Write the least and the greatest value, the only one, or the number of different ones."""
    if not len(known):
        return ""
    if reading.kind == "boolean":
        return f"true in {int(known.astype(bool).sum()):,} of {len(known):,}"
    if reading.kind == "text":
        different = sorted(map(str, known.unique()))
        return ", ".join(v[:20] for v in different) if len(different) <= 4 else f"{len(different)} different"
    ends = known.min(), known.max()
    if reading.kind == "date":
        shown = [f"{v:%Y-%m-%d}" for v in ends]
    else:  # of a long whole number, such as that of a case, every digit counts
        shown = [f"{v:.0f}" if float(v).is_integer() and abs(v) < 1e15 else f"{v:.6g}" for v in ends]
    return " to ".join(dict.fromkeys(shown))


def are_dates(column: Any) -> bool:
    """Whether a column of text holds what looks like dates, or a column holds dates."""
    known = column.dropna().head(20)
    return column.dtype.kind == "M" or (len(known) > 0 and all(_DATE.match(str(value)) for value in known))


def special_kind(column: Any, name: str, role: str = "feature") -> str:
    """Return "empty", "constant" or "identifier" where no model can learn from a column; else an empty text."""
    if column.isna().all():
        return "empty"
    if column.nunique(dropna=False) == 1:
        return "constant"
    return "identifier" if role == "id" or (role == "feature" and is_identifier(column, name)) else ""


def is_identifier(column: Any, name: str) -> bool:
    """Whether a column only tells rows apart: never the same text; or whole numbers in sequence, or called an id."""
    known = column.dropna()
    if len(known) < LEAST_ROWS or not known.is_unique:
        return False
    if column.dtype.kind not in "iuf":
        return not are_dates(column)
    in_sequence = (np.diff(np.sort(known)) == 1).all()  # in any order: a table may have been sorted since
    return _are_whole(known) and bool(in_sequence or numbers_rows(known) or named_like(_IDENTIFIER, [name]))


def numbers_rows(column: Any) -> bool:
    """Whether a column holds whole numbers that grow row by row."""
    if len(column) < LEAST_ROWS or not _are_whole(column):
        return False
    steps = np.diff(column.to_numpy())
    # A running order may have holes: measurements do not grow row by row.
    return bool((steps == 1).all() or (len(column) >= 2 * LEAST_ROWS and (steps > 0).all()))


def repeats_subjects(column: Any, name: str) -> bool:
    """Whether a column seems to tell patients apart of whom there are several rows, by its name or by its values."""
    is_text, is_named = column.dtype.kind not in "iufbM", bool(named_like(_SUBJECT, [name]))
    if len(column) < 2 * LEAST_ROWS or column.isna().any() or not (is_text or (is_named and _are_whole(column))):
        return False
    counts = column.astype(str).value_counts().to_numpy()
    n, mean = len(counts), len(column) / len(counts)
    if is_named:
        return bool(max(LEAST_ROWS, len(column) // 20) < n < 0.95 * len(column))
    # Text with a few rows each, hardly any with one row, and all about as many: not so cities or diagnoses.
    are_even = 1.5 <= mean <= 8 and (counts > 1).mean() >= 0.7 and counts.std() <= 0.6 * mean
    return bool(n >= LEAST_ROWS and are_even)


def _are_whole(column: Any) -> bool:
    return column.dtype.kind in "iuf" and bool((column % 1 == 0).all())
