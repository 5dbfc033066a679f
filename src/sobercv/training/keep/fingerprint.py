"""Fingerprints: a text for any value that is the same in every process, and a digest of it.

Arrays are present by a digest of their bytes, estimators by class and parameters, the user's own code by the source
files that it can reach (`own_code`). Functions that no other process could import (those of a script, a notebook, or
inside of another function) are present by their compiled code and the values that they use. Nothing is pickled into a
file.
"""

from __future__ import annotations

import copyreg
import dis
import enum
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partialmethod, singledispatchmethod
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np
import scipy.special
from scipy import sparse
from sklearn.base import BaseEstimator

from ...errors import SoberError
from .own_code import is_importable, is_installed, is_installed_file, source_digests

#: Types whose `repr` says everything.
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)})
#: Parameters of estimators that change how a fit is done but not what comes out.
_NO_EFFECT = frozenset({"n_jobs", "verbose"})
#: Attributes of estimators that are no parameters but that `clone` carries along.
_CARRIED = ("_sklearn_output_config", "_metadata_request")
#: Members that every class has, or that say where it stands.
_NO_MEANING = frozenset(
    {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__",
     "__static_attributes__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"}
)  # fmt: skip


@dataclass(frozen=True)
class Fingerprint:
    """What a value is.

    Attributes
    ----------
    text : str
        Equal for values that train alike, in this process and in any other.
    code : mapping of str to str
        A digest of each of the user's own modules that takes part, by name.
    packages : frozenset of str
        Installed packages that take part.
    unknown : mapping of str to str
        What the code uses but cannot be described: its name and its type.
    """

    text: str
    code: Mapping[str, str]
    packages: frozenset[str]
    unknown: Mapping[str, str]


def fingerprint(value: Any) -> Fingerprint:
    """Return the fingerprint of a value.

    Parameters
    ----------
    value
        Numbers, texts, containers, arrays, tables, estimators, functions, classes, and what pickle could describe.

    Raises
    ------
    SoberError
        E602 where the value cannot be told from another one.
    """
    writer = _Writer()
    text = writer.write(value)
    code, packages = source_digests(sorted(writer.modules))
    if code:
        text += f" code#{_short(repr(sorted(code.items())))}"
    return Fingerprint(text, code, frozenset(writer.packages | packages), writer.unknown)


def canonical(value: Any) -> str:
    """Return the text of a fingerprint."""
    return fingerprint(value).text


def digest(*values: Any, size: int = 16) -> bytes:
    """Return a digest of values, of `size` bytes, that is the same in every process."""
    return blake2b(canonical(values).encode(errors="surrogatepass"), digest_size=size).digest()


