"""How messages name columns, files and cells, and which known name a wrong one may stand for."""

from __future__ import annotations

import difflib
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import Note


def some(names: Iterable[str], most: int = 3) -> str:
    """Write the first few of many names, cut where they are long."""
    every = [repr(n if len(n) <= 40 else n[:39] + "\u2026") for n in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def quoted(name: Any) -> str:
    """Write a name as a shell reads it, where it has spaces or brackets in quotes."""
    return shlex.quote(str(name)[:200])


def listed(columns: Iterable[Any], most: int = 12) -> str:
    """Write the columns of a table as a sentence."""
    return f"The columns are {some(map(str, columns), most)}."


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that a name may stand for; capitals, spaces and underscores do not matter."""
    folded: dict[str, list[str]] = {}
    for each in known:
        folded.setdefault(plain(each), []).append(each)
    near = [plain(name)] if plain(name) in folded else difflib.get_close_matches(plain(name), folded, 1)
    return folded[near[0]][:3] if near else []


def plain(name: Any) -> str:
    """Write a name in small letters with underscores for spaces, points and hyphens."""
    return re.sub(r"[\s_.-]+", "_", str(name).strip().casefold()).strip("_")


def named_like(pattern: re.Pattern[str], names: Iterable[Any]) -> list[str]:
    """Return the names of which a word begins as the pattern says: small letters without accents, and digits behind."""
    found = []
    for name in map(str, names):
        apart = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))  # cut at capitals, too
        words = re.findall(r"[a-z]+[0-9]*", apart.encode("ascii", "ignore").decode().lower())
        if any(map(pattern.match, words)):
            found.append(name)
    return found


def held_by(
    code: str, names: Sequence[str], what: str, more: str, one: str = "holds", many: str = "hold"
) -> list[Note]:
    """Return a note that begins with how many columns hold something; none where no column does."""
    start = f"One column {one}" if len(names) == 1 else f"{len(names)} columns {many}"
    return [Note(code, f"{start} {what}: {some(names)}{more}", (*names,))] if names else []
