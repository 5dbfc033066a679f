"""Every table of the study of races, one for each kind of place.

Takes rows, gives titles and Markdown; replays no race.
"""

from __future__ import annotations

from .rows import Rows, table
from .verdicts import METRICS


def sections(rows: Rows) -> list[tuple[str, str]]:
    """Title and table of each kind of place: real ones by metric and size, simulated ones by size and correlation."""
    found = []
    for metric in METRICS:
        here = [row for row in rows if not row["simulated"] and row["metric"] == metric]
        for n in sorted({row["n"] for row in here}):
            some = [row for row in here if row["n"] == n]
            sets = sorted({row["data"] for row in some})
            count = sum(row["tables"] for row in some if row["rule"] == "none")
            found.append(
                (f"Real data, {METRICS[metric]}, N = {n:.0f} ({count:.0f} tables of {len(sets)} sets)", table(some))
            )
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


PAGE = """# Races: all tables
What each rule trained, kept and lost, and what the estimate after it is worth; [races](racing.md) says what follows.

"Fewer models" is a harmonic mean over tables, "true score lost" in standard errors of the winner's score, "covered" is
the share of 95 % intervals (percentile, with the dropped) that hold the true score of the model that is returned. Real
tables: 10 folds, truth on up to 1,500 other rows; {configurations} configurations for AUC and accuracy, 63 for R2, 60
for the C-index.

{tables}
"""


def text(rows: Rows, configurations: int) -> str:
    """The page of all tables."""
    tables = "\n\n".join(f"## {title}\n{found}" for title, found in sections(rows))
    return PAGE.format(configurations=configurations, tables=tables)
