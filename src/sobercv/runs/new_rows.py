"""What new rows hold that the rows of training did not: categories that no model knows, columns without any value.

Takes a frame and what `model.json` tells of training, gives one note; never changes a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Note
from ..report.words import count

#: Text with more different values than this is no category.
MOST_LEVELS = 40


def levels_of(X: Any) -> dict[str, list[str]]:
    """Give the categories of each column of text that has a few.

    Parameters
    ----------
    X : pandas.DataFrame
    """
    texts = [name for name, dtype in X.dtypes.items() if dtype.kind not in "iufbM"]
    found = {name: sorted(set(X[name].dropna().astype(str))) for name in texts}
    return {str(name): levels for name, levels in found.items() if len(levels) <= MOST_LEVELS}


def strangers_noted(X: Any, levels: Mapping[str, tuple[str, ...]]) -> list[Note]:
    """Count what the model has never seen, in one line.

    Parameters
    ----------
    X : pandas.DataFrame
    levels : mapping of str to tuple of str
    """
    unseen, columns, n = [], [], 0
    for name, known in levels.items():
        values = X[name].dropna().astype(str) if name in X.columns else []
        new = [v for v in values if v not in set(known)]
        if new:
            n += len(new)
            columns.append(name)
            unseen.append(f"{name[:40]!r} ({', '.join(repr(v[:20]) for v in dict.fromkeys(new[:3]))})")
    empty = [str(c) for c, is_empty in X.isna().all().items() if is_empty]
    parts = [f"{count(n, 'value')} of a category that training did not have: {', '.join(unseen[:4])}"] if n else []
    if empty:
        some = ", ".join(repr(c[:40]) for c in empty[:4]) + (", ..." if len(empty) > 4 else "")
        parts.append(f"{count(len(empty), 'column')} without any value: {some}")
    if not parts:
        return []
    text = f"The new rows hold {'; '.join(parts)}. Such values tell the model nothing."
    return [Note("W847", text, (*columns, *empty))]
