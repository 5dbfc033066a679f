"""Decimal and thousands marks: which of the world's ways to write a number fit a column of text.

Takes the different values of a column, gives the conventions that fit them all, and text as plain numbers; never
chooses between two conventions that fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

#: Spaces and apostrophes that programs put between groups of three digits.
SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"
_REMOVED = {"": "", ",": ",", ".": ".", " ": SPACES, "'": APOSTROPHES}


@dataclass(frozen=True)
class Marks:
    """One way to write numbers.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : {"", ",", ".", " ", "'"}
    """

    decimal: str = "."
    thousands: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether Python reads such numbers as they stand."""
        return self == PLAIN

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a number looks like, without spaces around it."""
        point, digits = re.escape(self.decimal), r"[0-9]+"
        if self.thousands:
            between = f"[{re.escape(_REMOVED[self.thousands])}]"
            # A group of three after a first digit that is no zero: 030 123 is a telephone number.
            digits = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+)"
        return re.compile(rf"[+\-\u2212]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?")

    def fits(self, values: Collection[str]) -> bool:
        """Whether all values are such numbers, and its marks (but the decimal point) occur in some of them."""
        if not values or not all(self.pattern.fullmatch(value) for value in values):
            return False
        # Without a comma anywhere, 1 234 is written alike in both worlds, and 12 is just 12.
        if self.decimal == "," and self.thousands != "." and not any("," in value for value in values):
            return False
        return not self.thousands or any(_has(value, self.thousands) for value in values)

    def plain(self, value: str) -> str | None:
        """Rewrite such a number as Python writes it; None where it is none."""
        value = value.strip()
        if self.is_plain:
            return value.replace("\u2212", "-")
        return value.translate(self._translation) if self.pattern.fullmatch(value) else None

    def code(self, text: str) -> str:
        """Write the pandas that `plain` stands for, on an expression that is a column of text."""
        return f"{text}.str.strip().str.translate({self._translation!r})"

    @cached_property
    def _translation(self) -> dict[int, str | None]:
        unwanted = dict.fromkeys(map(ord, _REMOVED[self.thousands]))
        return {**unwanted, ord(self.decimal): ".", 0x2212: "-"}


def _has(value: str, thousands: str) -> bool:
    return any(sign in value for sign in _REMOVED[thousands])


PLAIN = Marks()
CONVENTIONS = (
    PLAIN, Marks(","), Marks(".", ","), Marks(",", "."), Marks(",", " "), Marks(".", " "), Marks(".", "'"),
    Marks(",", "'"),
)  # fmt: skip
#: Digits beyond these are lost in a number, and so are what tells long identifiers apart.
MOST_DIGITS = 18
_DIGITS = re.compile(r"[0-9]+")


def conventions(values: Collection[str]) -> list[Marks]:
    """Give the conventions that fit all values of a column, none where it holds something else.

    Parameters
    ----------
    values : collection of str
        The different values, without spaces around them.
    """
    if are_codes(values):
        return []
    return [marks for marks in CONVENTIONS if marks.fits(values)]


def are_codes(values: Collection[str]) -> bool:
    """Whether digits are written as nobody writes amounts: with zeros in front, or longer than a number can hold."""
    if not values or not all(_DIGITS.fullmatch(value) for value in values):
        return False
    if all(len(value) == 2 for value in values):
        return False  # months, hours and ages are often written with two digits: 05, 12
    return any((len(value) > 1 and value[0] == "0") or len(value) > MOST_DIGITS for value in values)
