"""Run the simulation in pieces; one row per number of samples and trials."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ..harness import Say, make_missing, read_piece
from .measure import COLUMNS, SAMPLES, TRIALS, Setting, settings, some_problems
from .surface import SHAPES

PIECE = 25  # repetitions that are run and saved together
#: A trial costs the more the more came before it.
REPETITIONS = {50: 100, 200: 100, 1000: 25}
#: What is claimed, by its name in the results: the column of the claim, that of the truth, and what is told of it.
CLAIMS = {
    "naive chance": "truth chance",
    "bbc chance": "truth chance",
    "naive all": "truth all",
    "bbc all": "truth all",
    "bbc half": "truth half",
    "apart half": "truth half",
}


def run(
    work: Path,
    *,
    seed: int = 0,
    repetitions: dict[int, int] | None = None,
    chosen: Sequence[Setting] | None = None,
    make: bool = True,
    say: Say = print,
) -> list[dict[str, float]]:
    """Run what is missing in the work folder (unless `make` is False), then summarise all that is there.

    Results depend on the seed alone, not on interruptions; several processes may share a folder.
    """
    wanted = REPETITIONS if repetitions is None else repetitions
    # Round by round, so that a run that is ended early has as many repetitions of every shape and size.
    places = {
        work / f"adaptive-{seed}-{setting.name}-{first:04d}.npz": (setting, first)
        for first in range(0, max(wanted.values()), PIECE)
        for setting in (settings() if chosen is None else chosen)
        if first < wanted[setting.trials]
    }
    if make:
        make_missing({path: partial(_piece, s, i, wanted[s.trials], seed) for path, (s, i) in places.items()}, say=say)
    rows: dict[tuple[int, int], list[np.ndarray]] = {}
    for path, (setting, _) in places.items():
        if path.exists():
            rows.setdefault((setting.n, setting.trials), []).append(read_piece(path)["rows"])
    return [
        summarise(n, trials, np.concatenate(rows[n, trials]))
        for trials in TRIALS
        for n in SAMPLES
        if (n, trials) in rows
    ]


def _piece(setting: Setting, first: int, end: int, seed: int) -> dict[str, np.ndarray]:
    return {"rows": some_problems(setting, first, min(first + PIECE, end), seed)}


def summarise(n: int, trials: int, rows: np.ndarray) -> dict[str, float]:
    """One row of the results, over all shapes: bias with its standard error, RMSE; cover and width of intervals."""
    column = {name: rows[:, i] for i, name in enumerate(COLUMNS)}
    out: dict[str, float] = {"n": n, "trials": trials, "repetitions": len(rows), "shapes": len(SHAPES)}
    for claim, truth in CLAIMS.items():
        error = column[claim] - column[truth]
        out[f"bias {claim}"] = error.mean()
        out[f"se {claim}"] = error.std(ddof=1) / np.sqrt(len(rows))
        out[f"rmse {claim}"] = np.sqrt((error**2).mean())
        if f"covered {claim}" in column:
            out[f"covered {claim}"] = column[f"covered {claim}"].mean()
            out[f"width {claim}"] = column[f"width {claim}"].mean()
    for way in ("chance", "all", "half"):
        out[f"truth {way}"] = column[f"truth {way}"].mean()
    return out
