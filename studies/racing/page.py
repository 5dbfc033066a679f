"""`python -m studies.racing.page`: make docs/racing.md from the committed results.

Takes `results.csv`, gives tables of rules and a page; replays no race.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import DOCS

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


PAGE = """# Races: who may stop early, and what that does to the estimate
A race saves models by dropping configurations before the cross-validation ends. Two things can go wrong: the winner is
dropped, and the estimate turns optimistic, because what was dropped for its bad luck in this sample is no longer there
to win a resample. This page replays races on complete cross-validations, where both can be seen.

- **The paper's rule** (`drop="bced"`, the default) drops whoever is worse than the best in 99 % of the resamples, once
  50 samples have predictions.
- **`PredictiveDrop(chance, zone)`** drops whoever has less than that chance to overtake the best (by more than `zone`
  standard errors) with the samples that are left.
- **`BettingDrop(chance)`** drops the winner of the whole cross-validation with at most that chance; for means
  of losses.
- **`ConfidenceDrop`**, **`HoeffdingDrop`**, **`BernsteinDrop`**: tests of all pairs, and classical inequalities.
- **With the dropped** (`count_dropped=True`): a configuration c that left after n of N samples stays in the bootstrap.
  Its lead over the winner in a resample is `lead + sqrt(n / N) (lead in the resample - lead)`, on the samples that it
  has; if that makes it the best of the resample, it is judged in the same way on the samples left out. For those who
  finished, this is BBC-CV.

What the tables say:

{verdicts}

"Fewer models" is a harmonic mean over tables, "true score lost" in standard errors of the winner's score, "covered" is
the share of 95 % intervals (percentile, with the dropped) that hold the true score of the model that is returned. Real
tables: {configurations} configurations, {folds} folds, truth on up to 1,500 other rows. The default stays the paper's
rule until the study has more tables of N = 500 and other metrics.

Written by these commands; the data are public sets in `<name>.npz` files, which are not part of the project:

```bash
python -m studies.racing --data ../shared/data
python -m studies.racing.page
```

{tables}
"""


def verdicts(rows: Rows) -> str:
    """Sentences, with their numbers."""
    lines = []
    for n in (100, 500):
        here = [r for r in rows if not r["simulated"] and r["metric"] == "roc_auc" and r["n"] == n]
        if not here:
            continue
        own = {rule: pooled([r for r in here if r["rule"] == rule]) for rule in ("none", "bced", "predictive .005")}
        sharp = own["predictive .005"]
        lines.append(
            f"- AUC, N = {n}, {own['none']['tables']:.0f} real tables: the paper's rule needs "
            f"{1 / own['bced']['models']:.1f} times fewer models, `PredictiveDrop(0.005)` "
            f"{1 / sharp['models']:.1f} times; it kept the winner in {100 * sharp['kept']:.0f} % and lost "
            f"{sharp['lost in standard errors']:.3f} standard errors of true score. Bias of the estimate without "
            f"a race {own['none']['bias of survivors']:+.4f}, of the survivors alone "
            f"{sharp['bias of survivors']:+.4f}, with the dropped {sharp['bias with the dropped']:+.4f}."
        )
    small = [r for r in rows if r["simulated"] and r["n"] == 40]
    if small:
        none, sharp = (pooled([r for r in small if r["rule"] == rule]) for rule in ("none", "predictive .005"))
        lines.append(
            f"- It does not hold for the smallest: simulated, N = 40, four samples a fold: "
            f"{none['bias of survivors']:+.4f} without a race, {sharp['bias with the dropped']:+.4f} with the dropped, "
            f"and intervals cover {100 * sharp['covered with the dropped']:.0f} %. Give `min_predictions=50` there."
        )
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    rows, about = read(HERE / "results.csv"), json.loads((HERE / "results.json").read_text())
    page = PAGE.format(
        verdicts=verdicts(rows),
        configurations=about["configurations of real tables"],
        folds=about["folds"],
        tables="\n\n".join(f"## {title}\n{text}" for title, text in sections(rows)),
    )
    (DOCS / "racing.md").write_text(page)


if __name__ == "__main__":
    main()
