"""What code does, as a text: the user's own by what it is and all that it uses, installed code by its name.

Takes classes, functions and modules, gives texts; never calls them. What stands at the top of a module of the user's
own (a function, a class, a member of it, a value that a function reads) is a unit: it is written once, under its name,
whoever uses it. So functions that call each other end, and a difference can be named.
"""

from __future__ import annotations

import builtins
import enum
import sys
from collections.abc import Iterator
from functools import cached_property, partialmethod, singledispatchmethod
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .installed import imported, is_compiled, is_installed, is_installed_file
from .references import references
from .writer import Writer

#: Members that a class has anyway, or that tell where it stands. Of names like __x__, only functions count.
_NO_MEANING = ("_abc_", "__firstlineno__", "__static_attributes__")


def of_class(value: type, w: Writer) -> str:
    """Write a class: installed ones by name, the user's own by their members and those of their own bases."""
    name = _name(value)
    if all(is_installed(_module(k)) for k in value.__mro__):
        w.packages.add(_package(value))
        return name
    if _is_at_the_top(value):
        return w.unit(name, value, _class_text)
    return f"{name}#{w.digest(_class_text(value, w))}"


def _class_text(value: type, w: Writer) -> str:
    named = _is_at_the_top(value)
    texts = [w.write(base) for base in value.__bases__]
    if not is_installed(_module(type(value))):
        texts.append(w.write(type(value)))
    if is_compiled(_module(value)):
        w.untold[_name(value)] = "compiled code"
    for member, held in _members(value):
        name = f"{_name(value)}.{member}"
        as_unit = named and not isinstance(held, type)  # a class inside is a unit itself
        texts.append(w.unit(name, held) if as_unit else f"{member}={w.attempt(name, held)}")
    return " ".join(texts)


def _members(value: type) -> Iterator[tuple[str, Any]]:
    if issubclass(value, enum.Enum):
        yield "__members__", {name: member.value for name, member in value.__members__.items()}
    for name, held in sorted(vars(value).items()):
        if name.startswith(_NO_MEANING) or (isinstance(value, enum.EnumMeta) and not isinstance(held, FunctionType)):
            continue
        if name.startswith("__") and name.endswith("__") and not is_code(held):
            continue
        yield name, held


def is_code(value: Any) -> bool:
    """Whether something is made of functions."""
    kinds = (FunctionType, classmethod, staticmethod, property, cached_property, partialmethod, singledispatchmethod)
    return isinstance(value, kinds) or hasattr(value, "__wrapped__")


def of_function(value: FunctionType, w: Writer) -> str:
    """Write a function: installed ones by name and what of the user's own they wrap, the user's own by all they use."""
    name = _name(value)
    file = value.__code__.co_filename
    if is_installed(_module(value)) if file.startswith("<") else is_installed_file(file):
        w.packages.add(_package(value))
        # A decorator of somebody else's around the user's code.
        inner = [getattr(value, "__wrapped__", None), getattr(value, "registry", None)]
        if not any(part is not None for part in inner):
            inner = [held for held in map(_contents, value.__closure__ or ()) if isinstance(held, (FunctionType, type))]
        return name + "".join(w.attempt(name, part) for part in inner if part is not None)
    return (
        w.unit(name, value, _function_text) if _is_at_the_top(value) else f"{name}#{w.digest(_function_text(value, w))}"
    )


def _function_text(value: FunctionType, w: Writer) -> str:
    read, name = references(value.__code__), _name(value)
    cells = zip(value.__code__.co_freevars, map(_contents, value.__closure__ or ()), strict=True)
    kept = {cell: held for cell, held in cells if cell not in read.rebound}
    texts = [of_code(value.__code__, w, doc=value.__doc__)]
    for part in (value.__defaults__, value.__kwdefaults__, vars(value) or None):
        texts.append("" if part is None else w.attempt(name, part))
    texts += [f"{cell}={w.attempt(f'{name}, {cell}', held)}" for cell, held in kept.items()]
    for chain in read.names:
        texts += _global_text(chain, value.__globals__, w)
    for level, module, taken in read.imports:
        found = imported(module, level, value.__globals__.get("__package__"))
        texts += [] if found is None else _import_text(found, taken, w)
    return " ".join(texts)


