"""The evidence section of the docs: one page per study, which leads with its answer and one figure.

A study describes its page as an `Evidence`; everything longer than a few rows becomes a CSV file beside the page. Pages
are made from committed results by `python -m studies NAME --page`, and a test compares them.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "evidence"
VERSIONS = ("seed", "sober", "numpy", "scipy", "scikit-learn", "python")


@dataclass(frozen=True)
class Table:
    """Rows that readers can download: name of the file without its suffix, what it holds, heads and cells."""

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
    draw : callable
        Takes matplotlib's pyplot, gives the figure.
    text : str
        Markdown: the main table, what was done, where it fails.
    tables : sequence of Table
    command : str
        What makes the results and the page.
    about : mapping
        What the results were made with.
    """

    name: str
    title: str
    answer: str
    figure: str
    draw: Callable[[Any], Any]
    text: str
    tables: Sequence[Table]
    command: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def page(self) -> str:
        """The page as Markdown."""
        versions = ", ".join(f"{name} {self.about[name]}" for name in VERSIONS if name in self.about)
        files = "\n".join(f"- [{table.name}.csv]({table.name}.csv): {table.holds}" for table in self.tables)
        answer = filled(f"**{self.answer}**")
        figure = f"![{self.figure}]({self.name}.svg)"
        alone = " ".join(self.command.split()[:4])
        commands = f"{self.command}   # measures what is missing; then page\n{alone} --page   # the page alone"
        ending = f"## Tables\n{files}\n\n## Repeat it\n```bash\n{commands}\n```\n"
        return f"# {self.title}\n{answer}\n\n{figure}\n\n{filled(self.text)}\n\n{ending}" + (
            f"Results made with {versions}.\n" if versions else ""
        )

    def write(self, folder: Path = FOLDER) -> None:
        """Write the page, its tables and its figure."""
        folder.mkdir(exist_ok=True)
        (folder / f"{self.name}.md").write_text(self.page(), encoding="utf-8")
        for table in self.tables:
            (folder / f"{table.name}.csv").write_text(table.as_csv(), encoding="utf-8")
        plt = pyplot()
        figure = self.draw(plt)
        figure.tight_layout()
        figure.savefig(folder / f"{self.name}.svg", metadata={"Date": None})
        plt.close(figure)


def pyplot() -> Any:
    """Import matplotlib without a screen, in the style of the docs: the same numbers give the same file."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "sober"
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files that can be searched
    plt.rcParams["font.sans-serif"] = ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"]
    plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
    return plt


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, for the few rows that a page shows."""
    lines = (heads, ("---",) * len(heads), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def share(value: float) -> str:
    """A coverage without its zero."""
    return "" if value != value else "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")


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


# ---- statements of the paper ----
@dataclass(frozen=True)
class Claim:
    """One statement of the paper that can be checked.

    `agrees` is None where our number is too uncertain to tell; `comment` says why not, or what the number is.
    """

    where: str
    says: str
    paper: str
    ours: str
    agrees: bool | None
    comment: str = ""

    def cells(self) -> tuple[str, ...]:
        """One row of a table."""
        agrees = "cannot tell" if self.agrees is None else "yes" if self.agrees else "NO"
        return self.where, self.says, self.paper, self.ours, agrees, self.comment


def claims_table(name: str, claims: Sequence[Claim]) -> Table:
    """All statements with both numbers."""
    heads = ("where", "the paper says", "paper", "ours", "agrees", "comment")
    return Table(name, "the paper's statements and our numbers", heads, [claim.cells() for claim in claims])


def agreement(claims: Sequence[Claim]) -> str:
    """How many hold, in one phrase."""
    agreeing, unclear = sum(bool(c.agrees) for c in claims), sum(c.agrees is None for c in claims)
    return f"{agreeing} of {len(claims)} agree" + (f", {unclear} cannot be told" if unclear else "")


def within(short_by: float, error: float) -> bool | None:
    """Whether a number agrees, by how much it falls short of that; None where two standard errors would reach it."""
    return True if short_by <= 0 else None if short_by <= 2 * error else False


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """Whether all agree; None where none disagrees but some cannot be told."""
    return False if False in answers else None if None in answers else True
