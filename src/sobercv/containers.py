"""Other people's containers in, numpy arrays out: numpy, pandas, polars, masked arrays, lists; and data frames again.

What the values mean is for `targets` and `responses`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import SoberError, needs

Array = npt.NDArray[Any]

#: What Python would turn into a number without a word, though it is none: a flag, a moment, a point of a plane.
_NO_NUMBERS = (bool, np.bool_, complex, np.complexfloating, np.datetime64, np.timedelta64)


def as_array(values: Any, name: str) -> tuple[Array, Array | None]:
    """Convert any container to a numpy array, and the mask of what is there; None when nothing is masked."""
    present = None
    if isinstance(values, (str, bytes, PathLike)):
        advice = "Read it: pandas.read_parquet(path)."
        if isinstance(values, str) and not os.path.splitext(values)[1]:  # the name of a column
            advice = f"Pass the column itself: {name}=table[{values!r}]."
        raise SoberError("E101", f"`{name}` must be an array; got {values!r}. {advice}")
    if isinstance(values, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(values)
        values = values.data
    elif hasattr(values, "to_numpy"):  # pandas, polars
        values = values.to_numpy()
    elif hasattr(values, "toarray"):  # scipy.sparse
        values = values.toarray()
    try:
        array = np.asarray(values)
    except ValueError:
        raise SoberError("E101", f"`{name}` must be a rectangular array; got rows of different lengths.") from None
    return array, None if present is None or present.all() else present


def check_order(first: Any, name: str, others: dict[str, Any]) -> None:
    """Refuse containers that say themselves (by pandas' index) that they hold the same rows in another order.

    Rows are matched by their place, so that such a pair would give a number that means nothing. Indexes that differ in
    another way say nothing: one of them may have been made anew. What has no index is not looked at.
    """
    index = getattr(first, "index", None)
    for other, values in others.items():
        theirs = getattr(values, "index", None)
        if index is None or theirs is None or callable(index) or callable(theirs) or not hasattr(values, "reindex"):
            continue
        if len(index) != len(theirs) or index.equals(theirs) or not (index.is_unique and theirs.is_unique):
            continue
        if bool(index.isin(theirs).all()):
            raise SoberError(
                "E101",
                f"The indexes of `{name}` and `{other}` hold the same rows in a different order. Write "
                f"{other}.loc[{name}.index], or reset both indexes if they are in order.",
            )


def as_numbers(values: Array, name: str, code: str = "E102") -> Array:
    """Return floats (float16 becomes float32, integers float64); refuse flags, dates, complex numbers and text."""
    kind = values.dtype.kind
    if kind == "f":
        return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)
    strange: Any = None
    if kind in "bcmMV":
        strange = values.flat[0] if values.size else values.dtype
    elif kind == "O":
        strange = next((v for v in values.ravel().tolist() if isinstance(v, _NO_NUMBERS)), None)
    if strange is None:
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            for strange in values.ravel().tolist():
                try:
                    float(strange)
                except (TypeError, ValueError):
                    break
    shown = str(strange) if isinstance(strange, np.generic) else repr(strange)
    # scikit-learn's own words, for which its checks of estimators look
    is_complex = isinstance(strange, (complex, np.complexfloating))
    advice = "Complex data not supported." if is_complex else "Convert them, or drop them."
    raise SoberError(code, f"`{name}` must hold numbers; got {shown}. {advice}")


def has_missing(values: Array) -> bool:
    """Whether any entry is missing: None, NaN, NaT, or pandas' NA."""
    if values.dtype.kind in "fcmM":
        least = values.min() if values.size else 0.0  # NaN where any entry is
        return bool(least != least)
    return values.dtype == object and any(_is_missing(v) for v in values.ravel())


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA does not say whether it differs from itself
        return True


def bounds(array: Array) -> tuple[float, float]:
    """Smallest and largest value, without a copy; NaN where any value is, 0 where there is none."""
    return (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)


_NONE_MISSING = "has missing entries. Give every sample a value, or leave those samples out."


def one_column(values: Any, name: str, code: str = "E107", n: int | None = None) -> Array:
    """Return one entry per sample, for n samples where that is known."""
    column, present = as_array(values, name)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or (n is not None and len(column) != n):
        count = "" if n is None else f" ({n} samples)"
        raise SoberError(code, f"`{name}` must have one entry per sample{count}; got shape {column.shape}.")
    if present is not None:
        raise SoberError(code, f"`{name}` {_NONE_MISSING}")
    return column


def distinct(column: Array, name: str, code: str = "E107") -> tuple[Array, Array]:
    """Return the sorted distinct values of a column, and which of them each entry is."""
    if column.dtype.kind == "c":  # in scikit-learn's words
        raise SoberError(code, f"`{name}` must hold labels; got {column.dtype}. Complex data not supported.")
    if has_missing(column):
        raise SoberError(code, f"`{name}` {_NONE_MISSING}")
    try:
        values, codes = np.unique(column, return_inverse=True)
    except TypeError:
        raise SoberError(code, f"`{name}` mixes types that cannot be sorted. Use all numbers or all text.") from None
    return values, codes.reshape(-1)


def codes_of(values: Any, n: int, name: str) -> Array:
    """Number the distinct values of a column 0, 1, 2, ... (groups, folds)."""
    return distinct(one_column(values, name, n=n), name)[1].astype(np.int64)


def weights_of(sample_weight: Any, n: int) -> Array | None:
    """Return the weight of every sample as float64; None where there are no weights."""
    if sample_weight is None:
        return None
    column = one_column(sample_weight, "sample_weight", n=n)
    weights = as_numbers(column, "sample_weight", "E107").astype(np.float64, copy=False)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise SoberError("E107", "`sample_weight` must be finite, not negative and not all zero.")
    return weights


def is_number(value: Any) -> bool:
    """Whether an argument is a number; a flag is none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def whole_number(name: str, value: Any, advice: str = "") -> int:
    """Return a whole number of 1 or more; refuse what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise SoberError("E108", f"`{name}` must be a whole number of 1 or more; got {value!r}.{advice}")
    return int(value)


def check_level(level: Any, name: str = "confidence_level", usual: float = 0.95, may_be_one: bool = False) -> float:
    """Return a share; refuse what is none."""
    if is_number(level) and (0.0 < level < 1.0 or (may_be_one and level == 1.0)):
        return float(level)
    percent = float(level) if is_number(level) and 1 < level < 100 else 100 * usual
    where = "above 0 and not above 1" if may_be_one else "strictly between 0 and 1"
    raise SoberError("E108", f"`{name}` must lie {where}; got {level!r}. Write {percent / 100:g} for {percent:g} %.")


def frame_of(columns: Mapping[str, Any], *below: Any) -> Any:
    """Make a data frame of columns, with further frames below it; masked entries are missing ones."""
    with needs("A data frame needs pandas", "pandas"):
        from pandas import DataFrame, concat
    frame = DataFrame({name: v.tolist() if np.ma.is_masked(v) else v for name, v in columns.items()})
    return concat([frame, *below], ignore_index=True) if below else frame
