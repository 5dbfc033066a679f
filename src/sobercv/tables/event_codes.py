"""The event of survival data, as tables code it: 0 and 1, booleans, or several causes of which one is meant.

Takes a column without gaps and, where it is not coded 0 and 1, the value that means "seen"; gives 0 and 1. Never
guesses which of several causes is meant.
"""

from __future__ import annotations

from typing import Any

from ..errors import Note, SoberError


def as_events(column: Any, name: str, value: str | None = None) -> tuple[Any, tuple[Note, ...]]:
    """Give 1 where the event was seen and 0 where not.

    Parameters
    ----------
    column : pandas.Series
        Without gaps.
    name : str
    value : str, optional
        What the column holds where the event was seen; all else counts as not seen.

    Returns
    -------
    (column, notes)
    """
    counts = _as_written(column).value_counts().sort_index()
    if value is None:
        if set(counts.index) <= {"0", "1", "True", "False"}:
            return column.isin([1, True, "1", "True"]).astype(int), ()
        raise SoberError(
            "E805",
            f"The event {name[:40]!r} must be 1 (seen) or 0 (censored); it holds {_listed(counts)}. Write "
            "--event-value with the one that means seen; all others then count as censored.",
        )
    wanted = _written(value.strip())
    if wanted not in counts.index:
        raise SoberError("E805", f"The event {name[:40]!r} is never {value[:30]!r}: it holds {_listed(counts)}.")
    others = counts.drop(wanted)
    found = (_as_written(column) == wanted).astype(int)
    causes = others.drop([v for v in ("0", "False") if v in others.index])
    if not len(causes) or len(others) == 1:
        return found, ()
    verb = "counts" if len(causes) == 1 else "count"
    text = (
        f"Only {value[:30]!r} of {name[:40]!r} counts as the event; {_listed(causes)} {verb} as censored. "
        "Competing risks are ignored: the model ranks the risk of this cause as if the others did not exist."
    )
    return found, (Note("W845", text, (name,)),)


def _as_written(column: Any) -> Any:
    return column.astype(object).map(_written)


def _written(value: Any) -> str:
    """Write a code without a needless decimal point, so that 2, 2.0 and "2" are the same."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value).strip()
    if isinstance(value, bool) or not number.is_integer():
        return str(value).strip()
    return str(int(number))


def _listed(counts: Any, most: int = 6) -> str:
    shown = [f"{str(value)[:20]!r} ({n} times)" for value, n in counts.head(most).items()]
    more = f" and {len(counts) - most} others" if len(counts) > most else ""
    return ", ".join(shown) + more
