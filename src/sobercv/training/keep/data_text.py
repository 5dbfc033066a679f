"""Containers, arrays and tables as texts; large arrays are present by a digest of their bytes.

Takes data, gives texts that are equal for data that train alike; never changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from ...containers import Array
from .writer import Writer


def sequence(value: Any, w: Writer) -> str:
    """Write a list or a tuple."""
    open_, close = "[]" if isinstance(value, list) else "()"
    return open_ + ", ".join(w.write(v) for v in value) + close


def unordered(value: Any, w: Writer) -> str:
    """Write a set."""
    return "{" + ", ".join(sorted(w.write(v) for v in value)) + "}"


def mapping(value: Mapping[Any, Any], w: Writer) -> str:
    """Write a dict; the order of its keys means nothing."""
    pairs = sorted((w.write(k), w.write(v)) for k, v in value.items())
    return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"


# ---- arrays and tables -----------------------------------------------------------------------------------------------
def scalar(value: Any, w: Writer) -> str:
    """Write a number of numpy's."""
    item = value.item()  # a numpy number trains as the Python number does
    return (
        w.write(item) if isinstance(item, (bool, int, float, complex, str, bytes)) else f"{value.dtype.str} {value!s}"
    )


def array(value: Array, w: Writer) -> str:
    """Write an array."""
    if isinstance(value, np.ma.MaskedArray):
        return f"masked({array(value.filled(), w)}, {array(np.ma.getmaskarray(value), w)})"
    if value.dtype.names is not None:  # by field: bytes between the fields mean nothing
        return "record(" + ", ".join(f"{n}={array(value[n], w)}" for n in value.dtype.names) + ")"
    if value.dtype.hasobject:
        raw: Any = sequence(value.ravel().tolist(), w).encode(errors="surrogatepass")
    else:
        raw = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data if value.size else b""
    return f"array({value.dtype.str}, {list(value.shape)}, {blake2b(raw, digest_size=16).hexdigest()})"


def sparse_matrix(value: Any, w: Writer) -> str:
    """Write a sparse matrix or array, whatever its format."""
    csr = value.tocsr()
    parts = ", ".join(array(part, w) for part in (csr.data, csr.indices, csr.indptr))
    return f"sparse({list(csr.shape)}, {parts})"


def pandas(value: Any, w: Writer) -> str:
    """Write a frame or a series; the index means nothing."""
    columns = [(None, value)] if value.ndim == 1 else value.items()
    return "table(" + ", ".join(f"{w.write(name)}={_pandas_column(c, w)}" for name, c in columns) + ")"


def _pandas_column(column: Any, w: Writer) -> str:
    if str(column.dtype) == "category":
        codes = np.asarray(column.cat.codes)
        return f"category({array(codes, w)}, {w.write(list(column.cat.categories))}, {column.cat.ordered})"
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.to_numpy(dtype=object)
    return f"{column.dtype} {array(values, w)}"


def polars(value: Any, w: Writer) -> str:
    """Write a frame or a series."""
    columns = [value] if not hasattr(value, "columns") else [value[name] for name in value.columns]
    texts = []
    for column in columns:
        plain = column.dtype.is_numeric() and not column.null_count()
        values = column.to_numpy() if plain else np.array([*column.to_list(), None], object)[:-1]
        texts.append(f"{column.name!r}={column.dtype} {array(values, w)}")
    return "table(" + ", ".join(texts) + ")"
