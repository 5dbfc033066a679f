"""How much more a cross-validated score errs than a bootstrap shows, and how published intervals do there.

Also: differences between near-equal learners, and few groups, both simulated.
"""

from __future__ import annotations

from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from scipy import special
from sklearn.linear_model import lasso_path

import sobercv
from sobercv import metrics
from sobercv.inference.instability import MOST, SHARE_OF_SHARED, TRUST, widened
from sobercv.inference.intervals import CROSS_VALIDATED, shape
from sobercv.inference.units import Units

from . import excess_rivals as rivals
from . import excess_tables, sets
from .excess_tables import SIMULATED, Trained
from .harness import TITLES, Array, Options, Page, Part, Rng, Row, Rows, claim, fill, grouped, left_out, read_results
from .intervals import Made, assumed, by_factor, cover, ends, judged, kept

LASSO = ("10", "100", "b")  # active features, or Rink and Brannath's feature case B
SAMPLES, LASSO_SAMPLES = 32, 256
LEVEL, BOOTSTRAPS = rivals.LEVEL, 500
HALVES = 4  # ways to halve the folds
JUDGES = 60  # resamples for the standard error of the truth
METRICS = {
    "binary": ("accuracy", "roc_auc"),
    "classes": ("accuracy", "roc_auc_ovr"),
    "regression": ("r2", "neg_mean_squared_error"),
}


