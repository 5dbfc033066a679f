"""The Python that reads a table as sober did, with pandas alone.

Takes how columns were converted, gives lines of code that work on a frame called `table` and a path called `PATH`;
never runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .opened import Typed
from .reading_record import ColumnReading

_CELL_TEXT = 'map(lambda v: f"{v:.15g}" if isinstance(v, float) else str(v), na_action="ignore")'


def csv_code(options: Mapping[str, Any], text_columns: Sequence[str]) -> str:
    """Write the call of `pandas.read_csv`.

    Parameters
    ----------
    options : mapping
    text_columns : sequence of str
        Columns that must be read as text first.
    """
    given = dict(options)
    if text_columns:
        given["dtype"] = dict.fromkeys(text_columns, "str")
    return f"pd.read_csv(PATH, {', '.join(f'{name}={value!r}' for name, value in given.items())})"


def conversion_code(typed: Typed, has_types: bool = True) -> str:
    """Write what `convert` did to columns, one loop for all columns that are read alike.

    Parameters
    ----------
    typed : Typed
    has_types : bool
        Whether cells may be other than text.
    """
    ways: dict[str, list[str]] = {}
    for name in typed.converted:
        how = _expression(typed.columns[name], has_types)
        if typed.columns[name].kind == "boolean":
            how += ".astype(bool)" if typed.frame[name].dtype.kind == "b" else ".astype(float)"
        ways.setdefault(how, []).append(name)
    return _loops(ways)


def _loops(ways: Mapping[str, list[str]]) -> str:
    return "".join(f"\nfor name in {names!r}:\n    table[name] = {how}" for how, names in ways.items())


def _expression(reading: ColumnReading, has_types: bool) -> str:
    if reading.kind == "text":
        return f"table[name]{f'.{_CELL_TEXT}' if has_types else ''}" + (
            '.astype("category")' if reading.is_code else ""
        )
    text = "table[name]"
    if reading.missing:
        text = f"{text}.where(~{text}.str.strip().isin({list(reading.missing)!r}))"
    if reading.kind == "date":
        return f"pd.to_datetime({text}.str.strip(), format={reading.date_format!r})"
    if reading.kind == "boolean":
        words = dict.fromkeys(reading.true, True) | dict.fromkeys(reading.false, False)
        return f"{text}.str.strip().map({words!r})"
    return f"pd.to_numeric({reading.marks.code(text)})"


def cells_code(frame: Any) -> str:
    """Write what gives the columns of a sheet the types of their cells.

    Parameters
    ----------
    frame : pandas.DataFrame
        The sheet, with the types that its columns got.
    """
    ways: dict[str, list[str]] = {}
    for name in frame.columns:
        kind = frame[name].dtype.kind
        how = {"M": "pd.to_datetime(table[name])", "b": "table[name].astype(bool)"}.get(
            kind, "pd.to_numeric(table[name])" if kind in "iuf" else ""
        )
        if not how and frame[name].map(lambda v: isinstance(v, str), na_action="ignore").dropna().all():
            how = f"table[name].{_CELL_TEXT}"
        if how:
            ways.setdefault(how, []).append(name)
    return _loops(ways)
