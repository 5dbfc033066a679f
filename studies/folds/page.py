"""`python -m studies.folds.page`: the evidence page of fold scores, from the committed results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evidence import Evidence, Table, markdown
from ..harness import read_about, read_results
from ..pictures import keep, pyplot
from .judging import FREEDOM

HERE = Path(__file__).parent
Rows = Sequence[dict[str, Any]]
GOAL = 0.95
KINDS = ("real", "simulated")
HEADS = (
    "searches", "plain CV", "fold scores", "predictions", "covers: fold scores", "predictions", "width ratio",
)  # fmt: skip
TITLES = {"metric": "metric", "k": "folds", "n": "samples", "data": "data set"}


def covers(rows: Rows, low: str = "low", high: str = "high", truth: str = "truth") -> float:
    """Share of intervals that hold the truth."""
    return float(np.mean([row[low] <= row[truth] <= row[high] for row in rows]))


def by_set(rows: Rows, measure: Callable[[Rows], float]) -> dict[str, float]:
    """Measure each data set."""
    return {name: measure([row for row in rows if row["data"] == name]) for name in sorted({r["data"] for r in rows})}


def mean_cover(rows: Rows, multiple: float) -> float:
    """Mean over data sets of what is covered with so many degrees of freedom per fold but one."""
    return float(np.mean(list(by_set(rows, lambda r: covers(r, f"low {multiple:g}", f"high {multiple:g}")).values())))


def left_out(rows: Rows) -> dict[str, tuple[float, float]]:
    """For each data set the multiple of K - 1 that the others choose, and what it covers there."""
    found = {}
    for name in sorted({row["data"] for row in rows}):
        others, here = ([row for row in rows if (row["data"] != name) == away] for away in (True, False))
        chosen = next((m for m in reversed(FREEDOM) if mean_cover(others, m) >= 0.96), FREEDOM[0])
        found[name] = chosen, covers(here, f"low {chosen:g}", f"high {chosen:g}")
    return found


def _bias(rows: Rows, estimate: str, truth: str = "truth") -> float:
    return float(np.mean([row[estimate] - row[truth] for row in rows]))


def _width(rows: Rows, low: str, high: str) -> float:
    return float(
        np.median([(row["high"] - row["low"]) / (row[high] - row[low]) for row in rows if row[high] > row[low]])
    )


def lines(real: Rows, key: str) -> list[tuple[str, ...]]:
    """Bias, coverage and width for each value of a column."""
    found = []
    for name in sorted({row[key] for row in real}):
        rows = [row for row in real if row[key] == name]
        found.append((
            f"{name:g}" if isinstance(name, float) else name, f"{len(rows)}",
            f"{_bias(rows, 'naive'):+.3f}", f"{_bias(rows, 'value'):+.3f}", f"{_bias(rows, 'bbc', 'bbc truth'):+.3f}",
            f"{covers(rows):.3f}", f"{covers(rows, 'bbc low', 'bbc high', 'bbc truth'):.3f}",
            f"{_width(rows, 'bbc low', 'bbc high'):.2f}",
        ))  # fmt: skip
    return found


def simulated_table(simulated: Rows) -> Table:
    """Bias, coverage and width by setting and number of folds."""
    found = [
        (name, f"{k:g}", f"{_bias(rows, 'naive'):+.3f}", f"{_bias(rows, 'value'):+.3f}", f"{covers(rows):.3f}",
         f"{_width(rows, 'percentile low', 'percentile high'):.2f}")
        for name in dict.fromkeys(row["data"] for row in simulated)
        for k in sorted({row["k"] for row in simulated})
        if (rows := [row for row in simulated if row["data"] == name and row["k"] == k])
    ]  # fmt: skip
    heads = ("setting", "folds", "plain CV", "fold scores", "95 % covers", "width relative to percentiles")
    return Table("fold-scores-simulated", "simulated searches by setting and number of folds", heads, found)


def evidence() -> Evidence:
    """The page."""
    real, simulated = (read_results(HERE / f"results-{which}.csv") for which in KINDS)
    sets = by_set(real, covers)
    worst = min(sets, key=lambda name: sets[name])
    two_ends = [row for row in real if row["metric"] != "r2"]
    tried = ", ".join(f"{m:g} covers {mean_cover(two_ends, m):.3f}" for m in FREEDOM)
    chosen = left_out(two_ends)
    n_searches = len({(r["data"], r["n"], r["k"], r["sample"]) for r in real})
    groups = [(TITLES[key], *line) for key in TITLES for line in lines(real, key)]
    text = f"""Bias (estimate minus truth), how often 95 % intervals cover, and the width of the interval of fold scores
