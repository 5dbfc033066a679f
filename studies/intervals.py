"""Do intervals cover? Simulated tables with known truth, and real ones judged on rows that no model saw.

The intervals are those of `sobercv.bbc`. A piece keeps what the calibrated interval is made of, so that other constants
can be tried on it without another bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from scipy import special

import sobercv
from sobercv import Predictions, metrics
from sobercv.inference import intervals as constants
from sobercv.inference.intervals import CROSS_VALIDATED, Calibrated, Percentile
from sobercv.inference.units import Units

from . import sets, simulated
from .harness import Array, Key, Options, Page, Part, Row, Rows, by_values, grouped, left_out, read_results

#: Sub-samples by the number of sizes: sets with a single size get more, so that no set is judged by a handful.
SAMPLES = {1: 42, 2: 30, 3: 21, 4: 18}
REPEATS = 5  # of every third sub-sample
#: Levels of the tables; two-sided intervals and one-sided lower bounds.
LEVELS = (0.8, 0.9, 0.95, 0.99)
#: Quantiles of the draws that percentile intervals and bounds at these levels need.
SHARES = tuple(sorted({round(s, 3) for x in LEVELS for s in (1 - x, (1 - x) / 2, (1 + x) / 2)}))
METRICS = {
    "binary": ("accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"),
    "classes": ("accuracy", "balanced_accuracy", "roc_auc_ovr", "neg_log_loss"),
    "regression": ("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
    "survival": ("concordance_index",),
}
REPETITIONS, SIMULATED_BOOTSTRAPS = 250, 500
JUDGE_BOOTSTRAPS = 100  # for the standard error of the truth
#: Values that are tried for the constant that was chosen on real data.
EXCESSES = tuple(round(1.0 + 0.1 * k, 1) for k in range(11))


# ---- pieces ----
def places(*kinds: str) -> list[Key]:
    """Set, size, sub-sample and repeats."""
    sizes = {name: dict.fromkeys(each, SAMPLES[len(each)]) for name, each in sets.sizes("intervals", *kinds).items()}
    return [(*place, REPEATS if place[2] % 3 == 0 else 1) for place in sets.in_rounds(sizes, 6)]


def seed_of(*place: Any) -> int:
    """The seed of a table, made of its name."""
    return crc32(f"{sets.table_name(*place)}.npz".encode())


def real(options: Options, *place: Any) -> list[Row]:
    """Judge one real table by every metric, with its first repeat alone and with all of them."""
    sample, seed = sets.sub_sample(options, *place), seed_of(*place)
    kind, n = sets.kind_of(sample.y), len(sample.y_judges)
    counts = np.vstack([np.ones((1, n), np.uint8), Units(n, seed, "judges").counts(0, JUDGE_BOOTSTRAPS)])
    rows = []
    for metric in METRICS[kind]:
        judge = metrics.get(metric).bind(sample.judges, n_jobs=1)
        for repeats in sorted({1, place[3]}):
            some = sample.table.take_repeat(0) if repeats == 1 else sample.table
            found = sobercv.bbc(None, some, metric, random_state=seed)
            truth, *others = judge.picked(counts, np.repeat(found.winner, len(counts)))
            row = {"kind": kind, "metric": metric, "repeats": repeats, **kept(found, truth, np.nanstd(others, ddof=1))}
            if repeats == 1:  # for the study beyond two classes
                unit = np.var(sample.y_judges) if metric == "neg_mean_squared_error" else 1.0
                row |= {"ncv": nested(some, metric), "632+": found.as_632plus().value, "unit": unit}
            rows.append(row)
    return rows


def nested(table: Predictions, metric: str) -> float:
    """NaN where the metric is undefined on every fold, as the AUC of many classes in folds of six samples is."""
    try:
        return sobercv.nested(None, table, metric, n_jobs=1).value
    except sobercv.SoberError as error:
        if error.code != "E109":
            raise
        return float("nan")


def kept(found: sobercv.Estimate, truth: float, error: float, shares: Sequence[float] = SHARES) -> Row:
    """What is kept of one estimate."""
    calibrated = found.bounds
    assert isinstance(calibrated, Calibrated), "nothing varies"
    return {
        "truth": truth, "truth error": error, "value": found.value, "naive": found.naive,
        "centre": calibrated.centre,
        "size": calibrated.size * CROSS_VALIDATED,  # as resampling shows it
        "doubt": calibrated.doubt, "freedom": calibrated.freedom, "still lost": calibrated.still_lost,
        "low": calibrated.range[0], "high": calibrated.range[1],
        **{f"q{share:g}": Percentile(found.draws).bounds(share)[1] for share in shares},
    }  # fmt: skip


def simulate(options: Options, name: str, sample: int) -> list[Row]:
    """Judge one simulated table."""
    index, setting = next((i, s) for i, s in enumerate(simulated.settings()) if s.name == name)
    made = simulated.table(setting, seed := 1_000_003 * index + sample)
    values = made.predictions if made.predictions.ndim == 3 else made.predictions[:, :, None]
    _, task, response = simulated.FAMILIES[setting.family]
    predictions = Predictions.build(made.y, {response: values}, task=task, groups=made.groups)
    # The models of a simulation are fixed; they are judged as cross-validated ones are, because users' tables are.
    found = sobercv.bbc(None, predictions, setting.metric, n_bootstraps=SIMULATED_BOOTSTRAPS, random_state=seed)
    return [{"n": setting.n, "metric": setting.metric, **kept(found, made.truth[found.winner], 0.0)}]


# ---- coverage ----
Made = Callable[[Mapping[str, Any]], Calibrated]  # the calibrated interval of a row


def by_factor(factor: float) -> Made:
    """The calibrated interval with another factor for what resampling does not show."""
    return lambda row: Calibrated(
        row["centre"], row["size"] / factor, row["doubt"], (row["low"], row["high"]), row["freedom"], row["still lost"]
    )


assumed = by_factor(CROSS_VALIDATED)
INTERVALS: dict[str, Made | None] = {"percentile": None, "calibrated": assumed}


def ends(row: Mapping[str, Any], made: Made | None = assumed, level: float = 0.95) -> tuple[float, float, float]:
    """Both ends of the interval and the one-sided lower bound, as `Estimate` gives them; None for percentiles."""
    if made is None:
        low, high, lower = (row[f"q{round(share, 3):g}"] for share in ((1 - level) / 2, (1 + level) / 2, 1 - level))
        return low, high, lower
    bounds, value = made(row), row["value"]
    low, high = bounds.bounds((1 + level) / 2)
    return min(low, value), max(high, value), min(bounds.bounds(level)[0], value)


def judged(
    row: Mapping[str, Any], made: Sequence[float], middle: float, level: float = 0.95
) -> tuple[bool, bool, float]:
    """Whether the interval covers, whether the lower bound holds, and the interval's width.

    The truth of real data is a score on held-out rows: its error is added in quadrature to the bounds' distances from
    the middle.
    """
    truth, tiny = row["truth"], 1e-9 * (1 + abs(row["truth"]))
    errors = (special.ndtri(share) * row["truth error"] for share in ((1 + level) / 2, (1 + level) / 2, level))
    low, high, lower = (
        middle + float(np.copysign(np.hypot(bound - middle, error), bound - middle)) if error > 0 else bound
        for bound, error in zip(made, errors, strict=True)
    )
    return low - tiny <= truth <= high + tiny, truth >= lower - tiny, made[1] - made[0]


def cover(rows: Rows, made: Made | None, level: float = 0.95) -> Array:
    """For each row whether the interval covers, whether the lower bound holds, and the width [N, 3]."""
    middle = "value" if made is None else "centre"
    return np.array([judged(r, ends(r, made, level), r[middle], level) for r in rows.to_dict("records")], float)


WHAT = ("covered", "lower", "width")


def summarise(rows: Rows) -> list[Row]:
    """Coverage and width by interval and level."""
    found = []
    for (name, made), level in product(INTERVALS.items(), LEVELS):
        means = dict(zip(WHAT, cover(rows, made, level).mean(axis=0), strict=True))
        found.append({"tables": len(rows), "interval": name, "level": level, **means})
    return found


def by_excess(rows: Rows) -> list[Row]:
    """Coverage of a data set for every value of the constant, so that it can be chosen without that set."""
    found = []
    for excess in EXCESSES:
        means = {level: cover(rows, by_factor(excess), level).mean(axis=0) for level in LEVELS}
        told = {f"{what} {level:g}": mean[k] for level, mean in means.items() for k, what in enumerate(WHAT)}
        found.append({"tables": len(rows), "excess": excess, **told})
    return found


def real_results(rows: Rows) -> dict[str, Rows]:
    """By set, size and metric; by metric and repeats; and by set and constant."""
    once = rows[rows.repeats == 1]
    return {
        "real": grouped(once, "set n kind metric", summarise, sort=False),
        "repeats": grouped(rows[rows.most_repeats > 1], "metric repeats", summarise, sort=False),
        "excess": grouped(once, "set", by_excess, sort=False),
    }


PARTS = {
    "real": Part("set n sample most_repeats", places, real, real_results, "%.4g"),
    "simulated": Part(
        "setting sample", lambda: [(setting.name,) for setting in simulated.settings()], simulate,
        lambda rows: grouped(rows, "setting n metric", summarise, sort=False), "%.4g",
        samples=REPETITIONS, at_once=REPETITIONS,
    ),
}  # fmt: skip


# ---- the page ----
def told(rows: Rows) -> Row:
    """Means over tables (groups count by their tables) at every level, and the width by that of percentiles."""
    found: Row = {}
    for level, here in rows.groupby("level"):
        parts = {interval: here[here.interval == interval] for interval in INTERVALS}
        for (interval, some), what in product(parts.items(), WHAT[:2]):
            found[f"{what} {interval} {level:g}"] = np.average(some[what], weights=some.tables)
        paper, ours = (some.width.to_numpy() for some in parts.values())
        known, tables = paper > 0, parts["calibrated"].tables.to_numpy()
        # Geometric mean over groups, each with its own unit.
        found[f"width {level:g}"] = np.exp(np.average(np.log(ours[known] / paper[known]), weights=tables[known]))
    return {"tables": tables.sum(), **found}


def overall(rows: Rows) -> Rows:
    """Coverage at every level, mean and worst over data sets."""
    every, by_set = told(rows), grouped(rows, "set", told, sort=False).set_index("set")
    lines = []
    for level, interval in product(LEVELS, INTERVALS):
        covered, lower = (f"{what} {interval} {level:g}" for what in WHAT[:2])
        lines.append({
            "level": 100 * level, "interval": interval, "covers": every[covered], "lower": every[lower],
            "worst": by_set[covered].min(), "where": by_set[covered].idxmin(), "worst lower": by_set[lower].min(),
            "width": "1" if interval == "percentile" else f"{every[f'width {level:g}']:.2f}",
        })  # fmt: skip
    return pd.DataFrame(lines)


def choose(means: pd.Series) -> tuple[str, float]:
    """The factor whose coverage, a mean over sets, is closest to nominal: two-sided, lower, all levels; its column."""
    off = [(means[f"{what} {level:g}"] - level).abs() for level in LEVELS for what in WHAT[:2]]
    return "covered 0.95", pd.concat(off, axis=1).mean(axis=1).idxmin()


def draw(plt: Any, numbers: Any) -> Any:
    """Coverage of both 95 % intervals by data set."""
    found = grouped(numbers["rows"], "set", told, sort=False)
    found = found.sort_values("covered calibrated 0.95", kind="stable")
    fig, ax = plt.subplots(figsize=(9, 8))
    for interval, colour in zip(INTERVALS, ("#c44e52", "#4c72b0"), strict=True):
        ax.plot(list(found[f"covered {interval} 0.95"]), range(len(found)), "o", color=colour, label=interval)
    ax.axvline(0.95, color="0.4", lw=0.8)
    ax.set_yticks(range(len(found)), list(found.set), fontsize=8)
    ax.set_xlabel("share of 95 % intervals that hold the true score")
    ax.legend(frameon=False, loc="upper left")
    return fig


def page() -> Page:
    rows, made, excess, repeats = (
        read_results(f"intervals-{part}") for part in ("real", "simulated", "excess", "repeats")
    )
    table = overall(rows)
    at95 = table[table.level == 95].set_index("interval")
    others = left_out(excess.pivot(index="set", columns="excess"), choose).value
    settings = by_values(made, told, setting="setting")
    # Five repeats: metrics between 0 and 1 have widths that can be averaged.
    some = repeats[(repeats.interval == "calibrated") & (repeats.level == 0.95)]
    shares = some[~some.metric.str.startswith("neg") & (some.metric != "r2")]
    numbers = {
        "overall": table, "percent": 100 * at95.covers, "worst_percent": 100 * at95.worst,
        "rows": rows, "settings": settings, "worst": settings.sort_values("covered calibrated 0.95").iloc[0],
        "others": others, "groups": by_values(rows, told, metric="metric", n="samples", set="data set"),
        "repeats": {f"r{r}": np.average(here.covered, weights=here.tables) for r, here in some.groupby("repeats")},
        "width": {f"r{r}": np.average(here.width, weights=here.tables) for r, here in shares.groupby("repeats")},
        "wider": 1 / told(rows)["width 0.95"],
        "tried": excess.groupby("excess").mean(numeric_only=True).reset_index().assign(
            worst=excess.groupby("excess")["covered 0.95"].min().to_numpy()
        ),
        "constants": vars(constants),
    }  # fmt: skip
    return Page("intervals", "intervals-real", draw, numbers)


PAGES = (page,)
