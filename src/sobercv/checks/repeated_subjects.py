"""Patients with several rows: in training and test at once they make every score too good.

Takes a `Dataset`, gives notes; never trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Note
from ..tables import Dataset
from ..tables.identifiers import repeats_subjects
from .naming import some
from .numeric_columns import not_fractions


def repeated_subjects(data: Dataset) -> Iterator[Note]:
    """Find columns that seem to tell patients apart, where no group was named."""
    if data.groups is not None:
        return
    for name in not_fractions(data.X):
        column = data.X[name]
        if repeats_subjects(column, name):
            text = (
                f"{some([name])} has {column.nunique()} different values in {len(column)} rows. If it tells patients "
                f"apart, write --group {name[:40]}, or rows of one patient are in training and test at once."
            )
            yield Note("W812", text, (name,))
