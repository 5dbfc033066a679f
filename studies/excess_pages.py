"""Evidence pages of the study of excess: excess, rivals, gain and few groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sobercv.inference.instability import MOST, TRUST, Missed, widened
from sobercv.inference.intervals import CROSS_VALIDATED, Calibrated, shape

from .evidence import Evidence, Table, markdown, share
from .excess_tables import CALIBRATION, FRESH, SIMULATED
from .harness import Row, read_about, read_results
from .intervals import judged

LEVEL = 0.95
COMMAND = "python -m studies excess --data FOLDER"
TITLES = {
    "accuracy": "accuracy", "roc_auc": "AUC", "roc_auc_ovr": "AUC, many classes", "r2": "R2",
    "neg_mean_squared_error": "squared error",
}  # fmt: skip
Ends = tuple[float, float, float]
Made = Callable[[Row], Calibrated]


def read() -> pd.DataFrame:
    """All rows, with the kind of table: real, lasso (Rink and Brannath), or simulated (Schulz-Kümpel et al.)."""
    rows = read_results("excess")
    where = {True: "lasso", False: "real"}
    rows["where"] = ["simulated" if name in SIMULATED else where[name.startswith("lasso")] for name in rows.set]
    rows["tuned"] = rows.which == "tuned"
    return rows


def n_tables(rows: pd.DataFrame) -> int:
    """Number of tables."""
    return len(rows[["set", "n", "sample"]].drop_duplicates())


def design(name: str) -> str:
    """Rink and Brannath's design in words."""
    which = name.split("_")[1]
    return "lasso, feature case B" if which == "b" else f"lasso, {which} of 1,000 active"


# ---- intervals of a row, with any factor ----
def by_factor(factor: float) -> Made:
    """The interval with another constant."""
    return lambda r: Calibrated(
        r["centre"], r["size"] / factor, r["doubt"], (r["low"], r["high"]), r["freedom"], r["still lost"]
    )


assumed = by_factor(CROSS_VALIDATED)


def trusting(trust: float = TRUST) -> Made:
    """The interval with what pair models tell, or another share of it."""
    return lambda row: widened(assumed(row), missed(row), trust)


def missed(row: Row) -> float:
    """The variance that pair models say the bootstrap misses."""
    return Missed(row["J pairs"], 0.0 if np.isnan(row["J shared"]) else row["J shared"]).variance


def seen(row: Row) -> float:
    """The variance that the bootstrap shows."""
    return float(shape(np.array([row["centre"]]), (row["low"], row["high"]))[0]) / row["size"]


def needed(rows: pd.DataFrame) -> float:
    """The factor that would have been right: squared errors by what the bootstrap shows, without what else is known."""
    each = [
        ((r["truth"] - r["centre"]) ** 2 - r["truth error"] ** 2 - r["doubt"]) / seen(r)
        for r in rows.to_dict("records")
        if seen(r) > 0  # a perfect centre shows none
    ]
    return float(np.mean(np.clip(each, -5, 25)))  # one heavy tail must not be the mean


def ends(row: Row, made: Made) -> Ends:
    """Both ends at 95 %, and the one-sided lower bound; as `Estimate` gives them."""
    bounds, value = made(row), row["value"]
    low, high = bounds.bounds((1 + LEVEL) / 2)
    return min(low, value), max(high, value), min(bounds.bounds(LEVEL)[0], value)


def cover(rows: pd.DataFrame, made: Made) -> tuple[float, float, float]:
    """Share that covers, share of lower bounds that hold, and width by that of percentiles (geometric mean)."""
    found = np.array([judged(r, ends(r, made), r["centre"], LEVEL) for r in rows.to_dict("records")])
    percentile = (rows["q0.975"] - rows["q0.025"]).to_numpy()
    some = percentile > 0
    width = np.exp(np.mean(np.log(found[some, 2] / percentile[some])))
    return float(found[:, 0].mean()), float(found[:, 1].mean()), float(width)


