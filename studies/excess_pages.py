"""Evidence pages of the study of excess: excess, rivals, gain and few groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sobercv.inference.instability import MOST, TRUST, Missed, widened
from sobercv.inference.intervals import CROSS_VALIDATED, shape

from .evidence import Page, fill
from .excess_tables import SIMULATED
from .harness import Row, Rows, grouped, read_results
from .intervals import Made, assumed, by_factor, cover, ends, judged
from .sets import SETS

LEVEL = 0.95
TITLES = {
    "accuracy": "accuracy", "roc_auc": "AUC", "roc_auc_ovr": "AUC, many classes", "r2": "R2",
    "neg_mean_squared_error": "squared error",
}  # fmt: skip


def read() -> Rows:
    """All rows, with the kind of table: real, lasso (Rink and Brannath), or simulated (Schulz-Kümpel et al.)."""
    rows = read_results("excess")
    kinds = {True: "lasso", False: "real"}
    rows["where"] = ["simulated" if name in SIMULATED else kinds[name.startswith("lasso")] for name in rows.set]
    rows["tuned"] = rows.which == "tuned"
    return rows


def lassos(rows: Rows) -> dict[str, Rows]:
    """Tuned lassos by Rink and Brannath's design and metric."""
    found = {}
    for name, some in rows[(rows["where"] == "lasso") & rows.tuned].groupby("set", sort=False):
        which = name.split("_")[1]
        design = "lasso, feature case B" if which == "b" else f"lasso, {which} of 1,000 active"
        found |= {f"{design}, {TITLES[m]}": some[some.metric == m] for m in ("accuracy", "roc_auc")}
    return found


# ---- the excess ----
def trusting(trust: float = TRUST) -> Made:
    """The interval with what pair models tell, or another share of it."""
    return lambda row: widened(assumed(row), missed(row), trust)


def missed(row: Row) -> float:
    """The variance that pair models say the bootstrap misses."""
    return Missed(row["J pairs"], np.nan_to_num(row["J shared"])).variance


def seen(row: Row) -> float:
    """The variance that the bootstrap shows; a perfect centre shows none."""
    return float(shape(np.array([row["centre"]]), (row["low"], row["high"]))[0]) / row["size"]


def needed(rows: Rows) -> float:
    """The factor that would have been right: squared errors by what the bootstrap shows, without what else is known."""
    each = [
        ((r["truth"] - r["centre"]) ** 2 - r["truth error"] ** 2 - r["doubt"]) / seen(r)
        for r in rows.to_dict("records")
        if seen(r) > 0
    ]
    return float(np.mean(np.clip(each, -5, 25)))  # one heavy tail must not be the mean


def covered(rows: Rows, made: Made) -> list[float]:
    """Share that covers, share of lower bounds that hold, and width by that of percentiles (geometric mean)."""
    found, percentile = cover(rows, made), (rows["q0.975"] - rows["q0.025"]).to_numpy()
    some = percentile > 0
    width = np.exp(np.mean(np.log(found[some, 2] / percentile[some])))
    return [*found[:, :2].mean(axis=0), width if width <= 99 else float("nan")]


def parts(rows: Rows) -> dict[str, Rows]:
    """Groups of the main table."""
    real, made = rows[rows["where"] == "real"], rows[(rows["where"] == "simulated") & rows.tuned]
    tuned, fixed = real[real.tuned], real[~real.tuned]
    role = tuned.set.map(SETS.role)  # constants were chosen on some sets; others were added when all of them stood
    judging = tuned[role != "calibration"]
    return {
        "calibration sets, tuned": tuned[role == "calibration"],
        "other sets, tuned": judging,
        "sets added after all choices": tuned[role == "fresh"],
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
        **lassos(rows),
    }


