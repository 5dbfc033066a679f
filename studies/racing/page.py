"""`python -m studies.racing.page`: the evidence page of early dropping, from the committed results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..evidence import Evidence, Table, markdown
from ..harness import read_about, read_results
from ..pictures import keep, pyplot
from .rows import HEADS, METRICS, Rows, lines_of_rules, of_rule, pooled, sections
from .run import HERE

DEFAULT, ZONE, PAPER = "predictive .01", "predictive .015, zone .2, guard 30", "bced"
CHANCES = {".002": "predictive .002", ".005": "predictive .005", ".01": "predictive .01", ".02": "predictive .02"}
SIZES = (100, 500)
KEPT, LOST = 0.9, 0.1


def places(rows: Rows) -> list[tuple[str, int, Rows]]:
    """The real tables by metric and size."""
    real = [row for row in rows if not row["simulated"]]
    found = [(m, n, [r for r in real if r["metric"] == m and r["n"] == n]) for m in METRICS for n in SIZES]
    return [(m, n, some) for m, n, some in found if some]


def summary(rows: Rows) -> str:
    """Models saved, score lost and bias of the estimate, by metric and size."""
    lines = []
    for metric, n, some in places(rows):
        none, paper, ours = (of_rule(some, rule) for rule in ("none", PAPER, DEFAULT))
        lines.append((
            f"{METRICS[metric]}, {n}", f"{none['tables']:.0f}", f"{1 / paper['models']:.1f}",
            f"{1 / ours['models']:.1f}", f"{100 * ours['kept']:.0f} %", f"{ours['lost in standard errors']:+.3f}",
            f"{none['bias of survivors']:+.3f}", f"{ours['bias of survivors']:+.3f}",
            f"{ours['bias with the dropped']:+.3f}",
        ))  # fmt: skip
    heads = (
        "metric, samples", "tables", "paper's rule", "default", "winner kept", "score lost", "bias, no race",
        "survivors only", "with the dropped",
    )  # fmt: skip
    return markdown(heads, lines)


def chosen(rows: Rows) -> str:
    """The largest chance that keeps the winner and its true score, by every metric and size."""
    best = next(iter(CHANCES))
    for chance, rule in CHANCES.items():
        each = [of_rule(some, rule) for _, _, some in places(rows)]
        if all(own["kept"] >= KEPT and own["lost in standard errors"] <= LOST for own in each):
            best = chance
    return best


def left_out(rows: Rows) -> list[tuple[str, ...]]:
    """Each data set with the chance that the others choose."""
    lines = []
    for name in sorted({row["data"] for row in rows if not row["simulated"]}):
        chance = chosen([row for row in rows if row["data"] != name])
        own = [row for row in rows if row["data"] == name and row["rule"] == CHANCES[chance] and row["n"] in SIZES]
        both = pooled(own)
        saved = [f"{1 / pooled([r for r in own if r['n'] == n])['models']:.2f}" for n in SIZES]
        lines.append((name, chance, *saved, f"{both['kept']:.3f}", f"{both['lost in standard errors']:+.3f}"))
    return lines


def all_rules(rows: Rows) -> Table:
    """Every rule in every kind of table."""
    lines = [[title, *line] for title, some in sections(rows) for line in lines_of_rules(some)]
    return Table("racing", "every rule by metric, size and kind of table", ["tables", *HEADS], lines)


def as_table(name: str, holds: str, rows: Rows) -> Table:
    """Results as they are, with four figures."""
    lines = [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    return Table(name, holds, list(rows[0]), lines)


def of_others(rows: Rows) -> str:
    """What the races of others save and lose, in one paragraph."""
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["n"] != 40:
            groups.setdefault((row["simulated"], row["metric"], row["n"]), []).append(row)

    def all_of(rule: str, what: str) -> list[float]:
        return [of_rule(some, rule)[what] for some in groups.values() if any(row["rule"] == rule for row in some)]

    def saved(rule: str) -> str:
        models = all_of(rule, "models")
        return f"{1 / max(models):.1f} to {1 / min(models):.1f}"

    lost = {rule: max(all_of(rule, "lost in standard errors")) for rule in ("aggressive", "paired with power")}
    return f"""Replayed on the same tables, the default trains {saved(DEFAULT)} times fewer models; the ANOVA race of
    R's finetune {saved("anova")}, irace's F-race {saved("f-race")}, forgiving stopping (Bergman et al. 2024)
    {saved("forgiving")}. Aggressive stopping saves {saved("aggressive")} and loses up to {lost["aggressive"]:.2f}
    standard errors of true score; the paired test with power (Zheng and Bilenko 2013) {saved("paired with power")} and
    {lost["paired with power"]:.2f}."""


def of_cvst(rows: Rows) -> str:
    """CVST beside the default, in one sentence."""
    n = max(row["n"] for row in rows)
    mean = {key: float(np.mean([r[key] for r in rows if r["n"] == n])) for key in ("models, cvst", "lost, cvst")}
    return f"""CVST (Krueger et al. 2015) trains {1 / mean["models, cvst"]:.1f} times fewer models at N = {n:.0f}, on
    fewer rows, loses {mean["lost, cvst"]:.2f} standard errors, and leaves no predictions to correct."""


def of_dropped(rows: Rows) -> str:
    """What counting the dropped does, simulated."""
    worst = max(rows, key=lambda row: row["bias, dropped"] - row["bias, none"])
    alone = max(row["bias, survivors"] - row["bias, none"] for row in rows)
    covered = {who: min(row[f"covered, {who}"] for row in rows) for who in ("none", "survivors", "dropped")}
    return f"""In simulations (groups, repeats, correlated configurations) survivors alone add up to {alone:+.3f} of
    bias to that without a race, with the dropped at most {worst["bias, dropped"] - worst["bias, none"]:+.3f}; 95 %
    intervals cover at least {100 * covered["none"]:.0f} % without a race, {100 * covered["survivors"]:.0f} % of the
    survivors alone and {100 * covered["dropped"]:.0f} % with the dropped."""


def figure(rows: Rows) -> None:
    """How many times fewer models the paper's rule and the default train."""
    plt = pyplot()
    found = places(rows)
    fig, ax = plt.subplots(figsize=(9, 4.2))
    for shift, rule, colour, name in (
        (-0.2, PAPER, "#8c8c8c", "the paper's rule"),
        (0.2, DEFAULT, "#4c72b0", "default"),
    ):
        values = [1 / of_rule(some, rule)["models"] for _, _, some in found]
        ax.barh([i + shift for i in range(len(found))], values, 0.38, color=colour, label=name)
    ax.axvline(1, color="0.4", lw=0.8)
    ax.set_yticks(range(len(found)), [f"{METRICS[m]}, {n} samples" for m, n, _ in found])
    ax.invert_yaxis()
    ax.set_xlabel("times fewer models than the whole cross-validation")
    ax.legend(frameon=False)
    keep(fig, "racing")


