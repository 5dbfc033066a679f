"""Section 6.1 of the paper: simulated predictions with known truth, 196 settings, and every statement checked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import sobercv
from sobercv.inference import Question
from sobercv.testing import simulate

from .harness import Mean, Page, Part, Row, Rows, all_of, bias, grouped, panels, read_results
from .races import papers_rule, replay

SAMPLES = (20, 40, 60, 80, 100, 500, 1000)
CONFIGURATIONS = (50, 100, 200, 300, 500, 1000, 2000)
BETAS = ((9, 6), (14, 6), (24, 6), (54, 6))
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
FOLDS, BOOTSTRAPS, REPETITIONS = 10, 1000, 500
PROTOCOLS = ("naive", "tt", "ncv", "bbc", "bced", "bbc-f", "632+")
WITH_INTERVAL = ("bbc", "bced", "bbc-f", "632+")
#: Index, samples, configurations, and the distribution of true accuracies.
SETTINGS = [
    (i, *setting) for i, setting in enumerate((n, c, a, b) for a, b in BETAS for n in SAMPLES for c in CONFIGURATIONS)
]


def one_table(index: int, n: int, c: int, a: int, b: int, repetition: int) -> Row:
    """Simulate one table and run every protocol on it; all but BCED return the same configuration."""
    place = index * 100_003 + repetition
    data = simulate.beta_accuracy(n, c, a, b, seed=place, k=FOLDS)
    table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    options: dict[str, Any] = {"n_bootstraps": BOOTSTRAPS, "random_state": place, "n_jobs": 1, "interval": "percentile"}
    bbc = sobercv.bbc(None, table, "accuracy", **options)
    raced = replay(table, papers_rule(), Question.ask("accuracy", **options))
    found = {
        "tt": sobercv.tibshirani(None, table, "accuracy", n_jobs=1),
        "ncv": sobercv.nested(None, table, "accuracy", n_jobs=1),
        "bbc": bbc,
        "bced": sobercv.bbc(None, raced.survivors, "accuracy", **options),
        "bbc-f": sobercv.bbc(None, table, "accuracy", by="fold", **options),
        "632+": bbc.as_632plus(),
    }
    row = {"estimate naive": bbc.naive, **{f"estimate {p}": estimate.value for p, estimate in found.items()}}
    row |= {"truth": data.truth[bbc.winner], "truth bced": data.truth[found["bced"].winner]}
    row["models bced"] = raced.models
    for p in WITH_INTERVAL:
        truth, ends = truth_of(row, p), {level: found[p].interval_at(level) for level in LEVELS}
        row[f"width {p}"] = ends[0.95][1] - ends[0.95][0]
        row |= {f"covered {p} {level}": float(low <= truth <= high) for level, (low, high) in ends.items()}
    return row


def truth_of(rows: Any, protocol: str) -> Any:
    return rows.get(f"truth {protocol}", rows["truth"])


def summarise(rows: Rows) -> Row:
    """One row per setting: mean bias with its standard error, RMSE, coverage, width, models."""
    errors = {p: rows[f"estimate {p}"] - truth_of(rows, p) for p in PROTOCOLS}
    out: Row = {"repetitions": len(rows)}
    for p, error in errors.items():
        out |= bias(p, error)
    names = [name for name in rows if name.startswith(("width", "covered", "truth", "models"))]
    out |= {name: rows[name].to_numpy().mean() for name in names}
    # How much larger BBC's and BCED's conservatism is than NCV's, paired on the same tables.
    for p in ("bbc", "bced", "632+"):
        paired = bias(p, errors[p] - errors["ncv"])
        out |= {f"minus ncv {p}": paired[f"bias {p}"], f"minus ncv se {p}": paired[f"se {p}"]}
    return out


PARTS = {
    "main": Part(
        "index n c a b sample",
        lambda: sorted(SETTINGS, key=lambda s: -s[1] * s[2]),  # large ones first, so that the cores finish together
        lambda options, *key: [one_table(*key)],
        lambda rows: grouped(rows, "index n c a b", summarise).drop(columns="index"),
        about={"seed": 0}, samples=REPETITIONS, at_once=25,
    )
}  # fmt: skip


# ---- every statement of the section that holds a number or a direction ----
def mean(rows: Rows, name: str) -> Mean:
    """Mean over settings and its Monte Carlo error; `name` is "bias P" or "minus ncv P"."""
    error = rows[name.replace("bias", "se").replace("minus ncv", "minus ncv se")]
    return Mean(float(rows[name].mean()), float(np.sqrt((error**2).sum()) / len(rows)))


def falling(steps: list[Mean]) -> bool | None:
    """Whether each mean is lower than the one before."""
    return all_of(Mean(b - a, np.hypot(e, f)).below() for (a, e), (b, f) in pairwise(steps))


def worst(rows: Rows, protocol: str) -> tuple[Mean, Any]:
    """By how much a protocol is more conservative than NCV at worst, and the setting."""
    row = rows.loc[rows[f"minus ncv {protocol}"].idxmin()]
    return Mean(-row[f"minus ncv {protocol}"], row[f"minus ncv se {protocol}"]), row


def checked(rows: Rows) -> dict[str, Any]:
    """All statements; "accuracy 0.6" marks those about the distribution that the paper's figure shows."""
    hard, largest = rows[rows.a == 9], rows[rows.n == rows.n.max()]
    bias, error = rows["bias naive"], rows["se naive"]
    # At the easiest settings the bias is smaller than its error: "all" is judged within two of them.
    short = -bias - 2 * error
    by_n, by_c = ([mean(some, "bias naive") for _, some in rows.groupby(key)] for key in ("n", "c"))
    few, some, many = (mean(hard[hard.n.isin(sizes)], "bias tt") for sizes in ((20, 40), (60, 80, 100), (500, 1000)))
    size = pd.Series({p: rows[f"bias {p}"].abs().mean() for p in ("bbc", "tt")})
    bbc_by_n = list(rows["bias bbc"].abs().groupby(rows.n).mean())
    below, widely = (float((rows["bias bbc"] < k * rows["se bbc"]).mean()) for k in (2, 4))
    (bbc_worst, bbc_at), (bced_worst, bced_at), (tiny, _) = (
        worst(hard, "bbc"), worst(hard, "bced"), worst(hard[hard.n == 20], "bbc")
    )  # fmt: skip
    # The worst of N = 20, and how much worse it is elsewhere.
    furthest = Mean(max(abs(tiny.value - 0.034) - 0.012, bbc_worst.value - tiny.value), tiny.error)
    return {
        "n_up": (bias > 0).sum(), "short": Mean(short.max(), error[short.idxmax()]),
        "top": Mean(bias.max(), error[bias.idxmax()]),
        "by_n": " > ".join(f"{one.value:.3f}" for one in by_n), "falling_in_n": falling(by_n),
        "by_c": " < ".join(f"{one.value:.3f}" for one in by_c), "rising_in_c": falling([by_c[-1], by_c[0]]),
        "largest_n": by_n[-1], "few": few, "some": some, "many": many,
        "ncv": mean(rows, "bias ncv"), "ncv_worst": rows["bias ncv"].abs().max(),
        "conservative": 100 * below, "bbc_conservative": True if below > 0.9 else None if widely > 0.9 else False,
        "bbc_by_n": " > ".join(f"{value:.3f}" for value in bbc_by_n),
        "bbc_to_zero": Mean(bbc_by_n[-1], largest["se bbc"].mean()).below(0.25 * bbc_by_n[0]),
        "bbc": -mean(hard, "minus ncv bbc"), "bbc_all": -mean(rows, "minus ncv bbc"),
        "bbc_worst": bbc_worst.value, "bbc_at": bbc_at, "furthest": furthest, "size": size, "ahead": size.tt - size.bbc,
        "bced": -mean(hard, "minus ncv bced"), "bced_worst": bced_worst, "bced_at": bced_at,
        "fewer": 1 / rows["models bced"].mean(), "fewest": 1 / rows["models bced"].min(),
    }  # fmt: skip


