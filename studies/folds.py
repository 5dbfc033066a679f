"""Fold scores alone, as a fitted GridSearchCV keeps them: bias, coverage and width, beside `sobercv.bbc`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

import sobercv
from sobercv import metrics
from sobercv.correction import FoldScores, judge
from sobercv.inference.intervals import Calibrated

from . import sets, simulated
from .evidence import Evidence, Table, markdown
from .harness import Key, Options, Part, Row, read_about, read_results

FOLDS, SIZES, SAMPLES, REPETITIONS = (3, 5, 10), (50, 100, 200, 500), 5, 100
FEWEST_JUDGES = 250  # rows that are left to tell the truth
SETS = (
    "sylvine", "jasmine", "madeline", "madelon", "gina", "ada_agnostic_train", "cells", "basehock", "pcmac", "dexter",
    "breast_cancer_wdbc", "gisette_valid", "cells_entropy", "cells_neighbor", "diabetes", "gbsg2",
)  # fmt: skip
METRICS = {"binary": ("accuracy", "roc_auc"), "regression": ("r2",), "survival": ("concordance_index",)}
#: Rows of the small sets.
ROWS = {"diabetes": 442, "breast_cancer_wdbc": 569, "dexter": 600, "gbsg2": 686, "gisette_valid": 1000}
#: Degrees of freedom, as a multiple of K - 1, that were tried.
FREEDOM = (1.0, 1.5, 2.0, 3.0, np.inf)
SETTINGS = {
    setting.name: setting
    for setting in (
        *(simulated.Setting("accuracy", n, c, a, rho)
          for n, c, a, rho in ((60, 50, 0.6, 0), (60, 50, 0.9, 0.5), (100, 300, 0.6, 0), (500, 100, 0.9, 0.5))),
        *(simulated.Setting("area", n, c, a, rho, 0.5)
          for n, c, a, rho in ((60, 50, 0.7, 0), (100, 300, 0.7, 0.5), (500, 100, 0.92, 0))),
    )
}  # fmt: skip


def places() -> list[Key]:
    """All searches, the first sub-sample of everything first."""
    return [
        (name, n, sample, k)
        for sample in range(SAMPLES)
        for name in SETS
        for n in SIZES
        if ROWS.get(name, 10_000) - n >= FEWEST_JUDGES
        for k in FOLDS
    ]


def real(options: Options, name: str, n: int, sample: int, k: int) -> list[Row]:
    """Cross-validate every configuration on one sub-sample, and judge by each metric."""
    ready = sets.read(options, name)
    rng = np.random.default_rng([n, sample, *name.encode()])
    rows, judges = sets.draw(ready, n, rng)
    y, folds = ready.y[rows], sets.spread_folds(ready.task, ready.y[rows], rng, k)
    fit = partial(sets.fit, ready, seed=sample)
    judged, out = fit(rows, judges), sets.out_of_fold(fit, rows, folds)
    table, truth = sets.build(y, out[:, :, None], folds[:, None]), sets.build(ready.y[judges], judged[:, :, None])
    found = []
    for metric in METRICS[ready.kind]:
        scores, true = by_fold(table, metric, folds), sets.scores_on(truth, metric)
        if np.isnan(scores).any(axis=0).all():
            continue  # a fold without an event or a class: scikit-learn's search would have no scores either
        bbc = sobercv.bbc(None, table, metric)
        assert bbc.interval is not None
        found.append({
            "data": name, "n": n, "k": k, "sample": sample, "metric": metric, **measured(metric, scores, true),
            "bbc": bbc.value, "bbc naive": bbc.naive, "bbc low": bbc.interval[0], "bbc high": bbc.interval[1],
            "bbc truth": true[bbc.winner],
        })  # fmt: skip
    return found


def by_fold(table: sobercv.Predictions, metric: str, folds: np.ndarray) -> np.ndarray:
    """Score of each configuration on each fold [K, C]."""
    counts = (folds == np.arange(folds.max() + 1)[:, None]).astype(np.uint8)
    return metrics.get(metric).bind(table).scores(counts)


def simulate(options: Options, name: str, k: int) -> list[Row]:
    """Judge the simulated searches of one setting."""
    setting, rows = SETTINGS[name], []
    for seed in range(REPETITIONS):
        made = simulated.table(setting, seed)
        folds = sets.spread_folds("classification", made.y, np.random.default_rng([seed, k]), k)
        chances = made.predictions if setting.family == "accuracy" else special.expit(made.predictions)
        table = sets.build(made.y, np.asarray(chances, dtype=np.float64)[:, :, None], folds[:, None])
        about = {"data": name, "n": setting.n, "k": k, "sample": seed, "metric": setting.metric}
        rows.append(about | measured(setting.metric, by_fold(table, setting.metric, folds), made.truth))
    return rows


def measured(metric: str, scores: np.ndarray, truth: np.ndarray) -> Row:
    """What fold scores [K, C] say, with several degrees of freedom, and the truth of the winner."""
    found = judge(FoldScores({metric: scores}))[metric]
    assert found.interval is not None
    assert found.draws is not None
    assert isinstance(found.bounds, Calibrated)
    low, high = np.quantile(found.draws, [0.025, 0.975])
    row = {
        "naive": found.naive, "value": found.value, "low": found.interval[0], "high": found.interval[1],
        "lower bound": found.lower_bound(), "percentile low": low, "percentile high": high,
        "truth": float(truth[found.winner]),
    }  # fmt: skip
    for multiple in FREEDOM:
        bounds = replace(found.bounds, freedom=multiple * (scores.shape[0] - 1))
        row[f"low {multiple:g}"], row[f"high {multiple:g}"] = replace(found, bounds=bounds).interval_at(0.95)
    return row


PARTS = {
    "real": Part(places, real, digits="%.5g"),
    "simulated": Part(lambda: [(name, k) for name in SETTINGS for k in FOLDS], simulate, digits="%.5g"),
}

# ---- the page ----
HEADS = ("searches", "plain CV", "fold scores", "predictions", "covers: fold scores", "predictions", "width ratio")
TITLES = {"metric": "metric", "k": "folds", "n": "samples", "data": "data set"}


def covers(rows: pd.DataFrame, low: str = "low", high: str = "high", truth: str = "truth") -> float:
    """Share of intervals that hold the truth."""
    return float(((rows[low] <= rows[truth]) & (rows[truth] <= rows[high])).mean())


def by_set(rows: pd.DataFrame, *ends: str) -> dict[str, float]:
    """Coverage of each data set."""
    return {name: covers(some, *ends) for name, some in rows.groupby("data")}


def mean_cover(rows: pd.DataFrame, multiple: float) -> float:
    """Mean coverage over data sets with so many degrees of freedom per fold but one."""
    return float(np.mean(list(by_set(rows, f"low {multiple:g}", f"high {multiple:g}").values())))


def left_out(rows: pd.DataFrame) -> list[float]:
    """For each data set what it covers with the multiple of K - 1 that the others choose."""
    found = []
    for name, here in rows.groupby("data"):
        others = rows[rows.data != name]
        chosen = next((m for m in reversed(FREEDOM) if mean_cover(others, m) >= 0.96), FREEDOM[0])
        found.append(covers(here, f"low {chosen:g}", f"high {chosen:g}"))
    return found


def _bias(rows: pd.DataFrame, estimate: str, truth: str = "truth") -> float:
    return float((rows[estimate] - rows[truth]).mean())


def _width(rows: pd.DataFrame, low: str, high: str) -> float:
    some = rows[rows[high] > rows[low]]
    return float(((some.high - some.low) / (some[high] - some[low])).median())


def lines(real: pd.DataFrame, key: str) -> list[tuple[str, ...]]:
    """Bias, coverage and width for each value of a column."""
    return [
        (
            str(name), f"{len(rows)}", f"{_bias(rows, 'naive'):+.3f}", f"{_bias(rows, 'value'):+.3f}",
            f"{_bias(rows, 'bbc', 'bbc truth'):+.3f}", f"{covers(rows):.3f}",
            f"{covers(rows, 'bbc low', 'bbc high', 'bbc truth'):.3f}", f"{_width(rows, 'bbc low', 'bbc high'):.2f}",
        )
        for name, rows in real.groupby(key)
    ]  # fmt: skip


def simulated_table(made: pd.DataFrame) -> Table:
    """Bias, coverage and width by setting and number of folds."""
    found = [
        (name, f"{k}", f"{_bias(rows, 'naive'):+.3f}", f"{_bias(rows, 'value'):+.3f}", f"{covers(rows):.3f}",
         f"{_width(rows, 'percentile low', 'percentile high'):.2f}")
        for (name, k), rows in made.groupby(["data", "k"], sort=False)
    ]  # fmt: skip
    heads = ("setting", "folds", "plain CV", "fold scores", "95 % covers", "width relative to percentiles")
    return Table("fold-scores-simulated", "simulated searches by setting and number of folds", heads, found)


def draw(plt: Any) -> Any:
    """Median bias and coverage by data set."""
    real = read_results("folds-real")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True)
    for at, (_, rows) in enumerate(real.groupby("data")):
        for value, colour, label in (("naive", "#c44", "plain CV"), ("value", "#27c", "fold scores")):
            off = (rows[value] - rows.truth).median()
            left.plot(off, at, "o", color=colour, label=label if at == 0 else None)
        right.plot(covers(rows), at, "o", color="#27c")
    left.axvline(0, color="#999", lw=0.8)
    right.axvline(0.95, color="#999", lw=0.8)
    names = sorted(real.data.unique())
    left.set_yticks(range(len(names)), names)
    left.set_xlabel("median of estimate minus truth")
    right.set_xlabel("share of 95 % intervals that hold the truth")
    right.set_xlim(0.8, 1.005)
    left.legend(frameon=False)
    return figure


def evidence() -> Evidence:
    """The page."""
    real, made = read_results("folds-real"), read_results("folds-simulated")
    cover = by_set(real)
    two_ends = real[real.metric != "r2"]
    tried = ", ".join(f"{m:g} covers {mean_cover(two_ends, m):.3f}" for m in FREEDOM)
    chosen = left_out(two_ends)
    n_searches = len(real[["data", "n", "k", "sample"]].drop_duplicates())
    groups = [(TITLES[key], *line) for key in TITLES for line in lines(real, key)]
    text = f"""Bias (estimate minus truth), how often 95 % intervals cover, and the width of the interval of fold scores
