"""Fold scores alone, as a fitted GridSearchCV keeps them: bias, coverage and width, beside `sobercv.bbc`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product, starmap
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

import sobercv
from sobercv.correction import FoldScores, judge
from sobercv.inference import Question

from . import sets, simulated
from .harness import Array, Key, Options, Page, Part, Row, Rows, by_values, covers, grouped, left_out, read_results
from .races import fold_scores

FOLDS, SIZES, SAMPLES, REPETITIONS = (3, 5, 10), (50, 100, 200, 500), 5, 100
FEWEST_JUDGES = 250  # rows that are left to measure the true score
METRICS = {"binary": ("accuracy", "roc_auc"), "regression": ("r2",), "survival": ("concordance_index",)}
#: Degrees of freedom, as a multiple of K - 1, that were tried.
FREEDOM = (1.0, 1.5, 2.0, 3.0, np.inf)
SETTINGS = {setting.name: setting for setting in starmap(simulated.Setting, (
    ("accuracy", 60, 50, 0.6, 0), ("accuracy", 60, 50, 0.9, 0.5), ("accuracy", 100, 300, 0.6, 0),
    ("accuracy", 500, 100, 0.9, 0.5), ("area", 60, 50, 0.7, 0, 0.5), ("area", 100, 300, 0.7, 0.5, 0.5),
    ("area", 500, 100, 0.92, 0, 0.5),
))}  # fmt: skip


def places() -> list[Key]:
    """All searches, the first sub-sample of everything first."""
    rows = {name: 10_000 if many == "many" else int(many) for name, many in sets.SETS.folds.items() if many}
    found = product(range(SAMPLES), rows, SIZES, FOLDS)
    return [(name, n, sample, k) for sample, name, n, k in found if rows[name] - n >= FEWEST_JUDGES]


def real(options: Options, name: str, n: int, sample: int, k: int) -> list[Row]:
    """Cross-validate every configuration on one sub-sample, and judge by each metric."""
    made, found = sets.trained(options, name, n, sample, k=k), []
    for metric in METRICS[sets.kind_of(made.y)]:
        scores, true = fold_scores(made.table, Question.ask(metric)), made.truth(metric)
        if np.isnan(scores).any(axis=0).all():
            continue  # a fold without an event or a class: scikit-learn's search would have no scores either
        bbc = sobercv.bbc(None, made.table, metric)
        low, high = bbc.interval
        beside = {"bbc": bbc.value, "bbc naive": bbc.naive, "bbc low": low, "bbc high": high}
        found.append({"metric": metric, **measured(metric, scores, true), **beside, "bbc truth": true[bbc.winner]})
    return found


def simulate(options: Options, name: str, k: int, sample: int) -> list[Row]:
    """Judge one simulated search."""
    setting = SETTINGS[name]
    made = simulated.table(setting, sample)
    folds = sets.spread_folds(made.y, np.random.default_rng([sample, k]), k)
    chances = made.predictions if setting.family == "accuracy" else special.expit(made.predictions)
    table = sets.build(made.y, np.asarray(chances)[:, :, None], folds[:, None])
    scores = fold_scores(table, Question.ask(setting.metric))
    return [{"n": setting.n, "metric": setting.metric, **measured(setting.metric, scores, made.truth)}]


def measured(metric: str, scores: Array, truth: Array) -> Row:
    """What fold scores [K, C] say, with several degrees of freedom, and the truth of the winner."""
    found = judge(FoldScores({metric: scores}))[metric]
    row = {"naive": found.naive, "value": found.value, "truth": truth[found.winner], "lower bound": found.lower_bound()}
    row["low"], row["high"] = found.interval
    row["percentile low"], row["percentile high"] = np.quantile(found.draws, [0.025, 0.975])
    for multiple in FREEDOM:
        bounds = replace(found.bounds, freedom=multiple * (scores.shape[0] - 1))
        row[f"low {multiple:g}"], row[f"high {multiple:g}"] = replace(found, bounds=bounds).interval_at(0.95)
    return row


PARTS = {
    "real": Part("data n sample k", places, real, digits="%.5g"),
    "simulated": Part(
        "data k sample", lambda: list(product(SETTINGS, FOLDS)), simulate, digits="%.5g", samples=REPETITIONS,
        at_once=REPETITIONS,
    ),
}  # fmt: skip


# ---- the page ----
def told(rows: Rows) -> Row:
    """Number of searches, bias and coverage, of predictions, too, and width by that of these or of percentiles."""
    beside = "bbc" if "bbc" in rows else "percentile"
    low, high = f"{beside} low", f"{beside} high"
    some = rows[rows[high] > rows[low]]
    found = {name: (rows[name] - rows.truth).mean() for name in ("naive", "value")}
    found |= {"searches": len(rows), "covers": covers(rows)}
    found["width"] = ((some.high - some.low) / (some[high] - some[low])).median()
    if beside == "bbc":
        found |= {"bbc": (rows.bbc - rows["bbc truth"]).mean(), "bbc covers": covers(rows, low, high, "bbc truth")}
    return found


def largest_enough(covered: pd.Series) -> float:
    """The largest multiple of K - 1 that covers .96 or more."""
    return next((m for m in reversed(FREEDOM) if covered[m] >= 0.96), FREEDOM[0])


def draw(plt: Any, numbers: Any) -> Any:
    """Median bias and coverage by data set."""
    by_set = numbers["rows"].groupby("data")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True)
    for at, (_, rows) in enumerate(by_set):
        for value, colour, label in (("naive", "#c44", "plain CV"), ("value", "#27c", "fold scores")):
            off = (rows[value] - rows.truth).median()
            left.plot(off, at, "o", color=colour, label=label if at == 0 else None)
        right.plot(covers(rows), at, "o", color="#27c")
    left.axvline(0, color="#999", lw=0.8)
    right.axvline(0.95, color="#999", lw=0.8)
    left.set_yticks(range(len(by_set)), list(by_set.groups))
    left.set_xlabel("median of estimate minus truth")
    right.set_xlabel("share of 95 % intervals that hold the truth")
    right.set_xlim(0.8, 1.005)
    left.legend(frameon=False)
    return figure


def page() -> Page:
    rows, made = read_results("folds-real"), read_results("folds-simulated")
    every = by_values(rows, told, metric="metric", k="folds", n="samples", data="data set")
    two_ends = rows[rows.metric != "r2"]
    inside = {m: two_ends.truth.between(two_ends[f"low {m:g}"], two_ends[f"high {m:g}"]) for m in FREEDOM}
    tried, covered = pd.DataFrame(inside).groupby(two_ends.data).mean(), 100 * every[every.by == "data set"].covers
    numbers = {
        "by_metric": every[every.by == "metric"], "every": every,
        "made": told(made), "by_setting": grouped(made, "data k", told, sort=False), "two_ends": told(two_ends),
        "searches": len(rows[["data", "n", "k", "sample"]].drop_duplicates()), "rows": rows,
        "covered": covered, "tried": ", ".join(f"{m:g} covers {tried[m].mean():.3f}" for m in FREEDOM),
        "chosen": left_out(tried, largest_enough).value,
    }  # fmt: skip
    return Page("fold-scores", "folds-real", draw, numbers)


PAGES = (page,)