# ---- the page ----
PANELS = {
    "naive": "CVT: plain CV", "tt": "TT", "ncv": "NCV: nested CV", "bbc": "BBC-CV", "bced": "BCED-CV",
    "bbc-f": "BBC-F", "632+": "BBC.632+",
}  # fmt: skip


def draw(plt: Any, numbers: Any) -> Any:
    """The paper's figure 1: bias against sample size, one line per number of configurations, accuracy 0.6."""
    rows = numbers["rows"]
    by_c = list(rows[rows.a == 9].set_index("n").groupby("c"))
    shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(by_c)))

    def lines(protocol: str) -> dict[str, Any]:
        return {f"{c}": (shade, some[f"bias {protocol}"]) for (c, some), shade in zip(by_c, shades, strict=True)}

    fig, axes = panels(plt, PANELS, lines, SAMPLES)
    axes.flat[-1].axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].legend(handles, labels, title="configurations", ncol=2, loc="center", frameon=False)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - truth (accuracy)")
    return fig


def by_samples(rows: Rows) -> Row:
    """Mean size of each protocol's bias, and coverage."""
    sizes = {p: rows[f"bias {p}"].abs().mean() for p in PROTOCOLS}
    return sizes | {f"covered {p}": rows[f"covered {p} 0.95"].mean() for p in WITH_INTERVAL}


def page() -> Page:
    rows = read_results("simulation")
    numbers = {
        "rows": rows.assign(accuracy=rows.a / (rows.a + rows.b)), "settings": len(rows),
        "repetitions": rows.repetitions[0], "worst": rows[(rows.n == 20) & (rows.c == 500) & (rows.a == 9)].iloc[0],
        "by_samples": grouped(rows, "n", by_samples),
        "optimistic": {p: (rows[f"bias {p}"] > 2 * rows[f"se {p}"]).sum() for p in ("632+", "bbc")},
        "small": rows[(rows.n == 20) & (rows.a == rows.a.max())]["covered bbc 0.95"].mean(),
    }  # fmt: skip
    return Page("simulation", "simulation", draw, numbers | checked(rows))


PAGES = (page,)
