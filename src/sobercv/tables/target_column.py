"""The columns to predict, made ready: labels, numbers, or records of event and time; refuses what cannot be learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..targets import LARGEST, MOST_CLASSES, guess_task, survival_of


def plain_target(column: Any, name: str, task: str | None) -> tuple[Array, str, bool]:
    """Return the target, a column without gaps, as labels or numbers, its task, and whether that was a guess."""
    kind = kind_of(column)
    if kind == "date":
        raise SoberError("E112", f"The target {name!r} holds dates. Give what is to be predicted as a class or number.")
    values = column.to_numpy(dtype=object if kind == "text" else None)
    if kind == "text":
        values = np.asarray([str(v) for v in values], dtype=object)
    elif kind == "number" and values.dtype == object:  # some of pandas' own types
        values = values.astype(np.float64)
    distinct = np.unique(values)
    if len(distinct) == 1:
        raise SoberError(
            "E112", f"The target {name!r} is {str(distinct[0])[:40]!r} in every row, so nothing can be learned."
        )
    guess = guess_task(values)
    is_guess = task is None and not guess.is_sure
    found = guess.task if task is None else task
    if found == "regression":
        return _numbers(values, name, kind), found, is_guess
    if found == "binary" and len(distinct) != 2:
        raise SoberError(
            "E112", f"The target {name!r} has {len(distinct)} classes, not 2. Choose --task multiclass or regression."
        )
    if kind == "number" and not np.array_equal(values, np.round(values)):
        raise SoberError("E112", f"The target {name!r} holds fractions, so it is no class. Choose --task regression.")
    if kind == "text" and len(distinct) > max(MOST_CLASSES, len(values) // 3):
        hint = _not_a_number(values)
        raise SoberError(
            "E112", f"The target {name!r} is text with {len(distinct)} different values in {len(values)} rows. {hint}"
        )
    if kind == "number" and values.dtype.kind == "f":
        values = values.astype(np.int64)  # whole numbers that became floats because of gaps
    return values, "binary" if len(distinct) == 2 else "multiclass", is_guess


def kind_of(column: Any) -> str:
    """Return date, flag, number or text."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if pd.api.types.is_bool_dtype(column.dtype):
        return "flag"
    return "number" if pd.api.types.is_numeric_dtype(column.dtype) else "text"


def _numbers(values: Array, name: str, kind: str) -> Array:
    if kind == "text":
        raise SoberError(
            "E112", f"The target {name!r} is text, but a regression needs numbers. {_not_a_number(values)}"
        )
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise SoberError("E112", f"The target {name!r} holds infinite values. Replace them, or leave those rows out.")
    if np.abs(numbers).max() > LARGEST:
        raise SoberError(
            "E112", f"The target {name!r} holds numbers beyond {LARGEST:g}, whose squares overflow. Scale it down."
        )
    return np.asarray(numbers)


def _not_a_number(values: Array) -> str:
    """Say which value keeps a column of numbers from being one."""
    words = []
    for value in values:
        try:
            float(str(value).replace(",", "."))
        except ValueError:
            words.append(str(value))
    if not words:
        return "Write decimal points instead of commas."
    if len(words) <= len(values) // 2:
        return f"Most are numbers; correct or remove {words[0][:30]!r}."
    return "Name a column with classes or numbers."


def survival_target(kept: Any, names: list[str]) -> tuple[Array, str, bool]:
    """Give records of (event, time)."""
    time, event = kept[names[0]], kept[names[1]]
    if kind_of(time) != "number":
        raise SoberError("E112", f"The time {names[0]!r} must hold numbers, such as days. Convert it.")
    if kind_of(event) not in ("number", "flag") or not event.isin([0, 1]).all():
        other = next((v for v in event if v not in (0, 1)), None)
        raise SoberError(
            "E112", f"The event {names[1]!r} must be 1 (seen) or 0 (censored); got {str(other)[:30]!r}. Recode it."
        )
    try:
        y = survival_of(np.column_stack([event.to_numpy(np.float64), time.to_numpy(np.float64)]))
    except SoberError:
        raise SoberError(
            "E112", f"The time {names[0]!r} holds negative or infinite values. Correct those rows."
        ) from None
    if y["event"].sum() < 2:
        raise SoberError("E112", f"The event {names[1]!r} was seen {int(y['event'].sum())} times; two is the least.")
    if len(np.unique(y["time"])) == 1:
        raise SoberError("E112", f"The time {names[0]!r} is the same in every row, so nothing can be learned.")
    return y, "survival", False


# ---- events --------------------------------------------------------------------------------------------------------
def as_events(column: Any, name: str, value: str | None = None) -> tuple[Any, tuple[Note, ...]]:
    """Return 1 where the event was seen and 0 where not; never guess which of several causes is meant.

    `column`: without gaps. `value`: what the column holds where the event was seen; all else counts as not seen.
    """
    counts = _as_written(column).value_counts().sort_index()
    if value is None:
        if set(counts.index) <= {"0", "1", "True", "False"}:
            return column.isin([1, True, "1", "True"]).astype(int), ()
        raise SoberError(
            "E112",
            f"The event {name[:40]!r} must be 1 (seen) or 0 (censored); it holds {_listed(counts)}. Write "
            "--event-value with the one that means seen; all others then count as censored.",
        )
    wanted = _written(value.strip())
    if wanted not in counts.index:
        raise SoberError("E112", f"The event {name[:40]!r} is never {value[:30]!r}: it holds {_listed(counts)}.")
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
    return found, (Note("W813", text, (name,)),)


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
