"""Decimal and thousands marks: which of the world's ways to write a number fit a column of text, and its numbers.

Works on pyarrow arrays of text, a whole column at a time. Never chooses between two conventions that fit.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Spaces and apostrophes that programs put between groups of three digits.
SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"
_SIGNS = {"": "", ",": ",", ".": ".", " ": SPACES, "'": APOSTROPHES}
#: A minus sign that is longer than a hyphen.
_MINUS = "\u2212"
#: What stands before a number that is only a limit: below or above what could be measured.
_LIMIT = "[<>\u2264\u2265]=?\\s*"


class Marks(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """One way to write numbers."""

    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", " ", "'"] = ""

    @property
    def is_plain(self) -> bool:
        """Whether Python reads such numbers as they stand."""
        return self == PLAIN

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a number looks like, without spaces around it."""
        point, digits = re.escape(self.decimal), r"[0-9]+"
        if self.thousands:
            between = f"[{_SIGNS[self.thousands]}]"
            # A group of three after a first digit that is no zero: 030 123 is a telephone number.
            digits = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+)"
        return re.compile(rf"[+\-{_MINUS}]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?")

    def matches(self, values: Any) -> Any:
        """Return which values are such numbers: boolean array, null where a value is null."""
        more = "|[+-]?(?i:inf|infinity)" if self.is_plain else ""
        return pc.match_substring_regex(values, f"^(?:(?:{self.pattern.pattern}){more})$")

    def numbers(self, values: Any) -> Any:
        """Return the numbers that values stand for: float64 array, null where a value is no such number."""
        fitting = pc.if_else(self.matches(values), values, pa.scalar(None, values.type))
        return pc.cast(self.rewritten(fitting), pa.float64())

    def rewritten(self, values: Any) -> Any:
        """Return such numbers as Python writes them."""
        if self.thousands:
            values = pc.replace_substring_regex(values, f"[{_SIGNS[self.thousands]}]", "")
        if self.decimal != ".":
            values = pc.replace_substring(values, self.decimal, ".")
        return pc.replace_substring(values, _MINUS, "-")


PLAIN = Marks()
CONVENTIONS = (
    PLAIN, Marks(","), Marks(".", ","), Marks(",", "."), Marks(",", " "), Marks(".", " "), Marks(".", "'"),
    Marks(",", "'"),
)  # fmt: skip
#: Digits beyond these are lost in a number, and so are what tells long identifiers apart.
MOST_DIGITS = 18


def conventions(values: Any) -> list[Marks]:
    """Return the conventions that fit all values of a column; an empty list where it holds something else."""
    if not len(values) or are_codes(values):
        return []
    return [marks for marks in CONVENTIONS if fits(marks, values)]


def fits(marks: Marks, values: Any) -> bool:
    """Whether all values are numbers of a convention, and its marks (but the decimal point) occur in some of them."""
    # Without a comma anywhere, 1 234 is written alike in both worlds, and 12 is just 12.
    if marks.decimal == "," and marks.thousands != "." and not _occurs(values, ","):
        return False
    if marks.thousands and not any(_occurs(values, sign) for sign in _SIGNS[marks.thousands]):
        return False
    return all(pc.all(marks.matches(part)).as_py() for part in (values.slice(0, 50), values))


def without_limits(values: Any) -> Any:
    """Return text without the signs of limits before numbers: `<0.5` becomes 0.5."""
    return pc.replace_substring_regex(values, f"^{_LIMIT}", "")


def sides_of_limits(values: Any) -> Any:
    """Return -1 where text is a lower limit (`<0.5`: below what could be measured), 1 for an upper one, else 0."""
    below, above = (
        np.asarray(pc.match_substring_regex(values, f"^[{signs}]=?\\s*[0-9.,]").fill_null(False))
        for signs in ("<\u2264", ">\u2265")
    )
    return above.astype(np.int64) - below.astype(np.int64)


def _occurs(values: Any, sign: str) -> bool:
    return bool(pc.any(pc.match_substring(values, sign)).as_py())


def are_codes(values: Any) -> bool:
    """Whether digits are not written as amounts are: with zeros in front, or longer than a number can hold."""
    if not len(values) or not pc.all(pc.match_substring_regex(values, "^[0-9]+$")).as_py():
        return False
    lengths = pc.min_max(pc.utf8_length(values)).as_py()
    if lengths["min"] == lengths["max"] == 2:
        return False  # months, hours and ages are often written with two digits: 05, 12
    return bool(lengths["max"] > MOST_DIGITS or pc.any(pc.match_substring_regex(values, "^0[0-9]")).as_py())
