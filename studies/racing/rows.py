"""Rows of the study of races put together: what pages and verdicts are made of.

Takes results.csv and its like, gives means over tables and the tables that show them; replays no race.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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


def of_rule(rows: Rows, rule: str) -> dict[str, float]:
    """All tables of a rule together."""
    return pooled([row for row in rows if row["rule"] == rule])


def errors_apart(rows: Rows, what: str) -> float:
    """How many standard errors the race has changed the bias, or the squared error, of the estimate."""
    own = pooled(rows)
    within = sum(row["tables"] * row[f"variance of {what} added"] for row in rows)
    return float(own[f"{what} added"] * own["tables"] / np.sqrt(within)) if within > 0 else 0.0
