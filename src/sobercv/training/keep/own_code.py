"""Which code a fit can reach: the user's own modules by their source, installed packages by version and files.

Modules outside of site-packages are the user's own: scripts, projects, editable installs. Their source files, and those
of every own module that they import, are part of a fingerprint. Comments and layout are not.
"""

from __future__ import annotations

import ast
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from importlib.util import find_spec
from os.path import dirname, sep
from pathlib import Path

from ...errors import SoberError

_STDLIB = tuple(root + sep for root in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_SITE = ("site-packages", "dist-packages")
_OURS = dirname(dirname(dirname(__file__))) + sep
#: Large packages whose releases are never edited in place: their version says enough.
_BY_VERSION = frozenset({"numpy", "scipy", "sklearn", "pandas", "sobercv", "joblib", "numba"})


def is_installed_file(file: str) -> bool:
    """Whether a file belongs to Python, to sober, or to a package that is installed but not editable."""
    in_site = any(f"{sep}{folder}{sep}" in file for folder in _SITE)
    return in_site or file.startswith((*_STDLIB, _OURS, "<frozen"))


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


def is_installed(module: str) -> bool:
    """Whether a module is part of Python, of sober or of an installed package."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "sobercv":
        return True
    file = source_file(module)
    if file is None:  # a namespace package, or a module made at run time
        paths = list(getattr(sys.modules.get(module), "__path__", ()))
        return bool(paths) and all(is_installed_file(path + sep) for path in paths)
    return is_installed_file(file)


def is_importable(module: str) -> bool:
    """Whether a module of the user's own has a source file that other processes would import."""
    return module != "__main__" and not is_installed(module) and source_file(module) is not None


def source_digests(modules: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """Return a digest of each own module reachable by imports, and the names of installed packages that they import.

    Raises
    ------
    SoberError
        E602 where a module was edited after it had been imported: its fits and its file are not the same code.
    """
    digests: dict[str, str] = {}
    packages: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in digests or name == "__main__":
            continue
        if not is_importable(name):
            if is_installed(name):
                packages.add(name.partition(".")[0])
            continue
        digests[name], imported = _read(name)
        waiting += [*imported, *_parents(name)]
    return digests, packages


def _read(name: str) -> tuple[str, list[str]]:
    """Return the digest of a module's source, and the modules that it imports anywhere in it."""
    file = source_file(name)
    assert file is not None
    raw = Path(file).read_bytes()
    imported: list[str] = []
    if file.endswith(".py"):
        tree = ast.parse(raw)
        package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
        imported = list(_imports(tree, package))
        raw = ast.dump(tree).encode(errors="surrogatepass")
    digest = blake2b(raw, digest_size=8).hexdigest()
    held = sys.modules.get(name)
    if held is not None:
        spec, first = _first_seen.setdefault(name, (held.__spec__, digest))
        if spec is not held.__spec__:  # imported again, or reloaded
            _first_seen[name] = held.__spec__, digest
        elif first != digest:
            raise SoberError(
                "E602",
                f"{file} was edited after it had been imported, so a store cannot know which of the two a fit uses. "
                "Restart Python, or reload the module.",
            )
    return digest, imported


#: The digest of each module when it was first read, with its import spec: a reload makes a new one.
_first_seen: dict[str, tuple[object, str]] = {}


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)  # a submodule, or no module at all


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def versions(packages: set[str]) -> dict[str, str]:
    """Return what outcomes depend on beside the user's own code: Python, the machine, and installed packages."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "machine": platform.machine()}
    named = (packages | {"numpy", "scipy", "sklearn", "sobercv"}) - sys.stdlib_module_names - {"__main__", "builtins"}
    return found | {package: _version(package) for package in sorted(named)}


@lru_cache(maxsize=256)
def _version(package: str) -> str:
    """Return the version of an installed package with a digest of its files: one may be installed twice, or edited."""
    names = packages_distributions().get(package, [package])
    try:
        version = distribution(names[0]).version
    except PackageNotFoundError:
        version = str(getattr(sys.modules.get(package), "__version__", ""))
    if package in _BY_VERSION:
        return version
    return f"{version} ({_files_digest(package)})".strip()


def _files_digest(package: str) -> str:
    file = source_file(package)
    paths = list(getattr(sys.modules.get(package), "__path__", ()))
    if not paths and file is not None:
        paths = [dirname(file)] if file.endswith("__init__.py") else [file]
    whole = blake2b(digest_size=4)
    for path in map(Path, paths):
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            whole.update(each.relative_to(path.parent).as_posix().encode() + b"\0" + each.read_bytes())
    return whole.hexdigest()