def line(rows: Rows) -> Row:
    """One row of the table."""
    factor = np.mean([trusting()(row).excess for row in rows.to_dict("records")])
    names = ("covers", "lower", "width", "pairs cover", "pairs lower", "pairs width")
    shares = zip(names, covered(rows, assumed) + covered(rows, trusting()), strict=True)
    return {"intervals": len(rows), "right": needed(rows), "factor": factor, **dict(shares)}


def by_quantile(rows: Rows) -> Rows:
    """Sixths of all tables by what pair models say: its mean, the factor that was right, and how many."""
    rows = rows.assign(said=[1 + missed(r) / seen(r) if seen(r) > 0 else np.nan for r in rows.to_dict("records")])
    rows = rows[np.isfinite(rows.said)].sort_values("said")
    sixths = (rows.iloc[some] for some in np.array_split(np.arange(len(rows)), 6))
    return pd.DataFrame([{"said": x.said.clip(-2, 8).mean(), "right": needed(x), "many": len(x)} for x in sixths])


def left_out(rows: Rows) -> tuple[pd.Series, float]:
    """The shares of the way that suit the other sets best, by how many sets, and the mean of what each then covers."""
    covers = pd.DataFrame({
        t: {name: covered(some, trusting(t))[0] for name, some in rows.groupby("set", sort=False)}
        for t in (0, 0.25, 0.5, 0.75, 1)
    })  # fmt: skip
    best = pd.Series({name: (covers.drop(name).mean() - LEVEL).abs().idxmin() for name in covers.index})
    return best.value_counts().sort_index(), float(np.mean([covers.loc[name, t] for name, t in best.items()]))


