"""RawTable: the cells of a file before anything was recognised in them.

Text stays text: a column of a text file, and of text cells of a workbook or an Arrow file, is a pyarrow array of
strings. Columns that the file itself knows to be numbers, booleans or dates are pandas series.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..containers import Array
from ..errors import Note
from .number_marks import PLAIN

#: Words that stand for a gap in every column but "None", which is a word of its own among words.
TEXT_GAPS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>")
USUAL_GAPS = (*TEXT_GAPS, "None")
#: Rows by which most columns of other kinds are told.
_HEAD_ROWS = 20
#: Columns whose text is converted at once: few calls for wide tables, little memory for long ones.
_BLOCK_CELLS = 1_000_000
#: Whole numbers that may be codes: zeros in front, or more digits than a number holds.
_CODE = "^(?:0[0-9]|[0-9]{19})"


@dataclass(frozen=True, eq=False)
class RawTable:
    """The cells of a file."""

    #: Text, or what the file itself knows to be numbers, booleans, dates or declared categories.
    columns: dict[str, Any]
    #: Cells that may be names or data; empty where the format itself knows the names.
    first_row: list[str] = field(default_factory=list)
    #: Names that several columns share.
    named_twice: list[str] = field(default_factory=list)
    #: Whether the file looks as if written where decimals begin with a comma.
    suggests_commas: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def text(self, name: str) -> Any:
        """Return a column as text, null where the file has a gap: pyarrow.StringArray."""
        column = self.columns[name]
        return column if isinstance(column, pa.Array) else text_of(column)

    def distinct(self, name: str) -> tuple[Any, Array]:
        """Return the different values of a column, trimmed, in order of occurrence, without empty ones, and counts."""
        if name not in self._distinct:
            cells = pc.utf8_trim_whitespace(self.text(name)).drop_null()
            counted = pc.value_counts(cells.filter(pc.not_equal(cells, "")))
            self._distinct[name] = counted.field(0), np.asarray(counted.field(1))
        return self._distinct[name]

    @cached_property
    def _distinct(self) -> dict[str, tuple[Any, Array]]:
        return {}

    @cached_property
    def plain_numbers(self) -> dict[str, Array]:
        """The columns of text that are plain numbers, usual gaps aside: float64, or int64 where all are whole.

        Converted in blocks of many columns. Columns with cells that may be codes are not among them.
        """
        texts = [name for name, column in self.columns.items() if isinstance(column, pa.Array)]
        found: dict[str, Array] = {}
        if texts and self.n_rows:
            heads = PLAIN.matches(self._cells(texts, _HEAD_ROWS)).fill_null(True)
            are_plain = _by_column(heads, len(texts)).all(axis=1)
            texts = [texts[i] for i in np.flatnonzero(are_plain)]
            size = max(1, _BLOCK_CELLS // self.n_rows)
            for start in range(0, len(texts), size):
                self._convert(texts[start : start + size], found)
        return found

    def _cells(self, names: list[str], n_rows: int) -> Any:
        """Return the first cells of columns, one column after the other, without spaces around them and usual gaps."""
        cells = pc.utf8_trim_whitespace(pa.concat_arrays([self.columns[name].slice(0, n_rows) for name in names]))
        return pc.if_else(pc.is_in(cells, value_set=pa.array(USUAL_GAPS)), pa.scalar(None, pa.string()), cells)

    def _convert(self, names: list[str], found: dict[str, Array]) -> None:
        """Convert columns together, those left out that hold something else or may hold codes."""
        cells = self._cells(names, self.n_rows)
        is_odd = _by_column(pc.match_substring_regex(cells, _CODE), len(names)).any(axis=1)
        try:
            numbers = None if is_odd.any() else pc.cast(cells, pa.float64())
        except pa.ArrowInvalid:
            numbers = None
        if numbers is None:
            is_odd |= _by_column(pc.invert(PLAIN.matches(cells)), len(names)).any(axis=1)
            names = [names[i] for i in np.flatnonzero(~is_odd)]
            cells = cells.filter(pa.array(np.repeat(~is_odd, self.n_rows)))
            numbers = pc.cast(cells, pa.float64())
        values = numbers.to_numpy(zero_copy_only=False).reshape(len(names), self.n_rows)
        with np.errstate(invalid="ignore"):
            whole = (values % 1 == 0).all(axis=1)
        for i, name in enumerate(names):
            own = cells.slice(i * self.n_rows, self.n_rows)
            found[name] = whole_numbers(own, values[i]) if whole[i] else values[i]


def _by_column(flags: Any, n_columns: int) -> Array:
    """Return flags of cells, one column after the other, as [columns, rows]; gaps are False."""
    return np.asarray(flags.fill_null(False)).reshape(n_columns, -1)


def whole_numbers(cells: Any, values: Array) -> Array:
    """Return int64 where the cells are written without a decimal point, else the values."""
    try:
        return np.asarray(pc.cast(cells, pa.int64()))
    except pa.ArrowInvalid:
        return values


def text_of(column: Any) -> Any:
    """Write the cells of any column as text, whole numbers without a decimal point: pyarrow.StringArray."""
    gaps = column.isna().tolist()
    cells = [None if is_gap else _cell(value) for value, is_gap in zip(column.tolist(), gaps, strict=True)]
    return pa.array(cells, pa.string())


def _cell(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def unique_names(names: list[str]) -> tuple[list[str], list[str]]:
    """Return a name of its own for every column as pandas makes them, and the names that occurred more than once."""
    out: list[str] = []
    taken, following = set(names), dict[str, int]()
    for name in names:
        new = name
        if name in following:
            number = following[name]
            while (new := f"{name}.{number}") in taken:
                number += 1
            following[name] = number + 1
        following.setdefault(name, 1)
        taken.add(new)
        out.append(new)
    return out, sorted({name for name, new in zip(names, out, strict=True) if name != new})
