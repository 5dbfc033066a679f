"""`python -m studies.simulation.page`: make docs/simulation.md and its figure from the committed results.

Takes `results.csv`, gives a page and a picture; runs no simulation.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from ..claims import as_markdown
from ..pictures import DOCS, keep, pyplot
from ..results_file import read_results
from .claims import Rows, claims, column
from .run import HERE

PANELS = (("naive", "CVT: plain CV"), ("tt", "TT"), ("ncv", "NCV: nested CV"), ("bbc", "BBC-CV"), ("bced", "BCED-CV"))


def figure(rows: Rows) -> None:
    """The paper's figure 1: bias against sample size, a line for each number of configurations, accuracy 0.6."""
    plt = pyplot()
    hard = [row for row in rows if row["a"] == 9]
    samples = sorted({int(r["n"]) for r in hard})
    sizes = sorted({int(r["c"]) for r in hard})
    shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(sizes)))
    extra = (("bbc-f", "BBC-F"), ("632+", "BBC.632+"))
    fig, axes = plt.subplots(2, 4, figsize=(13, 6), sharex=True, sharey=True)
    for ax, (protocol, title) in zip(axes.flat, (*PANELS, *extra), strict=False):
        for c, shade in zip(sizes, shades, strict=True):
            line = [next(r[f"bias {protocol}"] for r in hard if r["n"] == n and r["c"] == c) for n in samples]
            ax.plot(range(len(samples)), line, color=shade, marker="o", ms=3, lw=1.2, label=f"{c}")
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_xticks(range(len(samples)), samples)
    axes.flat[-1].axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].legend(handles, labels, title="configurations", ncol=2, loc="center", frameon=False)
    for ax in axes[:, 0]:
        ax.set_ylabel("estimate - truth (accuracy)")
    for ax in axes[1, :3]:
        ax.set_xlabel("samples")
    keep(fig, "simulation")


#: Setting by setting: what .632+ has more of than another protocol, in thousandths of accuracy (coverage: in percent).
CONTESTS: tuple[tuple[str, Callable[[dict[str, float]], float]], ...] = (
    ("|bias|, .632+ minus BBC", lambda r: 1000 * (abs(r["bias 632+"]) - abs(r["bias bbc"]))),
    ("|bias|, .632+ minus NCV", lambda r: 1000 * (abs(r["bias 632+"]) - abs(r["bias ncv"]))),
    ("RMSE, .632+ minus BBC", lambda r: 1000 * (r["rmse 632+"] - r["rmse bbc"])),
    ("RMSE, .632+ minus NCV", lambda r: 1000 * (r["rmse 632+"] - r["rmse ncv"])),
    ("cover of 95 %, .632+, minus 95", lambda r: 100 * r["covered 632+ 0.95"] - 95),
)


