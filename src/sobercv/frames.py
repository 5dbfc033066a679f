"""Columns in, a data frame of pandas or polars out.

Takes columns by name, gives a frame of the library that was asked for; imports it only then, and never reads a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .errors import SoberError

BACKENDS = ("pandas", "polars")


def frame_of(columns: Mapping[str, Any], backend: str = "pandas") -> Any:
    """Make a data frame.

    Parameters
    ----------
    columns : mapping of str to array-like [rows]
        Masked entries are missing ones.
    backend : {"pandas", "polars"}
    """
    if backend not in BACKENDS:
        raise SoberError("E108", f"`backend` must be one of {', '.join(BACKENDS)}; got {backend!r}.")
    try:
        library = import_module(backend)
    except ImportError:
        raise SoberError("E403", f"A data frame of {backend} needs {backend}; write: pip install {backend}") from None
    return library.DataFrame({name: _plain(values, backend) for name, values in columns.items()})


def _plain(values: Any, backend: str) -> Any:
    """Give a column that either library takes: missing entries are None, other objects text where polars needs it."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist() if values.mask.any() else values.data
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.dtype != object:
        return array
    kinds = {type(value) for value in array.tolist() if value is not None}
    if backend == "polars" and (len(kinds) > 1 or not kinds <= {bool, int, float, str}):
        return [None if value is None else str(value) for value in array.tolist()]
    return array.tolist()
