"""Pieces of sober's own source, with all that they need, for scripts that must run without sober.

Takes classes, gives the text of their definitions and the imports behind them; never executes anything.
"""

from __future__ import annotations

import ast
import inspect
import sys
from importlib.util import resolve_name
from typing import Any


class Vendored:
    """Collects definitions in an order in which they can run.

    Attributes
    ----------
    imports : dict of str to None
        Lines of imports from outside, in order of appearance.
    """

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self._parts: list[str] = []
        self._met: set[tuple[str, str]] = set()

    def add(self, kind: Any) -> None:
        """Take a class of sober, and all that it refers to."""
        self._take(kind.__module__, kind.__name__)

    @property
    def text(self) -> str:
        """All definitions, what they need before them."""
        return "\n\n\n".join(self._parts)

    def _take(self, module: str, name: str) -> None:
        if (module, name) in self._met:
            return
        self._met.add((module, name))
        source = inspect.getsource(sys.modules[module])
        for statement in ast.parse(source).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._follow(statement, module, name)
            elif name in _defined(statement):
                for needed in _names(statement):
                    self._take(module, needed)
                self._parts.append(_text(statement, source))

    def _follow(self, statement: ast.Import | ast.ImportFrom, module: str, name: str) -> None:
        for alias in statement.names:
            if (alias.asname or alias.name) != name:
                continue
            if isinstance(statement, ast.ImportFrom) and statement.level:
                package = sys.modules[module].__package__
                self._take(resolve_name("." * statement.level + (statement.module or ""), package), alias.name)
            elif isinstance(statement, ast.ImportFrom):
                self.imports[f"from {statement.module} import {ast.unparse(alias)}"] = None
            else:
                self.imports[f"import {ast.unparse(alias)}"] = None


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _names(statement: ast.stmt) -> list[str]:
    """Every name that a definition mentions, in order of appearance: a set's order changes from process to process."""
    return list(dict.fromkeys(node.id for node in ast.walk(statement) if isinstance(node, ast.Name)))


def _text(statement: ast.stmt, source: str) -> str:
    lines = source.splitlines()
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return "\n".join(line.partition("  # type: ignore")[0] for line in lines[first - 1 : statement.end_lineno])
