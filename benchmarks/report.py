"""What a section found, as plain data, and how it is shown: on the terminal, or as CSV files for the docs.

Never measures. The description of the machine leaves out its name and all paths.
"""

from __future__ import annotations

import csv
import math
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Section:
    """One table, and what a reader must know to judge it.

    A section with a picture names its file and the function that draws it.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
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
    return "\n".join(lines) + "\n"


def write(folder: Path, found: Mapping[str, list[Section]], about: Mapping[str, list[str]]) -> None:
    """Write the tables of some parts as CSV files; files of other parts stay as they are.

    Parameters
    ----------
    folder : Path
        Where the files go: `benchmarks-PART.csv`, a picture, and `benchmarks-about.csv` with titles and notes.
    found : mapping of str to list of Section
        What each part of the benchmarks found.
    about : mapping of str to list of str
        The machine at the time.
    """
    index = folder / "benchmarks-about.csv"
    kept = list(csv.reader(index.open(newline="")))[1:] if index.exists() else []
    for part, sections in found.items():
        command = f"python -m benchmarks {part}"
        kept = [line for line in kept if line[2] != command]
        for k, section in enumerate(sections):
            if section.draw is not None:
                section.draw(folder / section.figure)
            name = f"benchmarks-{part}" + (f"-{k + 1}" if k else "") + ".csv"
            _write_rows(folder / name, [section.columns, *section.rows])
            kept.append([name, section.title, command, " ".join(section.notes), "; ".join(about[part])])
    _write_rows(index, [["file", "title", "command", "notes", "machine"], *sorted(kept)])


def _write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