# ---- the excess ----
def parts(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Groups of the main table."""
    real, made = rows[rows["where"] == "real"], rows[(rows["where"] == "simulated") & rows.tuned]
    tuned, fixed = real[real.tuned], real[~real.tuned]
    judging = tuned[~tuned.set.isin(list(CALIBRATION))]
    found = {
        "calibration sets, tuned": tuned[tuned.set.isin(list(CALIBRATION))],
        "other sets, tuned": judging,
        "sets added after all choices": judging[judging.set.isin(list(FRESH))],
        "other sets, N up to 60": judging[judging.n <= 60],
        "other sets, N from 200": judging[judging.n >= 200],
        "other sets, many classes": judging[judging.kind == "classes"],
        "other sets, regression": judging[judging.kind == "regression"],
        "other sets, true AUC above .95": judging[judging.metric.str.startswith("roc") & (judging.truth > 0.95)],
        "one fixed tree, fully grown": fixed[fixed.which != "fixed 0"],
        "one fixed linear model": fixed[fixed.which == "fixed 0"],
        "bates_classif (Schulz-Kümpel et al.)": made[made.kind == "binary"],
        "bates_regr, friedman1, chen_10": made[(made.kind == "regression") & ~made.set.str.contains("null")],
        "chen_10_null": made[made.set == "chen_10_null"],
    }
    for name, some in rows[(rows["where"] == "lasso") & rows.tuned].groupby("set", sort=False):
        for metric in ("accuracy", "roc_auc"):
            found[f"{design(name)}, {TITLES[metric]}"] = some[some.metric == metric]
    return {name: some for name, some in found.items() if len(some) >= 12}


HEADS = (
    "group", "intervals", "right factor", "factor by pair models", "covers: 1.2", "covers: pair models",
    "lower bound: 1.2", "lower bound: pair models", "width: 1.2", "width: pair models",
)  # fmt: skip
SHOWN = (0, 1, 4, 5, 7, 9)  # columns on the page


def line(name: str, rows: pd.DataFrame) -> tuple[str, ...]:
    """One row of the table."""
    one, other = cover(rows, assumed), cover(rows, trusting())
    factor = np.mean([trusting()(r).excess for r in rows.to_dict("records")])
    return (
        name, f"{len(rows)}", f"{needed(rows):.2f}", f"{factor:.2f}", share(one[0]), share(other[0]), share(one[1]),
        share(other[1]), *("" if w > 99 else f"{w:.2f}" for w in (one[2], other[2])),
    )  # fmt: skip


def by_quantile(rows: pd.DataFrame) -> list[tuple[float, float, int]]:
    """Sixths of all tables by what pair models say: their mean, the factor that was right, and how many."""
    each = rows.to_dict("records")
    raw = np.array([1 + missed(r) / seen(r) if seen(r) > 0 else np.nan for r in each])
    rows, raw = rows[np.isfinite(raw)], raw[np.isfinite(raw)]
    return [
        (float(np.clip(raw[some], -2, 8).mean()), needed(rows.iloc[some]), len(some))
        for some in np.array_split(np.argsort(raw), 6)
    ]


def left_out(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """For each set the share of the way that suits the others best, and what it covers there."""
    shares = (0, 0.25, 0.5, 0.75, 1)
    covers = pd.DataFrame({
        t: {name: cover(some, trusting(t))[0] for name, some in rows.groupby("set", sort=False)} for t in shares
    })  # fmt: skip
    found = []
    for name in covers.index:
        best = (covers.drop(name).mean() - LEVEL).abs().idxmin()
        found.append((best, covers.loc[name, best]))
    return found


def draw(plt: Any) -> Any:
    """What is said against what was right."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    said, right, _ = zip(*by_quantile(read()), strict=True)
    axes.plot(said, right, "o-", color="#2b6cb0", label="sixths of all intervals")
    axes.plot([0, 6], [0, 6], color="0.7", lw=1, label="as said")
    axes.axhline(CROSS_VALIDATED, color="#c05621", lw=1, ls="--", label=f"constant {CROSS_VALIDATED:g}")
    axes.set(xlabel="factor by pair models", ylabel="factor that was right", xlim=(0, 6), ylim=(0, 5))
    axes.legend(frameon=False)
    return figure


def evidence() -> Evidence:
    """How much more a cross-validated score errs than a bootstrap shows."""
    rows = read()
    found = parts(rows)
    tuned = rows[rows.tuned]
    real = tuned[tuned["where"] == "real"]
    other = found["other sets, tuned"]
    worst = {name: cover(some, trusting())[0] for name, some in other.groupby("set", sort=False) if len(some) >= 10}
    low = min(worst, key=lambda name: worst[name])
    a, b = cover(other, assumed), cover(other, trusting())
    lines = [line(name, some) for name, some in found.items()]
    out = left_out(real)
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
{n_tables(rows):,} tables: sub-samples (N = 50 to 400) of {real.set.nunique()} real data sets,
18 to 21 cheap configurations, ten folds, truth on up to 3,000 rows that no model saw (its standard error is allowed
for), and Rink and Brannath's design (N = 400, 1,000 normal features of which 10 or 100 have a coefficient of 1; lassos
of the label, 30 penalties; feature case B: caret's `twoClassSim`), and the artificial generators of Schulz-Kümpel et
al. (`studies/generators.py`; the squared errors of `chen_10_null` have next to no mean, and all methods fail
there). Each table is judged by two metrics, for the tuned winner and for two fixed configurations.
"""
    by_set = [
        line(f"{name}, {'choice' if name in CALIBRATION else 'judged'}", some) for name, some in tuned.groupby("set")
    ]
    return Evidence(
        "excess",
        "How much more does a cross-validated score err?",
        f"About {needed(real):.1f} times in variance for tuned winners on real "
        f"data, and 3 to 4 times for an unstable learner; pair models of the winner tell. Outside the "
        f"calibration sets, 95 % intervals with them cover {share(b[0])} and lower bounds hold {share(b[1])} (without: "
        f"{share(a[0])} and {share(a[1])}; worst set {share(worst[low])}, {low}).",
        "What pair models say about the factor, and the factor that was right, in sixths of all intervals",
        draw,
        text,
        [
            Table("excess", "factors, coverage and width by data set, tuned winners", HEADS, by_set),
            Table("excess-groups", "the table above with all columns", HEADS, lines),
        ],
        COMMAND,
        read_about("excess"),
    )


# ---- published intervals ----
#: Column -> (name, trainings of each configuration).
PUBLISHED = {
    "Wald": ("Wald, 10 folds", "10"), "corrected-t": ("corrected-t (Nadeau and Bengio)", "15"),
    "conservative-z": ("conservative-z (Nadeau and Bengio)", "315"),
    "Bates": ("nested CV (Bates et al.), 1 repeat", "55"),
    "Bates 4": ("nested CV (Bates et al.), 4 repeats", "220"),
    "hold-out": ("hold-out of a third (Wilson, DeLong, Wald)", "6"), "MABT": ("MABT (Rink and Brannath)", "6"),
}  # fmt: skip


def methods() -> list[tuple[str, str, Callable[[Row], Ends], str]]:
    """Title, trainings, the interval, and the column of its truth."""
    found: list[tuple[str, str, Callable[[Row], Ends], str]] = [
        ("sober, default", "10", lambda r: ends(r, assumed), "truth"),
        ("sober, pair models", "10 (winner: 55)", lambda r: ends(r, trusting()), "truth"),
        ("BBC, percentiles", "10", lambda r: (r["q0.025"], r["q0.975"], r["q0.05"]), "truth"),
    ]
    for name, (title, fits) in PUBLISHED.items():
        own = f"{name} truth" if name in ("hold-out", "MABT") else "truth"
        found.append((title, fits, lambda r, n=name: (r[f"{n} l"], r[f"{n} h"], r[f"{n} b"]), own))
    return found


def compared(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """One line per method: tables that it has, coverage, lower bounds, and width by that of the default on them."""
    found = []
    for title, fits, made, own in methods():
        each = []
        for row in rows.to_dict("records"):
            low, high, lower = made(row)
            if not np.isfinite(lower) or not np.isfinite(row[own]):
                continue
            middle = row["centre"] if "sober" in title else (low + high) / 2 if np.isfinite(low) else row["naive"]
            covers, holds, width = judged(row | {"truth": row[own]}, (low, high, lower), max(middle, lower), LEVEL)
            mine = ends(row, assumed)
            covers = float(covers) if np.isfinite(low) else np.nan
            each.append((covers, holds, width, mine[1] - mine[0], row[own] - lower))
        if len(each) < 12:
            continue
        covers, holds, width, mine_, gap = np.array(each, float).T
        known = np.isfinite(covers)
        ratio = np.exp(np.mean(np.log(np.maximum(width[known], 1e-12) / mine_[known]))) if known.any() else np.nan
        found.append((
            title, fits, f"{len(each):,}", share(float(covers[known].mean())) if known.any() else "",
            f"{ratio:.2f}" if known.any() else "", share(float(holds.mean())), f"{gap.mean():.3f}",
        ))  # fmt: skip
    return found


def draw_rivals(plt: Any) -> Any:
    """Coverage against width."""
    rows = read()
    figure, axes = plt.subplots(figsize=(6.5, 3.8))
    some = rows[rows.tuned & (rows["where"] == "real") & (rows.metric == "accuracy")]
    for title, _, _, covers, width, *_ in compared(some):
        if covers:
            axes.plot(float(width), float(covers), "o", color="#2b6cb0" if title.startswith("sober") else "0.5")
            axes.annotate(title, (float(width), float(covers)), xytext=(4, 4), textcoords="offset points", fontsize=7)
    axes.axhline(LEVEL, color="0.7", lw=1)
    axes.set(xlabel="width, sober's default = 1", ylabel="covers", xscale="log")
    return figure


def rivals_evidence() -> Evidence:
    """Published intervals on the same tables."""
    rows = read()
    heads = ("interval", "trainings", "intervals", "covers", "width", "lower bound holds", "its distance")
    real, lasso = rows[rows["where"] == "real"], rows[(rows["where"] == "lasso") & rows.tuned]
    others = rows[(rows["where"] == "simulated") & (rows.set != "chen_10_null")]
    groups = {
        f"{kind}, {TITLES[metric]}": real[(real.tuned == (kind == "tuned")) & (real.metric == metric)]
        for kind in ("tuned", "fixed")
        for metric in ("accuracy", "roc_auc", "neg_mean_squared_error")
    }
    for name, some in lasso.groupby("set", sort=False):
        groups |= {f"{design(name)}, {TITLES[m]}": some[some.metric == m] for m in ("accuracy", "roc_auc")}
    for metric in ("accuracy", "neg_mean_squared_error"):
        for kind in ("tuned", "fixed"):
            some = others[(others.tuned == (kind == "tuned")) & (others.metric == metric)]
            groups[f"Schulz-Kümpel et al., {kind}, {TITLES[metric]}"] = some
    made = {name: compared(some) for name, some in groups.items()}
    a = {line[0]: line for line in made["tuned, accuracy"]}
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
{n_tables(rows):,} tables, as of [excess](excess.md). Each published interval follows its formula
(`studies/excess_rivals.py`) on splits of its own, and is applied to the winner's numbers, as people do; a hold-out of a
third selects on the rest (MABT: preselects the best tenth there, by five folds), and its truth is the score of what it
selected, refitted on all rows. Conservative-z and four repeats of nested CV (Bates et al. use 200) were made for every
eighth table only. MABT gives lower bounds of accuracies. Rink and Brannath fit logistic lassos; here they are lassos of
the label. The standard error of the truth is allowed for in all methods alike.
"""
    published = [PUBLISHED[name][0] for name in ("Wald", "corrected-t", "Bates", "hold-out")]
    listed = ", ".join(f"{name} {a[name][3]}" for name in published if name in a)
    table = [(name, *line) for name, some in made.items() for line in some]
    return Evidence(
        "rivals",
        "How do published intervals do on the same tables?",
        f"For tuned winners (accuracy) sober's default covers {a['sober, default'][3]} without any fit beyond the ten "
        f"folds; {listed}. Widths and lower bounds are in the table.",
        "Coverage and width of published intervals and of sober's, tuned winners",
        draw_rivals,
        text,
        [Table("rivals", "all groups: tuned and fixed, real and simulated, by metric", ("group", *heads), table)],
        COMMAND,
        read_about("excess"),
    )


# ---- was tuning worth it ----
def verdicts(rows: pd.DataFrame) -> tuple[str, ...]:
    """What is shown of the gain over the first configuration."""
    some = rows[np.isfinite(rows.gain) & (rows["gain naive"] != 0)]
    truth, low, high = some["gain truth"], some["gain low"], some["gain high"]
    error = 1.96 * some["gain error"] if "gain error" in some else 0.0
    covers = (low - error <= truth) & (truth <= high + error)
    said = some[(low > 0) | (high < 0)]
    right = np.sign(said.gain) == np.sign(said["gain truth"])
    has_unit = "truth" in some and abs(some.truth.mean()) > 1  # squared errors: a mean over sets says nothing
    biases = [(some[name] - truth).mean() for name in ("gain naive", "gain")]
    return (
        f"{len(some):,}", *("" if has_unit else f"{bias:+.3f}" for bias in biases), share(float(covers.mean())),
        share(float((truth < 0).mean())), f"{len(said)}", share(float(right.mean())) if len(said) else "",
    )  # fmt: skip


def draw_gain(plt: Any) -> Any:
    """What is claimed against what is true, in tenths."""
    rows = read()
    rows = rows[rows.tuned & (rows["where"] == "real") & (rows.low == 0) & (rows.high == 1) & (rows["gain naive"] != 0)]
    figure, axes = plt.subplots(figsize=(6, 3.6))
    true = rows["gain truth"].to_numpy()
    for name, label, colour in (("gain naive", "plain CV", "#c05621"), ("gain", "corrected", "#2b6cb0")):
        said = rows[name].to_numpy()
        cuts = np.array_split(np.argsort(said), 10)
        axes.plot([said[c].mean() for c in cuts], [true[c].mean() for c in cuts], "o-", color=colour, label=label)
    axes.axline((0, 0), slope=1, color="0.7", lw=1)
    axes.set(xlabel="gain over the first configuration, claimed", ylabel="true gain")
    axes.legend(frameon=False)
    return figure


def gain_evidence() -> Evidence:
    """Was tuning worth it, and does the sentence tell."""
    rows = read()
    real = rows[rows.tuned & (rows["where"] == "real")]
    heads = ("where", "tables", "plain CV's bias", "bias", "covers", "winner truly worse", "clear verdicts", "right")
    groups = {"all real sets": real}
    groups |= {f"real, {TITLES[m]}": some for m, some in real.groupby("metric", sort=False)}
    groups |= {f"real, N = {n}": some for n, some in real.groupby("n")}
    groups["all real sets, accuracy and AUC"] = real[(real.high == 1) & (real.low == 0)]
    table = [(name, *verdicts(some)) for name, some in groups.items() if len(some) >= 20]
    a = table[0][1:]
    near = [
        (pair, f"{n}, {p}, {active}", *verdicts(some))
        for (pair, n, p, active), some in read_results("excess-differences").groupby(
            ["pair", "n", "p", "active"], sort=False
        )
    ]
    best, alone = ([float(line[5]) for line in near if line[0].startswith("best") is kind] for kind in (True, False))
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
        draw_gain,
        text,
        [
            Table("gain", "bias, coverage and verdicts by metric and size", heads, table),
            Table("gain-near", "near-equal learners", ("pair", "n, p, active", "tables", *heads[2:]), near),
        ],
        COMMAND,
        read_about("excess"),
    )


