"""Columns that number the rows: a model can learn their order, which means nothing.

Takes a `Dataset`, gives notes; never trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Note
from ..tables import Dataset
from ..tables.identifiers import is_identifier
from .finding import some


def identifiers(data: Dataset) -> Iterator[Note]:
    """Find columns that look like identifiers, by name or by content."""
    found = [name for name in data.X.columns if is_identifier(data.X[name], name)]
    if found:
        what = "One column looks" if len(found) == 1 else f"{len(found)} columns look"
        text = f"{what} like an identifier: {some(found)}. Write --id or --ignore for it."
        yield Note("W807", text, (*found,))
