"""What the study of races says: of promises, of the chance and the zone that were chosen, of the default.

Takes rows, gives Markdown; replays no race. Rows of classes are what the default was chosen on; numbers and times are
other data, on which it is only judged.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from .rows import Rows, errors_apart, of_rule, pooled

DEFAULT, ZONE = "predictive .01", "predictive .015, zone .2, guard 30"
ZONES = (
    "predictive .005, zone .1", "predictive .01, zone .1", "predictive .01, zone .2", "predictive .02, zone .1",
    "predictive .015, zone .15, guard 30", "predictive .015, zone .2, guard 30",
)  # fmt: skip
CHANCES = {".002": "predictive .002", ".005": "predictive .005", ".01": "predictive .01", ".02": "predictive .02"}
METRICS = {"roc_auc": "AUC", "accuracy": "accuracy", "r2": "R2", "concordance_index": "C-index"}
SIZES = (100, 500)
KEPT, LOST = 0.9, 0.1
#: How many times fewer models were wanted, by size.
WANTED = {DEFAULT: {100: 1.7, 500: 3.3}, ZONE: {100: 2.0, 500: 4.0}}


def places(rows: Rows) -> list[tuple[str, int, Rows]]:
    """The real tables by metric and size."""
    real = [row for row in rows if not row["simulated"]]
    found = [(m, n, [r for r in real if r["metric"] == m and r["n"] == n]) for m in METRICS for n in SIZES]
    return [(m, n, some) for m, n, some in found if some]


def is_honest(some: Rows, rule: str) -> bool:
    """Whether a rule loses little true score, and leaves bias and RMSE of the estimate what they were, in one place."""
    here = [row for row in some if row["rule"] == rule]
    own = pooled(here)
    nearer = abs(own["bias with the dropped"]) <= abs(of_rule(some, "none")["bias of survivors"])
    bias, squares = errors_apart(here, "bias"), errors_apart(here, "squares")
    return own["lost in standard errors"] <= LOST and (abs(bias) <= 2 or nearer) and squares <= 2


def fill(text: str) -> str:
    """Break a paragraph into lines."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def in_lines(lines: Sequence[Sequence[str]]) -> str:
    """A table of Markdown: its heads, then its rows."""
    heads, *rest = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ("---",) * len(heads), *rest))


def promises(rows: Rows) -> str:
    """What was wanted of the default and of the zone, and what was found."""
    heads = (
        "real tables", "rule", "fewer models", "wanted", "the paper's rule", "true score lost", "wanted", "bias",
        "RMSE", "met",
    )  # fmt: skip
    lines: list[Sequence[str]] = [heads]
    for metric, n, some in places(rows):
        papers = 1 / of_rule(some, "bced")["models"]
        for rule, least in WANTED.items():
            here = [row for row in some if row["rule"] == rule]
            own = pooled(here)
            bias, squares = errors_apart(here, "bias"), errors_apart(here, "squares")
            saved, lost = 1 / own["models"], own["lost in standard errors"]
            met = saved >= least[n] and is_honest(some, rule)
            lines.append((
                f"{METRICS[metric]}, N = {n} ({own['tables']:.0f})", rule, f"{saved:.2f}x", f"{least[n]:.1f}x",
                f"{papers:.2f}x", f"{lost:+.3f}", f"{LOST:.1f}", f"{bias:+.1f} errors", f"{squares:+.1f} errors",
                "yes" if met else "**no**",
            ))  # fmt: skip
    return in_lines(lines)


def in_short(rows: Rows) -> str:
    """The answer, before all numbers."""
    own = {(m, n): (of_rule(some, DEFAULT), of_rule(some, "bced")) for m, n, some in places(rows)}
    lost = max(sharp["lost in standard errors"] for sharp, _ in own.values())
    saved = [
        f"at N = {n} " + ", ".join(f"{1 / own[m, n][0]['models']:.1f} ({METRICS[m]})" for m in METRICS if (m, n) in own)
        for n in SIZES
    ]
    papers = [f"{1 / paper['models']:.1f}" for _, paper in own.values()]
    sets = len({row["data"] for row in rows if not row["simulated"]})
    count = sum(r["tables"] for r in rows if not r["simulated"] and r["rule"] == "none" and r["metric"] != "accuracy")
    return fill(
        f"""On {count:.0f} real tables of {sets} data sets the default trains {"; ".join(saved)} times fewer models than
        the whole cross-validation. (The paper's rule: {min(papers)} to {max(papers)}.) The model that it returns loses
        at most {lost:.3f} standard errors of true score, on average, and the estimate is what it is without a race,
        because those who were dropped stay in the bootstrap. Below 80 samples it waits for 50 predictions."""
    )


