"""Run the simulation: in pieces, on all cores, resumable; one small CSV at the end.

Takes a seed and how much of the design to run, gives `results.csv` with one row a setting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np

from ..pieces import whole
from ..results_file import write_results
from .design import COLUMNS, LEVELS, PROTOCOLS, WITH_INTERVAL, Setting, one_table, settings

PIECE = 25  # repetitions that are run and saved together
HERE = Path(__file__).parent
QUICK_SAMPLES, QUICK_CONFIGURATIONS, QUICK_REPETITIONS = (20, 100, 500), (50, 500), 20


def _piece(setting: Setting, first: int, last: int, seed: int, shared: bool, path: Path) -> None:
    rows = np.array([one_table(setting, r, seed, shared) for r in range(first, last)])
    with whole(path) as part:
        np.save(part, rows)


def run(
    work: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    repetitions: int = 500,
    shared: bool = False,
    n_jobs: int = -1,
    say: Callable[[str], None] = print,
) -> list[dict[str, float]]:
    """Run what is missing in the work folder, then summarise all of it.

    Results depend on the seed alone, not on the number of jobs or on interruptions.
    """
    chosen = settings()
    if quick:
        chosen = [s for s in chosen if s.n in QUICK_SAMPLES and s.c in QUICK_CONFIGURATIONS]
        repetitions = min(repetitions, QUICK_REPETITIONS)
    work.mkdir(parents=True, exist_ok=True)
    name = f"{'shared' if shared else 'independent'}-{seed}"
    size = min(PIECE, repetitions)
    pieces = [
        (s, first, min(first + size, repetitions), work / f"{name}-{s.index:03d}-{first:04d}-{size}.npy")
        for s in chosen
        for first in range(0, repetitions, size)
    ]
    todo = [p for p in pieces if not p[3].exists()]
    # Large settings first, so that the cores finish together.
    todo.sort(key=lambda p: -p[0].n * p[0].c)
    say(f"{len(chosen)} settings x {repetitions} repetitions; {len(pieces) - len(todo)} of {len(pieces)} pieces there")
    start = time.perf_counter()
    weight = sum(_cost(p[0]) for p in todo)
    done, told = 0.0, start
    results = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")(
        joblib.delayed(_piece)(s, a, b, seed, shared, path) for s, a, b, path in todo
    )
    for piece, _ in zip(todo, results, strict=True):
        done += _cost(piece[0])
        if time.perf_counter() - told > 30:
            told = time.perf_counter()
            say(f"{100 * done / weight:.0f} % after {(told - start) / 60:.1f} min")
    say(f"simulated in {(time.perf_counter() - start) / 60:.1f} min")
    by_setting = {s.index: (s, [p[3] for p in pieces if p[0].index == s.index]) for s in chosen}
    return [summarise(s, np.concatenate([np.load(path) for path in paths])) for s, paths in by_setting.values()]


def _cost(setting: Setting) -> float:
    return 30_000.0 + setting.n * setting.c


def summarise(setting: Setting, rows: np.ndarray) -> dict[str, float]:
    """One row of the results: mean bias with its standard error, RMSE, coverage, width, models."""
    column = {name: rows[:, i] for i, name in enumerate(COLUMNS)}
    out: dict[str, float] = {"n": setting.n, "c": setting.c, "a": setting.a, "b": setting.b, "repetitions": len(rows)}
    for p in PROTOCOLS:
        bias = column[f"estimate {p}"] - column["truth bced" if p == "bced" else "truth"]
        out[f"bias {p}"] = bias.mean()
        out[f"se {p}"] = bias.std(ddof=1) / np.sqrt(len(rows))
        out[f"rmse {p}"] = np.sqrt((bias**2).mean())
    for p in WITH_INTERVAL:
        out[f"width {p}"] = column[f"width {p}"].mean()
        for level in LEVELS:
            out[f"covered {p} {level}"] = column[f"covered {p} {level}"].mean()
    out["truth"], out["truth bced"] = column["truth"].mean(), column["truth bced"].mean()
    out["models bced"] = column["models bced"].mean()
    # How much larger BBC's and BCED's conservatism is than NCV's, paired on the same tables.
    for p in ("bbc", "bced", "632+"):
        difference = column[f"estimate {p}"] - column["estimate ncv"]
        if p == "bced":
            difference = difference - (column["truth bced"] - column["truth"])
        out[f"minus ncv {p}"] = difference.mean()
        out[f"minus ncv se {p}"] = difference.std(ddof=1) / np.sqrt(len(rows))
    return out


def write(rows: list[dict[str, float]], path: Path, seed: int, shared: bool) -> None:
    """Write the results, with the seed beside them."""
    about = {"seed": seed, "shared draws": shared}
    write_results(rows, path, about, lambda v: v if float(v).is_integer() else f"{v:.6g}")
