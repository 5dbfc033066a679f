"""What the paper left open: numbers, survival times and many classes, on the tables of the study of intervals.

Trains nothing beyond those tables: nested cross-validation selects again without each fold, among existing models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import intervals
from .harness import Page, Part, Row, Rows, read_results


def results(rows: Rows) -> Rows:
    """What every protocol says, the score that its winner has, and both intervals, with one repeat.

    Squared errors are divided by the variance of the target.
    """
    made = []
    for row in rows[(rows.repeats == 1) & rows.metric.isin(list(TITLES))].to_dict("records"):
        out = {name: row[name] for name in ("data", "n", "sample", "kind", "metric")}
        said = {"truth": "truth", "naive": "naive", "ncv": "ncv", "bbc": "value", "632+": "632+"}
        out |= {name: row[column] / row["unit"] for name, column in said.items()}
        for name in ("calibrated", "percentile"):
            low, high, lower = intervals.ends(row, intervals.INTERVALS[name])
            out |= {f"covers {name}": float(low <= row["truth"] <= high), f"width {name}": (high - low) / row["unit"]}
            out[f"lower {name}"] = float(lower <= row["truth"])
        made.append(out)
    return pd.DataFrame(made).sort_values(["kind", "metric", "data", "n", "sample"])


PARTS = {
    "main": Part(
        "data n sample most_repeats", lambda: intervals.places("classes", "regression", "survival"), intervals.real,
        results, "%.5g",
    )
}  # fmt: skip

# ---- the page ----
TITLES = {
    "r2": "R2", "neg_mean_squared_error": "squared error", "concordance_index": "C-index", "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy", "roc_auc_ovr": "AUC (one against the rest)",
}  # fmt: skip
KINDS = {"regression": "regression", "survival": "survival", "classes": "many classes"}
NAMES = {"naive": "plain CV", "ncv": "nested selection", "bbc": "BBC", "632+": "BBC.632+"}
#: From this coverage on, a 95 % interval is recommended as it is.
ENOUGH = 0.93
BANDS = {"up to 60": (0, 60), "61 to 150": (61, 150), "more": (151, 10**9), "all": (0, 10**9)}


def by_metric(rows: Rows) -> dict[str, Rows]:
    """The rows of each metric, with the errors of each protocol."""
    rows = rows.assign(**{f"bias {p}": rows[p] - rows.truth for p in NAMES})
    return {metric: rows[rows.metric == metric] for metric in TITLES}


def cells(rows: Rows, name: str) -> pd.Series:
    """The mean of a number in each data set and size; NaN is left out."""
    return rows.groupby(["data", "n"], sort=False)[name].mean().dropna()


def told(rows: Rows) -> Row:
    """Bias and RMSE of every protocol, coverage, and which interval is recommended."""
    found: Row = {"title": TITLES[rows.metric.iloc[0]], "kind": KINDS[rows.kind.iloc[0]], "tables": len(rows)}
    for p in NAMES:
        found |= {f"bias {p}": cells(rows, f"bias {p}").mean(), f"rmse {p}": np.sqrt((rows[f"bias {p}"] ** 2).mean())}
    found |= {name: rows[name].mean() for name in ("covers calibrated", "covers percentile", "lower calibrated")}
    found |= {name: cells(rows, f"covers {name}").mean() for name in ("calibrated", "percentile")}
    advice = '`interval="percentile"`' if found["percentile"] >= ENOUGH else "ask for 99 %"
    return found | {"advice": "the default" if found["calibrated"] >= ENOUGH else advice}


def draw(plt: Any, numbers: Any) -> Any:
    """Bias of every protocol, one panel per metric, one point per data set and size."""
    fig, axes = plt.subplots(2, 3, figsize=(11, 6))
    for ax, (metric, here) in zip(axes.flat, by_metric(numbers["rows"]).items(), strict=True):
        for place, (p, colour) in enumerate(zip(NAMES, ("#c44e52", "#8c8c8c", "#4c72b0", "#55a868"), strict=True)):
            values = cells(here, f"bias {p}").to_numpy()
            ax.plot(place + np.linspace(-0.15, 0.15, len(values)), values, "o", ms=4, color=colour, alpha=0.5, mew=0)
            ax.plot([place - 0.25, place + 0.25], [values.mean()] * 2, color=colour, lw=3)
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_xticks(range(len(NAMES)), [name.replace(" ", "\n") for name in NAMES.values()], fontsize=8)
        reach = 1.15 * max(cells(here, f"bias {p}").abs().max() for p in NAMES if p != "ncv")
        ax.set_ylim(-reach, reach)  # nested selection of R2 lies far below
        ax.set_title(f"{KINDS[here.kind.iloc[0]]}: {TITLES[metric]}", loc="left", fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - truth")
    return fig


def page() -> Page:
    rows = read_results("beyond")
    found = {metric: told(some) for metric, some in by_metric(rows).items()}
    by_size = [
        {"band": band, **told(some[some.n.between(low, high)])}
        for some in by_metric(rows).values()
        for band, (low, high) in BANDS.items()
    ]
    numbers = {
        "metrics": pd.DataFrame(found.values()), "by_size": pd.DataFrame(by_size), "off": found, "rows": rows,
        "sets": rows.groupby("kind").data.nunique(),
    }  # fmt: skip
    return Page("beyond", "beyond", draw, numbers)


PAGES = (page,)
