"""Run the simulation in pieces; one row per setting."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from ..harness import Say, read_pieces
from .design import COLUMNS, LEVELS, PROTOCOLS, WITH_INTERVAL, Setting, one_table, settings

PIECE = 25  # repetitions that are run and saved together
HERE = Path(__file__).parent
QUICK_SAMPLES, QUICK_CONFIGURATIONS, QUICK_REPETITIONS = (20, 100, 500), (50, 500), 20


def run(
    work: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    repetitions: int = 500,
    shared: bool = False,
    n_jobs: int = -1,
    say: Say = print,
) -> list[dict[str, float]]:
    """Run what is missing in the work folder, then summarise all of it.

    Results depend on the seed alone, not on the number of jobs or on interruptions.
    """
    chosen = settings()
    if quick:
        chosen = [s for s in chosen if s.n in QUICK_SAMPLES and s.c in QUICK_CONFIGURATIONS]
        repetitions = min(repetitions, QUICK_REPETITIONS)
    name, size = f"{'shared' if shared else 'independent'}-{seed}", min(PIECE, repetitions)
    pieces = {
        (s.index, first): (
            work / f"{name}-{s.index:03d}-{first:04d}-{size}.npz",
            partial(_piece, s, first, min(first + size, repetitions), seed, shared),
        )
        for s in sorted(chosen, key=lambda s: -s.n * s.c)  # large ones first, so that the cores finish together
        for first in range(0, repetitions, size)
    }
    found = dict(zip(pieces, read_pieces(dict(pieces.values()), "pieces", n_jobs, say), strict=True))
    return [
        summarise(s, np.concatenate([found[s.index, first]["rows"] for first in range(0, repetitions, size)]))
        for s in chosen
    ]


def _piece(setting: Setting, first: int, last: int, seed: int, shared: bool) -> dict[str, np.ndarray]:
    return {"rows": np.array([one_table(setting, r, seed, shared) for r in range(first, last)])}


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
