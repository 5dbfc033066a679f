"""The evidence section of the docs: one page per study, which leads with its answer and one figure.

What is published are templates in `studies/pages`: NAME.md holds the words of a page, and each of its tables is a CSV
file with a line of heads and one of cells. A study gives the numbers of their fields, and the figure. A line of a table
whose fields are columns of a data frame is repeated for each of its rows. Pages are made from committed results by
`python -m studies NAME --page`, and a test compares them.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .harness import RESULTS

FOLDER = Path(__file__).parent.parent / "docs" / "evidence"
TEMPLATES = Path(__file__).parent / "pages"
VERSIONS = ("seed", "sober", "numpy", "scipy", "scikit-learn", "python")
VERDICTS = {True: "yes", False: "NO", None: "cannot tell"}
Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """One page, its figure and its tables."""

    name: str
    made_with: str  # the results whose versions it tells
    draw: Callable[[Any], Any]  # takes matplotlib's pyplot, gives the figure
    numbers: Numbers  # the fields of its templates

    def files(self) -> dict[str, str]:
        """The page and its tables by the names of their files."""
        about = json.loads((RESULTS / f"{self.made_with}.json").read_text())
        words = (TEMPLATES / f"{self.name}.md").read_text(encoding="utf-8")
        versions = ", ".join(f"{name} {about[name]}" for name in VERSIONS if name in about)
        numbers, made = {"versions": versions, "about": about, **self.numbers}, {}
        for name in re.findall(r"^- \[(.+?)\]", words, re.MULTILINE):
            if (TEMPLATES / name).exists():
                lines = csv.reader((TEMPLATES / name).read_text(encoding="utf-8").splitlines())
                found, text = [line for cells in lines for line in repeated(cells, numbers)], io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(found)
                made[name] = text.getvalue()
                if "agrees" in found[0]:
                    numbers["agreement"] = agreement([line[found[0].index("agrees")] for line in found[1:]])
        return {f"{self.name}.md": page(words, numbers), **made}

    def write(self, folder: Path = FOLDER) -> None:
        """Write the page, its tables and its figure: the same numbers give the same files."""
        import matplotlib

        matplotlib.use("agg")  # without a screen
        import matplotlib.pyplot as plt

        folder.mkdir(exist_ok=True)
        for name, content in self.files().items():
            (folder / name).write_text(content, encoding="utf-8")
        style = {
            "svg.hashsalt": "sober", "svg.fonttype": "none",  # text stays text: small files that can be searched
            "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
            "axes.spines.top": False, "axes.spines.right": False,
        }  # fmt: skip
        with plt.rc_context(style):
            figure = self.draw(plt)
            figure.tight_layout()
            figure.savefig(folder / f"{self.name}.svg", metadata={"Date": None})
            plt.close(figure)


def panels(plt: Any, titles: Mapping[str, str], lines: Callable[[str], Mapping[str, Any]], sizes: Sequence[int]) -> Any:
    """Draw the paper's figures: bias against samples, one panel per protocol with its lines, series by colour."""
    fig, axes = plt.subplots(2, 4, figsize=(13, 6), sharex=True, sharey=True)
    for ax, (protocol, title) in zip(axes.flat, titles.items(), strict=False):
        for label, (colour, line) in lines(protocol).items():
            places = [sizes.index(n) for n in line.index]
            ax.plot(places, list(line), color=colour, marker="o", ms=3, lw=1.2, label=label)
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_xticks(range(len(sizes)), sizes)
    for ax in axes[1]:
        ax.set_xlabel("samples")
    return fig, axes


# ---- words with numbers ----
class _Fields(Formatter):
    """Python's format, where methods are called, NaN is nothing, and a "share" has no zero.

    Verdicts are "near 0.17 0.015" (differs by no more than that), "below 0" and "above 0"; a verdict is a word.
    """

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        found, _ = super().get_field(field_name, args, kwargs)
        return (found() if callable(found) else found), None

    def format_field(self, value: Any, format_spec: str) -> str:
        verb, *limits = format_spec.split() or ("",)
        if verb in ("near", "below", "above"):
            number = value if isinstance(value, Mean) else Mean(float(value), 0.0)
            value = getattr(number, verb)(*map(float, limits))
        if value is None or isinstance(value, (bool, np.bool_)):
            return VERDICTS[value]
        if value != value:
            return ""
        if format_spec == "share":
            return "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")
        return format(value, format_spec)


def fill(template: str, numbers: Numbers) -> str:
    """Put numbers into the fields of a template."""
    return _Fields().vformat(template, (), numbers)


def repeated(cells: Sequence[str], numbers: Numbers) -> list[list[str]]:
    """A line of a table, or one for each row of the data frame that it asks for."""
    asked = re.findall(r"\{(\w+)\[", "".join(cells))
    name = next((name for name in asked if isinstance(numbers.get(name), pd.DataFrame)), None)
    rows = [numbers] if name is None else ({**numbers, name: row} for row in numbers[name].to_dict("records"))
    return [[fill(cell, row) for cell in cells] for row in rows]


def page(words: str, numbers: Numbers) -> str:
    """Fill a page; paragraphs and list items become lines, headings, figures, tables and code stay as they are."""
    blocks = []
    for block in words.strip().split("\n\n"):
        heading, _, rest = block.partition("\n") if block.startswith("#") else ("", "", block)
        if rest.startswith("|"):
            lines = (line.strip("| ").split(" | ") for line in rest.splitlines())
            rest = "\n".join(f"| {' | '.join(line)} |" for cells in lines for line in repeated(cells, numbers))
        else:
            heading, rest = fill(heading, numbers), fill(rest, numbers)
            if not rest.startswith(("```", "![")):
                rest = "\n".join(map(_wrapped, re.split(r"\n(?=- |\d+\. )", rest)))
        blocks.append("\n".join(part for part in (heading, rest) if part))
    return "\n\n".join(blocks) + "\n"


def _wrapped(text: str) -> str:
    mark = re.match(r"- |\d+\. |", text)
    indent = " " * len(mark.group()) if mark else ""
    plain = " ".join(text.split()).replace(" - ", "\0- ")  # a line that starts with a minus would be a list item
    filled = textwrap.fill(plain, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return filled.replace("\0", " ")


# ---- statements of the paper ----
def agreement(verdicts: Sequence[str]) -> str:
    """How many hold, in one phrase."""
    agree, unclear = verdicts.count(VERDICTS[True]), verdicts.count(VERDICTS[None])
    return f"{agree} of {len(verdicts)} agree" + (f", {unclear} cannot be told" if unclear else "")


class Mean(NamedTuple):
    """A number and its standard error; written with two of them."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Any) -> Mean:
        """Of some numbers; the error of a single one is not known."""
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(np.mean(values)), float(error))

    def __neg__(self) -> Mean:
        return Mean(-self.value, self.error)

    def __format__(self, spec: str) -> str:
        error = "" if np.isnan(self.error) else f" ± {2 * self.error:{spec.lstrip('+')}}"
        return f"{self.value:{spec}}{error}"

    def below(self, limit: float = 0.0) -> bool | None:
        """Whether it is; None where it is not, but two errors would carry it there."""
        return True if self.value <= limit else None if self.value - limit <= 2 * self.error else False

    def above(self, limit: float = 0.0) -> bool | None:
        """The same on the other side."""
        return (-self).below(-limit)

    def near(self, other: float, most: float) -> bool | None:
        """Whether it differs by no more than that."""
        return Mean(abs(self.value - other), self.error).below(most)


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether all agree; None where none disagrees but some cannot be told."""
    told = list(answers)
    return False if False in told else None if None in told else True
