"""Columns of new rows, read as the record of an earlier reading says.

Takes a frame as pandas reads it and a way to get columns back as text, gives the frame with its columns converted;
counts what does not fit and refuses columns of which most does not. Never recognises anything anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Note, SoberError
from .opened import Opened, Typed, replaced
from .reading_record import ColumnReading
from .text_columns import Cells, convert, misfits
from .typed_columns import columns_that_hold, some_of


def by_record(opened: Opened, columns: Mapping[str, ColumnReading]) -> Typed:
    """Read columns as they were read before; values that do not fit become gaps, and a note counts them.

    Parameters
    ----------
    opened : Opened
    columns : mapping of str to ColumnReading
        Columns that the file lacks are passed over, and so are columns of the file that are not named.
    """
    frame = opened.frame
    wanted = {name: reading for name, reading in columns.items() if name in frame.columns}
    other = [name for name, reading in wanted.items() if not _is_read(frame[name], reading, opened.has_types)]
    texts: Any = opened.text_of(other) if other else {}
    made, lost, told = {}, {}, []
    for name in other:
        made[name] = convert(texts[name], wanted[name])
        bad = misfits(texts[name], made[name], wanted[name])
        if bad:
            _check_some_fit(name, wanted[name], bad, texts[name])
            lost[name] = bad
        if wanted[name].kind == "text" and opened.has_types and frame[name].dtype.kind in "iufM":
            told.append(name)
    return Typed(replaced(frame, made), wanted, tuple(other), (*_lost_noted(lost), *_native_noted(told)))


def _is_read(column: Any, reading: ColumnReading, has_types: bool) -> bool:
    """Whether pandas has read a column as the record wants it."""
    if reading.kind == "number":
        return column.dtype.kind in "iuf" and (reading.marks.is_plain or has_types)
    if reading.kind == "date":
        return bool(column.dtype.kind == "M")
    return reading.kind == "boolean" and column.dtype.kind == "b"


def _check_some_fit(name: str, reading: ColumnReading, bad: list[str], cells: Cells) -> None:
    if len(bad) * 2 <= sum(isinstance(v, str) for v in cells):
        return
    how = f" ({reading.described})" if reading.described else ""
    raise SoberError(
        "E816",
        f"Column {name[:40]!r} held {reading.kind}s{how} in training but now {bad[0][:30]!r}. Mend it.",
    )


def _lost_noted(lost: dict[str, list[str]]) -> list[Note]:
    if not lost:
        return []
    n = sum(len(bad) for bad in lost.values())
    parts = [f"{len(bad)} of {name[:40]!r} ({bad[0][:20]!r})" for name, bad in list(lost.items())[:4]]
    more = f" and {len(lost) - 4} more columns" if len(lost) > 4 else ""
    what = "One value does not fit its column's kind" if n == 1 else f"{n} values do not fit their columns' kinds"
    counts = "counts" if n == 1 else "count"
    return [Note("W844", f"{what} in training and {counts} as missing: {', '.join(parts)}{more}.", (*lost,))]


def _native_noted(names: list[str]) -> list[Note]:
    if not names:
        return []
    text = f"{columns_that_hold(names)} numbers or dates now but held text in training: {some_of(names)}."
    return [Note("W844", f"{text} Read as text; look whether zeros in front were lost.", (*names,))]
