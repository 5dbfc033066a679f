"""`python -m studies.excess.page`: evidence pages from the committed results: excess, rivals, gain and few groups."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sobercv.inference.instability import MOST, TRUST
from sobercv.inference.intervals import CROSS_VALIDATED

from ..evidence import Evidence, Table, markdown
from ..intervals.coverage import grouped
from ..pictures import keep, pyplot
from .coverage import (
    Ends,
    Row,
    assumed,
    by_factor,
    cover,
    ends,
    factor,
    is_calibration,
    judged,
    missed,
    needed,
    paired,
    percentile,
    read,
    rival,
    seen,
    trusting,
)
from .measure import LEVEL
from .run import FRESH, SIMULATED

HERE = Path(__file__).parent
RESULTS, DIFFERENCES = HERE / "results.csv", HERE / "results-differences.csv"
COMMANDS = """python -m studies.excess --data FOLDER          # goes on where it stopped; then results and pages
python -m studies.excess.page                   # the pages alone"""
TITLES = {
    "accuracy": "accuracy", "roc_auc": "AUC", "roc_auc_ovr": "AUC, many classes", "r2": "R2",
    "neg_mean_squared_error": "squared error",
}  # fmt: skip
#: Published intervals: column -> (name, trainings of each configuration).
PUBLISHED = {
    "Wald": ("Wald, 10 folds", "10"), "corrected-t": ("corrected-t (Nadeau and Bengio)", "15"),
    "conservative-z": ("conservative-z (Nadeau and Bengio)", "315"),
    "Bates": ("nested CV (Bates et al.), 1 repeat", "55"),
    "Bates 4": ("nested CV (Bates et al.), 4 repeats", "220"),
    "hold-out": ("hold-out of a third (Wilson, DeLong, Wald)", "6"), "MABT": ("MABT (Rink and Brannath)", "6"),
}  # fmt: skip


def share(value: float) -> str:
    """A coverage without its zero."""
    return "" if np.isnan(value) else "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")


def tuned(rows: Sequence[Row]) -> list[Row]:
    """Winners of a search."""
    return [row for row in rows if row["which"] == "tuned"]


def fixed(rows: Sequence[Row]) -> list[Row]:
    """Single configurations, judged as if nothing had been tuned."""
    return [row for row in rows if row["which"] != "tuned"]


def is_lasso(row: Row) -> bool:
    """Whether the table is of Rink and Brannath's simulation."""
    return str(row["set"]).startswith("lasso")


def is_real(row: Row) -> bool:
    """Whether the table is a sub-sample of real data."""
    return not is_lasso(row) and row["set"] not in SIMULATED


def design(name: str) -> str:
    """Rink and Brannath's design in words."""
    which = name.split("_")[1]
    return "lasso, feature case B" if which == "b" else f"lasso, {which} of 1,000 active"


def about() -> dict[str, Any]:
    """What the results were made with."""
    found: dict[str, Any] = json.loads(RESULTS.with_suffix(".json").read_text())
    return found


