"""Column: what one column holds and how it is written; recognised from its text, and converted by it.

Never chooses between two readings that fit: that takes the rest of the file.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .date_formats import FORMATS, date_formats, dates
from .number_marks import CONVENTIONS, PLAIN, Marks, are_codes, conventions, sides_of_limits, without_limits
from .raw_table import TEXT_GAPS, USUAL_GAPS, RawTable, whole_numbers

TRUE_WORDS, FALSE_WORDS = ("True", "TRUE", "true"), ("False", "FALSE", "false")
Role = Literal["feature", "target", "id", "group", "weight", "ignored"]
_MARK_NAMES = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_DATE_WORDS = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%S": "second"}
#: Words that stand for a gap in a column that otherwise holds numbers, dates or booleans; capitals do not matter.
GAP_WORDS = frozenset({
    "?", ".", "-", "--", "\u2013", "\u2014", "*", "na", "n.a.", "n. a.", "n/a", "nd", "n.d.", "k.a.", "k. a.", "nil",
    "none", "null", "nan", "missing", "unknown", "unbekannt", "fehlt", "keine angabe", "manquant", "inconnu", "<na>",
    "#n/a", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!", "#name?", "#null!",
})  # fmt: skip
#: Text with more different values than this is no category.
MOST_LEVELS = 40
#: Different numbers that make a column one of amounts, whatever a part of its cells says.
FEWEST_AMOUNTS = 10


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a column holds and how it is written."""

    kind: Literal["number", "text", "date", "boolean"]
    role: Role = "feature"
    #: Of numbers.
    marks: Marks = PLAIN
    #: What limits such as `<0.5` and `>100` count as: the number itself, half of a lower one, or a gap; empty where
    #: there are none.
    limits: Literal["", "value", "half", "missing"] = ""
    #: For a column that is made, not read: -1, 0 or 1 where this column holds a lower limit, a number, an upper limit.
    flags_of: str = ""
    #: Of dates that were text; empty where the file itself knew that they are dates.
    date_format: str = ""
    #: Words that were found to stand for a gap here, beside those that do in every column of numbers.
    missing: tuple[str, ...] = ()
    #: Text that looks like numbers: models must take it as categories.
    is_code: bool = False
    #: The categories of text that has a few, in sorted order.
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.date_format not in ("", *FORMATS):
            raise ValueError(f"there is no date format {self.date_format[:20]!r}")

    @property
    def gaps(self) -> tuple[str, ...]:
        """All words that stand for a gap in this column."""
        return (*(TEXT_GAPS if self.kind == "text" else USUAL_GAPS), *self.missing)

    @property
    def described(self) -> str:
        """What is special about this reading, in words; empty where nothing is."""
        parts = [] if self.marks.decimal == "." else ["decimal comma"]
        if self.marks.thousands:
            parts.append(f"thousands {_MARK_NAMES[self.marks.thousands]}")
        if self.limits:
            parts.append(
                {"value": "limits as numbers", "half": "half of limits", "missing": "limits missing"}[self.limits]
            )
        if self.flags_of:
            parts.append(f"-1 below, 1 above a limit of {self.flags_of[:40]}")
        if self.date_format:
            name = self.date_format
            for code, word in _DATE_WORDS.items():
                name = name.replace(code, word)
            parts.append(name)
        if self.is_code:
            parts.append("codes")
        if self.missing:
            parts.append(f"{', '.join(self.missing[:3])} missing")
        return "; ".join(parts)


# ---- recognised ----------------------------------------------------------------------------------------------------
def readings(raw: RawTable, name: str, role: Role) -> list[Column]:
    """Return every way in which a whole column can be read, at least one."""
    if role in ("id", "group"):
        return [Column("text", role)]
    if role != "target" and name in raw.plain_numbers:
        return [Column("number", role)]
    column = raw.columns[name]
    if not isinstance(column, pa.Array):  # the file knows it
        if str(column.dtype) == "category":
            return [Column("text", role, is_code=True, levels=_levels(raw.distinct(name)[0]))]
        kind: Any = {"M": "date", "b": "boolean", "O": "boolean"}.get(column.dtype.kind, "number")
        return [Column(kind, role)]
    values, counts = raw.distinct(name)
    if not len(values):
        return [Column("number", role)]
    is_word = np.asarray(pc.is_in(pc.utf8_lower(values), value_set=pa.array(sorted(GAP_WORDS))))
    words = values.filter(pa.array(is_word)).to_pylist()
    if not is_word.all() and 2 * counts[is_word].sum() <= counts.sum():
        silent = () if role == "target" else USUAL_GAPS
        found = _other_than_text(
            values.filter(pa.array(~is_word)), role, tuple(sorted(word for word in words if word not in silent))
        )
        if found:
            return found
    missing = tuple(sorted(word for word in words if word in TEXT_GAPS))
    # Where most rows look like numbers, a part of the rows could be taken for numbers.
    looks_like_numbers = 2 * counts[np.asarray(PLAIN.matches(values), dtype=bool)].sum() >= counts.sum()
    is_code = are_codes(values) or bool(looks_like_numbers)
    return [Column("text", role, missing=missing, is_code=is_code, levels=_levels(values))]


