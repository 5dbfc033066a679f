"""What code does, as a text: classes and functions of the user's own by their instructions, installed ones by name.

Takes classes and functions, gives texts; never calls them. An edited transformer must not be mistaken for the old one.
What an own function calls in turn is not followed. The versions of what is installed are noted elsewhere.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

#: The identities of what is being written, outermost first: an object inside itself ends there.
Seen = tuple[int, ...]
Write = Callable[[Any, Seen], str]
#: Types whose `repr` says everything.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def of_class(value: type, seen: Seen, write: Write) -> str:
    """Write a class: its name, and for the user's own a digest of what it does."""
    name = f"{value.__module__}.{value.__qualname__}"
    own = [k for k in value.__mro__ if not _is_installed(k.__module__) and id(k) not in seen]
    if not own:
        return name
    seen = (*seen, *map(id, own))
    texts = [f"{member} {text}" for k in own for member, text in _members(k, seen, write)]
    return f"{name}#{blake2b(' '.join(texts).encode(), digest_size=8).hexdigest()}"


def _members(klass: type, seen: Seen, write: Write) -> Iterable[tuple[str, str]]:
    """Give the code and the constants of a class; other attributes (caches) say nothing about what it does."""
    for name, member in sorted(vars(klass).items()):
        if isinstance(member, (classmethod, staticmethod)):
            yield name, write(member.__func__, seen)
        elif isinstance(member, property):
            yield name, write((member.fget, member.fset), seen)
        elif isinstance(member, FunctionType) or (type(member) in PLAIN and not name.startswith("__")):
            yield name, write(member, seen)


def of_function(value: FunctionType, seen: Seen, write: Write) -> str:
    """Write a function: its name, and for the user's own a digest of its code, its defaults and what it closes over."""
    name = f"{value.__module__}.{value.__qualname__}"
    wrapped = getattr(value, "__wrapped__", None)
    if wrapped is not None:  # a decorator of somebody else's around the user's code
        name += write(wrapped, seen)
    if _is_installed_file(value.__code__.co_filename):
        return name
    cells = [_contents(cell) for cell in value.__closure__ or ()]
    parts = (value.__code__, value.__defaults__, value.__kwdefaults__, cells)
    return f"{name}#{blake2b(write(parts, seen).encode(), digest_size=8).hexdigest()}"


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def of_code(value: CodeType, seen: Seen, write: Write) -> str:
    """Write code without the places where it stands."""
    return f"code({value.co_code!r}, {write(value.co_consts, seen)}, {value.co_names}, {value.co_varnames})"


@lru_cache(maxsize=1024)
def _is_installed(module: str) -> bool:
    if module == "__main__":
        return False
    if module.partition(".")[0] == "sobercv":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or _is_installed_file(file)


@lru_cache(maxsize=1024)
def _is_installed_file(file: str) -> bool:
    roots = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    ours = __file__.rpartition("training")[0]
    return "site-packages" in file or "dist-packages" in file or file.startswith((*roots, ours, "<frozen"))
