"""The schema of a JSON file is the record that it is read into: its fields and their types.

Takes a dataclass and plain data, gives the record, or says in one sentence which value is wrong; what the record does
not name is left alone. Never guesses what was meant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import SoberError

T = TypeVar("T")
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
#: Numbers beyond these are no result of ours, and arithmetic with them ends in infinities.
MOST_INT, MOST_FLOAT = 2**63, 1e300


class Wrong(Exception):
    """A value that does not fit, and where it stands."""


def checked(kind: type[T], values: Any, path: Path) -> T:
    """Read plain data into a record.

    Parameters
    ----------
    kind : dataclass
    values : Any
        As JSON gives it.
    path : Path
        The file that it comes from, for the message.
    """
    try:
        record: T = build(kind, values, "")
    except Wrong as wrong:
        raise SoberError(
            "E809", f"{path} is damaged, edited or of another release: {wrong}. Write: sober resume {path.parent}"
        ) from None
    return record


def build(kind: Any, value: Any, where: str) -> Any:
    """Give a value in the type that a field wants, or raise `Wrong`.

    Parameters
    ----------
    kind : type
    value : Any
    where : str
        The way to the value, such as "summary.scores[0].value".
    """
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        return _any_of(get_args(kind), value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise Wrong(_said(where, "a list", value))
        return tuple(build(get_args(kind)[0], v, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise Wrong(_said(where, "an object", value))
        return {name: build(get_args(kind)[1], v, f"{where}.{name[:30]}") for name, v in value.items()}
    return _record(kind, value, where) if is_dataclass(kind) else _plain(kind, value, where)


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise Wrong(_said(where, "an object", value))
    hints, given = get_type_hints(kind), {}
    for field in fields(kind):
        if field.name in value:
            given[field.name] = build(hints[field.name], value[field.name], f"{where}.{field.name}".lstrip("."))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise Wrong(f"{where or 'the file'} lacks {field.name!r}")
    try:
        return kind(**given)
    except ValueError as error:  # a record that checks itself
        raise Wrong(f"{where or 'the file'}: {error}") from None


def _any_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    problems = []
    for kind in kinds:
        if kind is not NoneType:
            try:
                return build(kind, value, where)
            except Wrong as wrong:
                problems.append(wrong)
    raise problems[0]


def _plain(kind: Any, value: Any, where: str) -> Any:
    if kind is float and value is None:
        return math.nan  # JSON has no word for it
    if isinstance(value, bool) if kind is not bool else not isinstance(value, bool):
        raise Wrong(_said(where, WORDS[kind], value))
    if kind is float and isinstance(value, (int, float)):
        if not abs(value) <= MOST_FLOAT:
            raise Wrong(_said(where, "a number of ordinary size", value))
        return float(value)
    if not isinstance(value, kind):
        raise Wrong(_said(where, WORDS[kind], value))
    if kind is int and not -MOST_INT <= value < MOST_INT:
        raise Wrong(_said(where, "a whole number of ordinary size", value))
    return value


def _said(where: str, allowed: str, value: Any) -> str:
    try:
        got = repr(value)
    except (ValueError, RecursionError):
        got = "something huge"
    return f"{where or 'the file'} must be {allowed}, but is {got if len(got) <= 40 else got[:37] + '...'}"
