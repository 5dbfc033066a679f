"""What people are told about how a table was read: what is beyond doubt is silent, the rest is a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Note
from .column import Column, amounts_with_strays
from .naming import columns_that, some
from .number_marks import PLAIN, Marks, sides_of_limits, without_limits
from .raw_table import RawTable

_MARK_NAMES = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


def inferred_notes(raw: RawTable, columns: Mapping[str, Column], unsure_dates: Sequence[str]) -> tuple[Note, ...]:
    """Return notes on what `Schema.infer` recognised.

    Parameters
    ----------
    unsure_dates : sequence of str
        Columns of dates that could begin with the day or the month.
    """
    texts = [name for name, column in columns.items() if column.kind == "text" and _is_text(raw, name)]
    stray = {
        name: found
        for name in texts
        if columns[name].role not in ("id", "group") and (found := amounts_with_strays(raw, name))
    }
    codes = [name for name in texts if columns[name].is_code and name not in stray]
    notes = [*_strays(stray), *_limits(raw, columns), *_marks(raw, columns), *_gaps(columns), *_codes(raw, codes)]
    return (*notes, *_dates(columns, unsure_dates), *_merged(raw, columns))


def _is_text(raw: RawTable, name: str) -> bool:
    import pyarrow as pa

    return isinstance(raw.columns[name], pa.Array)


def number_of(example: str, column: Column) -> float:
    """Return the number that a cell stands for in a column."""
    import pyarrow as pa

    cells = pa.array([example])
    return float(column.marks.numbers(without_limits(cells) if column.limits else cells)[0].as_py() or 0.0)


def _strays(found: Mapping[str, list[str]]) -> list[Note]:
    if not found:
        return []
    words = [word[:20] for values in found.values() for word in values]
    text = f"{columns_that(list(found), 'holds', 'hold')} numbers and other cells ({some(words)}): {some(list(found))}."
    what = "It is" if len(found) == 1 else "They are"
    return [Note("W844", f"{text} {what} read as categories; correct such cells, or empty them.", (*found,))]


def limits_in(raw: RawTable, name: str) -> tuple[list[str], int]:
    """Return the limits that a column holds, such as `<0.5`, and in how many rows."""
    import pyarrow as pa

    values, counts = raw.distinct(name)
    is_limit = sides_of_limits(values) != 0
    return values.filter(pa.array(is_limit)).to_pylist(), int(counts[is_limit].sum())


def _limits(raw: RawTable, columns: Mapping[str, Column]) -> list[Note]:
    names = [name for name, column in columns.items() if column.limits]
    if not names:
        return []
    found, n = limits_in(raw, names[0])
    limit = next((each for each in found if each[0] in "<\u2264"), found[0])
    column = columns[names[0]]
    number = number_of(limit, column)
    how = {"value": f"read as the number itself, {number:g}", "missing": "missing"}
    if limit[0] in "<\u2264":
        how["half"] = f"read as half of it, {number / 2:g}; upper limits as themselves"
    else:
        how["half"] = f"upper limits and read as the number itself, {number:g}"
    text = (
        f"{columns_that(names, 'holds', 'hold')} limits such as {limit!r} (in {n} of {raw.n_rows} rows): {some(names)}."
        f" They are {how[column.limits]}."
    )
    return [Note("W844", text, (*names,))]


def _marks(raw: RawTable, columns: Mapping[str, Column]) -> list[Note]:
    groups: dict[Marks, list[str]] = {}
    for name, column in columns.items():
        if not column.marks.is_plain:
            groups.setdefault(column.marks, []).append(name)
    notes = []
    for marks, names in groups.items():
        values = raw.distinct(names[0])[0].slice(0, 1000).to_pylist()
        example = next((v for v in values if marks.pattern.fullmatch(v) and not PLAIN.pattern.fullmatch(v)), values[0])
        what = [] if marks.decimal == "." else ["decimal commas"]
        what += [f"{_MARK_NAMES[marks.thousands]} between thousands"] if marks.thousands else []
        text = f"{columns_that(names, 'holds', 'hold')} {' and '.join(what)}: {some(names)}. {example!r} is read as"
        notes.append(Note("W801", f"{text} {number_of(example, columns[names[0]]):.15g}.", (*names,)))
    return notes


def _gaps(columns: Mapping[str, Column]) -> list[Note]:
    names = [name for name, column in columns.items() if column.missing]
    if not names:
        return []
    words = sorted({word for name in names for word in columns[name].missing})
    text = f"{columns_that(names, 'holds', 'hold')} words that count as missing ({some(words)}): {some(names)}."
    return [Note("W801", text, (*names,))]


def _codes(raw: RawTable, names: list[str]) -> list[Note]:
    if not names:
        return []
    text = f"{columns_that(names, 'holds', 'hold')} codes, read as categories: {some(names)}"
    values = raw.distinct(names[0])[0].slice(0, 1000).to_pylist()
    example = next((v for v in values if v.startswith("0")), None)
    return [Note("W801", f"{text}{'' if example is None else f' (such as {example[:20]!r})'}.", (*names,))]


def _dates(columns: Mapping[str, Column], names: Sequence[str]) -> list[Note]:
    if not names:
        return []
    order = "day first, as in files with decimal commas or other dates of this file"
    if not columns[names[0]].date_format.startswith("%d"):
        order = "month first"
    text = f"{columns_that(names, 'holds', 'hold')} dates that could begin with the day or the month: {some(names)}."
    return [Note("W801", f"{text} Read {order}; write dates like 2026-12-31 if that is wrong.", (*names,))]


def _merged(raw: RawTable, columns: Mapping[str, Column]) -> list[Note]:
    """Note labels of the target that are written differently and become one number."""
    notes = []
    for name, column in columns.items():
        if column.role == "target" and column.kind == "number" and _is_text(raw, name):
            values = [v for v in raw.distinct(name)[0].slice(0, 100).to_pylist() if v not in column.gaps]
            spelled: dict[float, list[str]] = {}
            for value in values:
                spelled.setdefault(number_of(value, column), []).append(value)
            same = next((each for each in spelled.values() if len(each) > 1), None)
            if same is not None and len(spelled) <= 20:
                text = f"The target {name[:40]!r} holds {some(same)}, which are read as the same number."
                notes.append(Note("W801", text, (name,)))
    return notes


# ---- new rows ------------------------------------------------------------------------------------------------------
def lost_noted(lost: Mapping[str, list[str]]) -> list[Note]:
    """Return a note on values that became gaps because they do not fit the schema, by column."""
    if not lost:
        return []
    n = sum(len(bad) for bad in lost.values())
    parts = [f"{len(bad)} of {name[:40]!r} ({bad[0][:20]!r})" for name, bad in list(lost.items())[:4]]
    more = f" and {len(lost) - 4} more columns" if len(lost) > 4 else ""
    what = "One value does not fit its column's kind" if n == 1 else f"{n} values do not fit their columns' kinds"
    counts = "counts" if n == 1 else "count"
    return [Note("W844", f"{what} in training and {counts} as missing: {', '.join(parts)}{more}.", (*lost,))]


def now_typed_noted(raw: RawTable, columns: Mapping[str, Column]) -> list[Note]:
    """Return a note on columns that are numbers or dates in the file but held text in training."""
    names = [
        name
        for name, column in columns.items()
        if column.kind == "text" and column.role == "feature" and name in raw.columns and _has_numbers(raw, name)
    ]
    if not names:
        return []
    text = f"{columns_that(names, 'holds', 'hold')} numbers or dates now but held text in training: {some(names)}."
    return [Note("W844", f"{text} Read as text; look whether zeros in front were lost.", (*names,))]


def _has_numbers(raw: RawTable, name: str) -> bool:
    column: Any = raw.columns[name]
    return not _is_text(raw, name) and column.dtype.kind in "iufM"


def unseen_noted(raw: RawTable, columns: Mapping[str, Column], frame: Any) -> list[Note]:
    """Return a note on what the rows of training did not hold: other categories, columns without any value."""
    unseen, names, n = [], [], 0
    for name, column in columns.items():
        if name in raw.columns and column.levels:
            values, counts = raw.distinct(name)
            known = {*column.levels, *column.gaps}
            new = [(v, c) for v, c in zip(values.to_pylist(), counts.tolist(), strict=True) if v not in known]
            if new:
                n += sum(c for _, c in new)
                names.append(name)
                unseen.append(f"{name[:40]!r} ({', '.join(repr(v[:20]) for v, _ in new[:3])})")
    empty = [str(c) for c, is_empty in frame.isna().all().items() if is_empty and columns[c].role == "feature"]
    what = "One value" if n == 1 else f"{n} values"
    parts = [f"{what} of a category that training did not have: {', '.join(unseen[:4])}"] if n else []
    if empty:
        parts.append(f"{columns_that(empty, 'without', 'without')} any value: {some(empty, 4)}")
    text = f"The new rows hold {'; '.join(p[0].lower() + p[1:] for p in parts)}. Such values tell the model nothing."
    return [Note("W844", text, (*names, *empty))] if parts else []
