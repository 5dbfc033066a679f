"""Fingerprints: a text for any value that is the same in every process, and a digest of it.

Takes data, parameters and estimators from memory, gives texts without memory addresses; never reads a file and never
makes an object from a text.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ...containers import Array
from ...errors import SoberError
from . import own_code
from .own_code import Seen

#: Parameters of estimators that change how a fit is done but not what comes out.
_NO_EFFECT = frozenset({"n_jobs", "verbose"})
#: Attributes of estimators that are no parameters but that `clone` carries along.
_CARRIED = ("_sklearn_output_config", "_metadata_request")

_FROZEN = -1  # among the identities seen: inside an estimator that is cloned with all that it has learnt


def digest(*values: Any, size: int = 16) -> bytes:
    """Give a digest of values that is the same in every process.

    Parameters
    ----------
    *values
        Anything that `canonical` takes.
    size : int
        Bytes.
    """
    return blake2b(canonical(values).encode(), digest_size=size).digest()


def canonical(value: Any) -> str:
    """Give a text that is equal for values that train alike, in this process and in any other.

    Parameters
    ----------
    value
        Numbers, texts, containers, arrays, tables, estimators, functions, classes, and what pickle could describe.
        Large arrays are present by a digest. (Nothing is pickled.)
    """
    return _text(value, ())


def _text(value: Any, seen: Seen) -> str:
    if type(value) in own_code.PLAIN:
        return repr(value)
    if id(value) in seen:
        return "<itself>"
    seen = (*seen, id(value))
    for fits, text in _WRITERS:
        if fits(value):
            return text(value, seen)
    return _by_state(value, seen)


# ---- containers ------------------------------------------------------------------------------------------------------
def _sequence(value: Any, seen: Seen) -> str:
    open_, close = "[]" if isinstance(value, list) else "()"
    return open_ + ", ".join(_text(v, seen) for v in value) + close


def _set(value: Any, seen: Seen) -> str:
    return "{" + ", ".join(sorted(_text(v, seen) for v in value)) + "}"


def _dict(value: Mapping[Any, Any], seen: Seen) -> str:
    pairs = sorted((_text(k, seen), _text(v, seen)) for k, v in value.items())
    return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"


# ---- arrays and tables -----------------------------------------------------------------------------------------------
def _scalar(value: Any, seen: Seen) -> str:
    item = value.item()  # a numpy number trains as the Python number does
    return repr(item) if type(item) in own_code.PLAIN else f"{value.dtype.str} {value!s}"


def _array(value: Array, seen: Seen) -> str:
    if isinstance(value, np.ma.MaskedArray):
        return f"masked({_array(value.filled(), seen)}, {_array(np.ma.getmaskarray(value), seen)})"
    if value.dtype.names is not None:  # by field: bytes between the fields mean nothing
        return "record(" + ", ".join(f"{n}={_array(value[n], seen)}" for n in value.dtype.names) + ")"
    if value.dtype.hasobject:
        raw: Any = _sequence(value.ravel().tolist(), seen).encode()
    else:
        raw = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data if value.size else b""
    return f"array({value.dtype.str}, {list(value.shape)}, {blake2b(raw, digest_size=16).hexdigest()})"


def _sparse(value: Any, seen: Seen) -> str:
    csr = value.tocsr()
    parts = ", ".join(_array(part, seen) for part in (csr.data, csr.indices, csr.indptr))
    return f"sparse({list(csr.shape)}, {parts})"


def _pandas(value: Any, seen: Seen) -> str:
    columns = [(None, value)] if value.ndim == 1 else value.items()
    return "table(" + ", ".join(f"{_text(name, seen)}={_pandas_column(c, seen)}" for name, c in columns) + ")"


def _pandas_column(column: Any, seen: Seen) -> str:
    if str(column.dtype) == "category":
        codes = np.asarray(column.cat.codes)
        return f"category({_array(codes, seen)}, {_text(list(column.cat.categories), seen)}, {column.cat.ordered})"
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.to_numpy(dtype=object)
    return f"{column.dtype} {_array(values, seen)}"


def _polars(value: Any, seen: Seen) -> str:
    columns = [value] if not hasattr(value, "columns") else [value[name] for name in value.columns]
    texts = []
    for column in columns:
        plain = column.dtype.is_numeric() and not column.null_count()
        values = column.to_numpy() if plain else np.array([*column.to_list(), None], object)[:-1]
        texts.append(f"{column.name!r}={column.dtype} {_array(values, seen)}")
    return "table(" + ", ".join(texts) + ")"


def _is_from(package: str) -> Callable[[Any], bool]:
    return lambda value: type(value).__module__.partition(".")[0] == package


# ---- objects ---------------------------------------------------------------------------------------------------------
def _estimator(value: Any, seen: Seen) -> str:
    """Write the class and the parameters away from their defaults, so that a new release's new ones do not count."""
    if _FROZEN in seen or _clones_itself(type(value)):  # what was fitted before is used as it is
        return _by_state(value, (_FROZEN, *seen))
    kind: Any = type(value)
    parts, defaults = [], _defaults(kind)
    for name, setting in sorted(value.get_params(deep=False).items()):
        text = _text(setting, seen)
        if name not in _NO_EFFECT and text != defaults.get(name):
            parts.append(f"{name}={text}")
    carried = {name: vars(value)[name] for name in _CARRIED if name in getattr(value, "__dict__", {})}
    return f"{_class(type(value), seen)}({', '.join(parts)})" + (_dict(carried, seen) if carried else "")


