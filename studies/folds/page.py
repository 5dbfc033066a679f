"""The page of the study: `python -m studies.folds.page` makes it of the results that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import DOCS, keep, pyplot
from ..results_file import read_results
from .judging import FREEDOM

HERE = Path(__file__).parent
Rows = Sequence[dict[str, Any]]
GOAL = 0.95


def write() -> None:
    """Write docs/fold-scores.md and its figure."""
    real = read_results(HERE / "results-real.csv", ("data", "metric"))
    simulated = read_results(HERE / "results-simulated.csv", ("data", "metric"))
    _figure(real)
    (DOCS / "fold-scores.md").write_text(_text(real, simulated))


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


def _lines(real: Rows, key: str, names: Iterable[Any]) -> list[str]:
    out = []
    for name in names:
        rows = [row for row in real if row[key] == name]
        cells = [
            f"{_bias(rows, 'naive'):+.3f}", f"{_bias(rows, 'value'):+.3f}", f"{_bias(rows, 'bbc', 'bbc truth'):+.3f}",
            f"{covers(rows):.3f}", f"{covers(rows, 'bbc low', 'bbc high', 'bbc truth'):.3f}",
            f"{_width(rows, 'bbc low', 'bbc high'):.2f}",
        ]  # fmt: skip
        shown = f"{name:g}" if isinstance(name, float) else name
        out.append(f"| {shown} | {len(rows)} | " + " | ".join(cells) + " |")
    return out


HEAD = [
    "| | searches | bias: plain CV | fold scores | predictions | covers: fold scores | predictions | width ratio |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
]


def _text(real: Rows, simulated: Rows) -> str:
    sets = by_set(real, covers)
    worst = min(sets, key=lambda name: sets[name])
    bounds = by_set(real, lambda rows: float(np.mean([row["lower bound"] <= row["truth"] for row in rows])))
    lower, mean = float(np.mean(list(bounds.values()))), float(np.mean(list(sets.values())))
    two_ends = [row for row in real if row["metric"] != "r2"]
    tried = ", ".join(f"{m:g} covers {mean_cover(two_ends, m):.3f}" for m in FREEDOM)
    chosen = left_out(two_ends)
    judged = by_set(real, lambda r: 0.0)
    n_searches = len({(r["data"], r["n"], r["k"], r["sample"]) for r in real})
    simulated_table = [
        f"| {name} | {k:g} | {_bias(rows, 'naive'):+.3f} | {_bias(rows, 'value'):+.3f} | {covers(rows):.3f} | "
        f"{_width(rows, 'percentile low', 'percentile high'):.2f} |"
        for name in dict.fromkeys(row["data"] for row in simulated)
        for k in sorted({row["k"] for row in simulated})
        if (rows := [row for row in simulated if row["data"] == name and row["k"] == k])
    ]
    return "\n".join([
        "# Fold scores are enough",
        "`sobercv.correct(search)` knows nothing but the score of every configuration on every fold. How much is lost?",
        "",
        f"On {n_searches:,} searches over {len(judged)} real data sets (N = 50 to 500; 3, 5 and 10 folds; some 30 "
        f"configurations), {len(real):,} winners: the 95 % interval covers **{mean:.3f}** of the true scores (mean of "
        f"sets; worst: {worst}, {sets[worst]:.3f}), lower bounds hold {lower:.3f}. By accuracy, AUC and C-index plain "
        f"CV is {_bias(two_ends, 'naive'):+.3f} off, fold scores {_bias(two_ends, 'value'):+.3f}, predictions "
        f"{_bias(two_ends, 'bbc', 'bbc truth'):+.3f}. The interval is {_width(real, 'bbc low', 'bbc high'):.2f} times "
        "as wide as that of out-of-fold predictions.",
        "",
        "![Bias and coverage by data set](figures/fold-scores.svg)",
        "",
        "## By metric", *HEAD, *_lines(real, "metric", sorted({r["metric"] for r in real})),
        "",
        "R2 by fold is a poor number for small folds: five rows of a noisy target give values far below zero, "
        "whichever model predicts them. Its mean is off before anything is selected. Use `neg_mean_squared_error`, "
        "fewer folds, or predictions.",
        "",
        "## By number of folds", *HEAD, *_lines(real, "k", sorted({r["k"] for r in real})),
        "",
        "## By number of samples", *HEAD, *_lines(real, "n", sorted({r["n"] for r in real})),
        "",
        "## By data set", *HEAD, *_lines(real, "data", sorted({r["data"] for r in real})),
        "",
        "## The interval",
        "The construction is that of [every interval of sober](intervals.md), with folds as units. One constant is its "
        "own: for a score with two ends Student's quantiles have 2 (K - 1) degrees of freedom. K - 1 would be right if "
        "the variance came from the winner's K scores alone; it comes from all configurations that score about as "
        "well. Scores without two ends (R2, a scorer of unknown range) keep K - 1. Multiples tried for two ends: "
        + tried
        + ". Chosen by all other data sets (the largest multiple that covers .96 of them), judged on the one left out: "
        f"mean {np.mean([c for _, c in chosen.values()]):.3f}, worst {min(c for _, c in chosen.values()):.3f}; chosen "
        + ", ".join(f"{m:g} for {n} sets" for m in FREEDOM if (n := sum(m == c for c, _ in chosen.values())))
        + ".",
        "",
        "## Simulated",
        "No model is trained here, so that nothing errs more than resampling shows. Bias of plain CV and of fold "
        "scores, coverage, and width relative to percentiles of the same draws:",
        "",
        "| setting | folds | plain CV | fold scores | covers | width |", "| --- | --- | --- | --- | --- | --- |",
        *simulated_table,
        "",
        f"All: covers {covers(simulated):.3f}, plain CV {_bias(simulated, 'naive'):+.3f}, fold scores "
        f"{_bias(simulated, 'value'):+.3f}.",
        "",
        "Made by `python -m studies.folds --data FOLDER`; every row: `studies/folds/results-real.csv` and "
        "`results-simulated.csv`.",
        "",
    ])  # fmt: skip


def _figure(real: Rows) -> None:
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


if __name__ == "__main__":
    write()
