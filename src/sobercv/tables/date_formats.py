"""Dates in text: which one format fits a whole column.

Never reads two formats in one column, and leaves years of two digits alone, whose century is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

#: What the date looks like, and its formats; where there are two, month first and day first.
_DAYS = (
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%m/%d/%Y", "%d/%m/%Y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%m-%d-%Y", "%d-%m-%Y")),
)
_TIMES = (("", ""), (r" \d{1,2}:\d{2}", " %H:%M"), (r" \d{1,2}:\d{2}:\d{2}", " %H:%M:%S"),
          (r"T\d{2}:\d{2}:\d{2}", "T%H:%M:%S"))  # fmt: skip
_SHAPES = [(re.compile(day + time), [f + clock for f in formats]) for day, formats in _DAYS for time, clock in _TIMES]
#: Every format that a schema may name.
FORMATS = frozenset(name for _, formats in _SHAPES for name in formats)


def date_formats(values: Collection[str]) -> list[str]:
    """Return the formats in which every value of a column is a date of the calendar."""
    first = next(iter(values), "")
    for shape, formats in _SHAPES:
        if shape.fullmatch(first):
            if not all(shape.fullmatch(value) for value in values):
                return []
            return [name for name in formats if dates(list(values), name).notna().all()]
    return []


def dates(text: Any, name: str) -> Any:
    """Read text as dates of one format; what does not fit becomes a gap."""
    import pandas as pd

    return pd.to_datetime(pd.Series(text, dtype=object), format=name, errors="coerce")
