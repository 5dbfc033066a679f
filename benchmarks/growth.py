"""How time and memory grow with samples, configurations, resamples and repeats, up to the sizes people ask about."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sobercv

from .report import Table, number, seconds_and_work

METRICS = ("accuracy", "roc_auc")
BASE = {"N": 500, "C": 610, "B": 1000, "R": 1}
LONG_TABLES = {"C": 10, "B": 200}  # where N grows, so that ten million samples fit in memory and in a minute
ONCE = 1.0  # seconds: what takes longer is timed once


@dataclass(frozen=True)
class Curve:
    """What the sizes of one axis took, from small to large; of the whole call, the shortest of a few."""

    metric: str
    axis: str  # by its letter: N samples, C configurations, B resamples, R repeats
    sizes: list[int]
    seconds: list[float]  # by the clock
    work: list[float]  # of all cores together
    mib: list[float]  # allocated by the call at its peak, beyond the input


def sizes_of(axis: str, metric: str, quick: bool) -> list[int]:
    longest = 10_000_000 if metric == "accuracy" else 1_000_000
    return {
        "N": [n for n in (10**3, 10**4, 10**5, 10**6, 10**7) if n <= (longest // 10 if quick else longest)],
        "C": [10, 100, 1000] if quick else [10, 100, 1000, 10_000],
        "B": [100, 1000] if quick else [100, 1000, 10_000],
        "R": [1, 4] if quick else [1, 2, 5, 10],
    }[axis]


def run(quick: bool = False, figure: Path | None = None) -> list[Table]:
    for metric in METRICS:
        table(metric, 500, 10)(200)  # loads kernels
    curves = [trace(metric, axis, quick) for metric in METRICS for axis in BASE]
    rows = []
    for curve in curves:
        slopes = [slope(curve.sizes, values) for values in (curve.work, curve.mib)]
        columns = (curve.sizes, curve.seconds, curve.work, curve.mib)
        cells = [" / ".join(number(v) for v in values) for values in columns]
        rows.append([f"{curve.metric}, {curve.axis}", *cells, *(f"{s:.2f}" for s in slopes)])
    if figure:
        draw(curves, figure)
    heads = "metric and what grows | sizes | seconds | CPU seconds | MiB | slope, time | slope, memory"
    return [[heads.split(" | "), *rows]]


def trace(metric: str, axis: str, quick: bool) -> Curve:
    sizes, found = sizes_of(axis, metric, quick), []
    for size in sizes:
        at = BASE | (LONG_TABLES if axis == "N" else {}) | {axis: size}
        found.append(measure(partial(table(metric, at["N"], at["C"], at["R"]), at["B"]), 2 if quick else 7))
    return Curve(metric, axis, sizes, *map(list, zip(*found, strict=True)))


def table(metric: str, n: int, c: int, r: int = 1) -> Callable[[int], Any]:
    """Make predictions, column by column and in the type that they need; give the call that is measured."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.5).astype(np.uint8)
    predictions = np.empty((n, c, r), np.uint8 if metric == "accuracy" else np.float64)
    for j in range(c):
        worth = 0.5 + 0.3 * j / c
        for k in range(r):
            if metric == "accuracy":
                predictions[:, j, k] = y ^ (rng.random(n) > worth)
            else:
                predictions[:, j, k] = rng.standard_normal(n) + worth * y
    return lambda b: sobercv.bbc(y, predictions, metric, n_bootstraps=b, n_jobs=-1)


def measure(call: Callable[[], Any], turns: int) -> tuple[float, float, float]:
    """Seconds and CPU seconds, the shortest of a few turns, and MiB of one more."""
    taken = [seconds_and_work(call)]
    taken += [seconds_and_work(call) for _ in range(turns if taken[0][0] < ONCE else 0)]
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(t[0] for t in taken), min(t[1] for t in taken), peak / 2**20


def slope(sizes: list[int], values: list[float]) -> float:
    """Of log value on log size, over the last two sizes, or over the decades from 10,000 on."""
    last = max(2, sum(size >= 10_000 for size in sizes) if sizes[0] >= 1000 else 2)
    return float(np.polyfit(np.log(sizes[-last:]), np.log(values[-last:]), 1)[0])


# ---- the figure of docs/evidence/benchmarks.md: the same numbers give the same bytes ----
MEANING = {"N": "samples N", "C": "configurations C", "B": "resamples B", "R": "repeats R"}
COLOURS = {"accuracy": "#1b6ca8", "roc_auc": "#c8553d"}
STYLE = {
    "svg.hashsalt": "sober",  # ids that do not change from run to run
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": "#888888", "axes.labelcolor": "#333333", "xtick.color": "#555555", "ytick.color": "#555555",
    "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.6, "figure.facecolor": "white",
}  # fmt: skip


def draw(curves: Sequence[Curve], path: Path) -> None:
    """CPU seconds above, MiB below, a column for each thing that grows; dotted lines are linear growth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, len(MEANING), figsize=(2.5 * len(MEANING), 4.6), sharex="col", sharey="row")
        for (row, what), (column, letter) in product(enumerate(("work", "mib")), enumerate(MEANING)):
            panel = panels[row, column]
            for curve in (c for c in curves if c.axis == letter):
                values, colour = getattr(curve, what), COLOURS[curve.metric]
                panel.plot(curve.sizes, values, "o-", color=colour, label=curve.metric, markersize=3.5, linewidth=1.4)
                linear = [values[-1] * size / curve.sizes[-1] for size in curve.sizes]
                panel.plot(curve.sizes, linear, ":", color=colour, linewidth=0.9, alpha=0.7)
            panel.set(xscale="log", yscale="log")
            panel.minorticks_off()
        for panel, letter in zip(panels[1], MEANING, strict=True):
            panel.set_xlabel(MEANING[letter])
        panels[0, 0].set_ylabel("CPU seconds, all cores")
        panels[1, 0].set_ylabel("MiB beyond the input")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)
        figure.tight_layout(rect=(0, 0, 1, 0.94))
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
