"""How every column was read, as a table on the screen.

Takes plain records, prints them; wide tables are summed up by kind. Never computes.
"""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..report.words import count
from .screen import Screen, safe

#: More columns than this are summed up by kind.
MOST_ROWS = 25


def show_columns(screen: Screen, facts: list[dict[str, Any]], n_features: int) -> None:
    """Print the columns of a table, and how they were read.

    Parameters
    ----------
    screen : Screen
    facts : list of dict
        See `ColumnFact`.
    n_features : int
        How many columns there are to learn from; the facts may lack some.
    """
    rows = _one_by_one(facts) if len(facts) <= MOST_ROWS else _by_kind(facts)
    grid = Table.grid(padding=(0, 2))
    shown = [i for i in range(4) if any(row[i] for row in rows)]  # mostly, nothing was special in reading
    for i in shown:  # where the screen is narrow, names and kinds stay and the rest takes a second line
        longest = max(min(24, cell_len(safe(row[i]).plain)) for row in rows)
        if i < 2:
            grid.add_column(no_wrap=True, overflow="ellipsis", min_width=longest, max_width=24)
        else:
            grid.add_column(overflow="fold", min_width=min(longest, 12), max_width=60)
    for row in rows:
        grid.add_row(*(Text(safe(row[i]).plain, "dim" if i == 3 else "") for i in shown))
    screen.out.print(Text("The columns", "bold"))
    screen.out.print(Padding(grid, (0, 0, 0, 2), expand=False))
    more = n_features - sum(fact["role"] == "feature" for fact in facts)
    if more > 0:
        screen.out.print(Text(f"  and {count(more, 'column')} more", "dim"))


def _one_by_one(facts: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    return [(fact["name"], _kind(fact), fact["read_as"], _values(fact)) for fact in facts]


def _by_kind(facts: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for fact in facts:
        groups.setdefault((_kind(fact), fact["read_as"]), []).append(fact)
    rows = []
    for (kind, read_as), members in groups.items():
        if len(members) == 1:
            rows += _one_by_one(members)
        else:
            names = ", ".join(fact["name"] for fact in members[:3]) + (", ..." if len(members) > 3 else "")
            rows.append((count(len(members), "column"), kind, read_as, names))
    return rows


def _kind(fact: dict[str, Any]) -> str:
    return str(fact["kind"]) if fact["role"] == "feature" else f"{fact['role']}: {fact['kind']}"


def _values(fact: dict[str, Any]) -> str:
    missing = f"{fact['n_missing']:,} missing" if fact["n_missing"] else ""
    return ", ".join(part for part in (fact["values"], missing) if part)
