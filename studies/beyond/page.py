"""`python -m studies.beyond.page`: make docs/beyond.md and its figure from the committed results.

Takes `results.csv`, gives a page and a picture; judges nothing that `claims` does not.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..claims import as_markdown, summary
from ..pictures import DOCS, keep, pyplot
from ..results_file import read_results
from .claims import KINDS, LEAST, TITLES, Rows, bias, cells, claims, of_metric, rmse
from .measure import PROTOCOLS
from .run import RESULTS

NAMES = {"naive": "plain CV", "ncv": "nested selection", "bbc": "BBC", "632+": "BBC.632+"}
COLOURS = {"naive": "#c44e52", "ncv": "#8c8c8c", "bbc": "#4c72b0", "632+": "#55a868"}
#: A bias that nobody minds.
LITTLE = 0.01
TEXT = ("kind", "metric", "data")


def advice(rows: Rows, metric: str) -> str:
    """One sentence that a user can act on."""
    here = of_metric(rows, metric)
    naive, bbc, plus = (bias(here, p)[0] for p in ("naive", "bbc", "632+"))
    said = f"plain CV is off by {naive:+.3f}, BBC by {bbc:+.3f}: "
    if abs(bbc) <= LITTLE:
        said += "report BBC"
    elif bbc > 0:
        said += "report BBC, and say that some optimism may be left"
    else:
        said += "report BBC where a careful number is wanted"
        said += f', `method="632+"` ({plus:+.3f}) otherwise' if abs(plus) < abs(bbc) else ""
    covers = {
        name: float(cells(here, lambda r, n=name: r[f"covers {n}"]).mean()) for name in ("calibrated", "percentile")
    }
    default, paper = (round(100 * covers[name]) for name in ("calibrated", "percentile"))
    if covers["calibrated"] >= LEAST:
        kept = f"the default interval holds ({default} %)"
    elif covers["percentile"] >= LEAST:
        kept = f'take `interval="percentile"` ({paper} % are covered, {default} % by the default)'
    else:
        kept = f"the interval of 95 % covers {default} % (percentile: {paper} %), "
        kept += "so ask for 99 % ([intervals](intervals.md))"
    return f"**{KINDS[here[0]['kind']]}, {TITLES[metric]}**: {said}; {kept}."


def numbers(rows: Rows) -> str:
    """Bias and RMSE of every protocol, coverage and width of both intervals, metric by metric and size by size."""
    heads = [
        "metric",
        "N",
        "sub-data sets",
        *NAMES.values(),
        "95 % covers: calibrated",
        "percentile",
        "lower bound: calibrated",
    ]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for metric, title in TITLES.items():
        every = of_metric(rows, metric)
        bands = {"up to 60": (0, 60), "61 to 150": (61, 150), "more": (151, 10**9), "all": (0, 10**9)}
        for label, (low, high) in bands.items():
            here = [row for row in every if low <= row["n"] <= high]
            if here:
                parts = [f"{bias(here, p)[0]:+.3f} / {rmse(here, p):.3f}" for p in PROTOCOLS]
                shares = [f"{np.mean([r[c] for r in here]):.2f}" for c in ("covers calibrated", "covers percentile")]
                lower = f"{np.mean([r['lower calibrated'] for r in here]):.2f}"
                lines.append("| " + " | ".join([title, label, str(len(here)), *parts, *shares, lower]) + " |")
    return "\n".join(lines)


def figure(rows: Rows) -> None:
    """Bias of every protocol, a panel for each metric, a point for each data set and size."""
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
        ax.set_ylim(-reach, reach)  # nested selection of R2 is out of any frame
        ax.set_title(f"{KINDS[here[0]['kind']]}: {title}", loc="left", fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - truth")
    keep(fig, "beyond-bias")


def page(rows: Rows, about: dict[str, Any]) -> str:
    """Give the page."""
    count = {kind: len({(r["data"], r["n"], r["sample"]) for r in rows if r["kind"] == kind}) for kind in KINDS}
    sets = {kind: len({r["data"] for r in rows if r["kind"] == kind}) for kind in KINDS}
    found = claims(rows)
    said = "\n".join(f"- {advice(rows, metric)}" for metric in TITLES)
    counted = ", ".join(f"{count[k]} of {sets[k]} sets for {title}" for k, title in KINDS.items())
    versions = ", ".join(f"{name} {about[name]}" for name in ("sober", "numpy", "scipy", "scikit-learn", "python"))
    return f"""# Does it hold beyond two classes?
The paper evaluates two classes and leaves regression and survival to others. Here they are, and many classes.

{said}

![Bias of plain CV, nested selection, BBC and .632+ for six metrics](figures/beyond-bias.svg)

A point is the mean over the sub-data sets of one data set and size, a bar the mean of the points. Up is optimistic.
The mean of nested selection for R2 lies below the frame.

## Claims
{summary(found)}. ± is two standard errors over data sets and sizes.

{as_markdown(found).replace("| the paper says |", "| what should hold |").replace("| paper |", "| wanted |", 1)}

## Numbers
Bias / RMSE of each estimate, and how often intervals of 95 % hold the truth. Squared errors are divided by the variance
of the target.

{numbers(rows)}

## How it was made
Sub-data sets ({counted}) of N = {min(int(r["n"]) for r in rows)} to {max(int(r["n"]) for r in rows)}; 23 to 25 cheap
configurations (linear, neighbours, trees, kernels; Cox models for survival); ten folds, one repeat. The truth is the
score of the winner, refitted on all N rows, on up to 3,000 rows that no model saw. They are the tables of the
[study of intervals](intervals.md). *Nested selection* selects anew without each fold among the models that are there;
nested cross-validation that trains anew is not part of this study. Where a fold is too small for a metric (the AUC of
many classes), nested selection has no number and is left out; its R2 is the mean over folds of a few rows each, which
can be far below zero, where BBC pools all rows.

The constants of the calibrated interval were chosen on these tables, of all metrics together, so its coverage here is
not that of a stranger; [intervals](intervals.md) has what leaving each set out gives.

```bash
python -m studies.beyond --data FOLDER --work FOLDER   # the results; goes on where it stopped
python -m studies.beyond.page                          # this page
```

({about["tables"]} tables; seeds are made of their names; {versions})
"""


def main() -> None:
    """Write the page and its figure."""
    rows = read_results(RESULTS, text=TEXT)
    (DOCS / "beyond.md").write_text(page(rows, json.loads(RESULTS.with_suffix(".json").read_text())))
    figure(rows)


if __name__ == "__main__":
    main()
