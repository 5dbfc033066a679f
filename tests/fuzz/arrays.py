"""Strategies that give arrays as programs, notebooks and other libraries do: the same values in other types, and any values.

`dresses` hold what was put into them, exactly; `anything` holds whatever an array can. `plain` is the copy that results
are compared with: Python's own numbers and text.
"""

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from scipy import sparse


# ---- the same values, dressed otherwise ----------------------------------------------------------------------------
def strided(a):
    room = np.zeros((2 * len(a), *a.shape[1:]), a.dtype)
    room[::2] = a
    return room[::2]


def backwards(a):
    return np.ascontiguousarray(a[::-1])[::-1]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def framed(library):
    return lambda a: library.Series(a.tolist()) if a.ndim == 1 else library.DataFrame(a)


def odd_index(a):
    index = [7] * len(a)
    return pd.Series(a, index=index) if a.ndim == 1 else pd.DataFrame(a, index=index)


def as_type(dtype):
    return lambda a: a.astype(dtype)


ANY_DRESS = {
    "list": lambda a: a.tolist(), "tuple": lambda a: tuple(a.tolist()), "object": as_type(object),
    "Fortran": np.asfortranarray, "strided": strided, "backwards": backwards, "read-only": read_only,
    "pandas": framed(pd), "polars": framed(pl), "odd index": odd_index, "unmasked": np.ma.masked_array,
    "copy": np.copy,
}  # fmt: skip
#: For multiples of 1/32 below 32: exact in every one of them.
NUMBER_DRESS = ANY_DRESS | {
    "float16": as_type(np.float16), "float32": as_type(np.float32), "longdouble": as_type(np.longdouble),
    ">f8": as_type(">f8"), ">f4": as_type(">f4"), ">f2": as_type(">f2"),
    "Float64": lambda a: pd.DataFrame(a).astype("Float64") if a.ndim == 2 else pd.Series(a, dtype="Float64"),
    "pyarrow": lambda a: pd.DataFrame(a).astype("double[pyarrow]") if a.ndim == 2 else pd.Series(a, dtype="double[pyarrow]"),
}  # fmt: skip
WHOLE_DRESS = ANY_DRESS | {
    name: as_type(name) for name in ("int8", "int16", ">i4", "uint8", "uint64", ">u2", "float16", "float64", "longdouble")
}  # fmt: skip
COUNT_DRESS = ANY_DRESS | {name: as_type(name) for name in ("int8", "int16", ">i4", "uint8", "uint64", ">u2")}
LABEL_DRESS = ANY_DRESS | {
    "category": lambda a: pd.Series(a, dtype="category"),
    "string": lambda a: pd.Series(a, dtype="string"),
}
TABLE_DRESS = NUMBER_DRESS | {
    "csr": sparse.csr_array, "csc": sparse.csc_matrix, "coo": sparse.coo_array,
    "lil": lambda a: sparse.csr_array(a).tolil(),
}  # fmt: skip


@st.composite
def dressed(draw, array, ways):
    """The array in another dress."""
    return ways[draw(st.sampled_from(sorted(ways)))](array)


# ---- any values ----------------------------------------------------------------------------------------------------
ODD_FLOATS = [
    0.0,
    -0.0,
    1.0,
    0.5,
    -1.0,
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    1e151,
    5e-324,
    1e-310,
    1 + 2**-52,
    65504.0,
    2.0**53,
]
ODD_INTS = [0, 1, 2, -1, 127, 255, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**40]
ODD_OBJECTS = [
    None, True, False, 0, 1, 2, 0.5, 1.0, np.nan, np.inf, "0", "1", "a", "", "é", b"a", 1j, 10**40, (1, 2), [1], {}, object(),
    np.datetime64("2020-01-01"), np.datetime64("NaT"), pd.NA, pd.Timestamp("2020-01-01"), np.float64(1), np.bool_(True),
]  # fmt: skip
DTYPES = [
    "f8", "f8", "f8", "f4", "f2", "g", ">f8", "i8", "i1", "u1", "u8", "?", "c16", "M8[D]", "m8[s]", "O", "O", "U2", "S2",
]  # fmt: skip