def contest_figure(rows: Rows) -> None:
    """Where .632+ is better (blue) and where it is not (red), for each of the 196 settings."""
    plt = pyplot()
    betas = sorted({(int(r["a"]), int(r["b"])) for r in rows})
    samples, sizes = sorted({int(r["n"]) for r in rows}), sorted({int(r["c"]) for r in rows})
    at = {(r["a"], r["n"], r["c"]): r for r in rows}
    fig, axes = plt.subplots(len(CONTESTS), len(betas), figsize=(13, 15), sharex=True, sharey=True)
    for line, (title, measure) in zip(axes, CONTESTS, strict=True):
        # Too little cover is bad, where too much of the others is: blue is always the better side.
        sign = -1 if title.startswith("cover") else 1
        values = [np.array([[measure(at[a, n, c]) for n in samples] for c in sizes]) for a, _ in betas]
        reach = max(3.0, max(np.abs(v).max() for v in values) / 2)
        for ax, (a, b), grid in zip(line, betas, values, strict=True):
            ax.imshow(sign * grid, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
            for i, j in np.ndindex(grid.shape):
                shade = "white" if abs(grid[i, j]) > 0.7 * reach else "0.15"
                ax.text(j, i, f"{grid[i, j]:+.0f}", ha="center", va="center", fontsize=7, color=shade)
            ax.set_title(f"{title}\naccuracy {a / (a + b):.1f}", loc="left", fontsize=9)
            ax.set_xticks(range(len(samples)), samples)
            ax.set_yticks(range(len(sizes)), sizes)
    for ax in axes[:, 0]:
        ax.set_ylabel("configurations")
    for ax in axes[-1]:
        ax.set_xlabel("samples")
    keep(fig, "simulation-632")


def by_samples(rows: Rows) -> str:
    """Bias, RMSE and coverage of NCV, BBC and .632+ by sample size."""
    head = "| N | CVT | NCV | BBC | BBC-F | .632+ | coverage of 95 %: BBC | BBC-F | .632+ | BCED |"
    lines = [head, "|" + " --- |" * 10]
    for n in sorted({r["n"] for r in rows}):
        part = [r for r in rows if r["n"] == n]
        cells = [
            f"{np.abs(column(part, f'bias {p}')).mean():.4f} / {column(part, f'rmse {p}').mean():.4f}"
            for p in ("naive", "ncv", "bbc", "bbc-f", "632+")
        ]
        cells += [f"{column(part, f'covered {p} 0.95').mean():.3f}" for p in ("bbc", "bbc-f", "632+", "bced")]
        lines.append(f"| {n:.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cover(rows: Rows) -> str:
    """Coverage of the 95 % intervals of BBC and .632+ by sample size and distribution."""
    betas = sorted({(r["a"], r["b"]) for r in rows})
    lines = [
        "| N | " + " | ".join(f"accuracy {a / (a + b):.1f}" for a, b in betas) + " |",
        "|" + " --- |" * (1 + len(betas)),
    ]
    for n in sorted({r["n"] for r in rows}):
        cells = []
        for a, _ in betas:
            part = [r for r in rows if r["n"] == n and r["a"] == a]
            cells.append(" / ".join(f"{column(part, f'covered {p} 0.95').mean():.3f}" for p in ("bbc", "632+")))
        lines.append(f"| {n:.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def where_plus_loses(rows: Rows) -> str:
    """Say in how many settings .632+ is not better, and which."""
    worse = [r for r in rows if abs(r["bias 632+"]) > abs(r["bias bbc"])]
    against = [r for r in rows if abs(r["bias 632+"]) > abs(r["bias ncv"])]
    optimistic = [r for r in rows if r["bias 632+"] > 2 * r["se 632+"]]
    wider = [r for r in rows if r["rmse 632+"] > r["rmse bbc"]]
    return (
        f"Of {len(rows)} settings, .632+ has a larger |bias| than BBC in {len(worse)}, a larger |bias| than NCV in "
        f"{len(against)}, and a larger RMSE than BBC in {len(wider)}. It is significantly optimistic in "
        f"{len(optimistic)}; BBC in {sum(r['bias bbc'] > 2 * r['se bbc'] for r in rows)}. Its RMSE is smaller "
        f"than that of NCV in {sum(r['rmse 632+'] < r['rmse ncv'] for r in rows)} of {len(rows)} settings."
    )


def main() -> None:
    """Write the page and the figure."""
    rows = read_results(HERE / "results.csv")
    versions = json.loads((HERE / "results.json").read_text())
    figure(rows)
    contest_figure(rows)
    listed = ", ".join(f"{k} {v}" for k, v in versions.items())
    page = f"""# The paper's simulation, re-made
196 settings (7 sample sizes, 7 numbers of configurations, 4 Beta distributions), {rows[0]["repetitions"]:.0f}
repetitions each, K = 10, B = 1000. Made by `python -m studies.simulation`, which gives the same bits for the same seed,
and turned into this page by `python -m studies.simulation.page`. ({listed})

## Claims
{as_markdown(claims(rows))}

## Bias by sample size (accuracy 0.6)
![Bias of every protocol](figures/simulation.svg)

## Where .632+ stands
Mean |bias| / mean RMSE over all configurations and distributions, and the coverage of the 95 % intervals:

{by_samples(rows)}

{where_plus_loses(rows)}

Setting by setting, in thousandths of accuracy (coverage in percent); blue is where .632+ does better, or covers what it
promises at least:

![.632+ against BBC and NCV in all settings](figures/simulation-632.svg)

Coverage of the 95 % intervals, BBC / .632+, mean over the numbers of configurations:

{cover(rows)}

From N = 100 on the intervals are conservative, but for few samples and easy problems they are too narrow, which the
paper's section 6.1 does not look at: with N = 20 and a mean accuracy of 0.9 some configuration is right on every sample
of most resamples and on those left out as well, so that all draws are 1 and the interval has no width. Neither BBC nor
.632+ can see what no sample shows.

The simulation draws predictions independently of each other and of any training data. Real predictions share training
data, which carries optimism that the simulation does not have: see [decisions](decisions.md).
"""
    (DOCS / "simulation.md").write_text(page)


if __name__ == "__main__":
    main()
