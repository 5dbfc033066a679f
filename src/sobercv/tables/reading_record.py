"""How a table was read: the kind of every column and the marks in which it was written.

Takes what the readers recognised, gives plain data for a run's folder and back; refuses damaged data. New rows are read
by this record, so that they mean what they meant in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import SoberError
from .date_formats import FORMATS
from .number_marks import CONVENTIONS, PLAIN, Marks

KINDS = ("number", "text", "date", "boolean")
_MARK_NAMES = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
#: Words that pandas reads as true and false in a column that holds nothing else.
TRUE_WORDS, FALSE_WORDS = ("True", "TRUE", "true"), ("False", "FALSE", "false")


@dataclass(frozen=True)
class ColumnReading:
    """How one column was read.

    Attributes
    ----------
    kind : {"number", "text", "date", "boolean"}
    marks : Marks
        Of numbers.
    date_format : str
        Of dates that were text; empty where the file itself knew that they are dates.
    true, false : tuple of str
        Words of a boolean column.
    missing : tuple of str
        Words that stand for a gap here, beside those that do everywhere (see `USUAL_GAPS`).
    is_code : bool
        Text that looks like numbers: models must take it as categories.
    """

    kind: str
    marks: Marks = PLAIN
    date_format: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    is_code: bool = False

    @property
    def described(self) -> str:
        """What is special about this reading, in words; empty where nothing is."""
        parts = [] if self.marks.decimal == "." else ["decimal comma"]
        if self.marks.thousands:
            parts.append(f"thousands {_MARK_NAMES[self.marks.thousands]}")
        if self.date_format:
            parts.append(_date_words(self.date_format))
        if self.is_code:
            parts.append("codes")
        if self.missing:
            parts.append(f"{', '.join(self.missing[:3])} missing")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is usual is left out."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.kind == "number":
            found |= {"decimal": self.marks.decimal, "thousands": self.marks.thousands}
        if self.date_format:
            found["date_format"] = self.date_format
        if self.kind == "boolean":
            found |= {"true": list(self.true), "false": list(self.false)}
        if self.missing:
            found["missing"] = list(self.missing)
        if self.is_code:
            found["is_code"] = True
        return found

    @classmethod
    def from_dict(cls, held: Any) -> ColumnReading:
        """Read what `to_dict` gave; anything else raises ValueError."""
        if not isinstance(held, Mapping) or held.get("kind") not in KINDS:
            raise ValueError("no kind")
        marks = Marks(str(held.get("decimal", ".")), str(held.get("thousands", "")))
        name = str(held.get("date_format", ""))
        if marks not in CONVENTIONS or (name and name not in FORMATS):
            raise ValueError("no known marks")
        true, false, missing = (_words(held.get(part, [])) for part in ("true", "false", "missing"))
        return cls(str(held["kind"]), marks, name, true, false, missing, held.get("is_code") is True)


def _date_words(name: str) -> str:
    words = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%S": "second"}
    for code, word in words.items():
        name = name.replace(code, word)
    return name


def _words(held: Any) -> tuple[str, ...]:
    if not isinstance(held, list) or not all(isinstance(word, str) for word in held):
        raise ValueError("no words")
    return tuple(held)


@dataclass(frozen=True)
class ReadingRecord:
    """How a table was read.

    Attributes
    ----------
    columns : mapping of str to ColumnReading
    has_header : bool
    """

    columns: Mapping[str, ColumnReading] = field(default_factory=dict)
    has_header: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"has_header": self.has_header, "columns": {name: c.to_dict() for name, c in self.columns.items()}}

    @classmethod
    def from_dict(cls, held: Any, where: str) -> ReadingRecord:
        """Read what `to_dict` gave.

        Parameters
        ----------
        held : dict
        where : str
            The file that it comes from, for the message.
        """
        try:
            columns = {str(name): ColumnReading.from_dict(c) for name, c in held["columns"].items()}
            return cls(columns, bool(held["has_header"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SoberError(
                "E809", f"{where} does not say how the table was read: it is damaged or of another release. Write the "
                "run again with sober resume.",
            ) from None  # fmt: skip
