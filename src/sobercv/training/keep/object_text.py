"""Objects as texts: estimators by class and parameters, others by how pickle would make them again.

Takes any value, finds who writes its kind, gives its text; never pickles and never calls what it meets.
"""

from __future__ import annotations

import copyreg
import enum
import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partialmethod, singledispatchmethod
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
import scipy.special
from scipy import sparse
from sklearn.base import BaseEstimator

from . import data_text, own_code
from .installed import is_installed
from .writer import Writer, untold

#: Parameters of estimators that change how a fit is done but not what comes out.
_NO_EFFECT = frozenset({"n_jobs", "verbose"})
#: Attributes of estimators that are no parameters but that `clone` carries along.
_CARRIED = ("_sklearn_output_config", "_metadata_request")
#: What code may hold without any meaning for what comes out.
_MEANINGLESS = (
    type(threading.Lock()), type(threading.RLock()), threading.Event, threading.Condition, threading.Semaphore,
    threading.local, weakref.ref, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip


def text_of(value: Any, w: Writer) -> str:
    """Write anything that is not plain.

    Parameters
    ----------
    value
    w : Writer
    """
    return next((text for fits, text in _WRITERS if fits(value)), _by_state)(value, w)


def _estimator(value: Any, w: Writer) -> str:
    """Write the class and the parameters away from their defaults, so that a new release's new ones do not count."""
    if w.is_frozen or _clones_itself(type(value)):  # what was fitted before is used as it is
        with w.frozen():
            return _by_state(value, w)
    kind: Any = type(value)
    parts, defaults = [], _defaults(kind)
    for name, setting in sorted(value.get_params(deep=False).items()):
        text = w.write(setting)
        if name not in _NO_EFFECT and text != defaults.get(name):
            parts.append(f"{name}={text}")
    carried = {name: vars(value)[name] for name in _CARRIED if name in getattr(value, "__dict__", {})}
    return f"{w.write(kind)}({', '.join(parts)})" + (w.write(carried) if carried else "")


def _clones_itself(kind: type) -> bool:
    own = getattr(kind, "__sklearn_clone__", None)
    return own is not None and own is not getattr(BaseEstimator, "__sklearn_clone__", None)


@lru_cache(maxsize=256)
def _defaults(kind: Any) -> dict[str, str]:
    try:
        return {name: Writer(text_of).write(p.default) for name, p in inspect.signature(kind).parameters.items()}
    except (TypeError, ValueError):  # a class that does not tell
        return {}


def _by_state(value: Any, w: Writer) -> str:
    """Describe any other object as pickle would: how it is made, and its state. Nothing is pickled."""
    try:
        by_table = copyreg.dispatch_table.get(type(value))  # where others say how to pickle, as for patterns
        reduced = value.__reduce_ex__(4) if by_table is None else by_table(value)
    except Exception as error:
        raise untold(value, str(error)) from error
    if isinstance(reduced, str):  # known by its name
        wrapped = getattr(value, "__wrapped__", None)  # a cached function
        module = str(getattr(value, "__module__", None) or "")
        if wrapped is None and not is_installed(module) and is_installed(type(value).__module__):
            raise untold(value, "it is compiled")
        return f"{w.write(type(value))} {module}.{reduced}" + ("" if wrapped is None else w.write(wrapped))
    maker, arguments, *rest = reduced
    state = [list(part) if isinstance(part, Iterator) else part for part in rest]
    return f"{w.write(type(value))}:{w.write(maker)}{w.write(tuple(arguments))}{w.write(state)}"


def _builtin(value: Any, w: Writer) -> str:
    """Write a compiled function by its name, and the object that it belongs to."""
    owner = getattr(value, "__self__", None)
    module = getattr(value, "__module__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        return f"{w.write(owner)}.{value.__name__}"
    if module is not None and not is_installed(module):
        raise untold(value, "it is compiled")
    return f"{module or ''}.{value.__qualname__}"


def _ufunc(value: np.ufunc, w: Writer) -> str:
    if not any(getattr(home, value.__name__, None) is value for home in (np, scipy.special)):
        raise untold(value, "its code cannot be read")  # np.frompyfunc hides the function
    return f"ufunc {value.__name__}"


def _enum(value: enum.Enum, w: Writer) -> str:
    return f"{w.write(type(value))}.{value.name}"


def _method(value: MethodType, w: Writer) -> str:
    return f"{w.write(value.__self__)}.{w.write(value.__func__)}"


def _parts(*names: str) -> Callable[[Any, Writer], str]:
    """Make a writer of some attributes."""
    return lambda value, w: f"{type(value).__name__}{w.write([getattr(value, name) for name in names])}"


def _instance(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _is(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _is_from(package: str) -> Callable[[Any], bool]:
    return lambda value: type(value).__module__.partition(".")[0] == package


#: Who writes what; the first that fits does.
_WRITERS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Writer], str]], ...] = (
    (_instance(enum.Enum), _enum),
    (_instance(np.generic), data_text.scalar),
    (_instance(np.ndarray), data_text.array),
    (_is(list, tuple), data_text.sequence),
    (_is(set, frozenset), data_text.unordered),
    (_is(dict, MappingProxyType), data_text.mapping),
    (_instance(type), own_code.of_class),
    (_instance(FunctionType), own_code.of_function),
    (_instance(MethodType), _method),
    (_instance(CodeType), own_code.of_code),
    (_instance(ModuleType), own_code.of_module),
    (_instance(BuiltinFunctionType), _builtin),
    (_instance(np.ufunc), _ufunc),
    (_instance(classmethod, staticmethod), _parts("__func__")),
    (_instance(property), _parts("fget", "fset", "fdel")),
    (_instance(cached_property), _parts("func")),
    (_instance(partialmethod), _parts("func", "args", "keywords")),
    (_instance(singledispatchmethod), _parts("dispatcher")),
    (_instance(MemberDescriptorType, GetSetDescriptorType), _parts("__name__")),
    (_instance(*_MEANINGLESS), lambda value, w: type(value).__name__),
    (lambda value: isinstance(getattr(value, "py_func", None), FunctionType), _parts("py_func")),  # numba's
    (sparse.issparse, data_text.sparse_matrix),
    (lambda value: hasattr(value, "iloc") and hasattr(value, "ndim"), data_text.pandas),
    (_is_from("polars"), data_text.polars),
    (lambda value: hasattr(value, "get_params"), _estimator),
)
