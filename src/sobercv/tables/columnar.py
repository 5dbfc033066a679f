"""Parquet and Arrow files, which know the types of their columns.

Reads plain numbers, booleans, dates and text; refuses damaged files and columns that no model can use (bytes, lists,
records).
"""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pyarrow as pa

from ..errors import Note, SoberError
from .raw_table import RawTable, unique_names


def read_columnar(raw: bytes, kind: str, name: str) -> RawTable:
    """Read a Parquet or Arrow file, called `name` in messages."""
    is_stream = raw.startswith(b"\xff\xff\xff\xff")  # no magic word, a continuation mark
    try:
        if kind == "parquet":
            frame = pd.read_parquet(io.BytesIO(raw))
        elif is_stream:
            frame = pa.ipc.open_stream(io.BytesIO(raw)).read_all().to_pandas()
        else:
            frame = pd.read_feather(io.BytesIO(raw))
    except MemoryError:
        raise SoberError(
            "E801", f"{name} does not fit in memory, or is a damaged {kind} file. Write it again."
        ) from None
    except Exception as error:  # damaged metadata raise whatever they lead to: of Arrow, of pandas, of JSON
        reason = " ".join(str(error).split())[:160].rstrip(".") or type(error).__name__
        raise SoberError("E801", f"{name} is a damaged {kind} file: {reason}. Write it again.") from None
    frame, notes = _with_index(frame)
    frame.columns, twice = unique_names([str(c) for c in frame.columns])
    columns = {str(column): _plain(frame[column], str(column)) for column in frame.columns}
    return RawTable(columns, named_twice=twice, notes=notes)


def _with_index(frame: Any) -> tuple[Any, tuple[Note, ...]]:
    """Make row labels columns: those with a name, and those that are words; others only count the rows."""
    index = frame.index
    if isinstance(index, pd.RangeIndex) and index.name is None:
        return frame.reset_index(drop=True), ()
    if index.names == [None] and index.dtype.kind in "iuf":
        text = "The row labels of the file are unnamed numbers and were left out. Give them a name to keep them."
        return frame.reset_index(drop=True), (Note("W801", text),)
    return frame.reset_index(), ()


def _plain(column: Any, name: str) -> Any:
    """Return decimals and nullable columns as plain numbers, durations as seconds, text as an Arrow array."""
    kind = column.dtype.kind
    if kind == "c":
        raise SoberError("E801", f"Column {name[:60]!r} holds complex numbers. Give each part its own column.")
    if kind == "m":
        return column.dt.total_seconds()
    if pd.api.types.is_extension_array_dtype(column.dtype) and kind in "iufb":
        if kind == "b":
            return column.astype(object) if column.isna().any() else column.astype(bool)
        return column.astype(int) if kind == "i" and not column.isna().any() else column.astype(float)
    if kind == "f" and column.dtype.itemsize == 2:
        return column.astype(float)
    if str(column.dtype) == "category" or kind in "iufbM":
        return column
    if column.dtype != object:
        return pa.array(column, pa.string(), from_pandas=True)
    return _of_objects(column, name)


def _of_objects(column: Any, name: str) -> Any:
    first = next((v for v in column if v is not None), None)
    if isinstance(first, (list, tuple, dict, set)) or hasattr(first, "__array__"):
        raise SoberError("E801", f"Column {name[:60]!r} holds lists or records. Give each value its own column.")
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "bytes":
        raise SoberError("E801", f"Column {name[:60]!r} holds bytes. Write it as text or numbers, or leave it out.")
    if kind in ("decimal", "empty"):
        return column.astype(float)
    if kind == "date":
        return pd.to_datetime(column, errors="coerce")
    if kind == "boolean":
        return column
    return pa.array(column.map(str, na_action="ignore"), pa.string(), from_pandas=True)
