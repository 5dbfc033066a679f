"""What a piece of code reads from outside of itself, as its instructions say it.

Takes code objects, gives names; never runs them and never looks the names up.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

_READ = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_ASSIGN = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_REBIND = frozenset({"STORE_DEREF", "DELETE_DEREF"})


@dataclass(frozen=True)
class References:
    """What a piece of code, with all functions inside of it, reads.

    Attributes
    ----------
    names : tuple of tuples of str
        Global names, each with the attributes that are taken from it at once: ``("helpers", "f")``.
    imports : tuple of (int, str, tuple of str)
        Imports inside of functions: dots before the name, the name, what is taken from it.
    assigned : frozenset of str
        Global names that the code itself assigns.
    rebound : frozenset of str
        Names of enclosing functions that the code itself assigns.
    """

    names: tuple[tuple[str, ...], ...]
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    assigned: frozenset[str]
    rebound: frozenset[str]


@lru_cache(maxsize=4096)
def references(code: CodeType) -> References:
    """Read the instructions of a piece of code.

    Parameters
    ----------
    code : code object
    """
    names: set[tuple[str, ...]] = set()
    imports: set[tuple[int, str, tuple[str, ...]]] = set()
    assigned: set[str] = set()
    rebound: set[str] = set()
    for part in _parts(code):
        chain: list[str] = []
        constants: list[object] = []  # the latest two: before an import they are its dots and what it takes
        for instruction in dis.get_instructions(part):
            if chain and instruction.opname in _ATTRIBUTE:
                chain.append(instruction.argval)
                continue
            names.update([tuple(chain)] if chain else [])
            chain = [instruction.argval] if instruction.opname in _READ else []
            if instruction.opname == "IMPORT_NAME":
                level, taken = constants[-2:] if len(constants) > 1 else (0, None)
                level, taken = level if isinstance(level, int) else 0, taken if isinstance(taken, tuple) else ()
                imports.add((level, instruction.argval, tuple(map(str, taken))))
            elif instruction.opname in _ASSIGN:
                assigned.add(instruction.argval)
            elif instruction.opname in _REBIND and instruction.argval in part.co_freevars:
                rebound.add(instruction.argval)
            constants = [*constants[-1:], instruction.argval]
        names.update([tuple(chain)] if chain else [])
    return References(tuple(sorted(names)), tuple(sorted(imports)), frozenset(assigned), frozenset(rebound))


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
