"""How sentences about tables name columns, classes and cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import Note


def some(names: Iterable[str], most: int = 3) -> str:
    """Write the first few of many names, cut where they are long."""
    every = [repr(n if len(n) <= 40 else n[:39] + "\u2026") for n in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def columns_that(names: Sequence[str], one: str = "has", many: str = "have") -> str:
    """Begin a sentence about one or more columns: "One column has", "3 columns have"."""
    return f"One column {one}" if len(names) == 1 else f"{len(names)} columns {many}"


def held_by(
    code: str, names: Sequence[str], what: str, more: str, one: str = "holds", many: str = "hold"
) -> list[Note]:
    """Return a note that begins with how many columns hold something; none where no column does."""
    text = f"{columns_that(names, one, many)} {what}: {some(names)}{more}"
    return [Note(code, text, (*names,))] if names else []
