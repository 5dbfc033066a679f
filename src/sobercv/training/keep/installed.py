"""Which code is the user's own, and which is installed and known by its version.

Takes modules and files, gives yes or no, names and versions; never follows code.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import lru_cache
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from os.path import dirname, sep
from types import ModuleType

#: Everything below these folders is installed, and so is what lies in a folder of one of these names.
_ROOTS = tuple(
    root + sep
    for root in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), dirname(dirname(dirname(__file__)))}
)
_FOLDERS = ("site-packages", "dist-packages")


@lru_cache(maxsize=4096)
def is_installed_file(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to sober.

    Parameters
    ----------
    file : str
    """
    return file.startswith((*_ROOTS, "<frozen")) or any(f"{sep}{folder}{sep}" in file for folder in _FOLDERS)


def is_installed(module: str | None) -> bool:
    """Whether a module is installed; what stands in a script, a notebook or a project's folder is not.

    Parameters
    ----------
    module : str or None
    """
    if not module or module == "__main__":
        return False
    if module.partition(".")[0] in ("builtins", "sobercv"):
        return True
    held = sys.modules.get(module)
    file = getattr(held, "__file__", None)
    if file is not None:
        return is_installed_file(file)
    # Built into Python, or a folder without __init__; what was made on the fly has neither origin nor path.
    spec = getattr(held, "__spec__", None)
    paths = list(getattr(held, "__path__", ()))
    return getattr(spec, "origin", None) in ("built-in", "frozen") or (
        bool(paths) and all(map(is_installed_file, paths))
    )


def is_compiled(module: str) -> bool:
    """Whether a module has no code that could be read.

    Parameters
    ----------
    module : str
    """
    return str(getattr(sys.modules.get(module), "__file__", "")).endswith(tuple(EXTENSION_SUFFIXES))


def imported(name: str, level: int, package: str | None) -> ModuleType | None:
    """Give the module that a function of the user's own would import; None for what is installed or cannot be found.

    Parameters
    ----------
    name : str
    level : int
        How many dots stood before it.
    package : str or None
        Where the function stands.
    """
    try:
        full = resolve_name("." * level + name, package) if level else name
        if full in sys.modules:
            held = sys.modules[full]
        else:
            # What is installed is not imported for this, and the user's own would be by the next fit.
            spec = find_spec(full.partition(".")[0])
            file = getattr(spec, "origin", None)
            if spec is None or (file is not None and (is_installed_file(file) or file in ("built-in", "frozen"))):
                return None
            held = import_module(full)
    except Exception:  # what cannot be imported will fail, or be caught, in the fit
        return None
    return None if is_installed(full) else held


@lru_cache(maxsize=256)  # looking one up takes milliseconds
def version_of(package: str) -> str:
    """Give the version of an installed package; empty where it has none.

    Parameters
    ----------
    package : str
        As it is imported.
    """
    try:
        return version({"sklearn": "scikit-learn"}.get(package, package))
    except PackageNotFoundError:  # a part of Python, or a package that is imported by another name
        return str(getattr(sys.modules.get(package), "__version__", ""))
