"""Fingerprints: a text for any value that is the same in every process, and digests of the code that it can reach.

Arrays are present by a digest of their bytes, estimators by class and parameters, installed packages by their version.
The user's own code is present by its source: modules by their whole file and those of the own modules that they import,
a script or notebook by the statements that define what is used. Comments and layout do not count.
"""

from __future__ import annotations

import ast
import copyreg
import enum
import platform
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from os.path import dirname, sep
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np
import scipy.special
from scipy import sparse
from sklearn.base import BaseEstimator

from ...errors import SoberError
from ...late_imports import IMPORTED_AT

#: Types whose `repr` says everything.
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)})
#: Parameters of estimators that change how a fit is done but not what comes out.
_NO_EFFECT = frozenset({"n_jobs", "verbose"})
#: Attributes of estimators that are no parameters but that `clone` carries along.
_CARRIED = ("_sklearn_output_config", "_metadata_request")
_STDLIB = tuple(root + sep for root in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_SITE = ("site-packages", "dist-packages")
_OURS = dirname(dirname(dirname(__file__))) + sep


def digest(*values: Any, size: int = 16) -> bytes:
    """Return a digest of values and their code, of `size` bytes, that is the same in every process."""
    writer = Writer()
    text = writer.write(values)
    return blake2b(
        f"{text} {sorted(writer.code()[0].items())}".encode(errors="surrogatepass"), digest_size=size
    ).digest()


class Writer:
    """Writes values as texts without memory addresses, and notes the code that it meets.

    Raises E602 where a value cannot be told from another one.
    """

    def __init__(self) -> None:
        self._used: dict[str, set[str]] = {}  # by module: names of it
        self._is_frozen = False  # inside an estimator that is cloned with all that it has learnt
        self._path: list[int] = []  # the identities of what is being written, outermost first

    def code(self) -> tuple[dict[str, str], set[str]]:
        """Return digests of the user's own modules that what was written can reach, and the installed packages."""
        digests: dict[str, str] = {}
        packages: set[str] = set()
        waiting = sorted(self._used)
        while waiting:
            name = waiting.pop()
            if name in digests:
                continue
            if name == "__main__":
                tree = _reachable(_script(), self._used.get(name, set()))
                digests[name], imported = _short(ast.dump(tree)), list(_imports(tree, ""))
            elif is_installed(name):
                packages.add(name.partition(".")[0])
                continue
            elif source_file(name) is None:  # no module, but a function or class imported from one
                continue
            else:
                digests[name], imported = _read(name)
            parts = name.split(".")
            waiting += [*imported, *(".".join(parts[:n]) for n in range(1, len(parts)))]
        return digests, packages

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
        if isinstance(value, MethodType):
            return f"{self.write(value.__self__)}.{value.__func__.__qualname__}"
        if isinstance(value, (type, FunctionType, BuiltinFunctionType, ModuleType, np.ufunc)):
            return self._code(value)
        if isinstance(getattr(value, "py_func", None), FunctionType):  # numba's
            return f"compiled {self.write(value.py_func)}"
        if (hasattr(value, "iloc") or hasattr(value, "get_indexer")) and hasattr(value, "ndim"):
            return self._pandas(value)
        if kind.__module__.partition(".")[0] == "polars":
            columns = [value] if not hasattr(value, "columns") else value.get_columns()
            return "table(" + ", ".join(f"{c.name!r}={c.dtype} {self._polars(c)}" for c in columns) + ")"
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

    def _polars(self, column: Any) -> str:
        plain = column.dtype.is_numeric() and not column.null_count()
        return self._array(column.to_numpy() if plain else np.array([*column.to_list(), None], object)[:-1])

    # ---- objects and code ----------------------------------------------------------------------------------------
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
            self._note(value)
            wrapped = getattr(value, "__wrapped__", None)  # a cached function
            return f"{self.write(type(value))} {reduced}" + ("" if wrapped is None else self.write(wrapped))
        maker, arguments, *rest = reduced
        state = [list(part) if isinstance(part, Iterator) else part for part in rest]
        return f"{self.write(type(value))}:{self.write(maker)}{self.write(tuple(arguments))}{self.write(state)}"

    def _code(self, value: Any) -> str:
        """Write code by its name; where several can have one name, also by the values that tell them apart."""
        if isinstance(value, ModuleType):
            self._used.setdefault(value.__name__, set())
            return value.__name__
        if isinstance(value, np.ufunc):
            if not any(getattr(home, value.__name__, None) is value for home in (np, scipy.special)):
                raise _undescribed(value, "its code cannot be read")  # np.frompyfunc hides the function
            return f"ufunc {value.__name__}"
        owner = getattr(value, "__self__", None)
        if isinstance(value, BuiltinFunctionType) and owner is not None and not isinstance(owner, ModuleType):
            return f"{self.write(owner)}.{value.__name__}"
        self._note(value)
        name = f"{value.__module__ or ''}.{value.__qualname__}"
        if "<" not in name:  # neither a lambda nor inside of a function
            return name
        inside = [value] if isinstance(value, FunctionType) else vars(value).values()
        return f"{name}({', '.join(self._instance(f) for f in inside if isinstance(f, FunctionType))})"

    def _instance(self, function: FunctionType) -> str:
        """Write one of the functions that a piece of source makes: its code, defaults and enclosing variables."""
        held = [self.write(cell.cell_contents) for cell in function.__closure__ or () if cell != CellType()]
        given = self.write((function.__defaults__, function.__kwdefaults__))
        self._note(function)
        return f"{self._instructions(function.__code__, function.__module__)} {given} [{', '.join(held)}]"

    def _instructions(self, code: CodeType, module: str) -> str:
        self._used[module].update(code.co_names)
        inner = [self._instructions(c, module) if isinstance(c, CodeType) else self.write(c) for c in code.co_consts]
        return _short(f"{code.co_code!r} {code.co_names} {inner}")

    def _note(self, value: Any) -> None:
        names = self._used.setdefault(str(getattr(value, "__module__", None) or "builtins"), set())
        names.add(str(getattr(value, "__qualname__", "")).partition(".")[0])


def _short(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _undescribed(value: Any, reason: str) -> SoberError:
    return SoberError(
        "E602",
        f"A {type(value).__qualname__} cannot be told from another one ({reason}), so a store could not know next "
        "time whether it is the same; use a parameter that can be pickled, or leave out store=.",
    )


# ---- where code is --------------------------------------------------------------------------------------------------
def is_installed_file(file: str) -> bool:
    """Whether a file belongs to Python, to sober, or to a package that is installed but not editable."""
    in_site = any(f"{sep}{folder}{sep}" in file for folder in _SITE)
    return in_site or file.startswith((*_STDLIB, _OURS, "<frozen"))


def is_installed(module: str) -> bool:
    """Whether a module is part of Python, of sober or of an installed package."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names - {"__main__"} or top in ("builtins", "sobercv"):
        return True
    file = source_file(module)
    if file is None:  # a namespace package, or a module made at run time
        paths = list(getattr(sys.modules.get(module), "__path__", ()))
        return bool(paths) and all(is_installed_file(path + sep) for path in paths)
    return is_installed_file(file)


def source_file(module: str) -> str | None:
    """Return the file of a module, imported or not; None where it has none, or is built into Python."""
    held = sys.modules.get(module)
    if held is not None:
        file = getattr(held, "__file__", None)
        return file if isinstance(file, str) else None
    top, *inner = module.split(".")
    try:
        spec = find_spec(top)
        for depth in range(len(inner)):  # step by step: importlib would import the packages on the way
            if spec is None or spec.submodule_search_locations is None:
                return None
            name = ".".join([top, *inner[: depth + 1]])
            spec = PathFinder.find_spec(name, spec.submodule_search_locations)
    except (ImportError, AttributeError, ValueError):
        return None
    return spec.origin if spec is not None and spec.has_location else None


def versions(packages: set[str]) -> dict[str, str]:
    """Return what outcomes depend on beside the user's own code: Python, the machine, and installed packages."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "machine": platform.machine()}
    named = (packages | {"numpy", "scipy", "sklearn", "sobercv"}) - sys.stdlib_module_names - {"builtins"}
    return found | {package: _version(package) for package in sorted(named)}


@cache
def _version(package: str) -> str:
    """Return the version of an installed package; where it has none, a digest of its files."""
    distributions = _distributions().get(package)
    if distributions:
        return version(distributions[0])
    file = source_file(package)
    paths = list(getattr(sys.modules.get(package), "__path__", ()))
    if not paths and file is not None:
        paths = [dirname(file)] if file.endswith("__init__.py") else [file]
    whole = blake2b(digest_size=4)
    for path in map(Path, paths):
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            whole.update(each.relative_to(path.parent).as_posix().encode() + b"\0" + each.read_bytes())
    return whole.hexdigest()


_distributions = cache(packages_distributions)


# ---- sources --------------------------------------------------------------------------------------------------------
#: The digest of each module when it was first read, with its import spec: a reload makes a new one.
_first_seen: dict[str, tuple[object, str]] = {}


def _read(name: str) -> tuple[str, list[str]]:
    """Return the digest of a module's source, and the modules that it imports anywhere in it.

    A module that was edited after it had been imported is refused: its fits and its file are not the same code.
    """
    file = source_file(name)
    assert file is not None
    raw, imported = Path(file).read_bytes(), list[str]()
    if file.endswith(".py"):
        tree = ast.parse(raw)
        imported = list(_imports(tree, name if file.endswith("__init__.py") else name.rpartition(".")[0]))
        raw = ast.dump(tree).encode(errors="surrogatepass")
    found = blake2b(raw, digest_size=8).hexdigest()
    held = sys.modules.get(name)
    if held is not None:
        spec, first = _first_seen.setdefault(name, (held.__spec__, found))
        if spec is not held.__spec__:  # imported again, or reloaded
            _first_seen[name] = held.__spec__, found
        elif first != found:
            raise _edited(file, "imported")
    return found, imported


def _edited(file: str, since: str) -> SoberError:
    return SoberError(
        "E602",
        f"{file} was edited after it had been {since}, so a store cannot know which of the two a fit uses. "
        f"{'Start it again.' if since == 'started' else 'Restart Python, or reload the module.'}",
    )


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)  # a submodule, or no module at all


def _script() -> list[ast.stmt]:
    """Return the statements of the script that runs, or of all cells of a notebook so far."""
    main = sys.modules["__main__"]
    cells, file = getattr(main, "In", None), getattr(main, "__file__", None)
    if not isinstance(cells, list) and file and Path(file).stat().st_mtime > IMPORTED_AT:
        raise _edited(file, "started")
    sources = list(cells) if isinstance(cells, list) else [Path(file).read_bytes()] if file else []
    found: dict[str, ast.stmt] = {}  # a cell may be run twice
    for source in sources:
        with suppress(SyntaxError):  # such a cell was refused
            found |= {ast.dump(statement): statement for statement in ast.parse(source).body}
    return list(found.values())


def _reachable(statements: list[ast.stmt], names: set[str]) -> ast.Module:
    """Return the statements that define or change what some names of a script need, and what these need in turn."""
    imported = {name for each in statements if isinstance(each, _IMPORT) for name in _binds(each, set())}
    binds = [_binds(each, imported) for each in statements]
    needed, kept = set(names), {i for i, bound in enumerate(binds) if "*" in bound}
    while new := {i for i, bound in enumerate(binds) if i not in kept and bound & needed}:
        kept |= new
        needed |= {node.id for i in new for node in ast.walk(statements[i]) if isinstance(node, ast.Name)}
    there = {name for name in needed & vars(sys.modules["__main__"]).keys() if not name.startswith("__")}
    lacking = there - set().union(*binds)
    if lacking and not any("*" in bound for bound in binds):
        raise SoberError(
            "E602",
            f"The source of {sorted(lacking)[0]!r} is not known, so a store could not know next time whether it is the "
            "same; put it into a script or a module, or leave out store=.",
        )
    return ast.Module([statements[i] for i in sorted(kept)], [])


_IMPORT, _DEFINES = (ast.Import, ast.ImportFrom), (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _binds(statement: ast.stmt, imported: set[str]) -> set[str]:
    """Return the names of a script that a statement gives a value to, or whose value it may change."""
    if isinstance(statement, _DEFINES):
        registers = {n.id for part in statement.decorator_list for n in ast.walk(part) if isinstance(n, ast.Name)}
        global_names = {n for node in ast.walk(statement) if isinstance(node, ast.Global) for n in node.names}
        return {statement.name, *(registers - imported), *global_names}
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, _DEFINES):
            found.add(node.name)
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found.add(_root(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # such as values.append(1)
            found |= {_root(node.value.func)} - imported if isinstance(node.value.func, ast.Attribute) else set()
    return found


def _root(node: ast.AST) -> str:
    """Return the variable that an expression such as a.b[c] begins with; empty where there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
