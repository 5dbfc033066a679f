"""`python -m studies.beyond.page`: the evidence page beyond two classes, from the committed results."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence, Table, markdown
from ..harness import read_about, read_results
from ..pictures import keep, pyplot
from .measure import PROTOCOLS
from .run import RESULTS
from .summaries import KINDS, TITLES, Rows, bias, cells, of_metric, rmse

NAMES = {"naive": "plain CV", "ncv": "nested selection", "bbc": "BBC", "632+": "BBC.632+"}
COLOURS = {"naive": "#c44e52", "ncv": "#8c8c8c", "bbc": "#4c72b0", "632+": "#55a868"}
#: From this coverage on, a 95 % interval is recommended as it is.
ENOUGH = 0.93
BANDS = {"up to 60": (0, 60), "61 to 150": (61, 150), "more": (151, 10**9), "all": (0, 10**9)}


def summary(rows: Rows) -> str:
    """Bias, coverage and advice by metric."""
    lines = []
    for metric, title in TITLES.items():
        here = of_metric(rows, metric)
        covers = {name: cells(here, lambda r, n=name: r[f"covers {n}"]).mean() for name in ("calibrated", "percentile")}
        if covers["calibrated"] >= ENOUGH:
            advice = "the default"
        else:
            advice = '`interval="percentile"`' if covers["percentile"] >= ENOUGH else "ask for 99 %"
        off = [f"{bias(here, p)[0]:+.3f}" for p in ("naive", "bbc", "632+")]
        shares = [f"{value:.2f}" for value in covers.values()]
        lines.append((f"{KINDS[here[0]['kind']]}, {title}", *off, *shares, advice))
    heads = ("metric", "plain CV", "BBC", ".632+", "95 % covers: calibrated", "percentile", "which interval")
    return markdown(heads, lines)


def by_size(rows: Rows) -> Table:
    """Bias and RMSE of every protocol, and coverage, by metric and size."""
    heads = ["metric", "samples", "sub-samples", *(f"{what} {n}" for n in NAMES.values() for what in ("bias", "RMSE"))]
    heads += ["95 % covers: calibrated", "percentile", "lower bound holds: calibrated"]
    lines = []
    for metric, title in TITLES.items():
        for label, (low, high) in BANDS.items():
            here = [row for row in of_metric(rows, metric) if low <= row["n"] <= high]
            parts = [f"{value:.4f}" for p in PROTOCOLS for value in (bias(here, p)[0], rmse(here, p))]
            names = ("covers calibrated", "covers percentile", "lower calibrated")
            shares = [f"{np.mean([row[name] for row in here]):.3f}" for name in names]
            lines.append([title, label, str(len(here)), *parts, *shares])
    return Table("beyond", "bias, RMSE and coverage by metric and size", heads, lines)


def figure(rows: Rows) -> None:
    """Bias of every protocol, one panel per metric, one point per data set and size."""
    plt = pyplot()
    fig, axes = plt.subplots(2, 3, figsize=(11, 6))
    for ax, (metric, title) in zip(axes.flat, TITLES.items(), strict=True):
        here = of_metric(rows, metric)
        for place, protocol in enumerate(PROTOCOLS):
            values = cells(here, lambda row, p=protocol: row[p] - row["truth"])
            shift = np.linspace(-0.15, 0.15, len(values))
            ax.plot(place + shift, values, "o", ms=4, color=COLOURS[protocol], alpha=0.5, mew=0)
            ax.plot([place - 0.25, place + 0.25], [values.mean()] * 2, color=COLOURS[protocol], lw=3)
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_xticks(range(len(PROTOCOLS)), [name.replace(" ", "\n") for name in NAMES.values()], fontsize=8)
        shown = np.concatenate([cells(here, lambda r, p=p: r[p] - r["truth"]) for p in PROTOCOLS if p != "ncv"])
        reach = 1.15 * float(np.abs(shown).max())
        ax.set_ylim(-reach, reach)  # nested selection of R2 lies far below
        ax.set_title(f"{KINDS[here[0]['kind']]}: {title}", loc="left", fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - truth")
    keep(fig, "beyond")


def evidence() -> Evidence:
    """The page."""
    rows = read_results(RESULTS)
    about = read_about(RESULTS)
    sets = {kind: len({r["data"] for r in rows if r["kind"] == kind}) for kind in KINDS}
    off = {metric: [bias(of_metric(rows, metric), p)[0] for p in ("naive", "bbc")] for metric in TITLES}
    text = f"""{summary(rows)}

Bias is the mean of estimate minus truth (positive: optimistic), squared errors in units of the target's
variance. In the figure one point is one data set and size, a bar is their mean. The mean of nested selection for R2
lies below the frame: it averages over folds of a few rows each.

**Where it fails.** BBC of R2 is pessimistic with few samples, and for squared errors with heavy tails some
optimism stays and intervals are too narrow. The constants of the calibrated interval were chosen on these tables, so
expect slightly less coverage on others; [intervals](intervals.md) has the coverage with each set left out.

## What was done
{about["tables"]} sub-samples ({", ".join(f"{sets[k]} sets for {title}" for k, title in KINDS.items())}) of
{min(int(r["n"]) for r in rows)} to {max(int(r["n"]) for r in rows)} rows; 23 to 25 configurations (linear, neighbours,
trees, kernels; Cox models for survival); ten folds. The truth is the score of the winner, refitted on all rows, on up
to 3,000 rows that no model saw. Nested selection selects again without each fold among the models that exist; it does
not train again."""
    return Evidence(
        name="beyond",
        title="Regression, survival and many classes",
        answer=(
            f"The correction holds beyond two classes: for the C-index, plain CV is off by "
            f"{off['concordance_index'][0]:+.3f} and BBC by {off['concordance_index'][1]:+.3f}; for the accuracy of "
            f"many classes {off['accuracy'][0]:+.3f} and {off['accuracy'][1]:+.3f}. For R2, BBC is pessimistic "
            f"({off['r2'][1]:+.3f} instead of {off['r2'][0]:+.3f})."
        ),
        figure="Bias of plain CV, nested selection, BBC and .632+ for six metrics",
        text=text,
        tables=(by_size(rows),),
        commands="""
python -m studies.beyond --data FOLDER --work FOLDER   # the results, on the tables of the study of intervals
python -m studies.beyond.page                          # this page""",
        about=about,
    )


def main() -> None:
    """Write the page and its figure."""
    figure(read_results(RESULTS))
    evidence().write()


if __name__ == "__main__":
    main()
