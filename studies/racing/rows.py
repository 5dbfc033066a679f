"""Rows of the study of races: read, pooled over tables, and shown by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

HEADS = (
    "rule", "times fewer models", "survivors", "winner kept", "true score lost", "bias, survivors only", "RMSE",
    "bias, with the dropped", "RMSE", "95 % covers",
)  # fmt: skip
METRICS = {"roc_auc": "AUC", "accuracy": "accuracy", "r2": "R2", "concordance_index": "C-index"}
Rows = Sequence[Mapping[str, Any]]


def pooled(rows: Rows) -> dict[str, float]:
    """Put places together, each table counting the same; models saved is a harmonic mean of the tables' ratios."""
    weight = np.array([row["tables"] for row in rows])
    names = [name for name in rows[0] if name not in ("data", "n", "metric", "simulated", "rule", "tables")]
    return {"tables": weight.sum(), **{n: float(np.average([r[n] for r in rows], weights=weight)) for n in names}}


def lines_of_rules(rows: Rows) -> list[list[str]]:
    """One line per rule, under `HEADS`."""
    lines = []
    for rule in dict.fromkeys(row["rule"] for row in rows):
        own = of_rule(rows, rule)
        lines.append([
            rule, f"{1 / own['models']:.2f}", f"{own['alive']:.2f}", f"{own['kept']:.2f}",
            f"{own['lost in standard errors']:+.3f}", f"{own['bias of survivors']:+.4f}",
            f"{np.sqrt(own['squares of survivors']):.4f}", f"{own['bias with the dropped']:+.4f}",
            f"{np.sqrt(own['squares with the dropped']):.4f}", f"{own['covered with the dropped']:.2f}",
        ])  # fmt: skip
    return lines


def sections(rows: Rows) -> list[tuple[str, Rows]]:
    """Title and rows of each kind of table: real ones by metric and size, simulated ones by size and correlation."""
    found: list[tuple[str, Rows]] = []
    for metric in METRICS:
        here = [row for row in rows if not row["simulated"] and row["metric"] == metric]
        for n in sorted({row["n"] for row in here}):
            found.append((f"real, {METRICS[metric]}, N = {n:.0f}", [row for row in here if row["n"] == n]))
    for n in sorted({row["n"] for row in rows if row["simulated"]}):
        for rho in ("0", "0.5", "0.9"):
            some = [r for r in rows if r["simulated"] and r["n"] == n and r["data"].endswith(f"rho={rho}")]
            if some:
                found.append((f"simulated accuracy, N = {n:.0f}, correlation {rho}", some))
    return found


def overview(rows: Rows) -> str:
    """All tables, for a terminal."""
    return "\n\n".join(
        "\n".join([title, *("  ".join(line) for line in (HEADS, *lines_of_rules(some)))])
        for title, some in sections(rows)
    )


def of_rule(rows: Rows, rule: str) -> dict[str, float]:
    """All tables of a rule together."""
    return pooled([row for row in rows if row["rule"] == rule])
