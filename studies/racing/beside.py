"""What stands on the page of races beside the main tables: the dropped, the guarantee, the races of others, CVST.

Takes rows of results, gives Markdown; replays no race.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .rows import Rows, of_rule
from .verdicts import METRICS, fill, in_lines


def dropped(rows: Rows) -> str:
    """Where counting the dropped holds: bias and coverage without a race, of the survivors, and with the dropped."""
    heads = (
        "simulated accuracy", "N", "correlation", "fewer models", "bias without a race", "survivors alone",
        "with the dropped", "RMSE without", "with the dropped", "covered without", "survivors alone",
        "with the dropped",
    )  # fmt: skip
    lines: list[Sequence[str]] = [heads]
    for row in rows:
        lines.append((
            row["kind"], f"{row['n']:.0f}", f"{row['rho']:g}", f"{1 / row['models']:.1f}x",
            *(f"{row[f'bias, {who}']:+.3f}" for who in ("none", "survivors", "dropped")),
            *(f"{row[f'rmse, {who}']:.3f}" for who in ("none", "dropped")),
            *(f"{100 * row[f'covered, {who}']:.0f} %" for who in ("none", "survivors", "dropped")),
        ))  # fmt: skip
    worst = max(rows, key=lambda row: row["bias, dropped"] - row["bias, none"])
    alone = max(row["bias, survivors"] - row["bias, none"] for row in rows)
    covered = {who: min(row[f"covered, {who}"] for row in rows) for who in ("none", "survivors", "dropped")}
    added = worst["bias, dropped"] - worst["bias, none"]
    words = fill(
        f"""{rows[0]["tables"]:.0f} simulated tables a row (`python -m studies.racing.dropped`): 50 configurations, the
        default race, default intervals of 95 %. The correlation is that of the errors of configurations; groups hold
        five samples whose errors correlate by .5, the errors of two repeats by .8. Against no race the survivors alone
        add up to {alone:+.3f} of bias, with the dropped it is at most {added:+.3f} ({worst["kind"]},
        N = {worst["n"]:.0f}, correlation {worst["rho"]:g}, where it goes from {worst["bias, none"]:+.3f} to
        {worst["bias, dropped"]:+.3f}). Intervals cover at least {100 * covered["none"]:.0f} %
        without a race, {100 * covered["survivors"]:.0f} % of the survivors alone, {100 * covered["dropped"]:.0f} % with
        the dropped."""
    )
    return words + "\n\n" + in_lines(lines)


def guarantee(rows: Rows) -> str:
    """How often the betting rule has lost a winner."""
    races = sum(int(row["races"]) for row in rows if row["chance"] == rows[0]["chance"])
    heads = (
        "N", "accuracies", "correlation", "chance promised", "winners lost", "standard error", "models trained", "kept",
    )  # fmt: skip
    lines: list[Sequence[str]] = [heads]
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
    return words + "\n\n" + in_lines(lines)


def others(rows: Rows) -> str:
    """Races of others beside ours: models saved, winners kept, score lost, by kind of place."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        kind = "simulated accuracy" if row["simulated"] else METRICS[row["metric"]]
        groups.setdefault(f"{kind}, N = {row['n']:.0f}", []).append(row)
    groups = {name: some for name, some in groups.items() if not name.endswith("= 40")}
    rules = [rule for rule in dict.fromkeys(row["rule"] for row in rows) if rule != "none"]
    lines: list[Sequence[str]] = [("tables", *(NAMES.get(rule, rule) for rule in rules))]
    for name, some in groups.items():
        lines.append((f"{name} ({_count(some):.0f})", *(_cell(some, rule) for rule in rules)))
    return OTHERS + "\n\n" + in_lines(lines) + "\n\n" + _of_others(groups)


