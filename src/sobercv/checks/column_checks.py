"""Checks of the columns to learn from: constant, empty, infinite, dates, rows that repeat in all of them.

Takes a `Dataset`, gives notes; never trains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import Note
from ..tables import Dataset
from .naming import columns_that, some
from .numeric_columns import NumericColumns

_LATER = re.compile(r"death|died|dead|discharge|follow|last|relapse|progress|recur|outcome|end|surviv|censor", re.I)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


def empty_columns(data: Dataset) -> Iterator[Note]:
    """Columns without a value, with one value only, or mostly missing."""
    share = data.X.isna().mean()
    empty = [c for c, s in share.items() if s == 1]
    if empty:
        yield Note("W809", f"{columns_that(empty)} no value at all: {some(empty)}. Left out of every model.", (*empty,))
    constant = [c for c in _constant(data.X) if c not in empty]
    if constant:
        text = f"{columns_that(constant)} the same value in every row: {some(constant)}. Left out of every model."
        yield Note("W809", text, (*constant,))
    if len(empty) + len(constant) == data.X.shape[1]:
        yield Note("E818", "Every column is constant or empty, so nothing can be learnt. Give other columns.")
    gappy = [c for c, s in share.items() if 0.5 < s < 1]
    if gappy:
        text = f"{columns_that(gappy)} more gaps than values: {some(gappy)}. Gaps are filled by the median and marked."
        yield Note("W810", text, (*gappy,))


def _constant(X: Any) -> list[str]:
    """Columns with one value in every row; a gap is a value of its own."""
    numbers = NumericColumns.of(X)
    varied = set(numbers.positions[(numbers.values != numbers.values[:1]).any(axis=0)].tolist())
    return [c for i, c in enumerate(X.columns) if i not in varied and X[c].nunique(dropna=False) == 1]


def infinite_columns(data: Dataset) -> Iterator[Note]:
    """Columns with infinite numbers, which no preset can take."""
    numbers = NumericColumns.of(data.X)
    for i in np.flatnonzero(np.isinf(numbers.values).any(axis=0)):
        name = numbers.names[i]
        text = f"Column {some([name])} holds infinite values. Replace them by numbers, or by nothing for missing."
        yield Note("E817", text, (name,))


def dates(data: Dataset) -> Iterator[Note]:
    """Dates that could have been written down only after the outcome."""
    found = [c for c, dtype in data.X.dtypes.items() if dtype.kind not in "iufb" and _dates(data.X[c].dropna())]
    later = [c for c in found if _LATER.search(c)]
    if later:
        text = f"{columns_that(later, 'is a date that', 'are dates that')} may come after the outcome: {some(later)}. "
        yield Note("W808", text + "Write --ignore for what is not known when the prediction is made.", (*later,))
    plain = [c for c in found if c not in later]
    if plain:
        text = f"{columns_that(plain, 'holds', 'hold')} dates: {some(plain)}. Are they known before the outcome?"
        yield Note("S803", text, (*plain,))


def _dates(known: Any) -> bool:
    if known.dtype.kind == "M":
        return True
    if known.dtype.kind in "iufb" or not len(known):
        return False
    return all(isinstance(v, str) and _DATE.match(v.strip()) for v in known.head(20))


def duplicates(data: Dataset) -> Iterator[Note]:
    """Rows that occur more than once: the same sample would train and test."""
    if data.groups is not None:
        return
    # Rows that are the same everywhere are so in their numbers; few are, and only those are compared in full.
    numbers = NumericColumns.of(data.X).values + 0.0
    sizes = Counter(keys := [row.tobytes() for row in numbers])
    alike = np.array([sizes[key] > 1 for key in keys], dtype=bool)
    try:
        n = int(data.X.loc[alike].duplicated(keep="first").sum())
    except TypeError:  # cells that cannot be compared
        return
    if n and data.X.shape[1] > 1:
        rows = "One row repeats" if n == 1 else f"{n} rows repeat"
        code = "W805" if n >= 0.01 * data.n_rows or n > 5 else "S804"
        yield Note(code, f"{rows} another in every column. Remove copies, or name what they share with --group.")
