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
from ..results_file import read_results

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

- **`PredictiveDrop(chance, zone)`** drops whoever has less than that chance to overtake the best (by more than `zone`
  standard errors) with the samples that are left. With a chance of 1 % it is the default (`drop="auto"`): from 20
  predictions on, or 50 where there are fewer than 80 samples. Sharper, with an indifference zone, from 30 predictions
  on: `drop=sobercv.PredictiveDrop(0.015, zone=0.2)`.
- **The paper's rule** (`drop="bced"`) drops whoever is worse than the best in 99 % of the resamples, once 50 samples
  have predictions.
- **`BettingDrop(chance)`** drops the winner of the whole cross-validation with at most that chance; for means
  of losses.
- **`ConfidenceDrop`**, **`HoeffdingDrop`**, **`BernsteinDrop`**: tests of all pairs, and classical inequalities.
- **With the dropped** (`count_dropped=True`, the default): a configuration c that left after n of N samples stays in
  the bootstrap. Its lead over the winner in a resample is `lead + sqrt(n / N) (lead in the resample - lead)`, on the
  samples that it has; if that makes it the best of the resample, it is judged in the same way on the samples left out.
  For those who finished, this is BBC-CV. `count_dropped=False` is the paper's way. After an early end (Ctrl-C, a time
  limit) N is what the finishers have predicted until then. Where folds are drawn (`by="fold"`), n and N are numbers of
  folds and the lead is a mean over folds; who left after one fold has no spread by folds and cannot win there.

## What was promised, and what was found
{promises}

"Within 2 errors" compares the estimate after a race, with the dropped, with that of the whole cross-validation on the
same tables: the mean difference of bias, and of squared errors, in standard errors of that difference. A bias that is
smaller than without a race is met, too.

## Why this default
{verdicts}

## The chance, chosen on other data
The default is the largest of the chances {chances} that, on real data of N = 100 and 500, keeps the
winner in 90 % of the races and loses at most 0.1 standard errors of true score, by either metric. Each data set judged
with the chance that the other sets choose:

{left_out}

## The zone, chosen on other data
With an indifference zone the winner may be another one that is about as good, so only the score that is lost and the
estimate are looked at. Of {zones} settings (chance, zone, predictions waited for) the one is taken that saves most
among those that lose at most 0.1 standard errors of true score and whose bias and RMSE are within two standard errors,
by either metric, at N = 100 and 500. Each data set judged with the setting that the other sets choose:

{zone_left_out}

The margins are narrow: {zone_words}
Place by place the bias is within two errors; on all tables together (last line) it is not: a zone makes the estimate a
little more optimistic, and on gina it shows. Some twenty other settings (Student's distribution instead of the
normal one, a chance that falls with the folds that are left) had been looked at on the same tables before, so a new
data set may lose a little more than this says.

## The guarantee of the betting rule
{guarantee}

Not replayed: paired tests with power (they ask for more samples one pair at a time, a race has rounds), CVST (it trains
on growing parts, so it needs splits of its own), Forgiving, ANOVA and F-race (tests of fold scores, which know less
than the predictions).

## How to read the tables
"Fewer models" is a harmonic mean over tables, "true score lost" in standard errors of the winner's score, "covered" is
the share of 95 % intervals (percentile, with the dropped) that hold the true score of the model that is returned. Real
tables: {configurations} configurations, {folds} folds, truth on up to 1,500 other rows.

Written by these commands; the data are public sets in `<name>.npz` files, which are not part of the project:

```bash
python -m studies.racing --data ../shared/data
python -m studies.racing.page
```