def places() -> list[tuple[Any, ...]]:
    """All tables, the first of every set first."""
    each = {**sets.sizes("excess"), **dict.fromkeys(SIMULATED, (100, 400))}
    real = {name: dict.fromkeys(sizes, SAMPLES * (2 if len(sizes) == 1 else 1)) for name, sizes in each.items()}
    lassos = {f"lasso_{active}": {400: LASSO_SAMPLES} for active in LASSO}
    found = sets.in_rounds(real, 2) + sets.in_rounds(lassos, 48)
    return sorted(found, key=lambda key: (key[2] // (48 if key[0] in lassos else 2), key))


def one(options: Options, name: str, n: int, sample: int) -> list[Row]:
    """Train and judge one table: for each metric the tuned winner, and two configurations as if nothing was tuned.

    A row holds what our intervals are made of, so that others can be made without training; and those of the rivals.
    """
    if name.startswith("lasso"):
        table = excess_tables.lasso(name.split("_")[1], n, sample)
    else:
        if name in SIMULATED:
            X, y = excess_tables.population(name, sets.MOST_ROWS)
            ready = sets.Ready(name, *sets.numbers(X), y)
        else:
            ready = sets.read(options, name)
        table = excess_tables.real(ready, n, sample, heavy=sample % 8 == 2)
    built, truth, seed = table.sample.table, table.sample.judges, crc32(repr((name, n, sample)).encode())
    kind, resamples = sets.kind_of(table.sample.y), Units(truth.n_samples, seed, "judges").counts(0, JUDGES)
    rows = []
    for metric in METRICS[kind]:
        true, errors = table.sample.truth(metric), metrics.get(metric).bind(truth, n_jobs=1).scores(resamples)
        for fixed in (None, 0, built.n_configurations - 1):
            some = built if fixed is None else built.take_configurations(np.array([fixed]))
            found = sobercv.bbc(None, some, metric, n_bootstraps=BOOTSTRAPS, random_state=seed)
            w = found.winner
            row = {
                "kind": kind, "metric": metric, "which": "tuned" if fixed is None else f"fixed {fixed}",
                **kept(found, true[w], np.nanstd(errors[:, w], ddof=1), (0.025, 0.05, 0.975)),
                **pair_models(table, metric, w), **rivals.by_rows(table, metric, w),
                **rivals.held_out(table, metric, fixed, true, seed),
            }  # fmt: skip
            if fixed is None:  # was tuning worth it: the winner against the first configuration
                asked = {"n_bootstraps": BOOTSTRAPS, "random_state": seed}
                gap = sobercv.difference(None, built, metric, first="best", second=[0], **asked)
                row |= claimed(gap, true[w] - true[0]) | {"gain error": np.nanstd(errors[:, w] - errors[:, 0], ddof=1)}
            rows.append(row)
    return rows


def claimed(gap: sobercv.Difference, truth: float) -> Row:
    """What is claimed of a difference, and its true value."""
    return {f"gain {name}".removesuffix(" value"): number for name, number in claim(gap, truth).items()}


def pair_models(table: Trained, metric: str, w: int) -> Row:
    """What models without two folds say about the winner: the parts "shared" and "mutual" of the excess page.

    As `sobercv.inference.instability` measures them, but for the halves of the folds, which are drawn.
    """
    y, (folds, out, paired), f = table.sample.y, table.repeats[0], excess_tables.FOLDS
    own = out[:, w]
    columns = [np.where(np.isnan(one), own, one) for one in paired[:, :, w]]
    rest, rng = np.stack([folds != j for j in range(f)]), np.random.default_rng(0)
    halves = [np.isin(folds, rng.permutation(f)[: f // 2]) for _ in range(HALVES)]
    masks = np.stack([rest & side for half in halves for side in (half, ~half)]).astype(np.uint8)
    built = sets.build(y, np.stack([*columns, own], axis=1)[:, :, None])
    scores = metrics.get(metric).bind(built, n_jobs=1).scores(masks.reshape(-1, len(y))).reshape(len(masks), f, f + 1)
    moved = np.diagonal(scores[:, :, :f], axis1=1, axis2=2) - scores[:, :, f]  # [masks, f]
    moved = moved - moved.mean(axis=1, keepdims=True)
    shared = np.nanmean((f - 1) / f * (moved[::2] * moved[1::2]).sum(axis=1))

    cells = [(j, k) for j in range(f) for k in range(f) if j != k]
    changed = np.repeat(own[:, None], len(cells) + 1, axis=1)
    for c, (j, k) in enumerate(cells):
        changed[folds == k, c] = columns[j][folds == k]
    scores = sets.scores_on(sets.build(y, changed[:, :, None]), metric)
    E = np.full((f, f), np.nan)
    E[tuple(np.array(cells).T)] = scores[:-1] - scores[-1]
    for _ in range(20):  # the diagonal is missing, so that means are taken out in turns
        E -= np.nanmean(E, axis=1, keepdims=True)
        E -= np.nanmean(E, axis=0, keepdims=True)
    return {"J shared": shared, "J pairs": np.nansum(E * E.T)}


# ---- differences between near-equal learners, where intervals from cross-validation are known to fail ----
#: Samples, features, features with a coefficient.
DESIGNS = ((90, 30, 5), (90, 200, 5), (360, 30, 5), (360, 200, 20))
PENALTIES, FOLDS, TABLES = 15, 10, 200
#: Name -> configurations on the one side and on the other; lassos come first, strongest penalty first.
PAIRS: dict[str, tuple[list[int], list[int]]] = {
    "lasso, next penalty": ([7], [8]),
    "ridge, next penalty": ([PENALTIES + 7], [PENALTIES + 8]),
    "lasso, ridge": ([7], [PENALTIES + 7]),
    "best lasso, best ridge": (list(range(PENALTIES)), list(range(PENALTIES, 2 * PENALTIES))),
}


def fits(X: Array, y: Array) -> tuple[Array, Array]:
    """Coefficients [p, C] and intercepts [C] of all lassos and ridges."""
    n = len(y)
    mean, level = X.mean(axis=0), y.mean()
    Z, t = X - mean, y - level
    lassos = lasso_path(Z, t, alphas=np.geomspace(1.0, 0.03, PENALTIES), tol=1e-4, max_iter=5000)[1]
    u, s, vt = np.linalg.svd(Z, full_matrices=False)
    shrunk = s[:, None] / (s[:, None] ** 2 + n * np.geomspace(10, 0.01, PENALTIES))
    coefficients = np.hstack([lassos, vt.T @ (shrunk * (u.T @ t)[:, None])])
    return coefficients, level - mean @ coefficients


def differences(options: Options, n: int, p: int, active: int, sample: int) -> list[Row]:
    """Compare all pairs on a simulated table.

    Bayle, Janson and Mackey (arXiv 2508.04409) show that a comparison of two lassos, or of a lasso with a ridge, can be
    less stable than each of the learners. The true difference follows from the coefficients of the refitted models.
    """
    rng = np.random.default_rng([n, p, active, sample])
    beta = np.repeat([1.0, 0.0], [active, p - active]) / np.sqrt(active)
    X = rng.standard_normal((n, p))
    y = X @ beta + rng.standard_normal(n)
    folds = rng.permutation(n) % FOLDS
    predictions = np.empty((n, 2 * PENALTIES))
    for k in range(FOLDS):
        coefficients, intercepts = fits(X[folds != k], y[folds != k])
        predictions[folds == k] = X[folds == k] @ coefficients + intercepts
    coefficients, intercepts = fits(X, y)
    truth = -(((coefficients - beta[:, None]) ** 2).sum(axis=0) + intercepts**2 + 1.0)
    rows = []
    for name, (first, second) in PAIRS.items():
        gap = sobercv.difference(
            y, predictions, "neg_mean_squared_error", first=first, second=second, folds=folds,
            n_bootstraps=BOOTSTRAPS, random_state=sample,
        )  # fmt: skip
        rows.append({"pair": name, **claimed(gap, truth[gap.first.winner] - truth[gap.second.winner])})
    return rows


# ---- few groups ----
NUMBERS = (3, 4, 5, 6, 8, 10, 15, 20, 40)
CONFIGURATIONS, SIZE, GROUP_BOOTSTRAPS = 20, 10, 300
SHIFT, OWN = 0.6, 0.4  # standard deviations, in log odds or in standard deviations of a score


def accuracy(g: int, rng: Rng) -> tuple[Array, Array, Array]:
    """Labels, predictions [N, C], and the true accuracy of each configuration on new groups."""
    odds = rng.normal(1.0, 0.3, CONFIGURATIONS)
    here = odds + rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    right = rng.random((g, SIZE, CONFIGURATIONS)) < special.expit(here)[:, None]
    y = rng.integers(0, 2, g * SIZE)
    predictions = np.where(right.reshape(-1, CONFIGURATIONS), y[:, None], 1 - y[:, None])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    truth = special.expit(odds[:, None] + np.hypot(SHIFT, OWN) * nodes) @ weights / weights.sum()
    return y, predictions, truth


def area(g: int, rng: Rng) -> tuple[Array, Array, Array]:
    """The same for AUC: scores of whole groups are shifted."""
    apart = rng.normal(1.0, 0.3, CONFIGURATIONS)
    y = np.tile(np.arange(SIZE) % 2, g)
    shifts = rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    scores = apart * y[:, None] + np.repeat(shifts, SIZE, axis=0) + rng.normal(size=(g * SIZE, CONFIGURATIONS))
    return y, scores, special.ndtr(apart / np.sqrt(2 * (1 + SHIFT**2 + OWN**2)))


def groups(options: Options, metric: str, g: int, sample: int) -> list[Row]:
    """Judge a simulated table with g groups of ten samples, each group easier or harder."""
    make = accuracy if metric == "accuracy" else area
    y, predictions, truth = make(g, np.random.default_rng([g, sample, len(metric)]))
    found = sobercv.bbc(y, predictions, metric, groups=np.repeat(np.arange(g), SIZE), n_bootstraps=GROUP_BOOTSTRAPS)
    true = truth[found.winner]
    return [{"truth": true, **claim(found, true), "lower": found.lower_bound(LEVEL)}]


KEYS = "set n sample"
PARTS = {
    "main": Part(KEYS, places, one, lambda rows: rows.sort_values(KEYS.split(), kind="stable"), "%.5g"),
    "differences": Part("n p active sample", lambda: DESIGNS, differences, digits="%.4g", samples=TABLES, at_once=20),
    "groups": Part(
        "metric groups sample", lambda: list(product(("accuracy", "roc_auc"), NUMBERS)), groups, digits="%.4g",
        samples=TABLES, at_once=TABLES,
    ),
}  # fmt: skip


# ---- the pages ----
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
    """The interval with the factor of pair models, or another share of the way to it."""
    return lambda row: widened(assumed(row), missed(row), trust)


def missed(row: Row) -> float:
    """The variance that pair models say the bootstrap misses."""
    return row["J pairs"] + SHARE_OF_SHARED * np.nan_to_num(row["J shared"])


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
    role = tuned.set.map(sets.SETS.role)  # constants were chosen on some sets; others were added when all of them stood
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


def draw(plt: Any, numbers: Any) -> Any:
    """What is said against what was right."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    sixths = numbers["sixths"]
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
    chosen_on = tuned.set.map(sets.SETS.role) == "calibration"
    tuned = tuned.assign(group=tuned.set + chosen_on.map({True: ", choice", False: ", judged"}))
    constants = [(f, *covered(other, by_factor(f))) for f in (1.0, 1.2, 1.4, 1.7, 2.0)]
    tables, ways = rows.groupby(["set", "n", "sample"]), (0, 0.25, 0.5, 0.75, 1)
    by_way = grouped(real, "set", lambda some: {t: covered(some, trusting(t))[0] for t in ways}, sort=False)
    others = left_out(by_way.set_index("set"), lambda covers: (covers - LEVEL).abs().idxmin())
    chosen = others.chosen.value_counts().sort_index()
    table = pd.DataFrame([{"group": name, **line(some)} for name, some in groups.items()])
    numbers = {
        "factor": CROSS_VALIDATED, "trust": TRUST, "most": MOST, "real_factor": needed(real), "real": real,
        "groups": table, "unstable": table[table.group.str.startswith("lasso, 100")],
        "sets": grouped(tuned, "group", line), "worst": worst, "set": set_, "default": covered(other, assumed),
        "pairs": covered(other, trusting()), "sixths": by_quantile(rows), "mean": others["value"].mean(),
        "tables": tables.ngroups, "chosen": ", ".join(f"{t:g} for {n} sets" for t, n in chosen.items()),
        "constants": "; ".join(fill("{x[0]:g}: {x[1]:share}, {x[2]:share}", {"x": one}) for one in constants),
    }  # fmt: skip
    return Page("excess", "excess", draw, numbers)


# ---- published intervals ----
#: Name, trainings of each configuration, and the interval: ours, or the name of its columns.
METHODS: list[tuple[str, str, Made | str | None]] = [
    ("sober, default", "10", assumed),
    ("sober, pair models", "10 (winner: 55)", trusting()),
    ("BBC, percentiles", "10", None),
    ("Wald, 10 folds", "10", "Wald"),
    ("corrected-t (Nadeau and Bengio)", "15", "corrected-t"),
    ("conservative-z (Nadeau and Bengio)", "315", "conservative-z"),
    ("nested CV (Bates et al.), 1 repeat", "55", "Bates"),
    ("nested CV (Bates et al.), 4 repeats", "220", "Bates 4"),
    ("hold-out of a third (Wilson, DeLong, Wald)", "6", "hold-out"),
    ("MABT (Rink and Brannath)", "6", "MABT"),
]


def compared(rows: Rows) -> dict[str, Row]:
    """By method: tables that it has, coverage, lower bounds, and width by that of the default on them."""
    found = {}
    for title, fits, made in METHODS:
        told = []
        for row in rows.to_dict("records"):
            theirs = isinstance(made, str)
            low, high, lower = (row[f"{made} {end}"] for end in "lhb") if theirs else ends(row, made)
            truth = row.get(f"{made} truth", row["truth"])
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


def draw_rivals(plt: Any, numbers: Any) -> Any:
    """Coverage against width."""
    figure, axes = plt.subplots(figsize=(6.5, 3.8))
    for row in numbers["tuned"].dropna(subset="covers").itertuples():
        place = round(row.width, 2), round(row.covers, 3)
        axes.plot(*place, "o", color="#2b6cb0" if row.method.startswith("sober") else "0.5")
        axes.annotate(row.method, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
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


def draw_gain(plt: Any, numbers: Any) -> Any:
    """What is claimed against what is true, in tenths."""
    rows = numbers["shares"]
    rows = rows[rows["gain naive"] != 0]
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
    groups["all real sets, accuracy and AUC"] = shares = real[(real.high == 1) & (real.low == 0)]
    told = pd.DataFrame([{"where": name, **verdicts(some)} for name, some in groups.items() if len(some) >= 20])
    near = grouped(read_results("excess-differences"), "pair n p active", verdicts, sort=False)
    best, every = near.pair.str.startswith("best"), told.iloc[0]
    numbers = {
        "groups": told, "shown": told[~told["where"].str.startswith("real, N")], "near": near, "all": every,
        "shares": shares,
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


def draw_groups(plt: Any, numbers: Any) -> Any:
    """Bias by number of groups."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    ticks = [3, 5, 10, 20, 40]
    for (metric, rows), style in zip(numbers["rows"].groupby("metric"), ("o-", "s--"), strict=True):
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