def near(rows: Rows, shares: Rows) -> Table:
    """Models saved by the default, and the share of configurations about as good as the best."""
    share = {row["data"]: row["near"] for row in shares}
    lines: list[Sequence[str]] = []
    for row in sorted((r for r in rows if r["rule"] == DEFAULT and r["n"] == 500), key=lambda r: share[r["data"]]):
        paper = next(r for r in rows if r["rule"] == PAPER and r["n"] == 500 and r["data"] == row["data"])
        cells = (f"{share[row['data']]:.2f}", f"{1 / row['models']:.1f}", f"{1 / paper['models']:.1f}")
        lines.append((row["data"], METRICS[row["metric"]], *cells))
    heads = ("data set, 500 samples", "metric", "within two standard errors of the best", "default", "the paper's rule")
    return Table("racing-near", "what a race saves by the share of near-equals", heads, lines)


def evidence() -> Evidence:
    """The page."""
    about = read_about(HERE / "results.csv")
    classes, cheap, others = (read_results(HERE / f"results{part}.csv") for part in ("", "-cheap", "-others"))
    rows = [*classes, *cheap]
    dropped = read_results(HERE / "results-dropped.csv")
    guarantee = read_results(HERE / "results-guarantee.csv")
    cvst = read_results(HERE / "results-cvst.csv")
    own = [(of_rule(some, DEFAULT), of_rule(some, PAPER)) for _, _, some in places(rows)]
    lost = max(sharp["lost in standard errors"] for sharp, _ in own)
    saved, papers = ([1 / pair[k]["models"] for pair in own] for k in (0, 1))
    real = [row for row in rows if not row["simulated"]]
    count = sum(row["tables"] for row in real if row["rule"] == "none" and row["metric"] != "accuracy")
    zone = [of_rule(some, ZONE) for m, n, some in places(rows) if m in ("roc_auc", "accuracy")]
    choices = [line[1] for line in left_out(classes)]
    spent = max(row["lost"] - row["chance"] for row in guarantee)
    text = f"""{summary(rows)}

The two columns of rules say how many times fewer models are trained (harmonic mean over tables); "score lost"
is the true score of the returned model relative to no race, in standard errors. Bias is the estimate minus the truth:
survivors alone are optimistic, because a configuration that was dropped for its bad luck can no longer win a resample.
So dropped configurations stay in the bootstrap with the predictions that they have.

## Which rule
| you want | write |
| --- | --- |
| few models, an estimate as without a race | the default, `drop="auto"` |
| fewest models by AUC or accuracy, a winner about as good | `drop=sobercv.PredictiveDrop(0.015, zone=0.2)` |
| the paper's BCED-CV (BBCD-CV in the journal), as published | `drop="bced", count_dropped=False` |
| a guarantee: the winner is dropped with at most this chance | `drop=sobercv.BettingDrop(0.05)`, for means of losses |
| no race | `drop=None` |

The default drops a configuration that has less than a 1 % chance to overtake the best with the samples that
are left, from 20 predictions on (50 where there are fewer than 80 samples). The paper drops what is worse than the best
in 99 % of the resamples, from 50 on. The setting with a zone saves {min(1 / z["models"] for z in zone):.1f} to
{max(1 / z["models"] for z in zone):.1f} times and loses up to {max(z["lost in standard errors"] for z in zone):.2f}
standard errors by AUC and accuracy; it is not advised for R2 and the C-index.

**Chosen on other data.** The chance of 1 % is the largest of {", ".join(CHANCES)} that keeps the winner in 90 % of the
races and loses at most 0.1 standard errors, by AUC and accuracy. With each of the {len(choices)} data sets left out,
the others choose {" or ".join(sorted(set(choices)))}. R2 and C-index had no part in the choice.

**Where it saves little.** Where most configurations are about as good as the best, no rule can tell soon
which will win: see racing-near.csv. {of_dropped(dropped)}

**Other races.** {of_others(others)} {of_cvst(cvst)} `BettingDrop` lost the winner less often than its chance
allows in all of {len(guarantee)} simulated settings (closest: {100 * spent:+.1f} percentage points).

## What was done
Races are replayed on complete cross-validations of {count:.0f} sub-samples of
{len({row["data"] for row in real})} data sets: {about["configurations of real tables"]} configurations for AUC and
accuracy, 63 for R2, 60 for the C-index, {about["folds"]} folds; the truth is the score on up to 1,500 other rows.
Dropping only skips models, so a replay and a real race agree to the bit."""
    return Evidence(
        name="racing",
        title="Early dropping",
        answer=(
            f"The default trains {min(saved):.1f} to {max(saved):.1f} times fewer models than the whole "
            f"cross-validation (the paper's rule: {min(papers):.1f} to {max(papers):.1f}) on {count:.0f} real tables. "
            f"The model that it returns loses at most {lost:.3f} standard errors of true score on average, and the "
            "estimate is what it is without a race."
        ),
        figure="Times fewer models by metric and sample size: the default saves more than the paper's rule everywhere",
        text=text,
        tables=(
            all_rules(rows),
            near(cheap, read_results(HERE / "results-near.csv")),
            Table(
                "racing-chance", "the chance that the other data sets choose",
                ("data set", "chance", "fewer models, N = 100", "N = 500", "winner kept", "score lost"),
                left_out(classes),
            ),
            as_table("racing-dropped", "simulated: without a race, survivors, with the dropped", dropped),
            as_table("racing-guarantee", "how often `BettingDrop` lost the winner", guarantee),
            as_table("racing-others", "the races of others", others),
            as_table("racing-cvst", "CVST", cvst),
        ),
        commands="""
python -m studies.racing --data FOLDER
python -m studies.racing.cheap --data FOLDER
python -m studies.racing.others_run --data FOLDER --samples 6
python -m studies.racing.dropped
python -m studies.racing.guarantee
python -m studies.racing.page          # this page""",
        about=about,
    )  # fmt: skip


def main() -> None:
    """Write the page and its figure."""
    figure([*read_results(HERE / "results.csv"), *read_results(HERE / "results-cheap.csv")])
    evidence().write()


if __name__ == "__main__":
    main()