{tables}
"""
DEFAULT, ZONE = "predictive .01", "predictive .015, zone .2, guard 30"
ZONES = (
    "predictive .005, zone .1", "predictive .01, zone .1", "predictive .01, zone .2", "predictive .02, zone .1",
    "predictive .015, zone .15, guard 30", "predictive .015, zone .2, guard 30",
)  # fmt: skip
CHANCES = {".002": "predictive .002", ".005": "predictive .005", ".01": "predictive .01", ".02": "predictive .02"}
METRICS = {"roc_auc": "AUC", "accuracy": "accuracy"}
SIZES = (100, 500)
KEPT, LOST = 0.9, 0.1


def places(rows: Rows) -> list[tuple[str, int, Rows]]:
    """The real tables by metric and size."""
    real = [row for row in rows if not row["simulated"]]
    found = [(m, n, [r for r in real if r["metric"] == m and r["n"] == n]) for m in METRICS for n in SIZES]
    return [(m, n, some) for m, n, some in found if some]


def of_rule(rows: Rows, rule: str) -> dict[str, float]:
    """All tables of a rule together."""
    return pooled([row for row in rows if row["rule"] == rule])


def errors_apart(rows: Rows, what: str) -> float:
    """How many standard errors the race has changed the bias, or the squared error, of the estimate."""
    own = pooled(rows)
    within = sum(row["tables"] * row[f"variance of {what} added"] for row in rows)
    return float(own[f"{what} added"] * own["tables"] / np.sqrt(within)) if within > 0 else 0.0


def is_honest(some: Rows, rule: str) -> bool:
    """Whether a rule loses little true score, and leaves bias and RMSE of the estimate what they were, in one place."""
    here = [row for row in some if row["rule"] == rule]
    own = pooled(here)
    nearer = abs(own["bias with the dropped"]) <= abs(of_rule(some, "none")["bias of survivors"])
    bias, squares = errors_apart(here, "bias"), errors_apart(here, "squares")
    return own["lost in standard errors"] <= LOST and (abs(bias) <= 2 or nearer) and squares <= 2


def promises(rows: Rows) -> str:
    """What was wanted of the default and of the zone, and what was found."""
    heads = ("real tables", "rule", "fewer models", "wanted", "true score lost", "wanted", "bias", "RMSE", "met")
    lines = [heads, ("---",) * len(heads)]
    for metric, n, some in places(rows):
        for rule, least in ((DEFAULT, {100: 1.7, 500: 3.3}), (ZONE, {100: 2.0, 500: 4.0})):
            here = [row for row in some if row["rule"] == rule]
            own = pooled(here)
            bias, squares = errors_apart(here, "bias"), errors_apart(here, "squares")
            saved, lost = 1 / own["models"], own["lost in standard errors"]
            met = saved >= least[n] and is_honest(some, rule)
            lines.append(
                (
                    f"{METRICS[metric]}, N = {n} ({own['tables']:.0f})", rule, f"{saved:.2f}x", f"{least[n]:.1f}x",
                    f"{lost:+.3f}", f"{LOST:.1f}", f"{bias:+.1f} errors", f"{squares:+.1f} errors",
                    "yes" if met else "**no**",
                )
            )  # fmt: skip
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def chosen(rows: Rows) -> str:
    """The sharpest chance that keeps the winner and its true score, in every kind of place."""
    best = next(iter(CHANCES))
    for chance, rule in CHANCES.items():
        each = [of_rule(some, rule) for _, _, some in places(rows)]
        if all(own["kept"] >= KEPT and own["lost in standard errors"] <= LOST for own in each):
            best = chance
    return best


def left_out(rows: Rows) -> str:
    """Each data set with the chance that the others choose."""
    heads = ("data set", "chance chosen without it", "fewer models, N = 100", "N = 500", "winner kept", "score lost")
    lines = [heads, ("---",) * len(heads)]
    for name in sorted({row["data"] for row in rows if not row["simulated"]}):
        chance = chosen([row for row in rows if row["data"] != name])
        own = [row for row in rows if row["data"] == name and row["rule"] == CHANCES[chance] and row["n"] in SIZES]
        both = pooled(own)
        saved = [f"{1 / pooled([r for r in own if r['n'] == n])['models']:.2f}x" for n in SIZES]
        lines.append((name, chance, *saved, f"{100 * both['kept']:.0f} %", f"{both['lost in standard errors']:+.3f}"))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def chosen_zone(rows: Rows) -> str | None:
    """Of the settings with a zone that are honest everywhere the one that saves most at the largest size."""
    honest = [rule for rule in ZONES if all(is_honest(some, rule) for _, _, some in places(rows))]
    large = [some for _, n, some in places(rows) if n == max(SIZES)]
    return min(honest, key=lambda rule: sum(of_rule(some, rule)["models"] for some in large), default=None)


def zone_left_out(rows: Rows) -> str:
    """Each data set with the zone that the others choose."""
    heads = ("data set", "setting chosen without it", "fewer models, N = 100", "N = 500", "score lost", "bias added")
    lines, judged = [heads, ("---",) * len(heads)], []
    for name in sorted({row["data"] for row in rows if not row["simulated"]}):
        rule = chosen_zone([row for row in rows if row["data"] != name])
        own = [row for row in rows if row["data"] == name and row["rule"] == rule and row["n"] in SIZES]
        judged += own
        lines.append((name, rule or "none is honest", *_cells(own)) if own else (name, "none is honest", *("",) * 4))
    lines.append(("all together", "each its own", *_cells(judged)))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cells(own: Rows) -> list[str]:
    saved = [f"{1 / pooled([row for row in own if row['n'] == n])['models']:.2f}x" for n in SIZES]
    both = pooled(own)
    bias = f"{both['bias added']:+.4f} ({errors_apart(own, 'bias'):+.1f} errors)"
    return [*saved, f"{both['lost in standard errors']:+.3f}", bias]


def zone_words(rows: Rows) -> str:
    """How far the setting with a zone is from what was wanted, where it is nearest to it."""
    large = [of_rule(some, ZONE) for _, n, some in places(rows) if n == max(SIZES)]
    saved, lost = min(1 / own["models"] for own in large), max(own["lost in standard errors"] for own in large)
    return (
        f"at N = {max(SIZES)} it saves {saved:.2f}x where 4.0x was wanted, and loses {lost:.3f} where 0.1 was allowed."
    )


def guarantee(rows: Rows) -> str:
    """How often the betting rule has lost a winner."""
    races = sum(int(row["races"]) for row in rows if row["chance"] == rows[0]["chance"])
    heads = (
        "N", "accuracies", "correlation", "chance promised", "winners lost", "standard error", "models trained", "kept",
    )  # fmt: skip
    lines = [heads, ("---",) * len(heads)]
    for row in rows:
        kept = row["lost"] <= row["chance"] + 2 * row["error"]
        lines.append(
            (
                f"{row['n']:.0f}", "equal" if row["equal"] == "True" else "beta(9, 6)", f"{row['rho']:g}",
                f"{100 * row['chance']:g} %", f"{100 * row['lost']:.2f} %", f"{100 * row['error']:.2f} %",
                f"{100 * row['models']:.0f} %", "yes" if kept else "**no**",
            )
        )  # fmt: skip
    words = (
        f"`BettingDrop(chance)` promises to drop the winner of the whole cross-validation with at most that chance. "
        f"{races:,} simulated races of {rows[0]['configurations']:.0f} configurations at each chance, by "
        "`python -m studies.racing.guarantee`; a winner is easiest to lose where all configurations are equally good."
    )
    return words + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdicts(rows: Rows) -> str:
    """Sentences, with their numbers."""
    lines = []
    for metric, n, some in places(rows):
        own = {rule: of_rule(some, rule) for rule in ("none", "bced", DEFAULT)}
        sharp = own[DEFAULT]
        lines.append(
            f"- {METRICS[metric]}, N = {n}, {own['none']['tables']:.0f} real tables: the paper's rule needs "
            f"{1 / own['bced']['models']:.1f} times fewer models, the default {1 / sharp['models']:.1f} times; it kept "
            f"the winner in {100 * sharp['kept']:.0f} % (the paper's: {100 * own['bced']['kept']:.0f} %) and lost "
            f"{sharp['lost in standard errors']:+.3f} standard errors of true score. Bias of the estimate without a "
            f"race {own['none']['bias of survivors']:+.4f}, of the survivors alone {sharp['bias of survivors']:+.4f}, "
            f"with the dropped {sharp['bias with the dropped']:+.4f}."
        )
    small = [r for r in rows if r["simulated"] and r["n"] == 40]
    if small:
        none, sharp = (of_rule(small, rule) for rule in ("none", DEFAULT))
        lines.append(
            "- Few samples are why 50 predictions are waited for below 80: simulated, N = 40, without that guard, the "
            f"bias is {sharp['bias with the dropped']:+.4f} with the dropped and {none['bias of survivors']:+.4f} "
            f"without a race, and intervals cover {100 * sharp['covered with the dropped']:.0f} %. With it nobody is "
            "dropped there."
        )
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    rows, about = read(HERE / "results.csv"), json.loads((HERE / "results.json").read_text())
    page = PAGE.format(
        promises=promises(rows),
        verdicts=verdicts(rows),
        chances=", ".join(CHANCES),
        left_out=left_out(rows),
        zones=len(ZONES),
        zone_left_out=zone_left_out(rows),
        zone_words=zone_words(rows),
        guarantee=guarantee(read_results(HERE / "results-guarantee.csv", text=("equal",))),
        configurations=about["configurations of real tables"],
        folds=about["folds"],
        tables="\n\n".join(f"## {title}\n{text}" for title, text in sections(rows)),
    )
    (DOCS / "racing.md").write_text(page)


if __name__ == "__main__":
    main()