def missed(rows: Rows) -> str:
    """What was not met, and why."""
    lines = []
    for rule, least in WANTED.items():
        few = [f"{METRICS[m]}, N = {n}" for m, n, some in places(rows) if 1 / of_rule(some, rule)["models"] < least[n]]
        bad = [f"{METRICS[m]}, N = {n}" for m, n, some in places(rows) if not is_honest(some, rule)]
        who = "the default" if rule == DEFAULT else "the setting with a zone"
        if few:
            lines.append(f"- Fewer models are saved than wanted by {who}: {'; '.join(few)}.")
        if bad:
            lines.append(f"- Score or estimate are not what they are without a race, with {who}: {'; '.join(bad)}.")
    return "\n".join(lines)


def near(rows: Rows, shares: Rows) -> str:
    """Models saved by the default beside the share of configurations that are about as good as the best; and why."""
    share = {row["data"]: row["near"] for row in shares}
    here = [row for row in rows if row["rule"] == DEFAULT and row["n"] == max(SIZES)]
    heads = ("N = 500", "metric", "within two standard errors of the best", "fewer models", "the paper's rule")
    papers = {row["data"]: 1 / row["models"] for row in rows if row["rule"] == "bced" and row["n"] == max(SIZES)}
    lines: list[Sequence[str]] = [heads]
    for row in sorted(here, key=lambda row: share[row["data"]]):
        name = row["data"]
        cells = f"{100 * share[name]:.0f} %", f"{1 / row['models']:.1f}x", f"{papers[name]:.1f}x"
        lines.append((name, METRICS[row["metric"]], *cells))
    return in_lines(lines) + "\n\n" + WHY


WHY = fill(
    """What was wanted had been set by AUC with 108 configurations. How much a race saves depends on how many
    configurations are about as good as the best: where half of them or more are, no rule can tell soon who will win,
    whatever the metric, and the paper's rule saves less, too. Score and estimate are what they are without a race, so
    the default stays. The setting with a zone costs more than it promises by R2 and by the C-index: it is advised for
    AUC and accuracy only."""
)


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
    lines: list[Sequence[str]] = [heads]
    for name in sorted({row["data"] for row in rows if not row["simulated"]}):
        chance = chosen([row for row in rows if row["data"] != name])
        own = [row for row in rows if row["data"] == name and row["rule"] == CHANCES[chance] and row["n"] in SIZES]
        both = pooled(own)
        saved = [f"{1 / pooled([r for r in own if r['n'] == n])['models']:.2f}x" for n in SIZES]
        lines.append((name, chance, *saved, f"{100 * both['kept']:.0f} %", f"{both['lost in standard errors']:+.3f}"))
    return in_lines(lines)


def chosen_zone(rows: Rows) -> str | None:
    """Of the settings with a zone that are honest everywhere the one that saves most at the largest size."""
    honest = [rule for rule in ZONES if all(is_honest(some, rule) for _, _, some in places(rows))]
    large = [some for _, n, some in places(rows) if n == max(SIZES)]
    return min(honest, key=lambda rule: sum(of_rule(some, rule)["models"] for some in large), default=None)


def zone_left_out(rows: Rows) -> str:
    """Each data set with the zone that the others choose."""
    heads = ("data set", "setting chosen without it", "fewer models, N = 100", "N = 500", "score lost", "bias added")
    lines: list[Sequence[str]] = [heads]
    judged: list[Mapping[str, Any]] = []
    for name in sorted({row["data"] for row in rows if not row["simulated"]}):
        rule = chosen_zone([row for row in rows if row["data"] != name])
        own = [row for row in rows if row["data"] == name and row["rule"] == rule and row["n"] in SIZES]
        judged += own
        lines.append((name, rule or "none is honest", *_cells(own)) if own else (name, "none is honest", *("",) * 4))
    lines.append(("all together", "each its own", *_cells(judged)))
    return in_lines(lines)


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
