"""Names or data: whether the first row of a file names the columns or is already a sample. The user is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .column import FALSE_WORDS, GAP_WORDS, TRUE_WORDS, Column
from .date_formats import dates
from .number_marks import PLAIN
from .raw_table import USUAL_GAPS

#: So many names that count on (0, 1, 2, ...), or that only grow (wavelengths), are names and no measurements.
LEAST_COUNTING, LEAST_GROWING = 4, 6


def looks_like_data(header: Sequence[str], frame: Any, columns: Mapping[str, Column]) -> str | None:
    """Give a cell of the first row that looks like data where none looks like a name, else None.

    Parameters
    ----------
    header : sequence of str
        The cells of the first row.
    frame : pandas.DataFrame
        The rows below.
    columns : mapping of str to Column
        How they were read, in order.
    """
    pairs = [(cell.strip(), name, reading) for cell, (name, reading) in zip(header, columns.items(), strict=False)]
    pairs = [pair for pair in pairs if not _is_gap(pair[0])]
    typed = []
    for cell, name, reading in pairs:
        if reading.kind == "text" or not frame[name].notna().any():
            continue
        if not _fits(cell, reading):
            return None
        typed.append(cell)
    if typed:
        return None if _count_on(typed) else typed[0]
    # Text only: cells that occur again below, in every column of few categories, are no names.
    few = [(cell, name) for cell, name, _ in pairs if 1 < frame[name].nunique() <= len(frame) // 2]
    if few and all((frame[name].astype(str).str.strip() == cell).any() for cell, name in few):
        return few[0][0]
    return None


def _is_gap(cell: str) -> bool:
    return cell in USUAL_GAPS or cell.casefold() in GAP_WORDS


def _fits(cell: str, reading: Column) -> bool:
    if reading.kind == "number":
        return any(marks.pattern.fullmatch(cell) for marks in (reading.marks, PLAIN))
    if reading.kind == "boolean":
        return cell in (*TRUE_WORDS, *FALSE_WORDS)
    return bool(reading.date_format) and bool(dates([cell], reading.date_format).notna().all())


def _count_on(cells: list[str]) -> bool:
    """Whether the cells are numbers in a growing order, as names of columns may be and rows of data seldom are."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    if len(cells) >= LEAST_COUNTING and all(step == 1 for step in steps):
        return True
    return len(cells) >= LEAST_GROWING and all(step > 0 for step in steps)
