"""How the time grows with N, C and B, and what a table of a million samples takes (time and memory)."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import numpy as np

from .problems import problem
from .report import Section, Verdict, number
from .timing import race

BASE = {"N": 500, "C": 610, "B": 1000}
METRICS = ("accuracy", "roc_auc")
LINEAR = 1.15  # a slope up to this passes for linear: sorting adds a logarithm, the clock some noise
LARGE = {"N": 1_000_000, "C": 100, "B": 1000}
MEMORY = 4.0  # GiB

# Filled by column, so that making the table takes no more memory than holding it.
_CHILD = """
import json, sys, time
import numpy as np
import sober
n, c, b = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
y = rng.permutation(np.arange(n) % 2).astype(np.int8)
scores = np.empty((n, c))
for j in range(c):
    scores[:, j] = rng.standard_normal(n) + (0.5 + 0.5 * j / c) * y
start = time.perf_counter()
estimate = sober.bbc(y, scores, "roc_auc", n_bootstraps=b, random_state=0)
print(json.dumps({"seconds": time.perf_counter() - start, "value": estimate.value}))
"""


def run(quick: bool = False, large: bool = False) -> list[Section]:
    factors = [0.5, 1, 2, 4] if quick else [0.25, 0.5, 1, 2, 4, 8]
    rounds, budget = (2, 1.0) if quick else (5, 4.0)
    rows, verdicts = [], []
    for metric in METRICS:
        for axis in BASE:
            sizes = [round(BASE[axis] * f) for f in factors]
            taken = race({str(s): _call(metric, axis, s) for s in sizes}, rounds, budget)
            times = [taken[str(s)] for s in sizes]
            upper = slice(len(sizes) // 2 - 1, None)  # from the base size up
            slope = float(np.polyfit(np.log(sizes[upper]), np.log(times[upper]), 1)[0])
            rows.append([f"{metric}, {axis} = {_span(sizes)}", *(number(1e3 * t) for t in times), f"{slope:.2f}"])
            verdicts.append(Verdict(f"{metric}, slope in {axis}", slope, LINEAR, True))
    notes = [
        "slope: of log time on log size over the upper half of the sizes; 1 is linear growth, less means that fixed "
        "costs still count."
    ]
    if not large:
        notes.append("Not run here: `--large`, the table of a million samples and its peak memory.")
    base = ", ".join(f"{axis} = {size:,}" for axis, size in BASE.items())
    sections = [
        Section(
            f"Growth around {base}",
            ["metric and axis", *(f"x {f:g}, ms" for f in factors), "slope"],
            rows,
            verdicts,
            notes,
        )
    ]
    return sections + ([_large()] if large else [])


def _call(metric: str, axis: str, size: int):
    at = BASE | {axis: size}
    data = problem(metric, at["N"], at["C"])
    return lambda: data.bbc(at["B"])


def _span(sizes: list[int]) -> str:
    return f"{sizes[0]:,} to {sizes[-1]:,}"


def _large() -> Section:
    """One run in a process of its own, whose peak of memory the system tells us."""
    sizes = [str(s) for s in LARGE.values()]
    child = subprocess.run([sys.executable, "-c", _CHILD, *sizes], check=True, capture_output=True, text=True)
    found = json.loads(child.stdout)
    # The largest of all children so far; those of other sections hold far less. On Linux in KiB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 if sys.platform != "darwin" else 1024)
    gib = peak / 2**20
    held = LARGE["N"] * LARGE["C"] * 8 / 2**30
    size = ", ".join(f"{axis} = {n:,}" for axis, n in LARGE.items())
    return Section(
        f"A large table: AUC with {size}",
        ["run", "seconds", "peak GiB", "of which the input"],
        [["sober.bbc", number(found["seconds"]), f"{gib:.2f}", f"{held:.2f}"]],
        [Verdict("AUC of a million samples, peak memory", gib, MEMORY, True, " GiB")],
        ["Peak resident memory of the whole process, the table of predictions and Python included."],
    )
