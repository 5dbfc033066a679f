"""table_facts: what is in a table, as plain data.

Takes a prepared run, gives counts and names for the screen and for results.json; never trains.
"""

from __future__ import annotations

from typing import Any

from ..tables.column_facts import column_facts
from .prepared import Prepared


def table_facts(prepared: Prepared) -> dict[str, Any]:
    """Say what is in the table.

    Parameters
    ----------
    prepared : Prepared
    """
    data, table = prepared.data, prepared.table
    kinds = [_kind(dtype) for dtype in data.X.dtypes]
    found: dict[str, Any] = {
        "file": table.name,
        "format": table.format,
        "sha256": table.sha256,
        "rows": data.n_rows,
        "rows_without_target": data.n_without_target,
        "columns": data.X.shape[1],
        "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "missing_cells": int(data.X.isna().sum().sum()),
        "target": list(data.target),
        "task": data.task,
        "groups": None if data.groups is None else int(data.groups.max()) + 1,
        "columns_read": [fact.to_dict() for fact in column_facts(table, data)],
    }
    if data.task == "survival":
        found["events"] = int(data.y["event"].sum())
    elif data.classes:
        found["classes"] = {str(c): int((data.y == c).sum()) for c in data.classes}
    else:
        found["range"] = [float(data.y.min()), float(data.y.max())]
    return found


def _kind(dtype: Any) -> str:
    return {"M": "dates", "b": "flags"}.get(dtype.kind, "numbers" if dtype.kind in "iuf" else "text")
