"""Tables that do not fit in memory: time and peak memory of `sobercv.bbc` on files, each in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .report import Goal, Section, number

B = 1000
MEMORY = 2.0  # GiB
CPU_SECONDS = 360.0
ROWS = 1 << 16  # written at a time

# The peak is that of the process alone (VmHWM): ru_maxrss may still hold that of the parent.
_CHILD = """
import json, re, resource, sys, time
import numpy as np
folder, kind, n, c, b, metric, approximate = sys.argv[1:]
y = np.lib.format.open_memmap(f"{folder}/y.npy", mode="r")
table = np.lib.format.open_memmap(f"{folder}/{kind}.npy", mode="r")
import sobercv
options = {"n_bootstraps": int(b), "n_jobs": -1}
if int(approximate):
    options["approximate"] = int(approximate)
start, busy = time.perf_counter(), time.process_time()
estimate = sobercv.bbc(y, sobercv.stream(table), metric, **options)
seconds, busy = time.perf_counter() - start, time.process_time() - busy
try:
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
print(json.dumps({"seconds": seconds, "busy": busy, "kib": peak, "notes": [note.text for note in estimate.notes]}))
"""


@dataclass(frozen=True)
class Run:
    """One row of the table."""

    metric: str
    kind: str  # dtype of the predictions on disk
    n: int
    c: int
    bins: int = 0

    @property
    def title(self) -> str:
        how = f"histograms of {self.bins} bins" if self.bins else "exact"
        return f"{self.metric}, {how}, N = {self.n:,}, C = {self.c}, {self.kind}"

    @property
    def gib(self) -> float:
        return self.n * self.c * np.dtype(self.kind).itemsize / 2**30


def run(quick: bool = False, large: bool = False) -> list[Section]:
    n = 1_000_000 if quick else 10_000_000
    runs = [Run("accuracy", "uint8", n, 50), Run("roc_auc", "float32", n // 5, 20, bins=512)]
    if large:
        runs.append(Run("roc_auc", "float32", n, 20, bins=512))
    rows, goals, notes = [], [], []
    for each in runs:
        found = _measure(each)
        gib = found["kib"] / 2**20
        rows.append([each.title, number(found["seconds"]), number(found["busy"]), f"{gib:.2f}", f"{each.gib:.2f}"])
        notes += [f"N = {each.n:,}: {note}" for note in found["notes"]]
        goals.append(Goal(f"{each.title}: peak memory", gib, MEMORY, True, " GiB"))
        if each.metric == "accuracy":
            # Of the processor, not of the clock: on a machine that others use, the clock tells about them.
            goals.append(Goal(f"{each.title}: CPU seconds", found["busy"], CPU_SECONDS, True, " s"))
    return [
        Section(
            f"Bigger than memory: B = {B:,}, predictions in a memory-mapped file",
            ["run", "seconds", "CPU seconds", "peak GiB", "file GiB"],
            rows,
            goals,
            [
                "CPU seconds: of all threads; on an idle machine a run takes about that, divided by the cores.",
                "Peak resident memory of the whole process, Python and its libraries (some 0.2 GiB) included; it does "
                "not grow with N but for the truth, a byte a sample.",
                *notes,
            ],
        )
    ]


def _measure(each: Run) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), each)
        arguments = [folder, each.kind, each.n, each.c, B, each.metric, each.bins]
        child = subprocess.run(
            [sys.executable, "-c", _CHILD, *map(str, arguments)], check=True, capture_output=True, text=True
        )
    return dict(json.loads(child.stdout))


def _write(folder: Path, each: Run) -> None:
    """Write block by block: labels that are right in 70 to 80 % of the rows, or scores that shift by class."""
    rng = np.random.default_rng(0)
    skill = np.linspace(0.7, 0.8, each.c, dtype=np.float32)
    truth = np.lib.format.open_memmap(folder / "y.npy", "w+", np.uint8, (each.n,))
    table = np.lib.format.open_memmap(folder / f"{each.kind}.npy", "w+", each.kind, (each.n, each.c))
    for at in range(0, each.n, ROWS):
        y = rng.integers(0, 2, min(ROWS, each.n - at), dtype=np.uint8)
        truth[at : at + len(y)] = y
        if each.kind == "uint8":
            table[at : at + len(y)] = (rng.random((len(y), each.c), np.float32) < skill) == y[:, None]
        else:
            table[at : at + len(y)] = rng.standard_normal((len(y), each.c), np.float32) + skill * y[:, None]
    truth.flush()
    table.flush()
