"""look: all checks of a table, in the order in which people want to hear of them.

Takes a `Dataset`, gives findings, errors first; trains nothing but stumps on single columns.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..tables import Dataset
from . import columns, target_findings
from .finding import Finding
from .leaks import leaks

_ORDER = {"E": 0, "W": 1, "S": 2}


def look(data: Dataset, *, folds: int = 10, notes: Iterable[tuple[str, str]] = ()) -> list[Finding]:
    """Look at a table for what would make a result wrong or impossible.

    Parameters
    ----------
    data : Dataset
    folds : int, default=10
    notes : iterable of (code, sentence)
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
    found = [Finding(code, text) for code, text in notes]
    found += [
        *target_findings.size(data, folds),
        *target_findings.classes(data, folds),
        *target_findings.events(data, folds),
    ]
    found += [*target_findings.missing(data), *columns.infinite_columns(data)]
    if not any(f.severity == "error" for f in found):
        found += leaks(data)
    found += [*columns.empty_columns(data), *columns.identifiers(data), *columns.repeated_ids(data)]
    found += [*columns.dates(data), *columns.duplicates(data), *target_findings.task(data)]
    return sorted(found, key=lambda f: _ORDER[f.code[0]])
