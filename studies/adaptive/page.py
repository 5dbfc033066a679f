"""docs/adaptive.md, made of the committed results.

Takes `results.csv` and `results-real.csv`, gives a page; runs no simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..pictures import DOCS

Rows = Sequence[dict[str, Any]]

HEAD = """# Adaptive search: when the tuner learns from scores
A bootstrap of the predictions corrects for having picked the best of many trials. It takes the trials as given. TPE,
Bayesian optimisation and other samplers that learn choose each trial by the scores of the earlier ones, on the same
samples: they climb hills that are noise, and their trials suit these samples better than others. How much of that is
left after the correction, and what mends it, is measured here.

## What was done
Problems are simulated: three parameters, a true accuracy that is known at every point (flat at .7, a gentle hill, a
steep one), and samples that neighbouring points predict alike, as neighbouring hyper-parameters do. A tree-structured
Parzen estimator in the form of Optuna's default proposes the trials. The bias is the claim minus the true accuracy of
the winner, the mean over the three shapes, with its standard error.

- **chance**: trials by random search.
- **TPE, naive** and **TPE, BBC**: the proposer looks at the scores of all samples, as everybody does.
- **TPE, apart**: the proposer looks at the scores of half of the samples. All samples select the winner; a resample's
  winner is judged by absent samples of the other half. `Objective(..., propose_from=0.5)`, see [Optuna](optuna.md).
"""

TAIL = """
## What it says
- Under random search BBC does what it promises. Under TPE it takes away most of the optimism, and what stays grows
  with the number of trials and shrinks with the number of samples. The note W811 quotes the number of this table that
  is nearest to the size at hand; for a table of another tuner the same numbers stand above.
- Judging apart is unbiased here by construction: given the half that was looked at, the trials are fixed, and the
  other half is a fresh sample. (Models of a real cross-validation that predict one half were also trained on rows of
  the other. That thin link is not simulated.) It needs no extra fit. Its cost: the interval is that of half of the
  samples, 1.3 to 1.6 times as wide (and, as the paper's percentiles are, wider than it must be), and the proposer
  learns from half as much, which costs at most .002 of true accuracy here.
- On real data the order is the same: plain cross-validation claims most, BBC a little too much under TPE, and judging
  apart and random search next to nothing. There are few problems in each row, so that the standard errors are large.
- Not corrected: what a human learns from earlier scores when writing the next grid. The note cannot know of it.

Only accuracy was studied. Remake it with `python -m studies.adaptive --with-1000 100 --data FOLDER --real 4`, which
goes on where it was stopped and writes this page (`--with-1000 0` leaves 1,000 trials out, which take most of the time;
`--summarise` takes what is there).
"""

REAL = """

## Real data
Sub-samples of six real sets; 200 trials; three parameters of a kernel classifier (width, penalty, how many features are
kept), ten folds. The truth is the accuracy of the winner, trained on the whole sub-sample, on 1,500 other rows.

"""


def page(rows: Rows, real: Rows, about: dict[str, Any]) -> str:
    """Give the page."""
    parts = [HEAD, "\n## Bias\n", bias_table(rows), wanted(rows), "\n\n## Intervals and cost\n", cost_table(rows)]
    parts += [REAL, bias_table(real), "\n", TAIL]
    seed = f"\nSeed {about['seed']}, {about['bootstraps']} resamples a table, sober {about['sober']}.\n"
    return "".join([*parts, seed])


def wanted(rows: Rows) -> str:
    """Say where the mended way is as good as was asked for: at most .01 off where BBC is .02 or more."""
    asked = [row for row in rows if round(row["bias bbc all"], 2) >= 0.02]
    missed = [row for row in asked if round(abs(row["bias apart half"]), 3) > 0.01]
    sure = [row for row in asked if abs(row["bias apart half"]) + 2 * row["se apart half"] <= 0.01]
    text = (
        f"\n\nWanted of judging apart: at most .01 off where BBC is off by .02 or more. Its mean is in "
        f"{len(asked) - len(missed)} of {len(asked)} rows"
    )
    for row in missed:
        off = f"{row['bias apart half']:+.3f} ± {row['se apart half']:.3f}"
        text += f" (not with {row['trials']:.0f} trials on {row['n']:.0f} samples: {off}, which may be chance)"
    return f"{text}; two standard errors leave no doubt of it in {len(sure)}."


def bias_table(rows: Rows) -> str:
    """The bias of every claim, by samples and trials."""
    lines = [
        "| samples | trials | problems | chance, naive | chance, BBC | TPE, naive | TPE, BBC | TPE, apart |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    claims = ("naive chance", "bbc chance", "naive all", "bbc all", "apart half")
    for row in rows:
        cells = [f"{row[f'bias {claim}']:+.3f} ± {row[f'se {claim}']:.3f}" for claim in claims]
        lines.append(f"| {row['n']:.0f} | {row['trials']:.0f} | {row['repetitions']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cost_table(rows: Rows) -> str:
    """How often 95 % intervals cover, how wide they are, and how good the winners are."""
    lines = [
        "| samples | trials | BBC covers | apart covers | BBC, width | apart, width | RMSE, BBC | RMSE, apart "
        "| winner's truth, all propose | half proposes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = [
            f"{row[f'{what} {claim}']:.3f}"
            for what in ("covered", "width", "rmse")
            for claim in ("bbc all", "apart half")
        ]
        truths = f"{row['truth all']:.4f} | {row['truth half']:.4f}"
        lines.append(f"| {row['n']:.0f} | {row['trials']:.0f} | {' | '.join(cells)} | {truths} |")
    return "\n".join(lines)


def write_page(rows: Rows, real: Rows, about: dict[str, Any]) -> None:
    """Write the page."""
    (DOCS / "adaptive.md").write_text(page(rows, real, about))
