"""Column: what one column holds and how it is written: all readings that fit its different values, and conversion."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .cells import TEXT_GAPS, USUAL_GAPS, Cells, whole_numbers

Role = Literal["feature", "target", "id", "group", "weight", "ignored"]
TRUE_WORDS, FALSE_WORDS = ("True", "TRUE", "true"), ("False", "FALSE", "false")
#: Words that stand for a gap in a column that otherwise holds numbers, dates or booleans; capitals do not matter.
GAP_WORDS = pa.array([
    "?", ".", "-", "--", "\u2013", "\u2014", "*", "na", "n.a.", "n. a.", "n/a", "nd", "n.d.", "k.a.", "k. a.", "nil",
    "none", "null", "nan", "missing", "unknown", "unbekannt", "fehlt", "keine angabe", "manquant", "inconnu", "<na>",
    "#n/a", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!", "#name?", "#null!",
])  # fmt: skip
#: Text with more different values than this is no category.
MOST_LEVELS = 40
#: Different numbers that make a column one of amounts, whatever a part of its cells says.
FEWEST_AMOUNTS = 10
#: Digits beyond these are lost in a number, and so are what tells long identifiers apart.
MOST_DIGITS = 18
#: Signs that stand for a mark: programs write several spaces and apostrophes between groups of three digits.
_SIGNS = {",": ",", ".": ".", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}
SIGN_NAMES = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_MINUS = "\u2212"  # longer than a hyphen
_NOTHING = pa.scalar(None, pa.string())


class Marks(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to write numbers."""

    decimal: Literal[".", ",", ""] = "."  # empty for whole numbers of a file with decimal commas: see `WHOLE`
    thousands: Literal["", ",", ".", " ", "'"] = ""

    def matches(self, values: Any) -> Any:
        """Return which values are such numbers, without spaces around them: boolean array, null where one is null."""
        point, digits = f"[{self.decimal}]", "[0-9]+"
        if self.thousands:
            # A group of three after a first digit that is no zero: 030 123 is a telephone number.
            digits = f"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{_SIGNS[self.thousands]}][0-9]{{3}})+)"
        number = f"[+\\-{_MINUS}]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        return pc.match_substring_regex(values, f"^(?:{number}{'|[+-]?(?i:inf|infinity)' if self == PLAIN else ''})$")

    def fit(self, values: Any) -> bool:
        """Whether all values are such numbers; the first ones tell most columns."""
        return all(pc.all(self.matches(part)).as_py() for part in (values[:50], values))

    def rewritten(self, values: Any) -> Any:
        """Return numbers as Python writes them, null where a value is no such number."""
        if self == WHOLE:
            no_thousands = pc.if_else(GERMAN.matches(values), _NOTHING, values)
            return pc.coalesce(COMMA.rewritten(values), PLAIN.rewritten(no_thousands))
        values = pc.if_else(self.matches(values), values, _NOTHING)
        if self.thousands:
            values = pc.replace_substring_regex(values, f"[{_SIGNS[self.thousands]}]", "")
        return pc.replace_substring(pc.replace_substring(values, self.decimal, "."), _MINUS, "-")


PLAIN, COMMA, GERMAN = Marks(), Marks(","), Marks(",", ".")
#: Of columns that hold whole numbers only, in a file with decimal commas. New rows may have either decimal mark; 1.234,
#: which could be a thousand and more, is no such number.
WHOLE = Marks("")
CONVENTIONS = (
    PLAIN, COMMA, Marks(".", ","), GERMAN, Marks(",", " "), Marks(".", " "), Marks(".", "'"), Marks(",", "'"),
)  # fmt: skip


def conventions(values: Any) -> list[Marks]:
    """Return the conventions that fit all values of a column; an empty list where it holds something else."""
    if not len(values) or are_codes(values):
        return []
    found = []
    occurring = {mark for mark in _SIGNS if pc.any(pc.match_substring_regex(values, f"[{_SIGNS[mark]}]")).as_py()}
    for marks in CONVENTIONS:
        # Without a comma anywhere, 1 234 is written alike in both worlds, and 12 is just 12.
        needed = {marks.thousands, "," if marks.decimal == "," and marks.thousands != "." else ""}
        if needed <= {"", *occurring} and marks.fit(values):
            found.append(marks)
    return found


def are_codes(values: Any) -> bool:
    """Whether digits are not written as amounts are: with zeros in front, or longer than a number can hold."""
    if not len(values) or not pc.all(pc.match_substring_regex(values, "^[0-9]+$")).as_py():
        return False
    lengths = pc.min_max(pc.utf8_length(values)).as_py()
    if lengths["min"] == lengths["max"] == 2:
        return False  # months, hours and ages are often written with two digits: 05, 12
    return bool(lengths["max"] > MOST_DIGITS or pc.any(pc.match_substring_regex(values, "^0[0-9]")).as_py())