def _clones_itself(kind: type) -> bool:
    own = getattr(kind, "__sklearn_clone__", None)
    return own is not None and own is not getattr(BaseEstimator, "__sklearn_clone__", None)


@lru_cache(maxsize=256)
def _defaults(kind: Any) -> dict[str, str]:
    try:
        return {name: canonical(p.default) for name, p in inspect.signature(kind).parameters.items()}
    except (TypeError, ValueError):  # a class that does not tell
        return {}


def _by_state(value: Any, seen: Seen) -> str:
    """Describe any other object as pickle would: how it is made, and its state. Nothing is pickled."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:
        raise SoberError(
            "E508",
            f"A {type(value).__qualname__} cannot be told from another one ({error}), so a store could not know next "
            "time whether it is the same; use a parameter that can be pickled, or leave out store=.",
        ) from error
    if isinstance(reduced, str):
        wrapped = getattr(value, "__wrapped__", None)  # a cached function, a compiled one
        return f"{type(value).__module__}.{reduced}" + ("" if wrapped is None else _text(wrapped, seen))
    maker, arguments, *rest = reduced
    state = [list(part) if isinstance(part, Iterator) else part for part in rest]
    return f"{_class(type(value), seen)}:{_text(maker, seen)}{_text(tuple(arguments), seen)}{_text(state, seen)}"


def _class(value: type, seen: Seen) -> str:
    return own_code.of_class(value, seen, _text)


def _function(value: FunctionType, seen: Seen) -> str:
    return own_code.of_function(value, seen, _text)


def _code(value: CodeType, seen: Seen) -> str:
    return own_code.of_code(value, seen, _text)


def _named(value: Any, seen: Seen) -> str:
    return f"{getattr(value, '__module__', None) or ''}.{getattr(value, '__qualname__', value.__name__)}"


def _enum(value: enum.Enum, seen: Seen) -> str:
    return f"{_class(type(value), seen)}.{value.name}"


def _method(value: MethodType, seen: Seen) -> str:
    return f"{_text(value.__self__, seen)}.{_text(value.__func__, seen)}"


def _instance(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


#: Who writes what; the first that fits does.
_WRITERS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Seen], str]], ...] = (
    (_instance(enum.Enum), _enum),
    (_instance(np.generic), _scalar),
    (_instance(np.ndarray), _array),
    (lambda value: type(value) in (list, tuple), _sequence),
    (lambda value: type(value) in (set, frozenset), _set),
    (lambda value: type(value) is dict, _dict),
    (_instance(type), _class),
    (_instance(FunctionType), _function),
    (_instance(MethodType), _method),
    (_instance(CodeType), _code),
    (_instance(BuiltinFunctionType, np.ufunc, ModuleType), _named),
    (sparse.issparse, _sparse),
    (lambda value: hasattr(value, "iloc") and hasattr(value, "ndim"), _pandas),
    (_is_from("polars"), _polars),
    (lambda value: hasattr(value, "get_params"), _estimator),
)
