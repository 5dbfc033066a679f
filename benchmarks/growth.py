"""How time and memory grow with samples, configurations, resamples and repeats, up to the sizes people ask about."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import sobercv

from .report import Section, draw_growth, number, seconds_and_work

METRICS = ("accuracy", "roc_auc")
BASE = {"N": 500, "C": 610, "B": 1000, "R": 1}
LONG_TABLES = {"C": 10, "B": 200}  # where N grows, so that ten million samples fit in memory and in a minute
ONCE = 1.0  # seconds: what takes longer is timed once
FIGURE = "benchmarks.svg"


@dataclass(frozen=True)
class Curve:
    """What the sizes of one axis took, from small to large.

    Attributes
    ----------
    metric, axis : str
        The axis by its letter: N samples, C configurations, B resamples, R repeats.
    sizes : list of int
    seconds, work : list of float
        Of the whole call, by the clock and of all cores together; the shortest of a few.
    mib : list of float
        Allocated by the call at its peak, beyond the input.
    """

    metric: str
    axis: str
    sizes: list[int]
    seconds: list[float]
    work: list[float]
    mib: list[float]


def sizes_of(axis: str, metric: str, quick: bool) -> list[int]:
    longest = 10_000_000 if metric == "accuracy" else 1_000_000
    return {
        "N": [n for n in (10**3, 10**4, 10**5, 10**6, 10**7) if n <= (longest // 10 if quick else longest)],
        "C": [10, 100, 1000] if quick else [10, 100, 1000, 10_000],
        "B": [100, 1000] if quick else [100, 1000, 10_000],
        "R": [1, 4] if quick else [1, 2, 5, 10],
    }[axis]


def run(quick: bool = False) -> list[Section]:
    for metric in METRICS:
        table(metric, 500, 10)(200)  # loads kernels
    curves = [trace(metric, axis, quick) for metric in METRICS for axis in BASE]
    rows = []
    for curve in curves:
        slopes = [slope(curve.sizes, values) for values in (curve.work, curve.mib)]
        columns = (curve.sizes, curve.seconds, curve.work, curve.mib)
        cells = [" / ".join(number(v) for v in values) for values in columns]
        rows.append([f"{curve.metric}, {curve.axis}", *cells, *(f"{s:.2f}" for s in slopes)])
    base = ", ".join(f"{axis} = {size:,}" for axis, size in BASE.items())
    section = Section(
        "Growth of tables held in memory",
        ["metric and what grows", "sizes", "seconds", "CPU seconds", "MiB", "slope, time", "slope, memory"],
        rows,
        [
            f"The whole call of `sobercv.bbc` on all cores, with {base} but for what grows; where N grows, "
            f"C = {LONG_TABLES['C']} and B = {LONG_TABLES['B']}. Labels are uint8, scores float64.",
            "MiB: the most that the call has allocated at any time beyond its input, as Python's tracemalloc sees it.",
            "slope: of the logarithm of CPU seconds (all cores together) or of memory on that of the size, between the "
            "last two sizes and, where N grows, over all from 10,000 on; 1 is linear growth, less means that fixed "
            "costs still count.",
            "AUC beyond 100,000 samples: its steps meet the samples in order of score, anywhere in the counts. "
            "Once these no longer fit in the cache, each step waits for memory, and the slope exceeds 1 for a while.",
        ],
        figure=FIGURE,
        draw=partial(draw_growth, curves),
    )
    return [section]


def trace(metric: str, axis: str, quick: bool) -> Curve:
    curve = Curve(metric, axis, sizes_of(axis, metric, quick), [], [], [])
    for size in curve.sizes:
        at = BASE | (LONG_TABLES if axis == "N" else {}) | {axis: size}
        seconds, work, mib = measure(partial(table(metric, at["N"], at["C"], at["R"]), at["B"]), 2 if quick else 7)
        curve.seconds.append(seconds)
        curve.work.append(work)
        curve.mib.append(mib)
    return curve


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
    if taken[0][0] < ONCE:
        taken += [seconds_and_work(call) for _ in range(turns)]
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(t[0] for t in taken), min(t[1] for t in taken), peak / 2**20


def slope(sizes: list[int], values: list[float]) -> float:
    """Of log value on log size, over the last two sizes, or over the decades from 10,000 on."""
    last = max(2, sum(size >= 10_000 for size in sizes) if sizes[0] >= 1000 else 2)
    return float(np.polyfit(np.log(sizes[-last:]), np.log(values[-last:]), 1)[0])
