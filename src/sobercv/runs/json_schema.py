"""json_schema: what results.json looks like, for programs that read it; a JSON Schema (2020-12).

Takes a record class, gives plain data; made from the same types as the reader in `schema.py`, so that both agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

# A float is null in the file where it is NaN: JSON has no word for it.
_PLAIN: dict[Any, Any] = {
    str: "string", int: "integer", float: ["number", "null"], bool: "boolean", NoneType: "null",
}  # fmt: skip


def json_schema(kind: Any, title: str) -> dict[str, Any]:
    """Give the schema of a record.

    Parameters
    ----------
    kind : dataclass
    title : str
    """
    records: dict[str, Any] = {}
    top = _schema(kind, records)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **top, "$defs": records}


def _schema(kind: Any, records: dict[str, Any]) -> dict[str, Any]:
    origin = get_origin(kind)
    if kind is Any:
        return {}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one, records) for one in get_args(kind)]}
    if origin is tuple:
        return {"type": "array", "items": _schema(get_args(kind)[0], records)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(get_args(kind)[1], records)}
    if not is_dataclass(kind):
        return {"type": _PLAIN[kind]}
    name = kind.__name__  # type: ignore[union-attr]
    if name not in records:
        records[name] = {}  # a record may hold itself
        hints = get_type_hints(kind)
        wanted = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
        parts = {f.name: _schema(hints[f.name], records) for f in fields(kind)}
        records[name] = {"type": "object", "properties": parts, "required": wanted}
    return {"$ref": f"#/$defs/{name}"}