def _global_text(chain: tuple[str, ...], scope: dict[str, Any], w: Writer) -> list[str]:
    """Write what a global name stands for, or what is taken from the module that it stands for."""
    name, *attributes = chain
    if name not in scope:
        return [] if hasattr(builtins, name) else [f"{name}?"]
    held, where = scope[name], str(scope.get("__name__", ""))
    while isinstance(held, ModuleType) and attributes and not is_installed(held.__name__):
        name, *attributes = attributes
        scope, where = vars(held), held.__name__
        if name not in scope:
            return [f"{where}.{name}?"]
        held = scope[name]
    return _held_text(where, name, held, scope, w)


def _held_text(where: str, name: str, held: Any, scope: dict[str, Any], w: Writer) -> list[str]:
    if name.startswith("__") and name.endswith("__"):  # __file__ and its like tell where code stands
        return []
    if isinstance(held, (FunctionType, type, ModuleType)):
        return [f"{name}={w.write(held)}"]
    # What functions assign by `global` is memory, not meaning.
    if id(scope) not in w.assigned:
        w.assigned[id(scope)] = _assigned(scope)
    return [] if name in w.assigned[id(scope)] else [w.unit(f"{where}.{name}", held)]


def _import_text(module: ModuleType, taken: tuple[str, ...], w: Writer) -> list[str]:
    scope = vars(module)
    if not taken or "*" in taken:
        return [w.write(module)]
    return [
        text for name in taken if name in scope for text in _held_text(module.__name__, name, scope[name], scope, w)
    ]


def of_module(value: ModuleType, w: Writer) -> str:
    """Write a module that is used as a whole: installed ones by name, the user's own by all that stands in it."""
    if is_installed(value.__name__):
        w.packages.add(value.__name__.partition(".")[0])
        return value.__name__
    return w.unit(value.__name__, value, _module_text)


def _module_text(value: ModuleType, w: Writer) -> str:
    scope = vars(value)
    return " ".join(
        text
        for name, held in sorted(scope.items())
        if not (isinstance(held, ModuleType) and not held.__name__.startswith(value.__name__ + "."))
        for text in _held_text(value.__name__, name, held, scope, w)
    )


def of_code(value: CodeType, w: Writer, doc: str | None = None) -> str:
    """Write instructions, without the places where they stand and without the text of documentation."""
    constants = value.co_consts
    if doc is not None and constants and constants[0] == doc:
        constants = (None, *constants[1:])
    names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
    # co_code is the same before and after Python has specialised it; line numbers are elsewhere.
    return f"code({value.co_code!r}, {value.co_exceptiontable!r}, {value.co_flags}, {w.write(constants)}, {names})"


def _assigned(scope: dict[str, Any]) -> set[str]:
    """Give the names that functions of a module assign by `global`."""
    module, found = scope.get("__name__"), set[str]()
    for held in list(scope.values()):
        if getattr(held, "__module__", None) != module:
            continue
        for function in vars(held).values() if isinstance(held, type) else (held,):
            function = getattr(function, "__func__", getattr(function, "__wrapped__", function))
            if isinstance(function, FunctionType):
                found |= references(function.__code__).assigned
    return found


def _is_at_the_top(value: Any) -> bool:
    """Whether a class, or a function outside of classes, can be found under its name."""
    held: Any = sys.modules.get(_module(value))
    if isinstance(value, FunctionType) and "." in value.__qualname__:
        return False
    for part in value.__qualname__.split("."):
        held = getattr(held, "__dict__", {}).get(part)
    return held is value


def _name(value: Any) -> str:
    return f"{_module(value)}.{value.__qualname__}"


def _module(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else ""


def _package(value: Any) -> str:
    return _module(value).partition(".")[0]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