def _levels(values: Any) -> tuple[str, ...]:
    """Return the categories among the different values of a column; none where there are too many."""
    found = [value for value in values.slice(0, 2 * MOST_LEVELS).to_pylist() if value not in TEXT_GAPS]
    return tuple(sorted(found)) if len(found) <= MOST_LEVELS else ()


def _other_than_text(values: Any, role: Role, missing: tuple[str, ...]) -> list[Column]:
    """Return readings other than text that fit all values."""
    if pc.all(pc.is_in(values, value_set=pa.array([*TRUE_WORDS, *FALSE_WORDS]))).as_py():
        return [Column("boolean", role, missing=missing)]
    found = [Column("number", role, marks, missing=missing) for marks in conventions(values)]
    if not found and len(values) - len(strays(values)) >= FEWEST_AMOUNTS:
        fitting = conventions(without_limits(values))
        found = [Column("number", role, marks, "value", missing=missing) for marks in fitting]
    return found or [
        Column("date", role, date_format=each, missing=missing) for each in date_formats(values.to_pylist())
    ]


def strays(values: Any) -> Any:
    """Return the values that are written in none of the ways to write a number, words for gaps aside."""
    others = values
    for marks in CONVENTIONS:
        others = others.filter(pc.invert(marks.matches(others)))
    return others.filter(pc.invert(pc.is_in(pc.utf8_lower(others), value_set=pa.array(sorted(GAP_WORDS)))))


def amounts_with_strays(raw: RawTable, name: str) -> list[str]:
    """Return the cells that keep a column of amounts from being one: at most half of its rows."""
    values, counts = raw.distinct(name)
    found = strays(values)
    n_rows = counts[np.asarray(pc.is_in(values, value_set=found), dtype=bool)].sum() if len(found) else 0
    n_words = int(pc.sum(pc.is_in(pc.utf8_lower(values), value_set=pa.array(sorted(GAP_WORDS)))).as_py() or 0)
    is_amount = len(values) - len(found) - n_words >= FEWEST_AMOUNTS and 2 * n_rows <= counts.sum()
    return found.to_pylist() if is_amount and not are_codes(values) else []


# ---- converted -----------------------------------------------------------------------------------------------------
def convert(raw: RawTable, name: str, column: Column) -> tuple[Any, list[str]]:
    """Read a column of a table; what does not fit becomes a gap, and is returned, too."""
    if column.flags_of:
        return sides_of_limits(pc.utf8_trim_whitespace(raw.text(column.flags_of))), []
    held = raw.columns[name]
    if column.kind == "number" and column.marks.is_plain and name in raw.plain_numbers:
        return raw.plain_numbers[name], []
    if not isinstance(held, pa.Array) and held.dtype.kind in {"number": "iuf", "date": "M", "boolean": "b"}.get(
        column.kind, ""
    ):
        return held.to_numpy() if held.dtype.kind in "iuf" else held, []
    text = raw.text(name)
    cells = pc.utf8_trim_whitespace(text)
    is_gap = pc.or_kleene(pc.is_null(cells), pc.is_in(cells, value_set=pa.array(column.gaps)))
    if column.limits == "missing":
        is_gap = pc.or_(is_gap, pa.array(sides_of_limits(cells) != 0))
    nothing = pa.scalar(None, pa.string())
    if column.kind == "text":
        # Not if_else: up to pyarrow 18 at least it garbles the last cells of a sliced array.
        found = pc.replace_with_mask(text, is_gap, nothing).to_pandas()
        return found.astype("category") if column.is_code else found, []
    cells = pc.replace_with_mask(cells, is_gap, nothing)
    if column.kind == "date":
        made = dates(cells.to_pylist(), column.date_format or "%Y-%m-%d")
    else:
        made = _booleans(cells, column) if column.kind == "boolean" else _numbers(cells, column)
    lost = np.asarray(pa.array(np.asarray(made), from_pandas=True).is_null()) & ~np.asarray(is_gap)
    return made, cells.filter(pa.array(lost)).to_pylist()


def _numbers(cells: Any, column: Column) -> Any:
    sides = sides_of_limits(cells) if column.limits == "half" else None
    cells = without_limits(cells) if column.limits else cells
    found = column.marks.numbers(cells)
    values = found.to_numpy(zero_copy_only=False)
    if sides is not None:
        return np.where(sides < 0, values / 2, values)
    is_whole = found.null_count == 0 and len(values) and (values % 1 == 0).all()
    return whole_numbers(column.marks.rewritten(cells), values) if is_whole else values


def _booleans(cells: Any, column: Column) -> Any:
    """Return booleans; with gaps 1, 0 and NaN, but labels of a target stay true and false."""
    is_true = np.asarray(pc.is_in(cells, value_set=pa.array(TRUE_WORDS)))
    is_false = np.asarray(pc.is_in(cells, value_set=pa.array(FALSE_WORDS)))
    if (is_true | is_false).all():
        return is_true
    if column.role == "target":
        return np.array([bool(t) if t or f else None for t, f in zip(is_true, is_false, strict=True)], dtype=object)
    return np.where(is_true | is_false, is_true, np.nan)
