"""What people are told about how a table was read: what is beyond doubt is silent, the rest is a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import Note
from .column import Column, amounts_with_strays
from .naming import columns_that, held_by, some
from .number_marks import PLAIN, Marks, sides_of_limits, without_limits
from .raw_table import RawTable

_MARK_NAMES = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


def inferred_notes(raw: RawTable, columns: Mapping[str, Column], unsure_dates: Sequence[str]) -> tuple[Note, ...]:
    """Return notes on what `Schema.infer` recognised; `unsure_dates` could begin with the day or the month."""
    texts = [n for n, column in columns.items() if column.kind == "text" and _is_text(raw, n)]
    stray = {
        name: found
        for name in texts
        if columns[name].role not in ("id", "group") and (found := amounts_with_strays(raw, name))
    }
    words = some([word[:20] for values in stray.values() for word in values])
    what = "It is" if len(stray) == 1 else "They are"
    notes = held_by(
        "W844", [*stray], f"numbers and other cells ({words})",
        f". {what} read as categories; correct such cells, or empty them.",
    )  # fmt: skip
    notes += _limits(raw, columns)
    groups: dict[Marks, list[str]] = {}
    for name, column in columns.items():
        if not column.marks.is_plain:
            groups.setdefault(column.marks, []).append(name)
    for marks, names in groups.items():
        values = _first(raw, names[0])
        example = next((v for v in values if marks.pattern.fullmatch(v) and not PLAIN.pattern.fullmatch(v)), values[0])
        signs = [] if marks.decimal == "." else ["decimal commas"]
        signs += [f"{_MARK_NAMES[marks.thousands]} between thousands"] if marks.thousands else []
        more = f". {example!r} is read as {number_of(example, columns[names[0]]):.15g}."
        notes += held_by("W801", names, " and ".join(signs), more)
    gappy = [name for name, column in columns.items() if column.missing]
    words = some(sorted({word for name in gappy for word in columns[name].missing}))
    notes += held_by("W801", gappy, f"words that count as missing ({words})", ".")
    if codes := [name for name in texts if columns[name].is_code and name not in stray]:
        zeros = next((f" (such as {v[:20]!r})" for v in _first(raw, codes[0]) if v.startswith("0")), "")
        notes += held_by("W801", codes, "codes, read as categories", f"{zeros}.")
    if unsure_dates:
        order = "day first, as in files with decimal commas or other dates of this file"
        order = order if columns[unsure_dates[0]].date_format.startswith("%d") else "month first"
        more = f". Read {order}; write dates like 2026-12-31 if that is wrong."
        notes += held_by("W801", unsure_dates, "dates that could begin with the day or the month", more)
    return (*notes, *_merged(raw, columns))


def _is_text(raw: RawTable, name: str) -> bool:
    return isinstance(raw.columns[name], pa.Array)


def _first(raw: RawTable, name: str) -> list[str]:
    """The first of the different values of a column, for examples."""
    found: list[str] = raw.distinct(name)[0].slice(0, 1000).to_pylist()
    return found


def number_of(example: str, column: Column) -> float:
    """Return the number that a cell stands for in a column."""
    cells = pa.array([example])
    return float(column.marks.numbers(without_limits(cells) if column.limits else cells)[0].as_py() or 0.0)


def limits_in(raw: RawTable, name: str) -> tuple[list[str], int]:
    """Return the limits that a column holds, such as `<0.5`, and in how many rows."""
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
    how = {"value": f"read as the limit itself (here {number:g})", "missing": "treated as missing"}
    if limit[0] in "<\u2264":
        how["half"] = f"read as half of the limit (here {number / 2:g}); upper limits as the limit itself"
    else:
        how["half"] = f"upper limits and read as the limit itself (here {number:g})"
    what = f"limits such as {limit!r} (in {n} of {raw.n_rows} rows)"
    return held_by("W844", names, what, f". They are {how[column.limits]}.")


def _merged(raw: RawTable, columns: Mapping[str, Column]) -> list[Note]:
    """Note labels of the target that are written differently and become one number."""
    notes = []
    for name, column in columns.items():
        if column.role == "target" and column.kind == "number" and _is_text(raw, name):
            spelled: dict[float, list[str]] = {}
            for value in raw.distinct(name)[0].slice(0, 100).to_pylist():
                if value not in column.gaps:
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
    texts = [n for n, c in columns.items() if c.kind == "text" and c.role == "feature" and n in raw.columns]
    names = [name for name in texts if not _is_text(raw, name) and raw.columns[name].dtype.kind in "iufM"]
    more = ". Read as text; look whether zeros in front were lost."
    return held_by("W844", names, "numbers or dates now but held text in training", more)


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
    what = "one value" if n == 1 else f"{n} values"
    parts = [f"{what} of a category that training did not have: {', '.join(unseen[:4])}"] if n else []
    if empty:
        start = columns_that(empty, "without", "without")
        parts.append(f"{start[0].lower()}{start[1:]} any value: {some(empty, 4)}")
    text = f"The new rows hold {'; '.join(parts)}. Such values tell the model nothing."
    return [Note("W844", text, (*names, *empty))] if parts else []