# ---- few groups ----
def by_number() -> pd.DataFrame:
    """For each metric and number of groups: bias of plain CV and of BBC, coverage, lower bounds that hold, width."""
    rows = read_results("excess-groups")
    each = pd.DataFrame({
        "naive": rows.naive - rows.truth, "bias": rows["value"] - rows.truth,
        "covers": ((rows.low <= rows.truth) & (rows.truth <= rows.high)).astype(float),
        "holds": (rows.truth >= rows.lower).astype(float), "width": rows.high - rows.low,
    })  # fmt: skip
    return each.groupby([rows.metric, rows.groups]).mean().reset_index()


def draw_groups(plt: Any) -> Any:
    """Bias by number of groups."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    ticks = [3, 5, 10, 20, 40]
    for (metric, rows), style in zip(by_number().groupby("metric"), ("o-", "s--"), strict=True):
        for name, label, colour in (("naive", "plain CV", "#c05621"), ("bias", "corrected", "#2b6cb0")):
            axes.plot(list(rows.groups), list(rows[name]), style, color=colour, label=f"{label}, {TITLES[metric]}")
    axes.axhline(0, color="0.7", lw=1)
    axes.set(xlabel="groups", ylabel="bias", xscale="log", xticks=ticks, xticklabels=[str(t) for t in ticks])
    axes.legend(frameon=False)
    return figure


def groups_evidence() -> Evidence:
    """Bias and coverage by the number of groups."""
    rows = by_number()
    heads = ("metric", "groups", "plain CV's bias", "bias", "covers", "lower bound holds", "width")
    table = [
        (TITLES[r.metric], f"{r.groups}", f"{r.naive:+.3f}", f"{r.bias:+.3f}", share(r.covers), share(r.holds),
         f"{r.width:.2f}")
        for r in rows.itertuples()
    ]  # fmt: skip
    few, some = rows[rows.groups < 6], rows[rows.groups >= 10]
    about = read_about("excess-groups")
    text = f"""{markdown(heads, table)}