# ---- the excess ------------------------------------------------------------------------------------------------------
def parts(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Groups of the main table."""
    real, lasso = [r for r in rows if is_real(r)], [r for r in rows if is_lasso(r)]
    others = [r for r in tuned(rows) if r["set"] in SIMULATED]
    judging = [r for r in tuned(real) if not is_calibration(r)]
    found = {
        "calibration sets, tuned": [r for r in tuned(real) if is_calibration(r)],
        "other sets, tuned": judging,
        "sets added after all choices": [r for r in judging if r["set"] in FRESH],
        "other sets, N up to 60": [r for r in judging if r["n"] <= 60],
        "other sets, N from 200": [r for r in judging if r["n"] >= 200],
        "other sets, many classes": [r for r in judging if r["kind"] == "classes"],
        "other sets, regression": [r for r in judging if r["kind"] == "regression"],
        "other sets, true AUC above .95": [r for r in judging if r["metric"].startswith("roc") and r["truth"] > 0.95],
        "one fixed tree, fully grown": [r for r in fixed(real) if r["which"] != "fixed 0"],
        "one fixed linear model": [r for r in fixed(real) if r["which"] == "fixed 0"],
        "bates_classif (Schulz-Kümpel et al.)": [r for r in others if r["kind"] == "binary"],
        "bates_regr, friedman1, chen_10": [r for r in others if r["kind"] == "regression" and "null" not in r["set"]],
        "chen_10_null": [r for r in others if r["set"] == "chen_10_null"],
    }
    for name in dict.fromkeys(r["set"] for r in lasso):
        for metric in ("accuracy", "roc_auc"):
            some = [r for r in tuned(lasso) if (r["set"], r["metric"]) == (name, metric)]
            found[f"{design(name)}, {TITLES[metric]}"] = some
    return {name: some for name, some in found.items() if len(some) >= 12}


HEADS = (
    "group", "intervals", "right factor", "factor by pair models", "covers: 1.2", "covers: pair models",
    "lower bound: 1.2", "lower bound: pair models", "width: 1.2", "width: pair models",
)  # fmt: skip


SHOWN = (0, 1, 4, 5, 7, 9)  # columns on the page


def line(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """One row of the table."""
    one, other = cover(rows, assumed), cover(rows, paired)
    return (
        name, f"{len(rows)}", f"{needed(rows):.2f}", f"{np.mean([factor(r) for r in rows]):.2f}", share(one[0]),
        share(other[0]), share(one[1]), share(other[1]), *("" if w > 99 else f"{w:.2f}" for w in (one[2], other[2])),
    )  # fmt: skip


def by_quantile(rows: Sequence[Row]) -> list[tuple[float, float, int]]:
    """Sixths of all tables by what pair models say: their mean, the factor that was right, and how many."""
    known = [r for r in rows if np.isfinite(missed(r)) and seen(r) > 0]
    raw = np.array([1 + missed(r) / seen(r) for r in known])
    found = []
    for some in np.array_split(np.argsort(raw), 6):
        found.append((float(np.clip(raw[some], -2, 8).mean()), needed([known[i] for i in some]), len(some)))
    return found


def left_out(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """For each set the share of the way that suits the others best, and what it covers there."""
    sets = grouped(rows, lambda r: r["set"])
    covers = {t: {name: cover(some, trusting(t))[0] for name, some in sets.items()} for t in (0, 0.25, 0.5, 0.75, 1)}
    found = []
    for name in sets:
        off = {t: abs(np.mean([c for other, c in each.items() if other != name]) - LEVEL) for t, each in covers.items()}
        best = min(off, key=lambda t: off[t])
        found.append((best, covers[best][name]))
    return found


def evidence() -> Evidence:
    """How much more a cross-validated score errs than a bootstrap shows."""
    rows = read(RESULTS)
    found = parts(rows)
    other = found["other sets, tuned"]
    sets = grouped(other, lambda r: r["set"])
    worst = {name: cover(some, paired)[0] for name, some in sets.items() if len(some) >= 10}
    low = min(worst, key=lambda name: worst[name])
    a, b = cover(other, assumed), cover(other, paired)
    n_tables = len({(r["set"], r["n"], r["sample"]) for r in rows})
    lines = [line(name, some) for name, some in found.items()]
    out = left_out(tuned([r for r in rows if is_real(r)]))
    chosen = ", ".join(f"{t:g} for {sum(t == u for u, _ in out)} sets" for t in sorted({t for t, _ in out}))
    constants = [(f"{f:g}", *(share(x) for x in cover(other, by_factor(f))[:2])) for f in (1.0, 1.2, 1.4, 1.7, 2.0)]
    text = f"""A cross-validated score errs more than a bootstrap of its rows shows. The default interval assumes a
factor of {CROSS_VALIDATED:g} on the variance; it depends on the learner. Pair models (the winner alone, trained
again without each two folds: 45 fits for ten folds) measure it, by two sums that were derived and not fitted:

- **Mutual.** The rows of fold j train the models that are judged on fold k, and those of fold k the models that are
judged on fold j. Where the two happen to suit each other, both scores rise. E[j, k] is the change of the score when the
rows of fold k are predicted by models that lack fold j, too, without the means of rows and columns; what the bootstrap
misses is the sum of E[j, k] E[k, j] over all j and k.
- **Shared.** Other training rows make another final model. The jackknife covariance of what deleting fold j does to two
halves of the other folds, whose models were trained apart, is the variance of the true score; deleting whole folds
overshoots, and half of it is taken.

Together they say 1 + (mutual + shared / 2) / (the bootstrap's variance). That is noisy, so that the factor
goes {TRUST:g} of the way from {CROSS_VALIDATED:g} to it, and lies between 1 and {MOST:g}.

The figure shows it in sixths of all {sum(n for *_, n in by_quantile(rows)):,} intervals; the factor that was right is
the mean squared error of the interval's centre by the variance that the bootstrap shows. "Width" is relative to the
paper's percentile interval.

{markdown([HEADS[i] for i in SHOWN], [[line[i] for i in SHOWN] for line in lines])}

**Other constants instead**, on the other sets (covers, lower bound holds):
{"; ".join(f"{name}: {both}, {lower}" for name, both, lower in constants)}.

**Where it is on.** `BBCSearchCV(pair_models="auto")` trains pair models where they are no more than a tenth of all
fits; they are kept in the `store`, end at `max_seconds`, and count in `n_fits_`. `sobercv.bbc` and
`sobercv.correct` train nothing, so that they keep {CROSS_VALIDATED:g}; what they cannot know is how unstable the
learner is.

**Limits.** A run has 45 products of noisy changes (five folds: ten), so that a single factor is noisy. Only ten folds
were studied. Half of the shared part and {TRUST:g} of the way were chosen on the first 200 tables with an eye on the
lassos; five sets and the artificial generators were added later, and nothing was changed. Real data alone would not
ask for pair models: with the share of the way chosen on all other real sets, it is {chosen}, and
the mean over sets covers {share(float(np.mean([c for _, c in out])))}. They are for learners that a constant cannot
know.

## What was done
{n_tables:,} tables: sub-samples (N = 50 to 400) of {len({r["set"] for r in rows if is_real(r)})} real data sets,
18 to 21 cheap configurations, ten folds, truth on up to 3,000 rows that no model saw (its standard error is allowed
for), and Rink and Brannath's design (N = 400, 1,000 normal features of which 10 or 100 have a coefficient of 1; lassos
of the label, 30 penalties; feature case B: caret's `twoClassSim`), and the artificial generators of Schulz-Kümpel et
al. (`studies/excess/generators.py`; the squared errors of `chen_10_null` have next to no mean, and all methods fail
there). Each table is judged by two metrics, for the tuned winner and for two fixed configurations.
"""
    by_set = [line(f"{name}, {'choice' if is_calibration(some[0]) else 'judged'}", some)
              for name, some in sorted(grouped(tuned(rows), lambda r: r["set"]).items())]  # fmt: skip
    return Evidence(
        "excess",
        "How much more does a cross-validated score err?",
        f"About {needed(tuned([r for r in rows if is_real(r)])):.1f} times in variance for tuned winners on real "
        f"data, and 3 to 4 times for an unstable learner; pair models of the winner tell. Outside the "
        f"calibration sets, 95 % intervals with them cover {share(b[0])} and lower bounds hold {share(b[1])} (without: "
        f"{share(a[0])} and {share(a[1])}; worst set {share(worst[low])}, {low}).",
        "What pair models say about the factor, and the factor that was right, in sixths of all intervals",
        text,
        [
            Table("excess", "factors, coverage and width by data set, tuned winners", HEADS, by_set),
            Table("excess-groups", "the table above with all columns", HEADS, lines),
        ],
        COMMANDS,
        about(),
    )


def draw() -> None:
    """The figure: what is said against what was right."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 3.6))
    said, right, _ = zip(*by_quantile(read(RESULTS)), strict=True)
    axes.plot(said, right, "o-", color="#2b6cb0", label="sixths of all intervals")
    axes.plot([0, 6], [0, 6], color="0.7", lw=1, label="as said")
    axes.axhline(CROSS_VALIDATED, color="#c05621", lw=1, ls="--", label=f"constant {CROSS_VALIDATED:g}")
    axes.set(xlabel="factor by pair models", ylabel="factor that was right", xlim=(0, 6), ylim=(0, 5))
    axes.legend(frameon=False)
    keep(figure, "excess")


# ---- published intervals ---------------------------------------------------------------------------------------------
def methods() -> dict[str, tuple[str, str, Callable[[Row], Ends], str]]:
    """By name: title, trainings, the interval, and the column of its truth."""
    ours: dict[str, tuple[str, str, Callable[[Row], Ends], str]] = {
        "sober": ("sober, default", "10", lambda r: ends(r, assumed), "truth"),
        "pairs": ("sober, pair models", "10 (winner: 55)", lambda r: ends(r, paired), "truth"),
        "percentile": ("BBC, percentiles", "10", percentile, "truth"),
    }
    for name, (title, fits) in PUBLISHED.items():
        own = f"{name} truth" if name in ("hold-out", "MABT") else "truth"
        ours[name] = (title, fits, rival(name), own)
    return ours


def compared(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """One line per method: tables that it has, coverage, lower bounds, and width by that of the default on them."""
    found = []
    for title, fits, made, own in methods().values():
        each = []
        for row in rows:
            low, high, lower = made(row)
            if not np.isfinite(lower) or not np.isfinite(row[own]):
                continue
            middle = row["centre"] if "sober" in title else (low + high) / 2 if np.isfinite(low) else row["naive"]
            if middle < lower:
                middle = lower
            mine = ends(row, assumed)
            each.append((*judged(row, made(row), middle, row[own]), mine[1] - mine[0], row[own] - lower))
        if len(each) < 12:
            continue
        covers, holds, width, mine_, gap = np.array(each).T
        known = np.isfinite(covers)
        ratio = np.exp(np.mean(np.log(np.maximum(width[known], 1e-12) / mine_[known]))) if known.any() else np.nan
        found.append((
            title, fits, f"{len(each):,}", share(float(covers[known].mean())) if known.any() else "",
            f"{ratio:.2f}" if known.any() else "", share(float(holds.mean())), f"{gap.mean():.3f}",
        ))  # fmt: skip
    return found


def rivals_evidence() -> Evidence:
    """Published intervals on the same tables."""
    rows = read(RESULTS)
    real = [r for r in rows if is_real(r)]
    heads = ("interval", "trainings", "intervals", "covers", "width", "lower bound holds", "its distance")
    groups = {
        "tuned, accuracy": [r for r in tuned(real) if r["metric"] == "accuracy"],
        "tuned, AUC": [r for r in tuned(real) if r["metric"] == "roc_auc"],
        "tuned, squared error": [r for r in tuned(real) if r["metric"] == "neg_mean_squared_error"],
        "fixed, accuracy": [r for r in fixed(real) if r["metric"] == "accuracy"],
        "fixed, AUC": [r for r in fixed(real) if r["metric"] == "roc_auc"],
        "fixed, squared error": [r for r in fixed(real) if r["metric"] == "neg_mean_squared_error"],
    }
    for name in dict.fromkeys(r["set"] for r in rows if is_lasso(r)):
        some = [r for r in tuned(rows) if r["set"] == name]
        groups[f"{design(name)}, accuracy"] = [r for r in some if r["metric"] == "accuracy"]
        groups[f"{design(name)}, AUC"] = [r for r in some if r["metric"] == "roc_auc"]
    others = [r for r in rows if r["set"] in SIMULATED and r["set"] != "chen_10_null"]
    for metric in ("accuracy", "neg_mean_squared_error"):
        groups[f"Schulz-Kümpel et al., tuned, {TITLES[metric]}"] = [r for r in tuned(others) if r["metric"] == metric]
        groups[f"Schulz-Kümpel et al., fixed, {TITLES[metric]}"] = [r for r in fixed(others) if r["metric"] == metric]
    made = {name: compared(some) for name, some in groups.items()}
    a = {line[0]: line for line in made["tuned, accuracy"]}
    n_tables = len({(r["set"], r["n"], r["sample"]) for r in rows})
    by_metric = [
        {line[0]: line[3] for line in made[f"Schulz-Kümpel et al., fixed, {title}"]}
        for title in ("squared error", "accuracy")
    ]
    fixed_coverage = [(name, *(found[name] for found in by_metric)) for name in by_metric[0] if name in by_metric[1]]
    text = f"""Tuned winners, accuracy: two-sided 95 % intervals, their width by that of sober's default on the same
tables, and one-sided lower bounds with their mean distance below the truth. "Trainings" are of each configuration.

{markdown(heads, made["tuned, accuracy"])}

One fixed configuration, where nothing was tuned, and other metrics are in rivals.csv.

Rink and Brannath's design, accuracy, 100 of 1,000 features active:

{markdown(heads, made.get("lasso, 100 of 1,000 active, accuracy", []))}

The artificial generators of Schulz-Kümpel et al. (`chen_10_null` left out), one fixed configuration as in their study,
squared error and accuracy: {"; ".join(f"{name} {a} and {b}" for name, a, b in fixed_coverage)} (more in rivals.csv).

## What was done
{n_tables:,} tables, as of [excess](excess.md). Each published interval follows its formula
(`studies/excess/rivals.py`) on splits of its own, and is applied to the winner's numbers, as people do; a hold-out of a
third selects on the rest (MABT: preselects the best tenth there, by five folds), and its truth is the score of what it
selected, refitted on all rows. Conservative-z and four repeats of nested CV (Bates et al. use 200) were made for every
eighth table only. MABT gives lower bounds of accuracies. Rink and Brannath fit logistic lassos; here they are lassos of
the label. The standard error of the truth is allowed for in all methods alike.
"""
    table = [(name, *line) for name, some in made.items() for line in some]
    published = [PUBLISHED[name][0] for name in ("Wald", "corrected-t", "Bates", "hold-out")]
    listed = ", ".join(f"{name} {a[name][3]}" for name in published if name in a)
    return Evidence(
        "rivals",
        "How do published intervals do on the same tables?",
        f"For tuned winners (accuracy) sober's default covers {a['sober, default'][3]} without any fit beyond the ten "
        f"folds; {listed}. Widths and lower bounds are in the table.",
        "Coverage and width of published intervals and of sober's, tuned winners",
        text,
        [Table("rivals", "all groups: tuned and fixed, real and simulated, by metric", ("group", *heads), table)],
        COMMANDS,
        about(),
    )


def draw_rivals() -> None:
    """The figure: coverage against width."""
    plt = pyplot()
    rows = [r for r in tuned(read(RESULTS)) if is_real(r) and r["metric"] == "accuracy"]
    figure, axes = plt.subplots(figsize=(6.5, 3.8))
    for title, _, _, covers, width, *_ in compared(rows):
        if covers:
            ours = title.startswith("sober")
            axes.plot(float(width), float(covers), "o", color="#2b6cb0" if ours else "0.5")
            axes.annotate(title, (float(width), float(covers)), xytext=(4, 4), textcoords="offset points", fontsize=7)
    axes.axhline(LEVEL, color="0.7", lw=1)
    axes.set(xlabel="width, sober's default = 1", ylabel="covers", xscale="log")
    keep(figure, "rivals")


# ---- was tuning worth it ---------------------------------------------------------------------------------------------
def verdicts(rows: Sequence[Row]) -> tuple[str, ...]:
    """What is shown of the gain over the first configuration."""
    some = [r for r in rows if np.isfinite(r["gain"]) and r["gain naive"] != 0]
    off = np.array([r["gain"] - r["gain truth"] for r in some])
    naive = np.array([r["gain naive"] - r["gain truth"] for r in some])
    error = [1.96 * r.get("gain error", 0.0) for r in some]
    covers = [r["gain low"] - e <= r["gain truth"] <= r["gain high"] + e for r, e in zip(some, error, strict=True)]
    said = [r for r in some if r["gain low"] > 0 or r["gain high"] < 0]
    right = [np.sign(r["gain"]) == np.sign(r["gain truth"]) for r in said]
    worse = [r["gain truth"] < 0 for r in some]
    scale = 1.0 if abs(np.mean([r.get("truth", 0.0) for r in some])) <= 1 else float("nan")
    return (
        f"{len(some):,}", f"{scale * naive.mean():+.3f}" if scale == scale else "",
        f"{scale * off.mean():+.3f}" if scale == scale else "", share(float(np.mean(covers))),
        share(float(np.mean(worse))), f"{len(said)}", share(float(np.mean(right))) if said else "",
    )  # fmt: skip


def gain_evidence() -> Evidence:
    """Was tuning worth it, and does the sentence tell."""
    rows = tuned(read(RESULTS))
    real = [r for r in rows if is_real(r)]
    heads = ("where", "tables", "plain CV's bias", "bias", "covers", "winner truly worse", "clear verdicts", "right")
    groups = {"all real sets": real} | {
        f"real, {TITLES[m]}": [r for r in real if r["metric"] == m] for m in dict.fromkeys(r["metric"] for r in real)
    }
    groups |= {f"real, N = {n:g}": [r for r in real if r["n"] == n] for n in sorted({r["n"] for r in real})}
    shares = [r for r in real if r["high"] == 1 and r["low"] == 0]
    groups["all real sets, accuracy and AUC"] = shares
    table = [(name, *verdicts(some)) for name, some in groups.items() if len(some) >= 20]
    whole = {name: line for name, *line in table}
    a = whole["all real sets"]
    near = [
        (pair, f"{n:g}, {p:g}, {active:g}", *verdicts(some))
        for (pair, n, p, active), some in grouped(
            read(DIFFERENCES), lambda r: (r["pair"], r["n"], r["p"], r["active"])
        ).items()
    ]
    covered = {kind: [float(line[5]) for line in near if line[0].startswith("best") is kind] for kind in (True, False)}
    best, alone = covered[True], covered[False]
    right = 100 * sum(int(line[7]) * float(line[8]) for line in near) / sum(int(line[7]) for line in near)
    text = f"""The winner of a search against the first configuration of its grid (a ridge of common strength), by
`estimate.gain_over(0)`: the corrected score of the winner minus that of the first configuration, on the same draws,
with percentiles as its interval. Tables in which the first configuration won are left out: there is no gain.

{markdown(heads, [line for line in table if not line[0].startswith("real, N")])}

"Clear verdicts" are tables whose interval does not reach 0 ("clearly better", "clearly worse"); "right" is the share
of these in which the true difference has that sign. The interval is wide: tuning is seldom clearly better in tables of
this size, and the sentence says so.

Near-equal learners were simulated (`sobercv.difference`, squared error): Bayle et al. (2025) show that intervals from
cross-validation can fail for such pairs, and they do: where neither side was selected they cover {share(min(alone))}
to {share(max(alone))}, for the best of two families {share(min(best))} to {share(max(best))}. Clear verdicts still have
the right sign in {right:.0f} %; do not choose between two penalties by them.

## What was done
The tables of [excess](excess.md); the truth of both configurations is their score, refitted on all N rows, on the rows
that no model saw.
"""
    return Evidence(
        "gain",
        "Was tuning worth it?",
        f"Often not: of {a[0]} winners {100 * float(a[4]):.0f} % were truly worse than the first configuration. "
        f"`gain_over` has intervals that cover {a[3]}, and {100 * float(a[6] or 'nan'):.0f} % of its {a[5]} clear "
        "verdicts had the right sign.",
        "True gain over the first configuration against plain CV's and the corrected one",
        text,
        [
            Table("gain", "bias, coverage and verdicts by metric and size", heads, table),
            Table("gain-near", "near-equal learners", ("pair", "n, p, active", "tables", *heads[2:]), near),
        ],
        COMMANDS.replace("\n", "\npython -m studies.excess.differences             # near-equal learners\n"),
        about(),
    )


def draw_gain() -> None:
    """The figure: what is claimed against what is true, in tenths."""
    plt = pyplot()
    rows = [r for r in tuned(read(RESULTS)) if is_real(r) and (r["low"], r["high"]) == (0, 1) and r["gain naive"] != 0]
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for name, label, colour in (("gain naive", "plain CV", "#c05621"), ("gain", "corrected", "#2b6cb0")):
        said = np.array([r[name] for r in rows])
        true = np.array([r["gain truth"] for r in rows])
        cuts = np.array_split(np.argsort(said), 10)
        axes.plot([said[c].mean() for c in cuts], [true[c].mean() for c in cuts], "o-", color=colour, label=label)
    axes.axline((0, 0), slope=1, color="0.7", lw=1)
    axes.set(xlabel="gain over the first configuration, claimed", ylabel="true gain")
    axes.legend(frameon=False)
    keep(figure, "gain")


# ---- few groups ------------------------------------------------------------------------------------------------------
GROUPS = HERE / "results-groups.csv"


def by_number(metric: str) -> list[tuple[float, ...]]:
    """For each number of groups: bias of plain CV and of BBC, coverage, lower bounds that hold, and width."""
    rows = [row for row in read(GROUPS) if row["metric"] == metric]
    found = []
    for g, some in grouped(rows, lambda r: r["groups"]).items():
        each = [
            (r["naive"] - r["truth"], r["value"] - r["truth"], r["low"] <= r["truth"] <= r["high"],
             r["truth"] >= r["lower"], r["high"] - r["low"])
            for r in some
        ]  # fmt: skip
        found.append((g, *np.mean(each, axis=0)))
    return found


def groups_evidence() -> Evidence:
    """Bias and coverage by the number of groups."""
    heads = ("metric", "groups", "plain CV's bias", "bias", "covers", "lower bound holds", "width")
    table = [
        (TITLES[metric], f"{g:g}", f"{naive:+.3f}", f"{bias:+.3f}", share(both), share(lower), f"{width:.2f}")
        for metric in ("accuracy", "roc_auc")
        for g, naive, bias, both, lower, width in by_number(metric)
    ]
    few = [row for metric in ("accuracy", "roc_auc") for row in by_number(metric) if row[0] < 6]
    some = [row for metric in ("accuracy", "roc_auc") for row in by_number(metric) if row[0] >= 10]
    text = f"""{markdown(heads, table)}

**Below 6 groups** the interval holds, because it is as wide as a third to two thirds of the range: it says that so few
groups tell next to nothing. The AUC is too good there, because the groups left out of a resample are pooled with fewer
others, whose scores are on other levels. Collect more groups; or, if the model will only ever be used in
these groups, leave `groups` out, and say so. From 10 groups on the bias is below .01.

## What was done
{len(read(GROUPS)):,} simulated tables: 20 configurations, groups of ten samples, each group easier or harder by a
standard deviation of 0.6 for all configurations and of 0.4 for each (log odds for accuracy, standard deviations of the
score for AUC); the truth is the score on new groups. `sobercv.bbc` with its defaults and `groups`, 300 resamples.
Nothing was dropped early: what a race adds with few groups was not studied here.
"""
    return Evidence(
        "few-groups",
        "How few groups are too few?",
        f"Below 6. With 3 to 5 groups the estimate is off by up to {max(abs(r[2]) for r in few):.3f} (plain CV: by up "
        f"to {max(r[1] for r in few):.3f}), and 95 % intervals are {min(r[5] for r in few):.2f} to "
        f"{max(r[5] for r in few):.2f} wide. From 10 groups on it is off by at most "
        f"{max(abs(r[2]) for r in some):.3f}, and intervals cover {share(min(r[3] for r in some))} or more.",
        "Bias of plain CV and of the corrected estimate by number of groups",
        text,
        [Table("few-groups", "bias, coverage and width by number of groups", heads, table)],
        "python -m studies.excess.groups\npython -m studies.excess.page",
        json.loads(GROUPS.with_suffix(".json").read_text()),
    )


def draw_groups() -> None:
    """The figure: bias by number of groups."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for metric, style in (("accuracy", "o-"), ("roc_auc", "s--")):
        rows = by_number(metric)
        for i, (name, colour) in enumerate((("plain CV", "#c05621"), ("corrected", "#2b6cb0"))):
            axes.plot(
                [r[0] for r in rows], [r[1 + i] for r in rows], style, color=colour, label=f"{name}, {TITLES[metric]}"
            )
    axes.axhline(0, color="0.7", lw=1)
    axes.set(
        xlabel="groups",
        ylabel="bias",
        xscale="log",
        xticks=[3, 5, 10, 20, 40],
        xticklabels=["3", "5", "10", "20", "40"],
    )
    axes.legend(frameon=False)
    keep(figure, "few-groups")


PAGES = (evidence, rivals_evidence, gain_evidence, groups_evidence)


def write_page() -> None:
    """Write all pages and their figures."""
    for made in PAGES:
        made().write()
    draw()
    draw_rivals()
    draw_gain()
    draw_groups()


if __name__ == "__main__":
    write_page()