relative to that of out-of-fold predictions:

{markdown(("metric", *HEADS), lines(real, "metric"))}

**Where it fails.** R2 by fold is a poor number for small folds: five rows of a noisy target score far below
zero whichever model predicts them, so its mean is off before anything is selected. Use `neg_mean_squared_error`, fewer
folds, or predictions.

**Simulated** ({len(made):,} searches): plain CV {_bias(made, "naive"):+.3f}, fold scores
{_bias(made, "value"):+.3f}, intervals cover {covers(made):.3f}. No model is trained there, so nothing errs
more than resampling shows.

## What was done
{n_searches:,} searches over {len(cover)} real data sets ({len(real):,} winners, as a search has several
metrics): 50 to 500 samples; 3, 5 and 10 folds; about 30 configurations. The truth is the score of the winner on rows
that no model saw.

The interval is [the calibrated one](intervals.md) with folds as units. One constant is its own: for a score
with two ends, Student's quantiles have 2 (K - 1) degrees of freedom, because the variance comes from all
configurations that score about as well as the winner, not from its K scores alone. Scores without two ends (R2, a
scorer of unknown range) keep K - 1. Multiples of K - 1: {tried}. With the multiple chosen on the other data sets, the
mean over sets is {np.mean(chosen):.3f} and the worst {min(chosen):.3f}."""
    return Evidence(
        name="fold-scores",
        title="Fold scores are enough",
        answer=(
            f"`sobercv.correct(search)` sees only the score of every configuration on every fold. On {n_searches} real "
            f"searches its 95 % interval holds the true score in {100 * np.mean(list(cover.values())):.1f} % "
            f"(worst data set: {100 * min(cover.values()):.1f} %). By accuracy, AUC and C-index plain CV is off by "
            f"{_bias(two_ends, 'naive'):+.3f}, fold scores by {_bias(two_ends, 'value'):+.3f}."
        ),
        figure="Bias and coverage by data set: plain CV to the right of zero, fold scores around zero",
        draw=draw,
        text=text,
        tables=(
            Table("fold-scores", "by metric, folds, samples and data set", ("by", "value", *HEADS), groups),
            simulated_table(made),
        ),
        command="python -m studies folds --data FOLDER",
        about=read_about("folds-real"),
    )


PAGES = (evidence,)
