"""What is in every column: facts for people to look at, and which columns tell rows or patients apart."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .column import Column
from .read_table import Table
from .roles import Dataset

#: Tables can have many thousands of columns; no more than these are listed one by one.
MOST_LISTED = 500
#: Fewer rows show nothing: any ten measurements may be different, or grow.
LEAST_ROWS = 10
_NAMED = re.compile(r"(^|[_\W])(id|key|uuid|guid|mrn|pid|nr|no|index|row)($|[_\W])|(?<=[a-z])(ID|Id|Nr|No)$", re.I)
_SUBJECT = re.compile(
    r"(^|[_\W])(patient|patients|pat|subject|subj|person|participant|proband|individual|donor|client|animal|mouse|family"
    r"|household|mrn|pid)($|[_\W])|(?<=[a-z])(ID|Id)$|(^|[_\W])id($|[_\W])",
    re.I,
)


def column_facts(table: Table, data: Dataset) -> list[dict[str, Any]]:
    """Describe the first `MOST_LISTED` columns of a table, as plain data, with their roles in `data`.

    `read_as` says what was special in reading a column, such as "decimal comma"; `values` are the least and the
    greatest, or how many different ones.
    """
    found = []
    for name in list(table.frame.columns)[:MOST_LISTED]:
        column, reading = table.frame[name], table.schema.columns[name]
        role = data.roles.get(name, "feature")
        kind: str = reading.kind
        if column.isna().all():
            kind = "empty"
        elif column.nunique(dropna=False) == 1:
            kind = "constant"
        elif role == "id" or (role == "feature" and is_identifier(column, name)):
            kind = "identifier"
        found.append({
            "name": name, "role": role, "kind": kind, "read_as": reading.described,
            "values": _values(column.dropna(), reading), "n_missing": int(column.isna().sum()),
        })  # fmt: skip
    return found


def _values(known: Any, reading: Column) -> str:
    """Write the least and the greatest value, the only one, or the number of different ones."""
    if not len(known):
        return ""
    if reading.kind == "number":
        # Of a long whole number, such as that of a case, every digit counts.
        ends = [
            f"{v:.0f}" if float(v).is_integer() and abs(v) < 1e15 else f"{v:.6g}" for v in (known.min(), known.max())
        ]
        return " to ".join(dict.fromkeys(ends))
    if reading.kind == "boolean":
        return f"true in {int(known.astype(bool).sum()):,} of {len(known):,}"
    if reading.kind == "date":
        return " to ".join(dict.fromkeys([f"{known.min():%Y-%m-%d}", f"{known.max():%Y-%m-%d}"]))
    different = sorted(map(str, known.unique()))
    return ", ".join(v[:20] for v in different) if len(different) <= 4 else f"{len(different)} different"


def is_identifier(column: Any, name: str) -> bool:
    """Whether a column only tells rows apart: never the same text; or whole numbers that grow, or are called an id."""
    known = column.dropna()
    if len(known) < LEAST_ROWS or not known.is_unique or column.dtype.kind in "bM":
        return False
    if column.dtype.kind not in "iuf":
        are_dates = (re.match(r"\s*[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}", str(v)) for v in known.head(20))
        return not all(are_dates)
    if not _are_whole(known):
        return False
    steps = np.diff(known.to_numpy())
    # A running order may have holes: measurements do not grow row by row.
    grows = bool((steps == 1).all() or (len(known) >= 2 * LEAST_ROWS and (steps > 0).all()))
    return grows or _NAMED.search(name) is not None


def _are_whole(numbers: Any) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers % 1 == 0).all())


def repeats_subjects(column: Any, name: str) -> bool:
    """Whether a column seems to tell patients apart of whom there are several rows.

    By its name (patient, subject, id, ...), or because it is text whose values nearly all occur a few times.
    """
    if column.dtype.kind in "bM" or column.isna().any() or len(column) < 2 * LEAST_ROWS:
        return False
    if column.dtype.kind == "f" and not _are_whole(column.to_numpy()):
        return False
    counts = column.astype(str).value_counts().to_numpy()
    n, mean = len(counts), len(column) / len(counts)
    if _SUBJECT.search(name) is not None:
        return bool(max(LEAST_ROWS, len(column) // 20) < n < 0.95 * len(column))
    if column.dtype.kind in "iuf" or n < LEAST_ROWS:
        return False
    # A few rows each, hardly any with one row, and all about as many: not so cities or diagnoses.
    return bool(1.5 <= mean <= 8 and (counts > 1).mean() >= 0.7 and counts.std() <= 0.6 * mean)
