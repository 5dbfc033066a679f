"""How sections are timed, and how what they found is shown: on the terminal, and as CSV files for the docs.

A section is a list of tables, and a table a list of lines, the heads first. What a table is and what a reader must know
to judge it stand in docs/evidence/benchmarks-about.csv, beside the machine, without its name and paths.
"""

from __future__ import annotations

import csv
import gc
import math
import os
import platform
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

EVIDENCE = Path(__file__).parent.parent / "docs" / "evidence"
Table = list[Sequence[str]]


def number(value: float) -> str:
    """Three figures, with thousands set apart."""
    if abs(value) >= 1000 and math.isfinite(value):
        return f"{round(value, 3 - len(str(int(abs(value))))):,.0f}"
    return f"{value:.3g}"


def ratio(value: float) -> str:
    return f"{number(value)}x"


def machine() -> str:
    """Describe the machine and the versions."""
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return "; ".join([
        f"CPU: {cpu}, {len(os.sched_getaffinity(0))} cores",
        f"Python {platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in packages),
        f"sober {version('sobercv')}, {date.today():%Y-%m-%d}",
        f"Load average when the run started: {os.getloadavg()[0]:.1f} (0 on an idle machine; other work makes all "
        "times longer)",
    ])  # fmt: skip


def names(part: str, tables: Sequence[Table]) -> list[str]:
    """The files of a part."""
    return [f"benchmarks-{part}" + (f"-{k}" if k > 1 else "") + ".csv" for k in range(1, len(tables) + 1)]


def about(folder: Path = EVIDENCE) -> dict[str, dict[str, str]]:
    """Title, command, notes and machine by file."""
    with (folder / "benchmarks-about.csv").open(newline="", encoding="utf-8") as file:
        return {line["file"]: line for line in csv.DictReader(file)}


def as_text(title: str, lines: Table, notes: str) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    padded = ([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines)
    return "\n".join([title, "=" * len(title), *map("  ".join, padded), textwrap.fill(notes, 120), ""])


def write(folder: Path, part: str, tables: Sequence[Table], on: str) -> None:
    """Write the tables of a part, and on which machine they were made; files of other parts stay as they are."""
    known = about(folder)
    for name, lines in zip(names(part, tables), tables, strict=True):
        known[name]["machine"] = on
        _write(folder / name, lines)
    heads = ["file", "title", "command", "notes", "machine"]
    _write(folder / "benchmarks-about.csv", [heads, *(list(known[name].values()) for name in sorted(known))])


def _write(path: Path, lines: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


# ---- timing on a machine that is not ours alone: competitors take turns, the fastest turn counts ----
#: Seconds before each turn: for some 30 ms after a product BLAS threads spin, and would take a core from the next.
REST = 0.05


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
                times[name].append(seconds_and_work(functions[name])[0])
    return {name: min(taken) for name, taken in times.items()}


def of_all_processes(measure: Callable[[psutil.Process], float], pid: int | None = None) -> float:
    """The sum over a process (this one) and all below it; some may end while we look."""
    total, family = 0.0, [psutil.Process(pid)]
    with suppress(psutil.NoSuchProcess):
        family += family[0].children(recursive=True)
    for process in family:
        with suppress(psutil.NoSuchProcess):
            total += measure(process)
    return total
