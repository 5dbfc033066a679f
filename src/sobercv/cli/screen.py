"""What people see: results to standard output, everything else to standard error; a terminal obeys no table's text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import Note
from ..report.records import Score
from .exit_code import one_line, silence

Rows = Iterable[Sequence[str | Text]]
Columns = Sequence[Mapping[str, Any]]  # as rich describes them
LABELLED: Columns = ({"no_wrap": True, "style": "dim"}, {"overflow": "fold"})
NOTED: Columns = ({"no_wrap": True, "min_width": 14}, {"overflow": "fold"})
SIGN = "The sign of negative metrics is scikit-learn's: more is better, 0 is perfect."
STYLES = {"error": "bold red", "warning": "yellow", "suggestion": "cyan"}


class _Aside(Console):
    """Standard error; a run goes on when the pipe behind it has closed."""

    def on_broken_pipe(self) -> None:
        """Fall silent."""
        self.quiet = True
        silence(sys.stderr)


class Screen:
    """Standard output and standard error; with --json only JSON, with --quiet no word beside the result."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.json, self.quiet = given.get("json", False), given.get("quiet", False)
        self.talks = not (self.json or self.quiet)  # whether there is anything to say beside the result
        self.out = Console(highlight=False, markup=False, emoji=False)
        self.err = _Aside(stderr=True, highlight=False, markup=False, emoji=False)
        self.status = self.err.status("")  # the line of the present phase, in a terminal

    def result(self, values: Any) -> None:
        """Print a result as JSON."""
        sys.stdout.write(json.dumps(values, indent=2, allow_nan=False) + "\n")

    def facts(self, rows: Rows, title: str = "", columns: Columns = LABELLED, to: Console | None = None) -> None:
        """Print rows, the result of a command; by default labels and texts. A terminal obeys none of the cells."""
        grid, console = Table.grid(padding=(0, 2)), to or self.out
        for column in columns:
            grid.add_column(**column)
        for row in rows:
            grid.add_row(*(cell if isinstance(cell, Text) else Text(one_line(cell)) for cell in row))
        if title:
            console.print(Text(title, "bold"))
        console.print(Padding(grid, (0, 0, 0, 2 if title else 0), expand=False))

    def scores(self, scores: Iterable[Score], rows: Rows) -> None:
        """Print the honest score beside what plain cross-validation claims, the other metrics, and what `rows` say."""
        first, *others = scores
        value = Text(first.honest, "bold green")
        if first.interval is not None:
            value.append(f"   {100 * first.level:g} % interval {first.ends}", "not bold")
        claim = Text(f"{first.claim}   what plain cross-validation claims ({first.off_by})", "dim")
        told: list[Sequence[str | Text]] = [("metric", first.label), ("honest score", value), ("plain CV", claim)]
        for other in others:
            ends = f" ({other.ends})" if other.ends else ""
            told.append(("also", f"{other.label}: {other.honest}{ends}, plain CV {other.claim}"))
        self.facts([*told, *rows])
        if any(score.metric.startswith("neg_") for score in (first, *others)):
            self.say(SIGN, "dim")

    def notes(self, found: Iterable[Note], always: bool = False) -> None:
        """Print what checks and searches have seen, beside the result; `always`: although only the result is wanted."""
        rows = [(Text(f"{note.code} {note.severity}", STYLES[note.severity]), note.text) for note in found]
        if rows and (self.talks or always):
            self.facts(rows, columns=NOTED, to=self.err)

    def say(self, text: str, style: str = "") -> None:
        """Print a line beside the result."""
        if self.talks:
            self.err.print(Text(one_line(text), style))

    def phase(self, text: str) -> None:
        """Say what goes on now: a line that moves in a terminal, and one that stays elsewhere."""
        if self.talks and self.err.is_terminal:
            self.status.update(text)
            self.status.start()
        else:
            self.say(text, "dim")

    def waiting(self, text: str) -> AbstractContextManager[Any]:
        """Say what goes on inside where there is a terminal, and nothing elsewhere."""
        return self.err.status(text) if self.talks else nullcontext()
