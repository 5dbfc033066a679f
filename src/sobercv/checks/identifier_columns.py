"""Columns that number the rows: a model can learn their order, which means nothing.

Takes a `Dataset`, gives notes; never trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Note
from ..tables import Dataset
from ..tables.identifiers import is_identifier
from .naming import columns_that, some
from .numeric_columns import not_fractions


def identifiers(data: Dataset) -> Iterator[Note]:
    """Find columns that look like identifiers, by name or by content."""
    found = [name for name in not_fractions(data.X) if is_identifier(data.X[name], name)]
    if found:
        what = columns_that(found, "looks", "look")
        yield Note("W807", f"{what} like an identifier: {some(found)}. Write --id or --ignore for it.", (*found,))
