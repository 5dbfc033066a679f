"""`python -m studies.intervals.page`: the evidence page of intervals, from the committed results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from sobercv.inference.intervals import CROSS_VALIDATED, DOUBT, DOUBT_TUNED, FEWEST, FOLD_FREEDOM, LEARNING

from ..evidence import Evidence, Table, markdown
from ..harness import read_about, read_results
from ..pictures import keep, pyplot
from .coverage import EXCESSES, Row, choose, grouped
from .measure import LEVELS
from .run import HERE
from .words import ALTERNATIVES, DERIVED, FAILS, KINDS, METHOD, SOURCES

REAL = ("set", "n", "kind", "metric")
REPEATED = ("metric", "repeats")
SIMULATED = ("setting", "n", "metric")
EXCESS = "excess"
BOTH = ("percentile", "calibrated")


def read(name: str) -> list[dict[str, Any]]:
    """Read one of the results files."""
    return read_results(HERE / f"results-{name}.csv")


def pick(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def mean(rows: Sequence[Row], what: str) -> float:
    """Mean over tables: groups count by their tables."""
    return float(np.average([row[what] for row in rows], weights=[row["tables"] for row in rows]))


def by(rows: Sequence[Row], name: str, what: str) -> dict[Any, float]:
    """Mean of each value of a column."""
    return {key: mean(some, what) for key, some in grouped(rows, lambda row: row[name]).items()}


def relative_width(rows: Sequence[Row], level: float) -> float:
    """Width of the calibrated interval by that of percentiles: geometric mean over groups, each with its own unit."""
    key = [name for name in rows[0] if name in (*REAL, *SIMULATED)]
    paper, ours = ({tuple(row[k] for k in key): row for row in pick(rows, interval=i, level=level)} for i in BOTH)
    logs = [np.log(ours[k]["width"] / paper[k]["width"]) for k in ours if paper[k]["width"] > 0]
    return float(np.exp(np.average(logs, weights=[ours[k]["tables"] for k in ours if paper[k]["width"] > 0])))


def share(value: float) -> str:
    """A coverage without its zero."""
    return "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")


def worst(values: dict[Any, float]) -> str:
    """The smallest value, with its name."""
    name = min(values, key=lambda key: values[key])
    return f"{share(values[name])} ({name})"


def overall(rows: Sequence[Row], name: str) -> list[tuple[str, ...]]:
    """Coverage at every level, mean and worst over data sets or settings."""
    lines = []
    for level in LEVELS:
        for interval in BOTH:
            here = pick(rows, level=level, interval=interval)
            two, lower = by(here, name, "covered"), by(here, name, "lower")
            width = "1" if interval == "percentile" else f"{relative_width(rows, level):.2f}"
            means = (share(mean(here, "covered")), worst(two), share(mean(here, "lower")), share(min(lower.values())))
            lines.append((f"{100 * level:g} %", interval, *means, width))
    return lines


OVERALL = ("level", "interval", "covers", "worst set", "lower bound holds", "worst", "width")


def headline(real: Sequence[Row], simulated: Sequence[Row]) -> str:
    """Coverage of 95 % intervals, for a terminal."""
    if not real:
        return "No data set was found, so nothing is said about real data. Pass --data."
    tables = (("real data", real, "set"), ("simulation", simulated, "setting"))
    return "\n".join(
        f"{title}: " + ", ".join(f"{head} {cell}" for head, cell in zip(OVERALL, line, strict=True))
        for title, rows, name in tables
        for line in overall(rows, name)
        if line[0] == "95 %"
    )


def groups(rows: Sequence[Row], names: dict[str, str]) -> list[list[str]]:
    """Coverage and width of both intervals at every level, for each value of these columns."""
    lines = []
    for name, title in names.items():
        for key, some in sorted(grouped(rows, lambda row, n=name: row[n]).items()):
            cells = [f"{key:g}" if isinstance(key, float) else str(key)]
            cells.append(str(sum(int(row["tables"]) for row in pick(some, interval="calibrated", level=0.95))))
            for what in ("covered", "lower"):
                cells += [f"{mean(pick(some, interval=i, level=x), what):.3f}" for i in BOTH for x in LEVELS]
            lines.append([title, *cells, f"{relative_width(some, 0.95):.2f}"])
    return lines


GROUPS = ["by", "value", "intervals"] + [
    f"{what} {100 * x:g} %: {i}" for what in ("covers", "lower bound holds") for i in BOTH for x in LEVELS
]
GROUPS.append("width, calibrated by percentile")


def left_out(rows: Sequence[Row]) -> dict[str, float]:
    """Coverage of each data set with the constant that the others would have chosen."""
    covered = {}
    for name in grouped(rows, lambda row: row["set"]):
        (row,) = pick(rows, set=name, excess=choose(rows, without=name))
        covered[name] = row["covered 0.95"]
    return covered


def tried(rows: Sequence[Row]) -> Table:
    """What each value of the constant gives, mean over data sets."""
    lines = []
    for excess in EXCESSES:
        here = pick(rows, excess=excess)
        cells = [
            f"{np.mean([row[f'{what} {x:g}'] for row in here]):.3f}" for x in LEVELS for what in ("covered", "lower")
        ]
        lines.append([f"{excess:g}", *cells, share(min(row["covered 0.95"] for row in here))])
    heads = ["factor", *(f"{100 * x:g} % {what}" for x in LEVELS for what in ("covers", "lower")), "worst set, 95 %"]
    return Table("intervals-factor", "coverage for other values of the factor 1.2", heads, lines)


def alternatives(rows: Sequence[Row]) -> str:
    """The lower bound by maxT, and a factor that is estimated from the table at hand."""
    by_set = grouped([row for row in rows if row["repeated tables"]], lambda row: row["set"])
    factors = [[mean(some, f"factor of {what}") for some in by_set.values()] for what in ("repeats", "the truth")]
    holds = by(rows, "set", "maxT holds")
    return ALTERNATIVES.format(
        maxT=share(float(np.mean(list(holds.values())))), worst=worst(holds), low=min(factors[0]),
        high=max(factors[0]), sets=len(by_set), agree=stats.spearmanr(*factors).statistic,
    )  # fmt: skip


def repeats(rows: Sequence[Row]) -> str:
    """What five repeats change."""
    one, five = (pick(rows, repeats=r, interval="calibrated", level=0.95) for r in (1, 5))
    width = [mean([row for row in some if row["metric"] in KINDS["share"]], "width") for some in (one, five)]
    return (
        f"Five repeats narrow the interval of shares from {width[0]:.3f} to {width[1]:.3f} and cover "
        f"{share(mean(five, 'covered'))} instead of {share(mean(one, 'covered'))}: repeats share the rows, and what "
        "all models owe to these rows stays."
    )


def figure(rows: Sequence[Row]) -> None:
    """Coverage of both 95 % intervals by data set."""
    plt = pyplot()
    found = {i: by(pick(rows, interval=i, level=0.95), "set", "covered") for i in BOTH}
    names = sorted(found["calibrated"], key=lambda name: found["calibrated"][name])
    fig, ax = plt.subplots(figsize=(9, 8))
    for interval, colour in zip(BOTH, ("#c44e52", "#4c72b0"), strict=True):
        ax.plot([found[interval][name] for name in names], range(len(names)), "o", color=colour, label=interval)
    ax.axvline(0.95, color="0.4", lw=0.8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_xlabel("share of 95 % intervals that hold the true score")
    ax.legend(frameon=False, loc="upper left")
    keep(fig, "intervals")


def evidence() -> Evidence:
    """The page."""
    real, simulated, excess = read("real"), read("simulated"), read(EXCESS)
    about = read_about(HERE / "results-real.csv")
    covered = left_out(excess)
    ours, paper = (pick(real, interval=i, level=0.95) for i in ("calibrated", "percentile"))
    sets, settings = (by(ours, "set", "covered"), {r["setting"] for r in simulated})
    sizes = sorted({int(row["n"]) for row in real})
    constants = {
        "excess": CROSS_VALIDATED, "doubt": DOUBT, "tuned": DOUBT_TUNED, "fewest": FEWEST, "folds": FOLD_FREEDOM,
        "learning": LEARNING,
    }  # fmt: skip
    simulated_95 = worst(by(pick(simulated, interval="calibrated", level=0.95), "setting", "covered"))
    text = f"""{markdown(OVERALL, overall(real, "set"))}

