"""look: all checks of a table, in the order in which people want to hear of them.

Takes a `Dataset`, gives findings, errors first; trains nothing but stumps on single columns.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import Note
from ..tables import Dataset
from . import columns, targets
from .finding import Finding
from .huge_numbers import huge_numbers
from .identifiers import identifiers
from .leaks import leaks
from .repeated_subjects import repeated_subjects

_ORDER = {"E": 0, "W": 1, "S": 2}


def look(data: Dataset, *, folds: int = 10, notes: Iterable[Note] = ()) -> list[Finding]:
    """Look at a table for what would make a result wrong or impossible.

    Parameters
    ----------
    data : Dataset
    folds : int, default=10
    notes : iterable of Note
        What the reader of the file noted.

    Returns
    -------
    list of Finding
        Errors first, then warnings, then suggestions.

    Examples
    --------
    >>> import pandas as pd
    >>> from sobercv.checks import look
    >>> from sobercv.tables import assign
    >>> frame = pd.DataFrame({"x": [1.0, 2.5] * 20, "y": ["a"] * 39 + ["b"]})
    >>> look(assign(frame, target="y"))[0].message
    "Class 'b' has 1 row, fewer than the 10 folds. Join it with another class, or leave it out."
    """
    found = _found(notes)
    found += [*targets.size(data, folds), *targets.classes(data, folds), *targets.events(data, folds)]
    found += [*targets.missing(data), *columns.infinite_columns(data), *_found(huge_numbers(data))]
    if not any(f.severity == "error" for f in found):
        found += leaks(data)
    found += [*columns.empty_columns(data), *_found(identifiers(data)), *_found(repeated_subjects(data))]
    found += [*columns.dates(data), *columns.duplicates(data), *targets.task(data)]
    return sorted(found, key=lambda f: _ORDER[f.code[0]])


def _found(notes: Iterable[Note]) -> list[Finding]:
    return [Finding(note.code, note.text, note.columns) for note in notes]
