"""`python -m studies.racing.page`: make docs/racing.md from the committed results.

Takes `results.csv`, gives tables of rules and a page; replays no race.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
HEADS = (
    "rule", "fewer models", "survivors", "winner kept", "true score lost", "bias, survivors only", "RMSE",
    "bias, with the dropped", "RMSE", "covered",
)  # fmt: skip
Rows = Sequence[Mapping[str, Any]]


def read(path: Path) -> list[dict[str, Any]]:
    """Read results back."""
    words = ("data", "metric", "rule")
    with path.open(newline="") as file:
        return [
            {k: v if k in words else v == "True" if k == "simulated" else float(v) for k, v in row.items()}
            for row in csv.DictReader(file)
        ]


def pooled(rows: Rows) -> dict[str, float]:
    """Put places together, each table counting the same; models saved is a harmonic mean of the tables' ratios."""
    weight = np.array([row["tables"] for row in rows])
    names = [name for name in rows[0] if name not in ("data", "n", "metric", "simulated", "rule", "tables")]
    return {"tables": weight.sum(), **{n: float(np.average([r[n] for r in rows], weights=weight)) for n in names}}


def table(rows: Rows) -> str:
    """One line a rule."""
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    lines = ["| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS)]
    for rule in rules:
        own = pooled([row for row in rows if row["rule"] == rule])
        cells = [
            rule, f"{1 / own['models']:.2f}x", f"{100 * own['alive']:.0f} %", f"{100 * own['kept']:.0f} %",
            f"{own['lost in standard errors']:+.3f}", f"{own['bias of survivors']:+.4f}",
            f"{np.sqrt(own['squares of survivors']):.4f}", f"{own['bias with the dropped']:+.4f}",
            f"{np.sqrt(own['squares with the dropped']):.4f}", f"{100 * own['covered with the dropped']:.0f} %",
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sections(rows: Rows) -> list[tuple[str, str]]:
    """Title and table of each kind of place: real ones by metric and size, simulated ones by size and correlation."""
    found = []
    for metric in ("roc_auc", "accuracy"):
        here = [row for row in rows if not row["simulated"] and row["metric"] == metric]
        for n in sorted({row["n"] for row in here}):
            some = [row for row in here if row["n"] == n]
            sets = sorted({row["data"] for row in some})
            count = sum(row["tables"] for row in some if row["rule"] == "none")
            found.append((f"Real data, {metric}, N = {n:.0f} ({count:.0f} tables of {len(sets)} sets)", table(some)))
    for n in sorted({row["n"] for row in rows if row["simulated"]}):
        for rho in ("0", "0.5", "0.9"):
            some = [r for r in rows if r["simulated"] and r["n"] == n and r["data"].endswith(f"rho={rho}")]
            if some:
                count = sum(row["tables"] for row in some if row["rule"] == "none")
                title = f"Simulated accuracy, N = {n:.0f}, correlation {rho} ({count:.0f} tables)"
                found.append((title, table(some)))
    return found


def overview(rows: Rows) -> str:
    """All tables, for a screen."""
    return "\n\n".join(f"{title}\n{text}" for title, text in sections(rows))