OTHERS = """Each was written after its own publication or code (`studies/racing/others.py`) and replayed beside ours;
none is offered to users. A cell holds how many times fewer models were trained, the share of races that kept the
winner, and the true score lost in standard errors; the number of tables stands in brackets. Real tables are of cheap
configurations: 56 for AUC and accuracy, of which more are alike than of the 108 above.

- **ANOVA race** (R's finetune): folds as blocks, a 95 % interval of each difference to the best, from the third fold
  on.
- **F-race** (irace): Friedman's test of ranks within folds, then comparisons with the best, from the fifth fold on.
- **Forgiving**, **aggressive** (Bergman et al. 2024): one configuration after another, in random order; it stops when
  its mean so far is below the worst fold (forgiving) or the mean (aggressive) of the best that has finished.
- **Paired with power** (Zheng and Bilenko 2013): who is significantly worse than the best leaves, and so does who is
  behind where a difference of .05 would have been seen with 90 % power. What it asks for besides, samples for one pair
  at a time, does not fit a race of rounds. For means of losses."""


def _of_others(groups: Mapping[str, Rows]) -> str:
    """What the table says of them."""

    def all_of(rule: str, what: str) -> list[float]:
        return [of_rule(some, rule)[what] for some in groups.values() if any(row["rule"] == rule for row in some)]

    def saved(rule: str) -> str:
        models = all_of(rule, "models")
        return f"{1 / max(models):.1f} to {1 / min(models):.1f}"

    lost = {rule: max(all_of(rule, "lost in standard errors")) for rule in ("aggressive", "paired with power")}
    return fill(
        f"""Tests of fold scores know less than the predictions: the ANOVA race trains {saved("anova")} times fewer
        models, the F-race {saved("f-race")}, forgiving stopping {saved("forgiving")}, the default
        {saved("predictive .01")}. Aggressive stopping saves most ({saved("aggressive")}) and loses up to
        {lost["aggressive"]:.2f} standard errors of true score. The paired test saves more than the default
        ({saved("paired with power")}) because it lets near equals go, as a zone does; it loses up to
        {lost["paired with power"]:.2f}, kept the winner in no more than
        {100 * min(all_of("paired with power", "kept")):.0f} % of one kind of tables, and knows only means of losses."""
    )


NAMES = {"bced": "the paper's rule", "predictive .01": "**the default**"}


def _count(some: Rows) -> float:
    return float(sum(row["tables"] for row in some if row["rule"] == "none"))


def _cell(some: Rows, rule: str) -> str:
    if not any(row["rule"] == rule for row in some):
        return ""
    own = of_rule(some, rule)
    return f"{1 / own['models']:.1f}x, {100 * own['kept']:.0f} %, {own['lost in standard errors']:+.2f}"


def cvst(rows: Rows) -> str:
    """CVST beside a race, by size."""
    heads = (
        "N", "sub-samples", "models, CVST", "rows trained on, CVST", "true score lost, CVST", "models, default race",
        "true score lost, default race",
    )  # fmt: skip
    lines: list[Sequence[str]] = [heads]
    for n in sorted({row["n"] for row in rows}):
        here = [row for row in rows if row["n"] == n]

        def mean(name: str, here: Rows = here) -> float:
            return float(np.mean([row[name] for row in here]))

        def lost(name: str, here: Rows = here) -> str:
            values = np.array([row[name] for row in here])
            return f"{values.mean():+.2f} (error {values.std(ddof=1) / np.sqrt(len(values)):.2f})"

        lines.append((
            f"{n:.0f}", f"{len(here)}", f"{1 / mean('models, cvst'):.1f}x fewer",
            f"{1 / mean('rows, cvst'):.1f}x fewer", lost("lost, cvst"), f"{1 / mean('models, race'):.1f}x fewer",
            lost("lost, race"),
        ))  # fmt: skip
    return CVST + "\n\n" + in_lines(lines)


CVST = """CVST (Krueger, Panknin and Braun 2015) is a plan with splits of its own: step s of ten trains on the first
s N / 11 rows and tests on the others, and who is too rarely among the best leaves (`studies/racing/cvst.py`, after the
facts of the R package). Here by accuracy, with 56 cheap configurations, on sub-samples of sylvine, ada, cells and
jasmine. It trains on few rows, which is cheap, and chooses what is best on few rows. It leaves no predictions of all
samples, so there is no honest score of its winner to report; that is why it is not offered as a plan."""
