"""What people see: results to standard output, everything else to standard error.

Takes plain data, renders it; what comes from a table is never obeyed by the terminal. Never computes.
"""

from __future__ import annotations

import json as json_
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import Note
from ..report.records import Score
from ..report.words import between, number, off_by
from .exit_code import one_line

STYLES = {"error": "bold red", "warning": "yellow", "suggestion": "cyan"}


class _Aside(Console):
    """Standard error; a run goes on when the pipe behind it has closed."""

    def on_broken_pipe(self) -> None:
        """Fall silent."""
        self.quiet = True
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Screen:
    """Standard output and standard error.

    `json`: standard output is JSON and nothing else. `quiet`: no word beside the result.
    """

    def __init__(self, json: bool = False, quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.out = Console(highlight=False, markup=False, emoji=False)
        self.err = _Aside(stderr=True, highlight=False, markup=False, emoji=False)
        self._status: Any = None

    @property
    def talks(self) -> bool:
        """Whether there is anything to say beside the result."""
        return not (self.json or self.quiet)

    # ---- the result ------------------------------------------------------------------------------------------------
    def result(self, values: Any) -> None:
        """Print JSON."""
        text = json_.dumps(values, indent=2, ensure_ascii=True, allow_nan=False)
        sys.stdout.write(text + "\n")

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

    # ---- beside it -------------------------------------------------------------------------------------------------
    def notes(self, found: Iterable[Note]) -> None:
        """Print what checks and searches have seen."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True, width=4)
        grid.add_column(no_wrap=True, width=10)
        grid.add_column(overflow="fold")
        for note in found:
            style = STYLES[note.severity]
            grid.add_row(Text(note.code, style), Text(note.severity, style), safe(note.text))
        if grid.row_count:
            self.err.print(grid)

    def say(self, text: str, style: str = "") -> None:
        """Print a line beside the result."""
        if self.talks:
            self.err.print(Text(one_line(text), style))

    def phase(self, text: str) -> None:
        """Say what goes on now: a line that moves in a terminal, and one that stays elsewhere."""
        if not self.talks:
            return
        if not self.err.is_terminal:
            self.say(text, "dim")
        elif self._status is None:
            self._status = self.err.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def wait(self, text: str) -> None:
        """Say what goes on now where there is a terminal, and nothing elsewhere."""
        if self.err.is_terminal:
            self.phase(text)

    def done(self) -> None:
        """Take the line of the present phase away."""
        status, self._status = self._status, None
        if status is not None:
            status.stop()


def safe(text: str) -> Text:
    """Give text in which nothing is an order to the terminal."""
    return Text(one_line(text))


def honest(score: Score) -> list[tuple[str, str | Text]]:
    """Write the honest number beside the one that plain cross-validation claims."""
    value = Text(number(score.value, score.digits), "bold green")
    if score.interval is not None:
        level = 100 * score.level
        value.append(f"   {level:g} % interval {between(score.interval, score.digits)}", "not bold")
    claim = Text(number(score.naive, score.digits), "dim")
    claim.append(f"   what plain cross-validation claims ({off_by(score)})", "dim")
    return [("metric", score.label), ("honest score", value), ("plain CV", claim)]