def without_limits(values: Any) -> Any:
    """Return text without the signs of limits before numbers: `<0.5` becomes 0.5."""
    return pc.replace_substring_regex(values, "^[<>\u2264\u2265]=?\\s*", "")


def are_limits(values: Any, signs: str = "<\u2264>\u2265") -> Any:
    """Return which text is a limit, such as `<0.5` (below what could be measured): boolean array."""
    pattern = f"^[{signs}]=?\\s*[+\\-{_MINUS}]?[0-9.,]"
    return np.asarray(pc.match_substring_regex(values, pattern).fill_null(False))


_WITH_UNIT = re.compile(r"([$\u20ac\u00a3]?)\s*[+-]?[0-9][0-9.,]*\s*([^\s0-9.,:/()+-][^0-9]*|)")


def have_unit(values: Any) -> bool:
    """Whether text is numbers with one unit, such as 12 % or 40 mg: amounts to a reader."""
    head = values[:1000].to_pylist()
    units = {match and match.groups() for match in map(_WITH_UNIT.fullmatch, head)}  # None where it is something else
    return len(head) >= FEWEST_AMOUNTS and len(units) == 1 and units.isdisjoint({None, ("", "")})


#: Every format that a schema may name. Years of two digits are left alone: their century is unknown.
FORMATS = [
    day + clock
    for day in ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y")
    for clock in ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S")
]
_DATE = (
    "^(?:[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})"
    "(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?$"
)
_DATE_WORDS = {"Y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second"}


def date_formats(values: Any) -> list[str]:
    """Return the formats in which every value of a column is a date of the calendar."""
    if not len(values) or not pc.all(pc.match_substring_regex(values, _DATE)).as_py():
        return []
    likely = [name for name in FORMATS if dates(values[:1], name).notna().all()]
    return [name for name in likely if dates(values, name).notna().all()]


def dates(text: Any, name: str) -> Any:
    """Read text as dates of one format; what does not fit becomes a gap."""
    return pd.to_datetime(pd.Series(text.to_pylist(), dtype=object), format=name, errors="coerce")