def elements(dtype):
    kind = np.dtype(dtype).kind
    if kind == "f":
        within = [v for v in ODD_FLOATS if not np.isfinite(v) or abs(v) <= float(np.finfo(np.dtype(dtype)).max)]
        return st.sampled_from(within) | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    if kind in "iu":
        room = np.iinfo(dtype)
        return st.sampled_from([v for v in ODD_INTS if room.min <= v <= room.max]) | st.sampled_from([0, 1])
    if kind == "O":
        return st.sampled_from(ODD_OBJECTS) | st.sampled_from([0, 1, 0.5])
    if kind in "US":
        return st.sampled_from(["", "a", "b", "1"]).map(lambda t: t.encode() if kind == "S" else t)
    if kind in "mM":
        return st.sampled_from([0, 1, 10_000, -10_000, "NaT"]).map(lambda v: np.array(v, dtype)[()])
    return arrays_of.from_dtype(np.dtype(dtype))


@st.composite
def anything(draw, shape):
    """An array of any type with any values: of this shape, or nearly."""
    shape = list(shape)
    slip = draw(st.integers(0, 19))
    if slip == 0:
        shape[0] = draw(st.sampled_from([0, 1, shape[0] + 1, shape[0] - 1]))
    elif slip == 1:
        shape = shape[::-1] if len(shape) > 1 else [*shape, draw(st.integers(0, 2))]
    elif slip == 2:
        shape = draw(st.sampled_from([[], [0], [1, 1, 1, 1, 1], [*shape, 0], [*shape, 2], [*shape, 1, 3]]))
    dtype = draw(st.sampled_from(DTYPES))
    # Few different values: classes, ties, copies. Half the time none that is odd in itself.
    tame = np.array(draw(st.sampled_from([[0, 1], [1, 0], [0, 1, 2]]))).astype(dtype).tolist()
    pool = tame if draw(st.booleans()) else draw(st.lists(elements(dtype), min_size=1, max_size=4))
    size = int(np.prod(shape))
    picks = draw(st.lists(st.integers(0, len(pool) - 1), min_size=min(size, 64), max_size=min(size, 64)))
    array = np.empty(size, dtype)
    for i in range(size):  # one by one: numpy would look into tuples and lists
        array[i] = pool[picks[i % len(picks)]]
    array = array.reshape(shape)
    way = draw(st.sampled_from(["", "", "", "list", "masked", "strided", "pandas", "sparse", "backwards", "polars"]))
    return worn(draw, array, way)


def worn(draw, array, way):
    """The array as it came, or in a container that can hold it."""
    try:
        if way == "masked" and array.size:
            mask = draw(st.lists(st.integers(0, 9).map(lambda i: i == 0), min_size=array.size, max_size=array.size))
            return np.ma.masked_array(array, np.reshape(mask, array.shape))
        if way == "sparse" and array.ndim == 2:
            return sparse.csr_array(array)
        if way in ("pandas", "polars") and array.ndim in (1, 2):
            return framed(pd if way == "pandas" else pl)(array)
        dress = {"list": ANY_DRESS["list"], "strided": strided, "backwards": backwards}.get(way)
        return array if dress is None or array.ndim == 0 else dress(array)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):  # it cannot hold this
        return array


def plain(values):
    """A copy without any peculiarity: float64, int64 and flags where there are such, text as objects."""
    if values is None or isinstance(values, (str, bytes)):
        return values
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.masked_array(plain(values.data), np.ma.getmaskarray(values))
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if array.dtype.kind == "f":
        return np.array(array, dtype=np.float64, order="C")
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and (array.size == 0 or array.max() < 2**63)):
        return np.array(array, dtype=bool if array.dtype.kind == "b" else np.int64, order="C")
    return array.astype(object) if array.dtype.kind == "U" else array.copy()


def native(values):
    """The same values in this machine's order of bytes: pandas takes no other."""
    array = values if isinstance(values, np.ndarray) else None
    return values if array is None else array.astype(array.dtype.newbyteorder("="))
