"""What people see: results to standard output, everything else to standard error.

Takes plain data, renders it; what comes from a table is never obeyed by the terminal. Never computes.
"""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import CODES
from ..report.words import between, metric_label, number, signed
from .ending import one_line

STYLES = {"E": "bold red", "W": "yellow", "S": "cyan"}
MARKS = {"E": "error", "W": "warning", "S": "suggestion"}


class Screen:
    """Standard output and standard error.

    Parameters
    ----------
    json : bool
        Standard output is JSON and nothing else.
    quiet : bool
        No word beside the result.
    """

    def __init__(self, json: bool = False, quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.out = Console(highlight=False, markup=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, markup=False, emoji=False)

    @property
    def talks(self) -> bool:
        """Whether there is anything to say beside the result."""
        return not (self.json or self.quiet)

    def result(self, values: Any) -> None:
        """Print JSON."""
        text = json_.dumps(values, indent=2, ensure_ascii=True, allow_nan=False)
        sys.stdout.write(text + "\n")

    def findings(self, found: Iterable[tuple[str, str]]) -> None:
        """Print what checks have seen: (code, sentence)."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True, width=4)
        grid.add_column(no_wrap=True, width=10)
        grid.add_column(overflow="fold")
        for code, text in found:
            grid.add_row(Text(code, STYLES[code[0]]), Text(MARKS[code[0]], STYLES[code[0]]), safe(text))
        if grid.row_count:
            self.err.print(grid)

    def facts(self, rows: Sequence[tuple[str, str | Text]], title: str = "") -> None:
        """Print labels and texts, the result of a command."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for label, text in rows:
            grid.add_row(label, text if isinstance(text, Text) else safe(text))
        if title:
            self.out.print(Text(title, "bold"))
        self.out.print(Padding(grid, (0, 0, 0, 2 if title else 0), expand=False))

    def say(self, text: str, style: str = "") -> None:
        """Print a line beside the result."""
        if self.talks:
            self.err.print(Text(one_line(text), style))

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Show that something goes on, where there is a terminal to show it."""
        return self.err.status(text) if self.talks and self.err.is_terminal else nullcontext()


def safe(text: str) -> Text:
    """Give text in which nothing is an order to the terminal."""
    return Text(one_line(text))


def honest(score: dict[str, Any], digits: int = 3) -> list[tuple[str, str | Text]]:
    """Write the honest number beside the one that plain cross-validation claims."""
    value = Text(number(score["honest"], digits), "bold green")
    if score["interval"] is not None:
        level = 100 * score["confidence_level"]
        value.append(f"   {level:g} % interval {between(score['interval'], digits)}", "not bold")
    claim = Text(number(score["naive"], digits), "dim")
    claim.append(f"   what plain cross-validation claims ({signed(score['optimism'], digits)})", "dim")
    return [("metric", metric_label(score["metric"])), ("honest score", value), ("plain CV", claim)]


def title_of(code: str) -> str:
    """The title of a code's page."""
    return CODES[code]
