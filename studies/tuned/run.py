"""Run the simulation in pieces; one row per claim, size and number of configurations."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..harness import Rows, Say, make_missing, read_piece
from .simulated import CLAIMS, Setting, one_table, settings

PIECE = 10  # repetitions that are run and saved together
HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
REAL = HERE / "results-real.csv"
BACK, BACK_SETS = HERE / "results-back.csv", HERE / "results-back-sets.csv"
OTHERS = HERE / "results-alternatives.csv"


def run(work: Path, repetitions: int, seed: int = 0, say: Say = print) -> Rows:
    """Run what is missing, and summarise all that is there up to so many repetitions."""
    # Round by round, so that a run that is ended early has as many repetitions of every setting.
    pieces = {
        work / f"{setting.name}-{seed}-{first:04d}.npz": partial(_piece, setting, first, seed)
        for first in range(0, repetitions, PIECE)
        for setting in settings()
    }
    make_missing(pieces, say=say)
    return summary(work, seed, repetitions)


def _piece(setting: Setting, first: int, seed: int) -> dict[str, Any]:
    return {"rows": np.array([one_table(setting, r, seed) for r in range(first, first + PIECE)])}


def summary(work: Path, seed: int = 0, repetitions: int = 10**9) -> Rows:
    """One row for each claim, size and number of configurations, of the pieces that are there."""
    rows = []
    for setting in settings():
        pieces = sorted(work.glob(f"{setting.name}-{seed}-*.npz"))
        found = [read_piece(piece)["rows"] for piece in pieces if int(piece.stem.rpartition("-")[2]) < repetitions]
        if found:
            claims = np.moveaxis(np.concatenate(found), 1, 0)  # [claims, repetitions, 5]
            rows += [_row(setting, *each) for each in zip(CLAIMS[setting.tuned], claims, strict=True)]
    order = [claim for claims in CLAIMS.values() for claim in claims]
    return sorted(rows, key=lambda row: order.index(row["tuned"]))


def _row(setting: Setting, claim: str, found: np.ndarray) -> dict[str, Any]:
    naive, value, low, high, truth = found.T
    covers = (low <= truth) & (truth <= high)
    return {
        "tuned": claim,
        "n": setting.n,
        "c": setting.c,
        "repetitions": len(found),
        "truth": truth.mean(),
        "naive_bias": (naive - truth).mean(),
        "bias": (value - truth).mean(),
        "bias_error": (value - truth).std(ddof=1) / np.sqrt(len(found)),
        "covers": covers.mean(),
        "width": (high - low).mean(),
    }
