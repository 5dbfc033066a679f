"""Time limits: `sober fit --max-time T` on a long and on a wide table, the whole command by the clock.

Takes simulated tables (written to a temporary folder), gives seconds, what each run had done by then, and whether it came
to a number. The commands are those that users type, in processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .report import Goal, Section, number

TABLES = {"long": (200_000, 20), "wide": (60, 20_000)}
LIMITS = (60, 30)  # seconds
PRESETS = ("quick", "standard")


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rows, goals = [], []
    with tempfile.TemporaryDirectory() as place:
        for name, shape in TABLES.items():
            _write(Path(place) / f"{name}.csv", *shape)
        for name, shape in TABLES.items():
            for preset in PRESETS[:1] if quick else PRESETS:
                for limit in LIMITS[1:] if quick else LIMITS:
                    seconds, found, load = _fit(Path(place), name, preset, limit)
                    size = f"{shape[0]:,} x {shape[1]:,}"
                    rows.append([size, preset, f"{limit} s", number(seconds), *found, f"{load:.1f}"])
                    late = max(10.0, 0.1 * limit)
                    goals.append(Goal(f"{size}, {preset}, --max-time {limit}s", seconds, limit + late, True, " s"))
                    goals.append(
                        Goal(f"{size}, {preset}, --max-time {limit}s, numbers", float(found[0] != ""), 1, False)
                    )
    heads = ["table", "preset", "--max-time", "ended after, s", "honest AUC", "splits", "model", "report", "load"]
    notes = [
        "The command: `sober fit TABLE.csv --target y --preset PRESET --max-time T`, a new process each time, from its "
        "start to its end. A limit is kept by T and the larger of 10 s and a tenth. Splits: how many of 10 the estimate "
        "rests on. Load: the load average when the command began, on two cores; what it takes from the others, a run "
        "does not get done, but it must end in time."
    ]
    return [Section("Time limits of whole commands", heads, rows, goals, notes)]


def _write(path: Path, n: int, p: int) -> None:
    """Write a table of numbers whose first five columns tell a little about the class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), np.float32)
    y = np.where(X[:, :5].sum(axis=1) + 3 * rng.standard_normal(n) > 0, "yes", "no")
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(p)])
    frame["y"] = y
    frame.to_csv(path, index=False)


def _fit(place: Path, name: str, preset: str, limit: int) -> tuple[float, list[str], float]:
    folder = place / f"{name}-{preset}-{limit}"
    load, start = os.getloadavg()[0], time.perf_counter()
    command = ["fit", f"{name}.csv", "--target", "y", "--preset", preset, "--max-time", f"{limit}s", "-o", str(folder)]
    ended = subprocess.run(
        [sys.executable, "-m", "sobercv.cli", *command], cwd=place, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if ended.returncode:
        return seconds, ["", ended.stderr.strip().splitlines()[-1][:60], "", ""], load
    results = json.loads((folder / "results.json").read_text())
    done = results["summary"]["splits"]
    model = "yes" if results["has_model"] else "no"
    return (
        seconds,
        [f"{results['score']['honest']:.3f}", str(done), model, "yes" if (folder / "report.html").exists() else "no"],
        load,
    )
