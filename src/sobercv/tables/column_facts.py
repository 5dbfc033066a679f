"""What is in every column, for people to look at: its kind, how it was read, its values."""

from __future__ import annotations

from typing import Any

from .column import Column
from .identifiers import is_identifier
from .read_table import Table
from .roles import Dataset

#: Tables can have many thousands of columns; no more than these are listed one by one.
MOST_LISTED = 500


def column_facts(table: Table, data: Dataset) -> list[dict[str, Any]]:
    """Describe the first `MOST_LISTED` columns of a table, as plain data, with their roles in `data`.

    `read_as` says what was special in reading a column, such as "decimal comma"; `values` are the least and the
    greatest, or how many different ones.
    """
    found = []
    for name in list(table.frame.columns)[:MOST_LISTED]:
        column, reading = table.frame[name], table.schema.columns[name]
        role = data.roles.get(name, "feature")
        kind, n_missing = _kind(column, name, reading, role), int(column.isna().sum())
        values = _values(column, reading, kind)
        found.append({
            "name": name, "role": role, "kind": kind, "read_as": reading.described, "values": values,
            "n_missing": n_missing,
        })  # fmt: skip
    return found


def _kind(column: Any, name: str, reading: Column, role: str) -> str:
    if column.isna().all():
        return "empty"
    if column.nunique(dropna=False) == 1:
        return "constant"
    return "identifier" if role == "id" or (role == "feature" and is_identifier(column, name)) else reading.kind


def _values(column: Any, reading: Column, kind: str) -> str:
    """Write the least and the greatest value, the only one, or the number of different ones."""
    known = column.dropna()
    if not len(known):
        return ""
    if kind == "constant":
        only = known.iloc[0]
        return _number(only) if reading.kind == "number" else str(only)[:40]
    if reading.kind == "number":
        return f"{_number(known.min())} to {_number(known.max())}"
    if reading.kind == "boolean":
        return f"true in {int(known.astype(bool).sum()):,} of {len(known):,}"
    if reading.kind == "date":
        return f"{known.min():%Y-%m-%d} to {known.max():%Y-%m-%d}"
    n = known.nunique()
    if n <= 4:
        return ", ".join(str(v)[:20] for v in sorted(known.unique(), key=str))
    return f"{n} different"


def _number(value: Any) -> str:
    """Write whole numbers whole: of a long one, such as that of a case, every digit counts."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"
