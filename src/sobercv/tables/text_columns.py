"""Columns of text: what they could hold, and that made of them.

Takes text with gaps, gives the readings that are possible (numbers, dates, booleans, else text) and columns converted
by one of them. Never chooses between two readings that fit: that takes the rest of the file.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .date_formats import date_formats, dates
from .number_marks import PLAIN, are_codes, conventions
from .reading_record import FALSE_WORDS, TRUE_WORDS, ColumnReading

#: What pandas takes for a gap in every column of a text file: the record of a run needs not repeat them.
USUAL_GAPS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "<NA>")
#: Words that stand for a gap in a column that otherwise holds numbers, dates or booleans; capitals do not matter.
GAP_WORDS = frozenset({
    "?", ".", "-", "--", "\u2013", "\u2014", "*", "na", "n.a.", "n. a.", "n/a", "nd", "n.d.", "k.a.", "k. a.", "nil",
    "none", "null", "nan", "missing", "unknown", "unbekannt", "fehlt", "keine angabe", "manquant", "inconnu",
    "#n/a", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!", "#name?", "#null!",
})  # fmt: skip


def possible_readings(text: Any) -> list[ColumnReading]:
    """Give every way in which a whole column of text can be read, at least one.

    Parameters
    ----------
    text : pandas.Series
        Text and gaps.
    """
    counts = Counter(value.strip() for value in text.dropna().tolist())  # many short columns: pandas would be slower
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


def convert(text: Any, reading: ColumnReading) -> Any:
    """Read a column of text in one way; what does not fit becomes a gap.

    Parameters
    ----------
    text : pandas.Series
        Text and gaps.
    reading : ColumnReading

    Returns
    -------
    pandas.Series
    """
    if reading.kind == "text":
        return text.astype("category") if reading.is_code else text
    if reading.missing:
        text = text.where(~text.str.strip().isin(reading.missing))
    if reading.kind == "date":
        return dates(text, reading.date_format or "%Y-%m-%d")
    return _booleans(text, reading) if reading.kind == "boolean" else _numbers(text, reading)


def _numbers(text: Any, reading: ColumnReading) -> Any:
    import pandas as pd

    marks = reading.marks
    values = [marks.plain(value) if isinstance(value, str) else None for value in text.tolist()]
    return pd.to_numeric(pd.Series(values, text.index, dtype=object), errors="coerce")


def _booleans(text: Any, reading: ColumnReading) -> Any:
    words = dict.fromkeys(reading.true or TRUE_WORDS, True) | dict.fromkeys(reading.false or FALSE_WORDS, False)
    found = text.str.strip().map(words)
    return found.astype(float) if found.isna().any() else found.astype(bool)


def misfits(text: Any, converted: Any, reading: ColumnReading) -> Any:
    """Give the values that were there but became gaps, because they do not fit the reading.

    Parameters
    ----------
    text, converted : pandas.Series
        Before and after `convert`.
    reading : ColumnReading
    """
    lost = converted.isna() & text.notna()
    values = text[lost]
    return values[~values.str.strip().isin(reading.missing)]


def as_text(column: Any) -> Any:
    """Write the cells of any column as text, gaps kept; whole numbers without a decimal point.

    Parameters
    ----------
    column : pandas.Series
    """
    return column.astype(object).map(cell_text, na_action="ignore").astype("str").where(column.notna())


def cell_text(value: Any) -> str:
    """Write a cell as text."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