def draw(plt: Any) -> Any:
    """What is said against what was right."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    sixths = by_quantile(read())
    axes.plot(list(sixths.said), list(sixths.right), "o-", color="#2b6cb0", label="sixths of all intervals")
    axes.plot([0, 6], [0, 6], color="0.7", lw=1, label="as said")
    axes.axhline(CROSS_VALIDATED, color="#c05621", lw=1, ls="--", label=f"constant {CROSS_VALIDATED:g}")
    axes.set(xlabel="factor by pair models", ylabel="factor that was right", xlim=(0, 6), ylim=(0, 5))
    axes.legend(frameon=False)
    return figure


def excess_page() -> Page:
    rows = read()
    groups, tuned = parts(rows), rows[rows.tuned]
    real, other = tuned[tuned["where"] == "real"], groups["other sets, tuned"]
    worst, set_ = min((covered(some, trusting())[0], name) for name, some in other.groupby("set") if len(some) >= 10)
    chosen_on = tuned.set.map(SETS.role) == "calibration"
    tuned = tuned.assign(group=tuned.set + chosen_on.map({True: ", choice", False: ", judged"}))
    constants = [(f, *covered(other, by_factor(f))) for f in (1.0, 1.2, 1.4, 1.7, 2.0)]
    (chosen, mean), tables = left_out(real), rows.groupby(["set", "n", "sample"])
    numbers = {
        "factor": CROSS_VALIDATED, "trust": TRUST, "most": MOST, "real_factor": needed(real), "real": real,
        "groups": pd.DataFrame([{"group": name, **line(some)} for name, some in groups.items()]),
        "sets": grouped(tuned, "group", line), "worst": worst, "set": set_, "default": covered(other, assumed),
        "pairs": covered(other, trusting()), "intervals": by_quantile(rows).many.sum(), "mean": mean,
        "tables": tables.ngroups, "chosen": ", ".join(f"{t:g} for {n} sets" for t, n in chosen.items()),
        "constants": "; ".join(fill("{x[0]:g}: {x[1]:share}, {x[2]:share}", {"x": one}) for one in constants),
    }  # fmt: skip
    return Page("excess", "excess", draw, numbers)


# ---- published intervals ----
Ends = Callable[[Row], tuple[float, float, float]]


def published(name: str) -> Ends:
    """The interval of a method, as it was measured."""
    return lambda row: (row[f"{name} l"], row[f"{name} h"], row[f"{name} b"])


#: Name, trainings of each configuration, interval, and the column of its truth.
METHODS: list[tuple[str, str, Ends, str]] = [
    ("sober, default", "10", ends, "truth"),
    ("sober, pair models", "10 (winner: 55)", lambda row: ends(row, trusting()), "truth"),
    ("BBC, percentiles", "10", lambda row: ends(row, None), "truth"),
    ("Wald, 10 folds", "10", published("Wald"), "truth"),
    ("corrected-t (Nadeau and Bengio)", "15", published("corrected-t"), "truth"),
    ("conservative-z (Nadeau and Bengio)", "315", published("conservative-z"), "truth"),
    ("nested CV (Bates et al.), 1 repeat", "55", published("Bates"), "truth"),
    ("nested CV (Bates et al.), 4 repeats", "220", published("Bates 4"), "truth"),
    ("hold-out of a third (Wilson, DeLong, Wald)", "6", published("hold-out"), "hold-out truth"),
    ("MABT (Rink and Brannath)", "6", published("MABT"), "MABT truth"),
]


def compared(rows: Rows) -> dict[str, Row]:
    """By method: tables that it has, coverage, lower bounds, and width by that of the default on them."""
    found = {}
    for title, fits, made, own in METHODS:
        told = []
        for row in rows.to_dict("records"):
            (low, high, lower), truth = made(row), row[own]
            if np.isfinite(lower + truth):
                middle = row["centre"] if "sober" in title else row["naive"] if np.isnan(low) else (low + high) / 2
                covers, holds, width = judged(row | {"truth": truth}, (low, high, lower), max(middle, lower))
                mine = ends(row)
                width = np.log(max(width, 1e-12) / (mine[1] - mine[0]))
                told.append((np.nan if np.isnan(low) else covers, holds, width, truth - lower))
        if len(told) >= 12:
            covers, holds, width, gap = pd.DataFrame(told, dtype=float).mean()  # over those that are known
            found[title] = {
                "method": title, "fits": fits, "intervals": len(told), "holds": holds, "gap": gap, "covers": covers,
                "width": np.exp(width),
            }  # fmt: skip
    return found


def draw_rivals(plt: Any) -> Any:
    """Coverage against width."""
    rows = read()
    figure, axes = plt.subplots(figsize=(6.5, 3.8))
    some = rows[rows.tuned & (rows["where"] == "real") & (rows.metric == "accuracy")]
    for title, told in compared(some).items():
        if np.isfinite(told["covers"]):
            place = round(told["width"], 2), round(told["covers"], 3)
            axes.plot(*place, "o", color="#2b6cb0" if title.startswith("sober") else "0.5")
            axes.annotate(title, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
    axes.axhline(LEVEL, color="0.7", lw=1)
    axes.set(xlabel="width, sober's default = 1", ylabel="covers", xscale="log")
    return figure


def rivals_page() -> Page:
    rows = read()
    real, others = rows[rows["where"] == "real"], rows[(rows["where"] == "simulated") & (rows.set != "chen_10_null")]

    def split(some: Rows, where: str, metrics: tuple[str, ...]) -> dict[str, Rows]:
        return {
            f"{where}{kind}, {TITLES[metric]}": some[(some.tuned == (kind == "tuned")) & (some.metric == metric)]
            for kind in ("tuned", "fixed")
            for metric in metrics
        }

    groups = split(real, "", ("accuracy", "roc_auc", "neg_mean_squared_error")) | lassos(rows)
    theirs = split(others, "Schulz-Kümpel et al., ", ("accuracy", "neg_mean_squared_error"))
    groups |= dict(sorted(theirs.items(), key=lambda one: one[0].endswith("error")))
    made, tables = {name: compared(some) for name, some in groups.items()}, rows.groupby(["set", "n", "sample"])
    tuned, errors, accuracies = made["tuned, accuracy"], *(
        made[f"Schulz-Kümpel et al., fixed, {title}"] for title in ("squared error", "accuracy")
    )  # fmt: skip
    numbers = {
        "groups": pd.DataFrame([{"group": name, **told} for name, some in made.items() for told in some.values()]),
        "tuned": pd.DataFrame(tuned.values()), "tables": tables.ngroups, "default": tuned["sober, default"]["covers"],
        "lasso": pd.DataFrame(made["lasso, 100 of 1,000 active, accuracy"].values()),
        "listed": ", ".join(fill("{method} {covers:share}", tuned[METHODS[place][0]]) for place in (3, 4, 6, 8)),
        "fixed": "; ".join(
            fill("{method} {covers:share} and {other:share}", {**told, "other": accuracies[name]["covers"]})
            for name, told in errors.items()
            if name in accuracies
        ),
    }  # fmt: skip
    return Page("rivals", "excess", draw_rivals, numbers)


# ---- was tuning worth it ----
def verdicts(rows: Rows) -> Row:
    """What is shown of the gain over the first configuration."""
    some = rows[np.isfinite(rows.gain) & (rows["gain naive"] != 0)]
    truth, low, high = some["gain truth"], some["gain low"], some["gain high"]
    error = 1.96 * some["gain error"] if "gain error" in some else 0.0
    said = some[(low > 0) | (high < 0)]
    has_unit = "truth" in some and abs(some.truth.mean()) > 1  # squared errors: a mean over sets says nothing
    naive, bias = ((some[name] - truth).mean() for name in ("gain naive", "gain"))
    return {
        "tables": len(some), "naive": np.nan if has_unit else naive, "bias": np.nan if has_unit else bias,
        "covers": ((low - error <= truth) & (truth <= high + error)).mean(), "worse": (truth < 0).mean(),
        "clear": len(said), "right": (said.gain * said["gain truth"] > 0).mean(),
    }  # fmt: skip


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


def gain_page() -> Page:
    rows = read()
    real = rows[rows.tuned & (rows["where"] == "real")]
    groups = {"all real sets": real}
    groups |= {f"real, {TITLES[m]}": some for m, some in real.groupby("metric", sort=False)}
    groups |= {f"real, N = {n}": some for n, some in real.groupby("n")}
    groups["all real sets, accuracy and AUC"] = real[(real.high == 1) & (real.low == 0)]
    told = pd.DataFrame([{"where": name, **verdicts(some)} for name, some in groups.items() if len(some) >= 20])
    near = grouped(read_results("excess-differences"), "pair n p active", verdicts, sort=False)
    best, every = near.pair.str.startswith("best"), told.iloc[0]
    numbers = {
        "groups": told, "shown": told[~told["where"].str.startswith("real, N")], "near": near, "all": every,
        "worse": 100 * every.worse, "all_right": 100 * every.right, "alone": near.covers[~best],
        "best": near.covers[best], "right": 100 * near.right @ near.clear / near.clear.sum(),
    }  # fmt: skip
    return Page("gain", "excess", draw_gain, numbers)


# ---- few groups ----
def by_number() -> Rows:
    """For each metric and number of groups: bias of plain CV and of BBC, coverage, lower bounds that hold, width."""
    rows = read_results("excess-groups")
    each = rows[["metric", "groups"]].assign(
        naive=rows.naive - rows.truth, bias=rows["value"] - rows.truth, width=rows.high - rows.low,
        covers=((rows.low <= rows.truth) & (rows.truth <= rows.high)), holds=rows.truth >= rows.lower,
    )  # fmt: skip
    return each.groupby(["metric", "groups"]).mean().reset_index().assign(off=lambda rows: rows.bias.abs())


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


def groups_page() -> Page:
    rows = by_number().assign(title=lambda rows: rows.metric.map(TITLES))
    numbers = {"rows": rows, "few": rows[rows.groups < 6], "some": rows[rows.groups >= 10]}
    return Page("few-groups", "excess-groups", draw_groups, numbers | {"tables": len(read_results("excess-groups"))})


PAGES = (excess_page, rivals_page, gain_page, groups_page)