Width is relative to the percentile interval.
{about["tables"]:,} sub-samples of {len(sets)} real data sets ({sizes[0]} to {sizes[-1]} rows, 23 to 27
configurations, ten folds), each judged by the metrics of its kind; the truth is the score of the refitted winner on up
to 3,000 rows that no model saw, and its own standard error is allowed for. In {len(settings)} simulated settings the
worst 95 % coverage is {simulated_95}. With the constant chosen on the other data sets, the mean over sets is
{share(float(np.mean(list(covered.values()))))} and the worst {worst(covered)}. {repeats(read("repeats"))}

{FAILS}

## How the interval is made
{DERIVED.format(**constants)}

## Where its constants come from
{METHOD.format(**constants)}

{alternatives(read("alternatives"))}"""
    return Evidence(
        name="intervals",
        title="Do the intervals cover?",
        answer=(
            f"On {len(sets)} real data sets the default 95 % interval holds the true score of the winner in "
            f"{100 * mean(ours, 'covered'):.1f} % of the cases (worst set: {100 * min(sets.values()):.1f} %). The "
            f"paper's percentile interval covers {100 * mean(paper, 'covered'):.1f} % (worst: "
            f"{100 * min(by(paper, 'set', 'covered').values()):.1f} %) and is "
            f"{1 / relative_width(real, 0.95):.2f} times as wide."
        ),
        figure="Coverage of calibrated and percentile intervals by data set, around 95 %",
        text=text,
        tables=(
            Table("intervals", "by metric, size and data set", GROUPS,
                  groups(real, {"metric": "metric", "n": "samples", "set": "data set"})),
            Table("intervals-simulated", "by simulated setting", GROUPS, groups(simulated, {"setting": "setting"})),
            tried(excess),
            Table("intervals-sets", "where the data sets come from", ("source", "sets"), SOURCES),
        ),
        commands="""
python -m studies.intervals --data FOLDER --work FOLDER        # the results
python -m studies.intervals.alternatives --work FOLDER
python -m studies.intervals.page                               # this page""",
        about=about,
    )  # fmt: skip


def write_page() -> None:
    """Write the page and its figure."""
    figure(read("real"))
    evidence().write()


if __name__ == "__main__":
    write_page()
