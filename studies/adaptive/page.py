"""`python -m studies.adaptive.page`: the evidence page of adaptive search, from the committed results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..evidence import Evidence, Table, markdown
from ..harness import read_about, read_results
from ..pictures import keep, pyplot

HERE = Path(__file__).parent
Rows = Sequence[dict[str, Any]]
CLAIMS = {
    "naive chance": "random, plain CV", "bbc chance": "random, BBC", "naive all": "TPE, plain CV",
    "bbc all": "TPE, BBC", "apart half": "TPE, `propose_from=0.5`",
}  # fmt: skip
SHOWN_TRIALS = 200


def bias_lines(rows: Rows) -> list[tuple[str, ...]]:
    """The bias of every claim, by samples and trials."""
    return [
        (
            f"{row['n']:.0f}",
            f"{row['trials']:.0f}",
            *(f"{row[f'bias {claim}']:+.3f} ± {row[f'se {claim}']:.3f}" for claim in CLAIMS),
        )
        for row in rows
    ]


def all_rows(rows: Rows, real: Rows) -> Table:
    """Bias, coverage, width and error of every claim, simulated and real."""
    whats = ("bias", "se", "rmse", "covered", "width")
    pairs = [(what, claim) for claim in CLAIMS for what in whats if f"{what} {claim}" in rows[0]]
    heads = ["tables", "samples", "trials", "problems", *(f"{what} {claim}" for what, claim in pairs)]
    heads += ["truth of the winner, all samples propose", "half of the samples propose"]
    lines = []
    for kind, some in (("simulated", rows), ("real", real)):
        for row in some:
            cells = [f"{row[f'{what} {claim}']:.4f}" for what, claim in pairs]
            truths = [f"{row[f'truth {who}']:.4f}" for who in ("all", "half")]
            lines.append([kind, *(f"{row[k]:.0f}" for k in ("n", "trials", "repetitions")), *cells, *truths])
    return Table("adaptive", "bias, coverage, width and error in every setting, simulated and real", heads, lines)


def figure(rows: Rows) -> None:
    """Bias against the number of samples, one panel per claim about TPE and one for random search."""
    plt = pyplot()
    fig, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True)
    sizes = sorted({row["n"] for row in rows})
    for ax, claim in zip(axes, ("naive all", "bbc all", "apart half", "bbc chance"), strict=True):
        for trials, shade in zip((50, 200, 1000), ("#9ecae1", "#4292c6", "#08519c"), strict=True):
            here = {row["n"]: row for row in rows if row["trials"] == trials}
            values, errors = ([here[n][f"{what} {claim}"] for n in sizes] for what in ("bias", "se"))
            ax.errorbar(range(len(sizes)), values, errors, color=shade, marker="o", ms=3, lw=1.2, label=f"{trials}")
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(CLAIMS[claim].replace("`", ""), loc="left", fontsize=11)
        ax.set_xticks(range(len(sizes)), [f"{n:.0f}" for n in sizes])
        ax.set_xlabel("samples")
    axes[0].set_ylabel("estimate - truth (accuracy)")
    axes[-1].legend(title="trials", frameon=False)
    keep(fig, "adaptive")


def evidence() -> Evidence:
    """The page."""
    rows, real = read_results(HERE / "results.csv"), read_results(HERE / "results-real.csv")
    about = read_about(HERE / "results.csv")
    hard = next(row for row in rows if (row["n"], row["trials"]) == (100, SHOWN_TRIALS))
    wider = [row["width apart half"] / row["width bbc all"] for row in rows]
    cost = max(row["truth all"] - row["truth half"] for row in rows)
    heads = ("samples", "trials", *CLAIMS.values())
    text = f"""Bias of accuracy, simulated, with its standard error:

{markdown(heads, bias_lines([row for row in rows if row["trials"] == SHOWN_TRIALS]))}

Real data (sub-samples of six sets, a kernel classifier with three parameters):

{markdown(heads, bias_lines(real))}

TPE and other samplers that learn propose each trial by the scores of earlier ones on the same samples, so
their trials fit these samples better than new ones. The bootstrap corrects for having picked the best trial, not for
having proposed them: what stays grows with the number of trials and shrinks with the number of samples. Note W811
quotes the number nearest to the size of your study.

**The remedy.** With `Objective(..., propose_from=0.5)` the sampler sees the scores of every other fold
only; all samples select the winner, and those that the sampler has not seen judge it. That needs no extra fit. The
interval is {min(wider):.1f} to {max(wider):.1f} times as wide, and the sampler learns from half of the samples, which
costs at most {cost:.3f} of true accuracy here.

**Not corrected:** what a person learns from earlier scores when writing the next grid.

## What was done
Simulated problems have three parameters and a known true accuracy at every point (flat, a gentle hill, a
steep one); neighbouring points predict alike. The proposer is a tree-structured Parzen estimator like Optuna's default.
{rows[0]["repetitions"]:.0f} problems per row, {about["bootstraps"]} resamples. The truth on real data is the accuracy
on 1,500 other rows; there are few problems per row, so standard errors are large."""
    return Evidence(
        name="adaptive",
        title="Adaptive search: Optuna and Bayesian optimisation",
        answer=(
            f"With 100 samples and {SHOWN_TRIALS} TPE trials, plain CV claims {hard['bias naive all']:.3f} of accuracy "
            f"too much. BBC leaves {hard['bias bbc all']:+.3f} of it, and `propose_from=0.5` leaves "
            f"{hard['bias apart half']:+.3f}. Under random search BBC is right."
        ),
        figure="Bias against samples for plain CV, BBC and propose_from=0.5 under TPE, and for BBC under random search",
        text=text,
        tables=(all_rows(rows, real),),
        commands="""
python -m studies.adaptive --with-1000 100 --data FOLDER --samples 4   # the results
python -m studies.adaptive.page                                        # this page""",
        about=about,
    )


def main() -> None:
    """Write the page and its figure."""
    figure(read_results(HERE / "results.csv"))
    evidence().write()


if __name__ == "__main__":
    main()
