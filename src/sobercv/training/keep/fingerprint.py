"""Fingerprints: joblib's hash of any value, the same in every process, and digests of the code that it can reach.

Estimators are hashed by class and parameters, tables by their columns. Code is hashed by value where it is in a script
or a notebook: instructions, and the global values that they read. Code of a module is known by name, and by the source
of the module and of the user's own modules that it imports; installed packages are known by their versions.
"""

from __future__ import annotations

import ast
import dis
import platform
import sys
import sysconfig
import types
from contextlib import suppress
from functools import cache, cached_property
from hashlib import blake2b
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from os.path import dirname, sep
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from joblib.hashing import NumpyHasher
from scipy import sparse
from sklearn.base import BaseEstimator

from ...errors import SoberError

#: Parameters of estimators that change how a fit is done but not what comes out.
_NO_EFFECT = frozenset({"n_jobs", "verbose"})
#: Attributes of estimators that are no parameters but that `clone` carries along.
_CARRIED = ("_sklearn_output_config", "_metadata_request")
_STDLIB = tuple(root + sep for root in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_OURS = dirname(dirname(dirname(__file__))) + sep


def fingerprint(value: Any, modules: set[str]) -> str:
    """Return a hash of a value, and add the modules whose code it uses; E602 where it cannot be told from another."""
    try:
        return str(_Hasher(modules).hash(value))
    except Exception as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else next(iter(error.args), error)
        raise SoberError(
            "E602",
            f"A {type(value).__qualname__} cannot be told from another one ({reason}), so a store could not tell next "
            "time whether it is the same; use a parameter that can be pickled, or leave out store=.",
        ) from error


def digest(*values: Any) -> str:
    """Return a hash of values and their code."""
    modules: set[str] = set()
    found = fingerprint(values, modules)
    return fingerprint((found, code_of(modules)[0]), set())


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash of values, not of identities; it also sees code, and what pickles hide or repeat by chance."""

    def __init__(self, modules: set[str]) -> None:
        super().__init__(coerce_mmap=True)
        self.fast = True  # pickle repeats a value instead of referring to it: equal objects need not be one
        self._modules = modules
        self._written: list[Any] = []  # code that was hashed by value: it may refer to itself
        self._is_frozen = False  # inside an estimator that is cloned with all that it has learnt

    def save(self, obj: Any) -> None:
        before = self._is_frozen
        if hasattr(obj, "get_params") and not isinstance(obj, type):
            own = getattr(type(obj), "__sklearn_clone__", None)
            self._is_frozen |= own not in (None, getattr(BaseEstimator, "__sklearn_clone__", None))
            if not self._is_frozen:
                params = {k: v for k, v in obj.get_params(deep=False).items() if k not in _NO_EFFECT}
                obj = type(obj), params, {name: vars(obj).get(name) for name in _CARRIED}
        super().save(self._replaced(obj))
        self._is_frozen = before

    def _replaced(self, obj: Any) -> Any:
        """Return what is hashed for an object: itself, unless pickle cannot or would not see what it is."""
        kind = type(obj)
        if isinstance(obj, (type, types.FunctionType)):
            return self._code(obj)
        if isinstance(obj, types.ModuleType):
            self._modules.add(obj.__name__)
            return "module", obj.__name__
        if isinstance(obj, np.ma.MaskedArray):
            return "masked", obj.filled(), np.ma.getmaskarray(obj)
        if sparse.issparse(obj):  # less what it remembers about itself
            rows = obj.tocsr()
            return "sparse", rows.shape, rows.data, rows.indices, rows.indptr
        # Tables by column: how columns are put together in memory changes, and their buffers may hold garbage in gaps.
        if hasattr(obj, "iloc"):
            columns = [obj] if obj.ndim == 1 else [obj.iloc[:, k] for k in range(obj.shape[1])]
            names = obj.name if obj.ndim == 1 else obj.columns
            return kind, obj.index, names, [_values(column) for column in columns]
        if hasattr(obj, "get_indexer"):  # an index of pandas
            return kind, list(obj.names), obj.tolist() if hasattr(obj, "levels") else _values(obj)
        if kind.__module__.partition(".")[0] in ("polars", "pyarrow"):
            if hasattr(obj, "schema"):
                return kind, str(obj.schema), list(obj.iter_columns() if hasattr(obj, "iter_columns") else obj.columns)
            if hasattr(obj, "null_count"):
                has_gaps = obj.null_count() if callable(obj.null_count) else obj.null_count
                values = None if has_gaps else obj.to_numpy()
                if values is None or values.dtype == object:
                    values = obj.to_list() if hasattr(obj, "to_list") else obj.to_pylist()
                return kind, getattr(obj, "name", None), str(getattr(obj, "dtype", "")), values
        if kind in (set, frozenset):
            return kind, sorted(obj, key=repr)
        if kind is types.MappingProxyType:
            return dict(obj)
        if isinstance(obj, WeakKeyDictionary):  # a cache
            return "weak"
        if isinstance(obj, property):
            return "property", obj.fget, obj.fset, obj.fdel
        if isinstance(obj, cached_property):
            return "cached_property", obj.func
        if isinstance(getattr(obj, "py_func", None), types.FunctionType):  # numba's
            return "compiled", obj.py_func
        return (kind, obj.__wrapped__, vars(obj)) if hasattr(obj, "__wrapped__") else obj  # such as a cached function

    def _batch_setitems(self, items: Any, *rest: Any) -> None:
        super(NumpyHasher.__base__, self)._batch_setitems(sorted(items, key=lambda item: repr(item[0])), *rest)

    def _code(self, obj: Any) -> Any:
        """Return the name of code in a module; of all other code what it does."""
        module, name = str(obj.__module__), obj.__qualname__
        self._modules.add(module)
        if is_in_file(module) and "<" not in name:  # neither a lambda nor inside of a function
            return "code", module, name
        if any(obj is other for other in self._written):
            return "again", next(i for i, other in enumerate(self._written) if obj is other)
        self._written.append(obj)
        if isinstance(obj, type):
            members = {key: value for key, value in vars(obj).items() if _does_something(key, value)}
            return name, type(obj), obj.__bases__, members
        home, read = obj.__globals__, dict[str, Any]()
        if not is_in_file(str(home.get("__name__"))):
            read = {key: home[key] for key in _names(obj.__code__) if key in home}
        cells = [cell for cell in obj.__closure__ or () if cell != types.CellType()]  # an empty one has no contents
        held = [cell.cell_contents for cell in cells]
        return name, _instructions(obj.__code__), obj.__defaults__, obj.__kwdefaults__, held, vars(obj), read


def _values(column: Any) -> Any:
    """Return the entries of a column or an index of pandas in a form that depends on nothing else."""
    if str(column.dtype) == "category":
        known = column.cat if hasattr(column, "cat") else column
        return np.asarray(known.codes), known.categories, bool(known.ordered)
    return str(column.dtype), np.array(column) if isinstance(column.dtype, np.dtype) else column.to_numpy(dtype=object)


def _does_something(name: str, value: Any) -> bool:
    """Whether a member of a class can change what its objects do."""
    if isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)) or name == "_abc_impl":
        return False
    return not (name.startswith("__") and name.endswith("__")) or isinstance(value, (types.FunctionType, property))


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that code reads."""
    read = {str(each.argval) for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return read.union(*(_names(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _instructions(code: types.CodeType) -> tuple[Any, ...]:
    inner = [_instructions(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_exceptiontable, inner


# ---- where code is --------------------------------------------------------------------------------------------------
def is_installed_file(file: str) -> bool:
    """Whether a file belongs to Python, to sober, or to a package that is installed but not editable."""
    in_site = any(f"{sep}{folder}{sep}" in file for folder in ("site-packages", "dist-packages"))
    return in_site or file.startswith((*_STDLIB, _OURS, "<frozen"))


def is_in_file(module: str) -> bool:
    """Whether the code of a module is known by its file or by the version of its package."""
    return module != "__main__" and (_is_installed(module) or _source_file(module) is not None)


def _is_installed(module: str) -> bool:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "sobercv":
        return True
    file = _source_file(module) or _source_file(top)
    return top in _distributions() if file is None else is_installed_file(file)


def _source_file(module: str) -> str | None:
    """Return the file of a module, imported or not; None where it has none."""
    if module in sys.modules:
        found = getattr(sys.modules[module], "__file__", None)
    else:
        spec = _spec(module)
        found = spec.origin if spec is not None and spec.has_location else None
    return found if isinstance(found, str) else None


def _spec(module: str) -> Any:
    """Find a module without importing the packages that hold it, as importlib would."""
    parent = module.rpartition(".")[0]
    with suppress(ImportError, AttributeError, ValueError):
        if not parent:
            return find_spec(module)
        above = getattr(sys.modules.get(parent), "__spec__", None) or _spec(parent)
        folders = None if above is None else above.submodule_search_locations
        return None if folders is None else PathFinder.find_spec(module, folders)
    return None


def versions(packages: set[str]) -> dict[str, str]:
    """Return what outcomes depend on beside the user's own code: Python, the machine, and installed packages."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "machine": platform.machine()}
    named = packages | {"numpy", "scipy", "sklearn", "sobercv"}
    return found | {package: _version(package) for package in sorted(named)}


@cache
def _version(package: str) -> str:
    """Return the version of an installed package; where it has none, a digest of its files."""
    if package in _distributions():
        return version(_distributions()[package][0])
    file = Path(_source_file(package) or "")
    files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return _short(b"".join(bytes(each.relative_to(file.parent)) + each.read_bytes() for each in files))


_distributions = cache(packages_distributions)

#: The digest of each module when it was first read, with its import spec: a reload makes a new one.
_first_seen: dict[str, tuple[object, str]] = {}


def code_of(modules: set[str]) -> tuple[dict[str, str], set[str]]:
    """Return digests of the user's own modules among these and those that they import, and the installed packages.

    A module that was edited after it had been imported is refused: its fits and its file are not the same code.
    """
    digests: dict[str, str] = {}
    packages: set[str] = set()
    waiting = {name for name in modules if name != "__main__"}
    while waiting:
        name = waiting.pop()
        if _is_installed(name):
            packages |= {name.partition(".")[0]} - sys.stdlib_module_names
        elif name not in digests and (file := _source_file(name)) is not None:  # else no module, but a name in one
            raw = Path(file).read_bytes()
            with suppress(SyntaxError, ValueError):  # of what is no source for this Python the bytes count
                tree = ast.parse(raw)
                raw = ast.dump(tree).encode(errors="surrogatepass")
                waiting |= _imports(tree, name if file.endswith("__init__.py") else name.rpartition(".")[0])
            digests[name] = _short(raw)
            waiting |= {name.rpartition(".")[0]} - {""}
            spec = getattr(sys.modules.get(name), "__spec__", None)
            known_spec, known = _first_seen.get(name, (None, ""))
            if spec is not None and spec is known_spec and known != digests[name]:
                raise SoberError(
                    "E602",
                    f"{file} was edited after it was imported, so a store cannot know which version a fit uses. "
                    "Restart Python, or reload the module.",
                )
            _first_seen[name] = spec, digests[name]
    return digests, packages


def _imports(tree: ast.AST, package: str) -> set[str]:
    """Return the modules that a source imports anywhere in it, and names that may be modules."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            found |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return found


def _short(raw: bytes) -> str:
    return blake2b(raw, digest_size=8).hexdigest()
