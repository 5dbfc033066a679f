"""Names of a package that are imported when first asked for: an error about a path must not wait for pandas."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `homes`: the module of each name; one without it is meant itself."""

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f".{homes[name]}", package)
        value = getattr(module, name, module)
        setattr(sys.modules[package], name, value)
        return value

    return found