relative to that of out-of-fold predictions:

{markdown(("metric", *HEADS), lines(real, "metric"))}

**Where it fails.** R2 by fold is a poor number for small folds: five rows of a noisy target score far below
zero whichever model predicts them, so its mean is off before anything is selected. Use `neg_mean_squared_error`, fewer
folds, or predictions.

**Simulated** ({len(simulated):,} searches): plain CV {_bias(simulated, "naive"):+.3f}, fold scores
{_bias(simulated, "value"):+.3f}, intervals cover {covers(simulated):.3f}. No model is trained there, so nothing errs
more than resampling shows.

## What was done
{n_searches:,} searches over {len(sets)} real data sets ({len(real):,} winners, as a search has several
metrics): 50 to 500 samples; 3, 5 and 10 folds; about 30 configurations. The truth is the score of the winner on rows
that no model saw.

The interval is [the calibrated one](intervals.md) with folds as units. One constant is its own: for a score
with two ends, Student's quantiles have 2 (K - 1) degrees of freedom, because the variance comes from all
configurations that score about as well as the winner, not from its K scores alone. Scores without two ends (R2, a
scorer of unknown range) keep K - 1. Multiples of K - 1: {tried}. With the multiple chosen on the other data sets, the
mean over sets is {np.mean([c for _, c in chosen.values()]):.3f} and the worst
{min(c for _, c in chosen.values()):.3f}."""
    return Evidence(
        name="fold-scores",
        title="Fold scores are enough",
        answer=(
            f"`sobercv.correct(search)` sees only the score of every configuration on every fold. On {n_searches} real "
            f"searches its 95 % interval holds the true score in {100 * np.mean(list(sets.values())):.1f} % "
            f"(worst data set: {100 * sets[worst]:.1f} %). By accuracy, AUC and C-index plain CV is off by "
            f"{_bias(two_ends, 'naive'):+.3f}, fold scores by {_bias(two_ends, 'value'):+.3f}."
        ),
        figure="Bias and coverage by data set: plain CV to the right of zero, fold scores around zero",
        text=text,
        tables=(
            Table("fold-scores", "by metric, folds, samples and data set", ("by", "value", *HEADS), groups),
            simulated_table(simulated),
        ),
        commands="""
python -m studies.folds --data FOLDER   # the results
python -m studies.folds.page            # this page""",
        about=read_about(HERE / "results-real.csv"),
    )


def figure(real: Rows) -> None:
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True)
    names = sorted({row["data"] for row in real})
    for at, name in enumerate(names):
        rows = [row for row in real if row["data"] == name]
        for value, colour, label in (("naive", "#c44", "plain CV"), ("value", "#27c", "fold scores")):
            left.plot(
                np.median([row[value] - row["truth"] for row in rows]),
                at,
                "o",
                color=colour,
                label=label if at == 0 else None,
            )
        right.plot(covers(rows), at, "o", color="#27c")
    left.axvline(0, color="#999", lw=0.8)
    right.axvline(GOAL, color="#999", lw=0.8)
    left.set_yticks(range(len(names)), names)
    left.set_xlabel("median of estimate minus truth")
    right.set_xlabel("share of 95 % intervals that hold the truth")
    right.set_xlim(0.8, 1.005)
    left.legend(frameon=False)
    keep(figure, "fold-scores")


def write() -> None:
    """Write the page and its figure."""
    figure(read_results(HERE / "results-real.csv"))
    evidence().write()


if __name__ == "__main__":
    write()
