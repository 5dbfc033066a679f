"""What a section found, as plain data, and how it is shown: on the terminal or as Markdown.

Never measures. The description of the machine leaves out its name and all paths.
"""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    """A target and what came of it."""

    target: str
    value: float
    bound: float
    at_most: bool  # else at least
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def __str__(self) -> str:
        sense = "at most" if self.at_most else "at least"
        return (
            f"{'PASS' if self.met else 'MISS'}  {self.target}: {number(self.value)}{self.unit} "
            f"({sense} {number(self.bound)}{self.unit})"
        )


@dataclass(frozen=True)
class Section:
    """One table, its targets, and what a reader must know to judge it.

    A section with a picture says where it belongs (beside the page) and brings the function that draws it there.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figure: str = ""
    draw: Callable[[Path], None] | None = None


def number(value: float) -> str:
    """Three figures, with thousands set apart."""
    if math.isinf(value):
        return "never"
    if abs(value) >= 1000:
        digits = len(str(int(abs(value))))
        return f"{round(value, 3 - digits):,.0f}"
    return f"{value:.3g}"


def ratio(value: float) -> str:
    return f"{number(value)}x"


def machine(load: float) -> list[str]:
    """Describe the machine and the versions."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return [
        f"CPU: {_cpu()}, {len(os.sched_getaffinity(0))} cores",
        f"Python {platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in packages),
        f"sober {version('sobercv')}, {date.today():%Y-%m-%d}",
        f"Load average when the run started: {load:.1f} (0 on an idle machine; other work makes all times longer)",
    ]


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def as_text(section: Section) -> str:
    """Render for the terminal."""
    lines = [section.title, "=" * len(section.title)]
    cells = [section.columns, *section.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(section.columns))]
    for k, row in enumerate(cells):
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(padded))
        if k == 0:
            lines.append("  ".join("-" * w for w in widths))
    lines += [f"* {note}" for note in section.notes]
    lines += [str(goal) for goal in section.goals]
    return "\n".join(lines) + "\n"


def as_markdown(sections: Iterable[Section]) -> str:
    """Render sections for a page in docs/."""
    lines: list[str] = []
    for section in sections:
        lines += [f"## {section.title}", ""]
        if section.figure:
            lines += [f"![{section.title}]({section.figure})", ""]
        lines.append("| " + " | ".join(name.replace("|", "\\|") for name in section.columns) + " |")
        lines.append("| --- |" + " ---: |" * (len(section.columns) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in section.rows]
        lines += [""]
        if section.goals:
            lines += [*(f"- {goal}" for goal in section.goals), ""]
        for note in section.notes:
            lines += [note, ""]
    return "\n".join(lines)


def write(path: Path, found: Mapping[str, list[Section]], about: Mapping[str, list[str]], order: Iterable[str]) -> None:
    """Write the page and its pictures; what was not measured this time stays as it is.

    Parameters
    ----------
    path : Path
    found : mapping of str to list of Section
        What each part of the benchmarks found.
    about : mapping of str to list of str
        The machine at the time.
    order : iterable of str
        All parts, in the order of the page.
    """
    parts = dict(re.findall(_PART, path.read_text(), re.DOTALL)) if path.exists() else {}
    for name, sections in found.items():
        for section in sections:
            if section.draw is not None:
                section.draw(path.parent / section.figure)
        parts[name] = as_markdown(sections) + "\n".join(f"- {line}" for line in about[name])
    lines = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks --write`; every ratio was measured side by side in one run: competitors take "
        "turns, and the shortest time of each counts.",
        "",
    ]
    for name in order:
        if name in parts:
            lines += [f"<!-- {name} -->", parts[name].strip(), f"<!-- end of {name} -->", ""]
    path.write_text("\n".join(lines))


_PART = r"<!-- (\w+) -->\n(.*?)\n<!-- end of \1 -->"
