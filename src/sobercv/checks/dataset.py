"""check_dataset: all checks of a table, in the order in which people want to hear of them."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import SEVERITIES, Note
from ..tables import Dataset
from . import column_checks, target_checks
from .leaks import leaks

_ORDER = list(SEVERITIES.values())


def check_dataset(data: Dataset, *, cv: int = 10, notes: Iterable[Note] = ()) -> list[Note]:
    """Check a table for what would make a result wrong or impossible.

    Parameters
    ----------
    data : Dataset
    cv : int, default=10
    notes : iterable of Note
        What the reader of the file noted.

    Returns
    -------
    list of Note
        Errors first, then warnings, then suggestions.

    Examples
    --------
    >>> import pandas as pd
    >>> from sobercv.checks import check_dataset
    >>> from sobercv.tables import assign
    >>> frame = pd.DataFrame({"x": [1.0, 2.5] * 20, "y": ["a"] * 39 + ["b"]})
    >>> print(check_dataset(assign(frame, target="y"))[0])
    Class 'b' has 1 row, fewer than the 10 folds. Join it with another class, or leave it out.
    """
    found = [
        *notes,
        *target_checks.size(data, cv),
        *target_checks.classes(data, cv),
        *target_checks.events(data, cv),
    ]
    found += [*target_checks.missing(data), *column_checks.unusable_numbers(data)]
    if not any(note.severity == "error" for note in found):
        found += leaks(data)
    found += [*column_checks.empty_columns(data), *column_checks.identifiers(data)]
    found += [
        *column_checks.repeated_subjects(data),
        *column_checks.known_later(data),
        *column_checks.duplicates(data),
        *target_checks.task(data),
    ]
    return sorted(found, key=lambda note: _ORDER.index(note.severity))