**Below 6 groups** the interval holds, because it is as wide as a third to two thirds of the range: it says that so few
groups tell next to nothing. The AUC is too good there, because the groups left out of a resample are pooled with fewer
others, whose scores are on other levels. Collect more groups; or, if the model will only ever be used in
these groups, leave `groups` out, and say so. From 10 groups on the bias is below .01.

## What was done
{len(read_results("excess-groups")):,} simulated tables: 20 configurations, groups of ten samples, each group easier or
harder by a
standard deviation of 0.6 for all configurations and of 0.4 for each (log odds for accuracy, standard deviations of the
score for AUC); the truth is the score on new groups. `sobercv.bbc` with its defaults and `groups`, 300 resamples.
Nothing was dropped early: what a race adds with few groups was not studied here.
"""
    return Evidence(
        "few-groups",
        "How few groups are too few?",
        f"Below 6. With 3 to 5 groups the estimate is off by up to {few.bias.abs().max():.3f} (plain CV: by up "
        f"to {few.naive.max():.3f}), and 95 % intervals are {few.width.min():.2f} to "
        f"{few.width.max():.2f} wide. From 10 groups on it is off by at most "
        f"{some.bias.abs().max():.3f}, and intervals cover {share(some.covers.min())} or more.",
        "Bias of plain CV and of the corrected estimate by number of groups",
        draw_groups,
        text,
        [Table("few-groups", "bias, coverage and width by number of groups", heads, table)],
        "python -m studies excess groups",
        about,
    )


PAGES = (evidence, rivals_evidence, gain_evidence, groups_evidence)
