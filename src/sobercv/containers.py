"""Other people's containers in, numpy arrays out: numpy, pandas, polars, masked arrays, lists; targets of any type.

Takes what a user holds, gives arrays and masks, never imports the libraries that the containers come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import SoberError

Array = npt.NDArray[Any]

#: The one form in which survival targets travel.
SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])

_BLOCK = 1 << 22  # elements looked at in one go when a large array is checked


def as_array(values: Any, name: str) -> tuple[Array, Array | None]:
    """Turn any container into a numpy array and, for masked arrays, the mask of what is there.

    Returns
    -------
    (array, present)
        `present` is None when nothing is masked.
    """
    present = None
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
        raise SoberError(
            "E101", f"`{name}` must be a rectangular array; got rows of different lengths. Pass a numpy array."
        ) from None
    return array, None if present is None or present.all() else present


def as_numbers(values: Array, name: str, code: str = "E102") -> Array:
    """Give the array as floats (float32 stays float32), or say in one sentence why it cannot be."""
    if values.dtype.kind == "f":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        given = next((v for v in values.ravel().tolist() if not isinstance(v, (int, float))), values.dtype)
        raise SoberError(code, f"`{name}` must hold numbers; got {given!r}. Convert them, or drop them.") from None


def blocks(array: Array) -> Iterator[Array]:
    """Walk an array in blocks of rows, so that looking at it never doubles its memory."""
    step = max(1, _BLOCK // max(1, int(np.prod(array.shape[1:]))))
    for start in range(0, len(array), step):
        yield array[start : start + step]


def in_range(array: Array, low: float, high: float) -> bool:
    """Whether every value lies in [low, high]; NaN does not."""
    return all(bool(np.all((block >= low) & (block <= high))) for block in blocks(array))


def is_finite(array: Array) -> bool:
    """Whether every value is a finite number."""
    return all(bool(np.isfinite(block).all()) for block in blocks(array))


def codes_of(values: Any, n: int, name: str) -> Array:
    """Number the distinct values of a column 0, 1, 2, ... (groups, folds)."""
    column, present = as_array(values, name)
    if column.shape != (n,):
        raise SoberError("E107", f"`{name}` must have one entry for each of the {n} samples; got shape {column.shape}.")
    if present is not None or (column.dtype.kind == "f" and np.isnan(column).any()):
        raise SoberError("E107", f"`{name}` has missing entries. Give every sample one, or leave those samples out.")
    try:
        return np.unique(column, return_inverse=True)[1].reshape(n).astype(np.int64)
    except TypeError:
        raise SoberError("E107", f"`{name}` mixes types that cannot be sorted. Use all numbers or all text.") from None


def encode_classes(y: Any) -> tuple[Array, Array]:
    """Turn class labels of any type into indices and the sorted classes."""
    labels, present = as_array(y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise SoberError("E112", f"`y` must have one label a sample; got shape {labels.shape}.")
    missing = present is not None or (
        any(v is None or v != v for v in labels)
        if labels.dtype == object
        else labels.dtype.kind == "f" and np.isnan(labels).any()
    )
    if missing:
        raise SoberError("E112", "`y` has missing labels. Leave those samples out of `y` and of the predictions.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise SoberError("E112", "`y` mixes types that cannot be sorted. Use all numbers or all text.") from None
    return codes.reshape(-1).astype(np.int64), classes


def encode_labels(values: Array, classes: Array) -> Array | None:
    """Turn predicted labels into class indices; None where any of them is no class."""
    if values.dtype == object or classes.dtype == object or values.dtype.kind in "US" or classes.dtype.kind in "US":
        position = {label: k for k, label in enumerate(classes.tolist())}
        distinct, inverse = np.unique(values.astype(object) if values.dtype == object else values, return_inverse=True)
        found = [position.get(label, -1) for label in distinct.tolist()]
        if -1 in found:
            return None
        codes = np.asarray(found)[inverse].reshape(values.shape)
    elif len(classes) <= 16:  # a few comparisons beat a search
        codes = np.zeros(values.shape, np.int8)
        for k, label in enumerate(classes):
            codes += (values == label).astype(np.int8) * np.int8(k + 1)
        if (codes == 0).any():
            return None
        codes -= 1
    else:
        codes = np.searchsorted(classes, values)
        np.minimum(codes, len(classes) - 1, out=codes)
        if not np.array_equal(classes[codes], values):
            return None
    return codes.astype(np.int8 if len(classes) < 128 else np.int32, copy=False)


def as_survival(y: Any) -> Array:
    """Turn a survival target into one structured array of (event, time).

    Parameters
    ----------
    y : structured array or two columns
        scikit-survival's structured array (event first, then time, whatever the names), or two columns of which
        exactly one holds only 0 and 1: that one is the event. Where both do, the event comes first.
    """
    array, present = as_array(y, "y")
    if array.dtype.names is not None and len(array.dtype.names) == 2:
        event, time = (array[name] for name in array.dtype.names)
    elif array.ndim == 2 and array.shape[1] == 2:
        numbers = as_numbers(array, "y", "E112")
        flags = [bool(np.isin(numbers[:, k], (0, 1)).all()) for k in (0, 1)]
        event, time = (numbers[:, 0], numbers[:, 1]) if flags[0] else (numbers[:, 1], numbers[:, 0])
    else:
        raise SoberError(
            "E112",
            f"A survival target has an event and a time for each sample; got shape {array.shape}. Pass "
            "scikit-survival's structured array or two columns.",
        )
    out = np.empty(len(array), SURVIVAL)
    if not np.isin(event, (0, 1)).all():
        raise SoberError("E112", "The event of a survival target must be 0 (censored) or 1 (seen), or a boolean.")
    out["event"] = event.astype(bool)
    out["time"] = time
    if present is not None or not np.isfinite(out["time"]).all() or (out["time"] < 0).any():
        raise SoberError("E112", "The times of a survival target must be finite and not negative.")
    return out