def _short(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


class _Writer:
    """Writes values as texts without memory addresses, and notes the code that it meets."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.packages: set[str] = set()
        self.unknown: dict[str, str] = {}
        self._is_frozen = False  # inside an estimator that is cloned with all that it has learnt
        self._path: list[int] = []  # the identities of what is being written, outermost first

    def write(self, value: Any) -> str:
        """Write a value."""
        if type(value) in _PLAIN:
            return hex(value) if type(value) is int and abs(value) > 1 << 10_000 else repr(value)
        if id(value) in self._path:
            return "<itself>"
        self._path.append(id(value))
        try:
            return self._text(value)
        except RecursionError:
            raise _undescribed(value, "it is nested too deeply") from None
        finally:
            self._path.pop()

    def _attempt(self, name: str, value: Any) -> str:
        """Write a value that code uses; where that cannot be done, note its name."""
        try:
            return self.write(value)
        except SoberError:
            self.unknown[name] = f"{type(value).__module__}.{type(value).__qualname__}"
            return "?"

    def _text(self, value: Any) -> str:
        kind = type(value)
        if isinstance(value, enum.Enum):
            return f"{self.write(kind)}.{value.name}={self.write(value.value)}"
        if isinstance(value, (np.generic, np.ndarray)) or sparse.issparse(value):
            return self._array(value)
        if kind in (list, tuple):
            return ("[{}]" if kind is list else "({})").format(", ".join(map(self.write, value)))
        if kind in (set, frozenset):
            return "{" + ", ".join(sorted(map(self.write, value))) + "}"
        if kind in (dict, MappingProxyType):
            return "{" + ", ".join(sorted(f"{self.write(k)}: {self.write(v)}" for k, v in value.items())) + "}"
        if isinstance(value, (type, FunctionType)):
            return self._code(value)
        if isinstance(value, MethodType):
            return f"{self.write(value.__self__)}.{value.__func__.__qualname__}"
        if isinstance(value, ModuleType):
            self._note(value.__name__)
            return value.__name__
        if isinstance(value, (BuiltinFunctionType, np.ufunc)):
            return self._compiled(value)
        if isinstance(getattr(value, "py_func", None), FunctionType):  # numba's
            return f"compiled {self.write(value.py_func)}"
        if (hasattr(value, "iloc") or hasattr(value, "get_indexer")) and hasattr(value, "ndim"):
            return self._pandas(value)
        if kind.__module__.partition(".")[0] == "polars":
            return self._polars(value)
        return self._estimator(value) if hasattr(value, "get_params") else self._by_state(value)

    # ---- data ----------------------------------------------------------------------------------------------------
    def _array(self, value: Any) -> str:
        if isinstance(value, np.generic):
            item = value.item()  # a numpy number trains as the Python number does
            return self.write(item) if type(item) in _PLAIN else f"{value.dtype.str} {value!s}"
        if sparse.issparse(value):
            rows = value.tocsr()
            return f"sparse({list(rows.shape)}, {', '.join(map(self._array, (rows.data, rows.indices, rows.indptr)))})"
        if isinstance(value, np.ma.MaskedArray):
            return f"masked({self._array(value.filled())}, {self._array(np.ma.getmaskarray(value))})"
        if value.dtype.names is not None:  # by field: bytes between the fields mean nothing
            return "record(" + ", ".join(f"{n}={self._array(value[n])}" for n in value.dtype.names) + ")"
        if value.dtype.hasobject:
            return f"array(object, {list(value.shape)}, {_short(self.write(value.ravel().tolist()))})"
        raw = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data if value.size else b""
        return f"array({value.dtype.str}, {list(value.shape)}, {blake2b(raw, digest_size=16).hexdigest()})"

    def _pandas(self, value: Any) -> str:
        """Write an index, a series or a frame: values, dtypes, names and index."""
        if hasattr(value, "get_indexer"):
            entries = self.write(value.tolist()) if hasattr(value, "levels") else self._column(value)
            return f"index({self.write(list(value.names))}, {entries})"
        columns = [(value.name, value)] if value.ndim == 1 else list(value.items())
        written = ", ".join(f"{self.write(name)}={self._column(column)}" for name, column in columns)
        names = "" if value.ndim == 1 else self.write(list(value.columns.names))
        return f"table({self.write(value.index)}, {names}, {written})"

    def _column(self, column: Any) -> str:
        if str(column.dtype) == "category":
            known = column.cat if hasattr(column, "cat") else column
            return f"category({self._array(np.asarray(known.codes))}, {self.write(known.categories)}, {known.ordered})"
        plain = isinstance(column.dtype, np.dtype)
        return f"{column.dtype} {self._array(column.to_numpy() if plain else column.to_numpy(dtype=object))}"

    def _polars(self, value: Any) -> str:
        columns = [value] if not hasattr(value, "columns") else [value[name] for name in value.columns]
        texts = []
        for column in columns:
            plain = column.dtype.is_numeric() and not column.null_count()
            values = column.to_numpy() if plain else np.array([*column.to_list(), None], object)[:-1]
            texts.append(f"{column.name!r}={column.dtype} {self._array(values)}")
        return "table(" + ", ".join(texts) + ")"

    # ---- objects -------------------------------------------------------------------------------------------------
    def _estimator(self, value: Any) -> str:
        """Write the class and the parameters."""
        own = getattr(type(value), "__sklearn_clone__", None)
        before = self._is_frozen
        if before or own not in (None, getattr(BaseEstimator, "__sklearn_clone__", None)):
            self._is_frozen = True  # what was fitted before is used as it is
            try:
                return self._by_state(value)
            finally:
                self._is_frozen = before
        given = sorted(value.get_params(deep=False).items())
        params = ", ".join(f"{name}={self.write(setting)}" for name, setting in given if name not in _NO_EFFECT)
        carried = {name: vars(value)[name] for name in _CARRIED if name in getattr(value, "__dict__", {})}
        return f"{self.write(type(value))}({params})" + (self.write(carried) if carried else "")

    def _by_state(self, value: Any) -> str:
        """Describe any other object as pickle would: how it is made, and its state."""
        try:
            by_table = copyreg.dispatch_table.get(type(value))  # where others say how to pickle, as for patterns
            reduced = value.__reduce_ex__(4) if by_table is None else by_table(value)
        except Exception as error:
            raise _undescribed(value, str(error)) from error
        if isinstance(reduced, str):  # known by its name
            self._note(str(getattr(value, "__module__", "")))
            wrapped = getattr(value, "__wrapped__", None)  # a cached function
            return f"{self.write(type(value))} {reduced}" + ("" if wrapped is None else self.write(wrapped))
        maker, arguments, *rest = reduced
        state = [list(part) if isinstance(part, Iterator) else part for part in rest]
        return f"{self.write(type(value))}:{self.write(maker)}{self.write(tuple(arguments))}{self.write(state)}"

    # ---- code ----------------------------------------------------------------------------------------------------
    def _note(self, module: str) -> None:
        if is_installed(module):
            self.packages.add(module.partition(".")[0])
        else:
            self.modules.add(module)

    def _compiled(self, value: Any) -> str:
        """Write a compiled function by its name, and the object that it belongs to."""
        if isinstance(value, np.ufunc):
            if not any(getattr(home, value.__name__, None) is value for home in (np, scipy.special)):
                raise _undescribed(value, "its code cannot be read")  # np.frompyfunc hides the function
            return f"ufunc {value.__name__}"
        owner, module = getattr(value, "__self__", None), getattr(value, "__module__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            return f"{self.write(owner)}.{value.__name__}"
        self._note(module or "builtins")
        return f"{module or ''}.{value.__qualname__}"

    def _code(self, value: Any) -> str:
        """Write a class or a function: by name where other processes would import the same, else by what it does."""
        module = str(getattr(value, "__module__", "") or "")
        name = f"{module}.{value.__qualname__}"
        file = value.__code__.co_filename if isinstance(value, FunctionType) else ""
        if is_installed(module) and not (file.endswith(".py") and not is_installed_file(file)):
            self._note(module)
            return name + self._wrapped(value)
        if is_importable(module):
            self._note(module)
            if _is_at_the_top(value, module):
                return name
        return f"{name}#{_short(self._function(value) if isinstance(value, FunctionType) else self._class(value))}"

    def _wrapped(self, value: Any) -> str:
        """Write the user's code inside of an installed decorator."""
        inner = getattr(value, "__wrapped__", None)
        if inner is not None and not isinstance(value, type):
            return self.write(inner)
        cells = list(map(_contents, getattr(value, "__closure__", None) or ()))
        return "".join(self.write(held) for held in cells if isinstance(held, (FunctionType, type)))

    def _class(self, value: type) -> str:
        texts = [self.write(base) for base in value.__bases__] + [self.write(type(value))]
        for name, held in sorted(vars(value).items()):
            if name not in _NO_MEANING:
                parts = next((parts for kind, parts in _DESCRIPTORS.items() if isinstance(held, kind)), None)
                held = held if parts is None else [getattr(held, part) for part in parts]
                texts.append(f"{name}={self._attempt(f'{value.__qualname__}.{name}', held)}")
        return " ".join(texts)

    def _function(self, value: FunctionType) -> str:
        """Write compiled code with the values that it uses: defaults, enclosing functions' variables and globals."""
        name, code = value.__qualname__, value.__code__
        assigned = {i.argval for part in _parts(code) for i in dis.get_instructions(part) if i.opname in _ASSIGN}
        texts = [self._instructions(code)]
        for part in (value.__defaults__, value.__kwdefaults__, vars(value) or None):
            texts.append(self._attempt(name, part))
        for cell, held in zip(code.co_freevars, map(_contents, value.__closure__ or ()), strict=True):
            texts += [] if cell in assigned else [f"{cell}={self._attempt(f'{name}, {cell}', held)}"]
        for used in sorted({each for part in _parts(code) for each in part.co_names} - assigned):
            if used in value.__globals__ and not used.startswith("__"):
                texts.append(f"{used}={self._attempt(used, value.__globals__[used])}")
            elif is_importable(used):  # imported inside of the function
                self._note(used)
        return " ".join(texts)

    def _instructions(self, code: CodeType) -> str:
        constants = [self._instructions(c) if isinstance(c, CodeType) else self.write(c) for c in code.co_consts]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return f"code({code.co_code!r}, {code.co_exceptiontable!r}, {code.co_flags}, {constants}, {names})"


#: What members of classes consist of that pickle cannot describe.
_DESCRIPTORS: dict[type, tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    cached_property: ("func",),
    partialmethod: ("func", "args", "keywords"),
    singledispatchmethod: ("func",),
}
#: Variables that code assigns itself hold its memory, not its meaning.
_ASSIGN = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"})


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Iterate over a piece of code and all functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _is_at_the_top(value: Any, module: str) -> bool:
    """Whether a class or a function is found under its name in its module."""
    held: Any = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        held = getattr(held, "__dict__", {}).get(part)
    return held is value


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _undescribed(value: Any, reason: str) -> SoberError:
    return SoberError(
        "E602",
        f"A {type(value).__qualname__} cannot be told from another one ({reason}), so a store could not know next "
        "time whether it is the same; use a parameter that can be pickled, or leave out store=.",
    )