#: What limits such as `<0.5` and `>100` may count as.
LIMITS = {
    "value": "the limit itself", "half": "half of a lower limit, upper ones as the limit itself", "missing": "missing",
}  # fmt: skip


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a column holds and how it is written."""

    kind: Literal["number", "text", "date", "boolean"]
    role: Role = "feature"
    marks: Marks = PLAIN  # of numbers
    limits: Literal["", "value", "half", "missing"] = ""  # one of `LIMITS`; empty where there are none
    #: Of dates that were text, one of `FORMATS`; empty where the file itself knew that they are dates.
    date_format: Annotated[str, msgspec.Meta(pattern="^(%[Ymd][-/.]%[md][-/.]%[Ymd]([ T]%H:%M(:%S)?)?)?$")] = ""
    #: Words that were found to stand for a gap here, beside those that do in every column of numbers.
    missing: tuple[str, ...] = ()
    is_code: bool = False  # text that looks like numbers: models must take it as categories
    levels: tuple[str, ...] = ()  # the categories of text that has a few, in sorted order

    @property
    def gaps(self) -> tuple[str, ...]:
        """All words that stand for a gap in this column."""
        return (*(TEXT_GAPS if self.kind == "text" else USUAL_GAPS), *self.missing)

    @property
    def described(self) -> str:
        """What is special about this reading, in words; empty where nothing is."""
        limits = {"value": "limits as numbers", "half": "half of limits", "missing": "limits missing"}
        parts = (
            "decimal comma" * (self.marks.decimal == ","),
            f"thousands {SIGN_NAMES[self.marks.thousands]}" if self.marks.thousands else "",
            limits.get(self.limits, ""),
            re.sub("%(.)", lambda found: _DATE_WORDS[found[1]], self.date_format),
            "codes" * self.is_code,
            f"{', '.join(self.missing[:3])} missing" if self.missing else "",
        )
        return "; ".join(filter(None, parts))


def readings(cells: Cells, name: str, role: Role) -> tuple[list[Column], list[str]]:
    """Return every way in which a whole column can be read, at least one, and which cells keep it from being amounts.

    Such cells are reported where they make up at most half of the rows.
    """
    known: Any = cells.kinds.get(name)
    if role in ("id", "group"):
        return [Column("text", role)], []
    if known in ("number", "date", "boolean") or (role != "target" and name in cells.plain_numbers):
        return [Column(known or "number", role)], []
    values, counts = cells.distinct(name)
    levels = tuple(sorted(value for value in values[: 2 * MOST_LEVELS].to_pylist() if value not in TEXT_GAPS))
    levels = levels if len(levels) <= MOST_LEVELS else ()
    if known == "category":
        return [Column("text", role, is_code=True, levels=levels)], []
    if not len(values):
        return [Column("number", role)], []
    is_word = np.asarray(pc.is_in(pc.utf8_lower(values), value_set=GAP_WORDS))
    words = sorted(values.filter(pa.array(is_word)).to_pylist())
    missing = tuple(word for word in words if role == "target" or word not in USUAL_GAPS)
    # Where words for gaps are the most frequent, they are categories.
    others = values.filter(pa.array(~is_word)) if 2 * counts[is_word].sum() <= counts.sum() else values[:0]
    if len(others) and pc.all(pc.is_in(others, value_set=pa.array([*TRUE_WORDS, *FALSE_WORDS]))).as_py():
        return [Column("boolean", role, missing=missing)], []
    if found := [Column("number", role, marks, missing=missing) for marks in conventions(others)]:
        return found, []
    is_amount = np.any([np.asarray(marks.matches(values)) for marks in CONVENTIONS], axis=0)
    has_amounts = is_amount.sum() >= FEWEST_AMOUNTS
    if has_amounts:
        fitting = conventions(without_limits(others))
        found = [Column("number", role, marks, "value", missing=missing) for marks in fitting]
    found = found or [Column("date", role, date_format=each, missing=missing) for each in date_formats(others)]
    if found:
        return found, []
    are_digits, is_stray = are_codes(values), ~(is_amount | is_word)
    has_strays = has_amounts and not are_digits and 2 * counts[is_stray].sum() <= counts.sum()
    # Where most rows look like numbers, a part of the rows could be taken for numbers.
    looks_like_numbers = bool(2 * counts[np.asarray(PLAIN.matches(values))].sum() >= counts.sum())
    column = Column(
        "text", role, missing=tuple(word for word in words if word in TEXT_GAPS),
        is_code=are_digits or looks_like_numbers, levels=levels,
    )  # fmt: skip
    has_strays = has_strays or have_unit(values.filter(pa.array(is_stray)))
    return [column], values.filter(pa.array(is_stray)).to_pylist() if has_strays else []


#: Categories that skrub would take for gaps, such as "none" of a kind of pain, unless they are told to be categories.
_WORDS_OF_SKRUB = frozenset(("none", "None", "null", "nan", "n/a", "?", "..."))


def read_text(text: Any, column: Column) -> tuple[Any, list[str]]:
    """Read text; what does not fit becomes a gap, and is returned, too."""
    cells = pc.utf8_trim_whitespace(text)
    is_gap = np.asarray(pc.is_in(cells, value_set=pa.array([None, *column.gaps])))
    if column.limits == "missing":
        is_gap |= are_limits(cells)
    # Not if_else: up to pyarrow 18 at least it garbles the last cells of a sliced array.
    cells = pc.replace_with_mask(cells, pa.array(is_gap), _NOTHING)
    if column.kind == "text":
        is_category = column.is_code or not _WORDS_OF_SKRUB.isdisjoint(column.levels)
        return cells.to_pandas().astype("category") if is_category else cells.to_pandas(), []
    if column.kind == "date":
        made = dates(cells, column.date_format or "%Y-%m-%d")
        fits = made.notna().to_numpy()
    elif column.kind == "boolean":
        is_true = np.asarray(pc.is_in(cells, value_set=pa.array(TRUE_WORDS)))
        fits = is_true | np.asarray(pc.is_in(cells, value_set=pa.array(FALSE_WORDS)))
        # With gaps 1, 0 and NaN, but labels of a target stay true and false.
        with_gaps = (is_true.astype(object), None) if column.role == "target" else (is_true, np.nan)
        made = is_true if fits.all() else np.where(fits, *with_gaps)
    else:
        written = column.marks.rewritten(without_limits(cells) if column.limits else cells)
        made = pc.cast(written, pa.float64()).to_numpy(zero_copy_only=False)
        fits = ~np.isnan(made)
        halves = are_limits(cells, "<\u2264") & (column.limits == "half")
        made = np.where(halves, made / 2, made) if halves.any() else whole_numbers(written, made)
    return made, cells.filter(pa.array(~fits & ~is_gap)).to_pylist()
