"""Columns of text: what they could hold, and that made of them.

Takes the cells of a column as a list (whatever is no text is a gap), gives the readings that are possible (numbers,
dates, booleans, else text) and columns converted by one of them. Never chooses between two readings that fit: that
takes the rest of the file.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .date_formats import date_formats, dates
from .number_marks import CONVENTIONS, PLAIN, are_codes, conventions
from .reading_record import FALSE_WORDS, TRUE_WORDS, ColumnReading

#: The cells of a column; gaps are anything but text. Lists, for wide tables have many short columns.
Cells = list[Any]

#: What pandas takes for a gap in every column of a text file: the record of a run needs not repeat them.
USUAL_GAPS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "<NA>")
#: Words that stand for a gap in a column that otherwise holds numbers, dates or booleans; capitals do not matter.
GAP_WORDS = frozenset({
    "?", ".", "-", "--", "\u2013", "\u2014", "*", "na", "n.a.", "n. a.", "n/a", "nd", "n.d.", "k.a.", "k. a.", "nil",
    "none", "null", "nan", "missing", "unknown", "unbekannt", "fehlt", "keine angabe", "manquant", "inconnu",
    "#n/a", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!", "#name?", "#null!",
})  # fmt: skip
#: Different numbers that make a column one of amounts, whatever a few cells say.
FEWEST_AMOUNTS = 10


def possible_readings(cells: Cells) -> list[ColumnReading]:
    """Give every way in which a whole column of text can be read, at least one.

    Parameters
    ----------
    cells : list
    """
    counts = Counter(value.strip() for value in cells if isinstance(value, str))
    words = sorted(word for word in counts if word.casefold() in GAP_WORDS)
    known = frozenset(counts).difference(words)
    if known and 2 * sum(counts[word] for word in words) <= counts.total():
        found = _typed(known, tuple(words))
        if found:
            return found
    return [ColumnReading("text", is_code=_is_code(counts))]


def _typed(values: frozenset[str], words: tuple[str, ...]) -> list[ColumnReading]:
    """Give readings other than text that fit all values."""
    if values <= {*TRUE_WORDS, *FALSE_WORDS}:
        return [ColumnReading("boolean", true=TRUE_WORDS, false=FALSE_WORDS, missing=words)]
    found = [ColumnReading("number", marks, missing=words) for marks in conventions(values)]
    return found or [ColumnReading("date", date_format=name, missing=words) for name in date_formats(values)]


def _is_code(counts: Counter[str]) -> bool:
    """Whether most rows of a text column look like numbers, so that a part of its rows could be taken for numbers."""
    if are_codes(counts):
        return True
    n_numbers = sum(times for value, times in counts.items() if PLAIN.pattern.fullmatch(value))
    return counts.total() > 0 and 2 * n_numbers >= counts.total()


def strays(cells: Cells) -> list[str]:
    """Give the values that keep a column of amounts from being one: few among many different numbers.

    Parameters
    ----------
    cells : list
    """
    counts = Counter(value.strip() for value in cells if isinstance(value, str))
    others = [value for value in counts if not _is_number(value)]
    found = [value for value in others if value.casefold() not in GAP_WORDS]
    n_strays, n_numbers = sum(counts[value] for value in found), len(counts) - len(others)
    return found if found and n_numbers >= FEWEST_AMOUNTS and 10 * n_strays <= counts.total() else []


def _is_number(value: str) -> bool:
    return any(marks.pattern.fullmatch(value) for marks in CONVENTIONS)


def convert(cells: Cells, reading: ColumnReading) -> Any:
    """Read a column in one way; what does not fit becomes a gap.

    Parameters
    ----------
    cells : list
    reading : ColumnReading

    Returns
    -------
    pandas.Series
    """
    if reading.kind == "text":
        text = text_series(cells)
        return text.astype("category") if reading.is_code else text
    values = [v.strip() if isinstance(v, str) else None for v in cells]
    if reading.missing:
        values = [None if v in reading.missing else v for v in values]
    if reading.kind == "date":
        return dates(values, reading.date_format or "%Y-%m-%d")
    return _booleans(values, reading) if reading.kind == "boolean" else _numbers(values, reading)


def text_series(cells: Cells) -> Any:
    """Give cells as a column of the type that pandas has for text."""
    import pandas as pd

    return pd.Series([v if isinstance(v, str) else None for v in cells], dtype=pd.Series(["text"]).dtype)


def _numbers(values: Cells, reading: ColumnReading) -> Any:
    import pandas as pd

    plain = [None if v is None else reading.marks.plain(v) for v in values]
    return pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce")


def _booleans(values: Cells, reading: ColumnReading) -> Any:
    import pandas as pd

    words = dict.fromkeys(reading.true or TRUE_WORDS, True) | dict.fromkeys(reading.false or FALSE_WORDS, False)
    found = [words.get(v) for v in values]
    return pd.Series(found, dtype=float if None in found else bool)


def misfits(cells: Cells, converted: Any, reading: ColumnReading) -> list[str]:
    """Give the values that were there but became gaps, because they do not fit the reading.

    Parameters
    ----------
    cells : list
        Before `convert`.
    converted : pandas.Series
        After it.
    reading : ColumnReading
    """
    lost = converted.isna().tolist()
    return [v for v, is_gap in zip(cells, lost, strict=True)
            if is_gap and isinstance(v, str) and v.strip() not in reading.missing]  # fmt: skip


def cells_as_text(column: Any) -> Cells:
    """Write the cells of any column as text, gaps as None; whole numbers without a decimal point.

    Parameters
    ----------
    column : pandas.Series
    """
    gaps = column.isna().tolist()
    return [None if is_gap else cell_text(v) for v, is_gap in zip(column.tolist(), gaps, strict=True)]


def cell_text(value: Any) -> str:
    """Write a cell as text."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
