"""Parquet and Arrow files, which know the types of their columns.

Takes bytes, gives a frame of plain numbers, booleans, dates and text, and the Python that reads the same; refuses
damaged files and columns that no model can use (bytes, lists, records).
"""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

from ..errors import SoberError
from .opened import replaced


def read_columnar(raw: bytes, kind: str, name: str) -> tuple[Any, str, list[str]]:
    """Read a Parquet or Arrow file.

    Parameters
    ----------
    raw : bytes
    kind : {"parquet", "arrow"}
    name : str
        How the file is called in messages.

    Returns
    -------
    (frame, code, named_twice)
        The code is an expression, then statements on `table`; the last are names that several columns share.
    """
    import pandas as pd
    import pyarrow as pa

    is_stream = raw.startswith(b"\xff\xff\xff\xff")  # no magic word, a continuation mark
    try:
        if kind == "parquet":
            frame, code = pd.read_parquet(io.BytesIO(raw)), "pd.read_parquet(PATH)"
        elif is_stream:
            frame = pa.ipc.open_stream(io.BytesIO(raw)).read_all().to_pandas()
            code = "pyarrow.ipc.open_stream(PATH).read_all().to_pandas()"
        else:
            frame, code = pd.read_feather(io.BytesIO(raw)), "pd.read_feather(PATH)"
    except MemoryError:
        raise SoberError(
            "E801", f"{name} does not fit in memory, or is a damaged {kind} file. Write it again."
        ) from None
    except Exception as error:  # damaged metadata raise whatever they lead to: of Arrow, of pandas, of JSON
        reason = " ".join(str(error).split())[:160].rstrip(".") or type(error).__name__
        raise SoberError("E801", f"{name} is a damaged {kind} file: {reason}. Write it again.") from None
    frame = frame.reset_index(drop=True)
    frame.columns, twice = unique_names([str(c) for c in frame.columns])
    frame.attrs = {}  # metadata of the file must not leak in
    return (*_plain(frame, code), twice)


def unique_names(names: list[str]) -> tuple[list[str], list[str]]:
    """Give every column a name of its own as pandas does, and the names that occurred more than once."""
    out: list[str] = []
    taken = set(names)
    for i, name in enumerate(names):
        new, number = name, 1
        while name in names[:i] and new in taken:
            new, number = f"{name}.{number}", number + 1
        taken.add(new)
        out.append(new)
    return out, sorted(name for name, times in Counter(names).items() if times > 1)


#: How columns become plain: the Python that does it, on a column.
_MADE_PLAIN = {
    "astype(float)": lambda column: column.astype(float),
    "astype(int)": lambda column: column.astype(int),
    "astype(bool)": lambda column: column.astype(bool),
    "dt.total_seconds()": lambda column: column.dt.total_seconds(),
    'pipe(pd.to_datetime, errors="coerce")': lambda column: _dates(column),
    'map(str, na_action="ignore")': lambda column: column.map(str, na_action="ignore"),
}


def _dates(column: Any) -> Any:
    import pandas as pd

    return pd.to_datetime(column, errors="coerce")


def _plain(frame: Any, code: str) -> tuple[Any, str]:
    """Give decimals and nullable columns as plain numbers, durations as seconds; refuse bytes, lists and records."""
    made: dict[str, Any] = {}
    lines: dict[str, list[str]] = {}
    for name in frame.columns:
        how = _way_to_plain(frame[name], name)
        if how is not None:
            made[name] = _MADE_PLAIN[how](frame[name])
            lines.setdefault(how, []).append(name)
    for how, names in lines.items():
        code += f"\nfor name in {names!r}:\n    table[name] = table[name].{how}"
    return replaced(frame, made), code


def _way_to_plain(column: Any, name: str) -> str | None:
    """Give a key of `_MADE_PLAIN`; None where a column is plain already."""
    import pandas as pd

    kind = column.dtype.kind
    if kind == "c":
        raise SoberError("E803", f"Column {name[:60]!r} holds complex numbers. Give each part its own column.")
    if kind == "m":
        return "dt.total_seconds()"
    if pd.api.types.is_extension_array_dtype(column.dtype) and kind in "iufb":
        return "astype(float)" if column.isna().any() or kind in "fu" else f"astype({'int' if kind == 'i' else 'bool'})"
    if kind == "f" and column.dtype.itemsize == 2:
        return "astype(float)"
    return _way_of_objects(column, name) if column.dtype == object else None


def _way_of_objects(column: Any, name: str) -> str | None:
    import pandas as pd

    first = next((v for v in column if v is not None), None)
    if isinstance(first, (list, tuple, dict, set)) or hasattr(first, "__array__"):
        raise SoberError("E803", f"Column {name[:60]!r} holds lists or records. Give each value its own column.")
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "bytes":
        raise SoberError("E803", f"Column {name[:60]!r} holds bytes. Write it as text or numbers, or leave it out.")
    if kind == "decimal":
        return "astype(float)"
    if kind == "date":
        return 'pipe(pd.to_datetime, errors="coerce")'
    return None if kind in ("string", "boolean", "empty") else 'map(str, na_action="ignore")'
