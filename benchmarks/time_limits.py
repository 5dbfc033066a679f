"""Time limits: `sober fit --max-time T` on a long and on a wide table, the whole command by the clock.

Takes simulated tables (written to a temporary folder), gives seconds, what each run had done by then, and whether it
came to a number. The commands are those that users type, in processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from .report import Section, number

TABLES = {"long": (200_000, 20), "wide": (60, 20_000)}
LIMITS = (60, 30)  # seconds
PRESETS = ("quick", "standard")


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, shape in TABLES.items():
            _write(Path(place) / f"{name}.csv", *shape)
        for (name, shape), preset, limit in product(TABLES.items(), PRESETS[: 1 if quick else None], LIMITS):
            load = os.getloadavg()[0]
            seconds, found = _fit(Path(place), name, preset, limit)
            case = f"{shape[0]:,} x {shape[1]:,}, {preset}, {limit} s"
            rows.append([case, number(seconds), *found, f"{load:.1f}"])
            # Without a number, a command that ends in time has not kept its promise.
    heads = ["table, preset, limit T", "ended after, s", "honest AUC", "models trained", "final model", "load"]
    notes = [
        "The command is `sober fit TABLE.csv --target y --preset PRESET --max-time T`, a new process each time, from "
        "its start to its end. It must end with a number by T and the larger of 10 s and a tenth of T.",
        "Load is the load average when the command began, on all cores: what others take, a run does not get done, but "
        "it must end in time all the same.",
    ]
    return [Section("Time limits of whole commands", heads, rows, notes)]


def _write(path: Path, n: int, p: int) -> None:
    """Write a table of numbers whose first five columns tell a little about the class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), np.float32)
    y = np.where(X[:, :5].sum(axis=1) + 3 * rng.standard_normal(n) > 0, "yes", "no")
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(p)])
    frame["y"] = y
    frame.to_csv(path, index=False)


def _fit(place: Path, name: str, preset: str, limit: int) -> tuple[float, list[str]]:
    """Run the command; give its seconds, and its score, the number of models, and whether there is a final one."""
    folder, start = place / f"{name}-{preset}-{limit}", time.perf_counter()
    options = ["--target", "y", "--preset", preset, "--max-time", f"{limit}s", "-o", str(folder)]
    command = [sys.executable, "-m", "sobercv.cli", "fit", f"{name}.csv", *options]
    ended = subprocess.run(command, cwd=place, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if ended.returncode:
        return seconds, ["", "", ""]
    results = json.loads((folder / "results.json").read_text())
    model = "yes" if results["has_model"] else "no"
    return seconds, [f"{results['score']['honest']:.3f}", str(results["n_fits"]), model]
