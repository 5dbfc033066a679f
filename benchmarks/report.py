"""How sections are timed, and how what they found is shown: on the terminal, as CSV files for the docs, as a figure.

The description of the machine leaves out its name and all paths.
"""

from __future__ import annotations

import csv
import gc
import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any


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


# ---- timing on a machine that is not ours alone: competitors take turns, the fastest turn counts ----
#: Seconds before each turn: for some 30 ms after a product BLAS threads spin, and would take a core from the next.
REST = 0.05


def seconds(function: Callable[[], Any]) -> float:
    """Time one call."""
    return seconds_and_work(function)[0]


def seconds_and_work(function: Callable[[], Any]) -> tuple[float, float]:
    """Time one call: by the clock, and the CPU seconds of all threads, which other programs disturb far less."""
    gc.collect()
    time.sleep(REST)
    start, busy = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - start, time.process_time() - busy


def race(functions: Mapping[str, Callable[[], Any]], rounds: int, budget: float) -> dict[str, float]:
    """Let all functions take turns; give the shortest time of each.

    Every round starts with another function. One that has used up its `budget` of seconds sits out the rest, so that
    slow ones get fewer turns than fast ones (at the least one).
    """
    names = list(functions)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if sum(times[name]) < budget:
                times[name].append(seconds(functions[name]))
    return {name: min(taken) for name, taken in times.items()}


# ---- the figure of docs/evidence/benchmarks.md: the same numbers give the same bytes ----
MEANING = {"N": "samples N", "C": "configurations C", "B": "resamples B", "R": "repeats R"}
COLOURS = {"accuracy": "#1b6ca8", "roc_auc": "#c8553d"}
STYLE = {
    "svg.hashsalt": "sober",  # ids that do not change from run to run
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "figure.facecolor": "white",
}


def draw_growth(curves: Sequence[Any], path: Path) -> None:
    """CPU seconds above, MiB below, a column for each thing that grows; dotted lines are linear growth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    letters = list(dict.fromkeys(curve.axis for curve in curves))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, len(letters), figsize=(2.5 * len(letters), 4.6), sharex="col", sharey="row")
        for column, letter in enumerate(letters):
            for row, what in enumerate(("work", "mib")):
                panel = panels[row, column]
                for curve in (c for c in curves if c.axis == letter):
                    values, colour = getattr(curve, what), COLOURS[curve.metric]
                    panel.plot(
                        curve.sizes, values, "o-", color=colour, label=curve.metric, markersize=3.5, linewidth=1.4
                    )
                    linear = [values[-1] * size / curve.sizes[-1] for size in curve.sizes]
                    panel.plot(curve.sizes, linear, ":", color=colour, linewidth=0.9, alpha=0.7)
                panel.set_xscale("log")
                panel.set_yscale("log")
                panel.minorticks_off()
            panels[1, column].set_xlabel(MEANING[letter])
        panels[0, 0].set_ylabel("CPU seconds, all cores")
        panels[1, 0].set_ylabel("MiB beyond the input")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)
        figure.tight_layout(rect=(0, 0, 1, 0.94))
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
