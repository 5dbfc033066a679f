"""The evidence section of the docs: one page per study, which leads with its answer and one figure.

A study describes its page as an `Evidence`; everything longer than a few rows becomes a CSV file beside the page. The
pages are made from committed results by `python -m studies.NAME.page`, and a test compares them.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "evidence"


@dataclass(frozen=True)
class Table:
    """Rows that readers can download.

    Attributes
    ----------
    name : str
        Name of the file, without its suffix.
    holds : str
        What it holds, in a few words.
    heads : sequence of str
    rows : sequence of sequences of str
    """

    name: str
    holds: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def as_csv(self) -> str:
        """The content of the file."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.heads, *self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Evidence:
    """One page.

    Attributes
    ----------
    name : str
        Name of the page, and of its figure.
    title : str
    answer : str
        What the study found, in two or three sentences; printed in bold.
    figure : str
        What the figure shows, for those who do not see it.
    text : str
        Markdown: the main table, what was done, where it fails.
    tables : sequence of Table
    commands : str
        What makes the results and the page.
    about : mapping
        What the results were made with.
    """

    name: str
    title: str
    answer: str
    figure: str
    text: str
    tables: Sequence[Table]
    commands: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def page(self) -> str:
        """The page as Markdown."""
        versions = ", ".join(f"{name} {self.about[name]}" for name in VERSIONS if name in self.about)
        files = "\n".join(f"- [{table.name}.csv]({table.name}.csv): {table.holds}" for table in self.tables)
        answer = filled(f"**{self.answer}**")
        figure = f"![{self.figure}]({self.name}.svg)"
        ending = f"## Tables\n{files}\n\n## Repeat it\n```bash\n{self.commands.strip()}\n```\n"
        return f"# {self.title}\n{answer}\n\n{figure}\n\n{filled(self.text)}\n\n{ending}" + (
            f"Results made with {versions}.\n" if versions else ""
        )

    def write(self) -> None:
        """Write the page and its tables."""
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{self.name}.md").write_text(self.page(), encoding="utf-8")
        for table in self.tables:
            (FOLDER / f"{table.name}.csv").write_text(table.as_csv(), encoding="utf-8")


VERSIONS = ("seed", "sober", "numpy", "scipy", "scikit-learn", "python")


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, for the few rows that a page shows."""
    lines = (heads, ("---",) * len(heads), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def filled(text: str) -> str:
    """Break paragraphs and list items into lines; headings, tables and code stay as they are."""
    blocks = []
    for block in text.strip().split("\n\n"):
        heading, _, rest = block.partition("\n") if block.startswith("#") else ("", "", block)
        if rest and not rest.startswith(("|", "```")):
            items = re.split(r"\n(?=- |\d+\. )", rest)
            rest = "\n".join(_fill(item) for item in items)
        blocks.append("\n".join(part for part in (heading, rest) if part))
    return "\n\n".join(blocks)


def _fill(text: str) -> str:
    mark = re.match(r"- |\d+\. |", text)
    indent = " " * len(mark.group()) if mark else ""
    plain = " ".join(text.split())
    return textwrap.fill(plain, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
