"""Every column of a table given its kind, recognised from all its values.

Takes a frame as pandas reads it and a way to get columns back as text, gives the frame with its columns converted, the
record, and notes on what was recognised. Asks (by an error that names the option) where a number has two readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import Note, SoberError
from .number_marks import PLAIN, Marks
from .opened import AsText, Opened, Typed, replaced
from .reading_record import FALSE_WORDS, TRUE_WORDS, ColumnReading
from .text_columns import Cells, convert, possible_readings, strays

CATEGORY = ColumnReading("text", is_code=True)
_GERMAN = Marks(",", ".")
_MARK_NAMES = {"": "", ",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


def recognise(opened: Opened, decimal: str | None = None) -> Typed:
    """Recognise the kind of every column.

    Parameters
    ----------
    opened : Opened
    decimal : {".", ","}, optional
        The decimal mark where a column can be read in two ways.
    """
    frame, text_of = opened.frame, opened.text_of
    native = {name: _native(frame, name, dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)}
    unsure = [name for name, reading in native.items() if reading is None]
    declared = {name for name in unsure if str(frame[name].dtype) == "category"}  # the file says: no amounts
    unsure += [name for name in opened.doubtful if native[name] is not None]
    texts: Any = text_of(unsure) if unsure else {}
    possible = {name: [CATEGORY] if name in declared else possible_readings(texts[name]) for name in unsure}
    seen = _decimals_seen(opened, possible, decimal)
    wanted = decimal or (next(iter(seen)) if len(seen) == 1 else None)
    if wanted is None and not seen and not opened.suggests_commas:
        wanted = "plain"  # nothing speaks for commas
    chosen = {name: _choose(name, found, wanted, text_of) for name, found in possible.items()}
    text = [name for name, reading in chosen.items() if reading.kind == "text" and name not in declared]
    stray = {name: found for name in text if (found := strays(texts[name]))}
    changed = [name for name, reading in chosen.items() if not _stays(native[name], reading)]
    if changed:
        texts = text_of(changed)
        frame = replaced(frame, {name: convert(texts[name], chosen[name]) for name in changed})
    columns = {name: chosen.get(name) or native[name] or ColumnReading("text") for name in frame.columns}
    notes = [*_strays_noted(stray), *_marks_noted(columns, changed, text_of), *_gaps_noted(columns)]
    notes += _codes_noted(columns, {*declared, *stray}, text_of)
    return Typed(frame, columns, tuple(changed), (*notes, *_dates_noted(possible)))


def _decimals_seen(opened: Opened, possible: dict[str, list[ColumnReading]], decimal: str | None) -> set[str]:
    """Give the decimal marks that the file shows beyond doubt; add the columns that these put into doubt."""
    numbers = [found for found in possible.values() if found[0].kind == "number"]
    seen = {found[0].marks.decimal for found in numbers if len(found) == 1 and not found[0].marks.is_plain}
    has_commas = "," in seen or decimal == "," or opened.suggests_commas
    if opened.has_types or not (has_commas or any(len(found) > 1 for found in numbers)):
        return seen  # numbers that the file itself knows to be numbers have no marks
    dtypes = zip(opened.frame.columns, opened.frame.dtypes, strict=True)
    floats = [name for name, dtype in dtypes if name not in possible and dtype.kind == "f"]
    for name, cells in opened.text_of(floats).items() if floats else ():
        values = _values(cells)
        if has_commas and _GERMAN.fits(values):  # among decimal commas, 1.234 may be a thousand and more
            possible[name] = [ColumnReading("number"), ColumnReading("number", _GERMAN)]
        elif any("." in value for value in values):
            seen.add(".")
    return seen


def _values(cells: Cells) -> list[str]:
    """Give the different values of a column, in order."""
    return list(dict.fromkeys(v.strip() for v in cells if isinstance(v, str)))


def _native(frame: Any, name: str, dtype: Any) -> ColumnReading | None:
    """Give the kind of a column that is no text; None where its text must be looked at."""
    import pandas as pd

    kind = dtype.kind
    if kind in "iuf":
        return ColumnReading("number")
    if kind == "M":
        return ColumnReading("date")
    if kind == "b" or (kind == "O" and pd.api.types.infer_dtype(frame[name], skipna=True) == "boolean"):
        return ColumnReading("boolean", true=TRUE_WORDS, false=FALSE_WORDS)
    return None


def _stays(native: ColumnReading | None, reading: ColumnReading) -> bool:
    """Whether pandas has already read a column in the way that was chosen."""
    return reading == native or (native is None and reading == ColumnReading("text"))


def _choose(name: str, found: Sequence[ColumnReading], wanted: str | None, text_of: AsText) -> ColumnReading:
    """Choose the reading of a column: the only one, or the one with the decimal mark that is wanted."""
    if len(found) == 1 or found[0].kind != "number":
        return found[0]
    for reading in found:
        if reading.marks.decimal == wanted or (wanted == "plain" and reading.marks.is_plain):
            return reading
    example = max(_values(text_of([name])[name])[:1000], key=len)
    values = [f"{_value(example, reading.marks):g}" for reading in found[:2]]
    marks = [reading.marks.decimal for reading in found[:2]]
    raise SoberError(
        "E841",
        f"Column {name[:40]!r} holds {example[:20]!r}, which can be {values[0]} or {values[1]}. Write "
        f"--decimal {marks[0]} for {values[0]}, --decimal {marks[1]} for {values[1]}.",
    )


def _value(example: str, marks: Marks) -> float:
    return float(marks.plain(example) or "nan")


# ---- what was recognised -------------------------------------------------------------------------------------------
def _marks_noted(columns: dict[str, ColumnReading], changed: list[str], text_of: AsText) -> list[Note]:
    groups: dict[Marks, list[str]] = {}
    for name in changed:
        if columns[name].kind == "number" and not columns[name].marks.is_plain:
            groups.setdefault(columns[name].marks, []).append(name)
    notes = []
    for marks, names in groups.items():
        values = _values(text_of(names[:1])[names[0]])
        example = next((v for v in values if marks.pattern.fullmatch(v) and not PLAIN.pattern.fullmatch(v)), values[0])
        what = [] if marks.decimal == "." else ["decimal commas"]
        what += [f"{_MARK_NAMES[marks.thousands]} between thousands"] if marks.thousands else []
        text = f"{columns_that_hold(names)} {' and '.join(what)}: {some_of(names)}. {example!r} is read as"
        notes.append(Note("W841", f"{text} {_value(example, marks):.15g}.", (*names,)))
    return notes


def _gaps_noted(columns: dict[str, ColumnReading]) -> list[Note]:
    names = [name for name, reading in columns.items() if reading.missing]
    if not names:
        return []
    words = sorted({word for name in names for word in columns[name].missing})
    text = f"{columns_that_hold(names)} words that count as missing ({some_of(words)}): {some_of(names)}."
    return [Note("W842", text, (*names,))]


def _strays_noted(found: dict[str, list[str]]) -> list[Note]:
    if not found:
        return []
    words = [word[:20] for values in found.values() for word in values]
    text = f"{columns_that_hold(list(found))} numbers, but for a few cells ({some_of(words)}): {some_of(list(found))}."
    what = "It is" if len(found) == 1 else "They are"
    return [Note("W848", f"{text} {what} read as categories; mend such cells, or empty them.", (*found,))]


def _codes_noted(columns: dict[str, ColumnReading], declared: set[str], text_of: AsText) -> list[Note]:
    names = [name for name, reading in columns.items() if reading.is_code and name not in declared]
    if not names:
        return []
    text = f"{columns_that_hold(names)} codes, read as categories: {some_of(names)}"
    example = next((v for v in _values(text_of(names[:1])[names[0]]) if v.startswith("0")), None)
    return [Note("W846", f"{text}{'' if example is None else f' (such as {example[:20]!r})'}.", (*names,))]


def _dates_noted(possible: dict[str, list[ColumnReading]]) -> list[Note]:
    names = [name for name, found in possible.items() if found[0].kind == "date" and len(found) > 1]
    if not names:
        return []
    text = f"{columns_that_hold(names)} dates that could begin with the day or the month: {some_of(names)}."
    return [Note("W843", f"{text} Read month first; write dates like 2026-12-31 if that is wrong.", (*names,))]


def columns_that_hold(names: Sequence[str]) -> str:
    """Begin a sentence about one or more columns."""
    return "One column holds" if len(names) == 1 else f"{len(names)} columns hold"


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Write the first few of many names."""
    shown = ", ".join(repr(name[:40]) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
