"""`python -m studies.intervals.page`: make docs/intervals.md from the committed results; judges nothing.

Takes the three results files of the study, gives a page: what was promised, what was found, where it fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from sobercv.inference.intervals import CROSS_VALIDATED, DOUBT, DOUBT_TUNED, FEWEST, FOLD_FREEDOM, LEARNING

from ..pictures import DOCS
from ..results_file import read_results
from .coverage import EXCESSES, Row, choose, grouped
from .measure import LEVELS
from .run import HERE
from .words import ABOUT, ALTERNATIVES, DERIVED, FAILS, KINDS, METHOD, SOURCES

REAL = ("set", "n", "kind", "metric")
REPEATED = ("metric", "repeats")
SIMULATED = ("setting", "n", "metric")
EXCESS = "excess"
TEXT = ("set", "setting", "kind", "metric", "interval")
BOTH = ("percentile", "calibrated")


def read(name: str) -> list[dict[str, Any]]:
    """Read one of the results files."""
    return read_results(HERE / f"results-{name}.csv", text=TEXT)


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


# ---- tables ----------------------------------------------------------------------------------------------------------
def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    return "\n".join(["| " + " | ".join(r) + " |" for r in (heads, ["---"] * len(heads), *lines)])


def share(value: float) -> str:
    """A coverage without its zero."""
    return "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")


def overall(rows: Sequence[Row], name: str) -> str:
    """Coverage at every level, mean and worst over data sets or settings."""
    lines = []
    for level in LEVELS:
        for interval in BOTH:
            here = pick(rows, level=level, interval=interval)
            two, lower = by(here, name, "covered"), by(here, name, "lower")
            lines.append(
                (
                    f"{100 * level:g} %",
                    interval,
                    share(mean(here, "covered")),
                    share(float(np.mean(list(two.values())))),
                    f"{share(min(two.values()))} ({min(two, key=two.get)})",  # type: ignore[arg-type]
                    share(mean(here, "lower")),
                    f"{share(min(lower.values()))} ({min(lower, key=lower.get)})",  # type: ignore[arg-type]
                    "1" if interval == "percentile" else f"{relative_width(rows, level):.2f}",
                )
            )
    what = "sets" if name == "set" else "settings"
    heads = ("level", "interval", "covers, all tables", f"mean of {what}", "worst", "lower bound holds", "worst")
    return table((*heads, "width"), lines)


def side_by_side(rows: Sequence[Row], name: str, title: str, worst_first: bool = False) -> str:
    """95 %, and the calibrated interval at the other levels, for each value of a column."""
    lines = []
    groups = grouped(rows, lambda row: row[name])
    order = sorted(groups)
    if worst_first:
        order.sort(key=lambda key: mean(pick(groups[key], interval="calibrated", level=0.95), "covered"))
    for key in order:
        some = groups[key]
        paper, ours = (pick(some, interval=i, level=0.95) for i in BOTH)
        lines.append(
            (
                f"{key:g}" if isinstance(key, float) else str(key),
                str(sum(int(row["tables"]) for row in ours)),
                share(mean(paper, "covered")),
                share(mean(ours, "covered")),
                share(mean(ours, "as measured")),
                share(mean(paper, "lower")),
                share(mean(ours, "lower")),
                f"{relative_width(some, 0.95):.2f}",
                " ".join(share(mean(pick(some, interval="calibrated", level=x), "covered")) for x in (0.8, 0.9, 0.99)),
            )
        )
    heads = (
        title,
        "intervals",
        "percentile",
        "calibrated",
        "calibrated, as measured",
        "lower: percentile",
        "lower: calibrated",
    )
    return table((*heads, "width", "calibrated at 80, 90, 99 %"), lines)


def left_out(rows: Sequence[Row]) -> tuple[str, dict[str, float]]:
    """Each data set with the constant that the others would have chosen; its coverage by set."""
    chosen = {name: choose(rows, without=name) for name in grouped(rows, lambda row: row["set"])}
    lines, covered = [], {}
    for excess in sorted(set(chosen.values())):
        names = [name for name in chosen if chosen[name] == excess]
        here = [row for row in rows if row["set"] in names and row["excess"] == excess]
        covered |= {row["set"]: row["covered 0.95"] for row in here}
        two, lower = (float(np.mean([row[f"{what} 0.95"] for row in here])) for what in ("covered", "lower"))
        shown = "all others" if len(names) > len(chosen) / 2 else ", ".join(sorted(names))
        lines.append((f"{excess:g}", str(len(names)), shown, share(two), share(lower)))
    heads = ("chosen without the set", "sets", "which", "covers, mean of these sets", "lower bound holds")
    return table(heads, lines), covered


def tried(rows: Sequence[Row]) -> str:
    """What each value of the constant would give."""
    lines = []
    for excess in EXCESSES:
        here = pick(rows, excess=excess)
        cells = [
            f"{np.mean([row[f'{what} {x:g}'] for row in here]):.3f}" for x in LEVELS for what in ("covered", "lower")
        ]
        worst = min(row["covered 0.95"] for row in here)
        lines.append((f"{excess:g}", *(c.lstrip("0") for c in cells), share(worst)))
    heads = [f"{100 * x:g} % {what}" for x in LEVELS for what in ("covers", "lower")]
    return table(("factor", *heads, "worst set, 95 %"), lines)


# ---- verdicts --------------------------------------------------------------------------------------------------------
def verdicts(real: Sequence[Row], simulated: Sequence[Row]) -> list[tuple[str, str, str, bool]]:
    """What was promised beforehand, what was found, and whether that is met."""
    ours, made = pick(real, interval="calibrated", level=0.95), pick(simulated, interval="calibrated", level=0.95)
    found = []
    for what, words in (("covered", "two-sided 95 %"), ("lower", "lower bound of 95 %")):
        sets = by(ours, "set", what)
        worst = min(sets, key=sets.get)  # type: ignore[arg-type]
        value = mean(ours, what)
        found.append((f"real data, {words}: covers, overall", ".93 to .97", share(value), 0.93 <= value <= 0.97))
        found.append(
            (f"real data, {words}: worst set", "at least .90", f"{share(sets[worst])} ({worst})", sets[worst] >= 0.9)
        )
    width = relative_width(real, 0.95)
    found.append(("real data: width, by that of percentiles", "at most 1", f"{width:.2f}", width <= 1))
    settings = by(made, "setting", "covered")
    worst = min(settings, key=settings.get)  # type: ignore[arg-type]
    found.append(
        ("simulation: worst setting", "at least .92", f"{share(settings[worst])} ({worst})", settings[worst] >= 0.92)
    )
    small = [row for row in made if row["setting"].startswith("accuracy n=20 ") and "level=0.9 " in row["setting"]]
    if small:
        least = min(row["covered"] for row in small)
        found.append(("simulation: N = 20, accuracy .9", "at least .93", share(least), least >= 0.93))
    return found


def headline(real: Sequence[Row], simulated: Sequence[Row]) -> str:
    """What was promised and what was found, for a terminal."""
    if not real:
        return "No data set is at hand: nothing is said of real data. Pass --data."
    lines = [
        f"{'met   ' if met else 'MISSED'}  {what}: {wanted}; {got}"
        for what, wanted, got, met in verdicts(real, simulated)
    ]
    return "\n".join(lines)


def default(real: Sequence[Row]) -> str:
    """Which interval is closer to what it promises: in the mean, and in the worst data set."""
    found = {}
    for interval in BOTH:
        sets = by(pick(real, interval=interval, level=0.95), "set", "covered")
        found[interval] = (abs(float(np.mean(list(sets.values()))) - 0.95), max(abs(v - 0.95) for v in sets.values()))
    (paper_mean, paper_worst), (our_mean, our_worst) = found["percentile"], found["calibrated"]
    return (
        "The default is the interval that is closer to what it promises, in the mean and in the worst data set. At "
        f"95 % the mean over data sets is {our_mean:.3f} off for the calibrated interval and {paper_mean:.3f} for the "
        f"percentile interval; the worst data set is {our_worst:.3f} off and {paper_worst:.3f}."
    )


def write_page() -> None:
    """Write docs/intervals.md."""
    one, simulated, excess = read("real"), read("simulated"), read(EXCESS)
    about = json.loads((HERE / "results-real.json").read_text())
    loo, covered = left_out(excess)
    sizes = sorted({int(row["n"]) for row in one})
    verdict = [(what, wanted, got, "yes" if met else "**no**") for what, wanted, got, met in verdicts(one, simulated)]
    parts = [
        "# Do intervals keep their promise?",
        ABOUT.format(
            tables=f"{about['tables']:,}",
            sets=len({r["set"] for r in one}),
            low=sizes[0],
            high=sizes[-1],
            settings=len({r["setting"] for r in simulated}),
            repetitions=about["repetitions"],
            versions=", ".join(f"{k} {about[k]}" for k in ("sober", "numpy", "scipy", "scikit-learn", "python")),
        ),
        "## What was promised, and what was found",
        table(("promise", "wanted", "found", "met"), verdict),
        default(one),
        "## How the calibrated interval is made",
        DERIVED.format(
            excess=CROSS_VALIDATED, doubt=DOUBT, tuned=DOUBT_TUNED, fewest=FEWEST, folds=FOLD_FREEDOM, learning=LEARNING
        ),
        "## Real data, all levels",
        overall(one, "set"),
        "## Real data, by metric",
        side_by_side(one, "metric", "metric"),
        "## Real data, by size",
        side_by_side(one, "n", "N"),
        "## Real data, by data set",
        side_by_side(one, "set", "data set", worst_first=True),
        FAILS,
        "## The constants, each chosen on other data",
        METHOD.format(excess=CROSS_VALIDATED, doubt=DOUBT),
        tried(excess),
        "Each data set judged with the factor that the other sets choose:",
        loo,
        _loo_words(covered),
    ]
    parts += ["## What repeats buy", _repeats(read("repeats"))]
    parts += ["## What else was tried", alternatives(read("alternatives"))]
    parts += [
        "## Simulated tables, all levels",
        overall(simulated, "setting"),
        "## Simulated tables, by setting",
        side_by_side(simulated, "setting", "setting", worst_first=True),
        SOURCES,
    ]
    (DOCS / "intervals.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _loo_words(covered: dict[str, float]) -> str:
    worst = min(covered, key=covered.get)  # type: ignore[arg-type]
    return (
        "So the mean over data sets, none of which had a say in its own constant, is "
        f"{share(float(np.mean(list(covered.values()))))}, the worst set {share(covered[worst])} ({worst})."
    )


def alternatives(rows: Sequence[Row]) -> str:
    """The lower bound by maxT, and a factor that is estimated from the table at hand."""
    bounds = ("calibrated", "maxT", "maxT, with the factor")
    lines = []
    for n, some in sorted(grouped(rows, lambda row: row["n"]).items()):
        cells = [f"{mean(some, f'{bound} is off'):.3f}" for bound in bounds]
        held = [share(mean(some, f"{bound} holds")) for bound in bounds]
        lines.append((f"{n:g}", *(cell for pair in zip(held, cells, strict=True) for cell in pair)))
    heads = [head for bound in bounds for head in (f"{bound}: holds", "is off by")]
    by_set = grouped([row for row in rows if row["repeated tables"]], lambda row: row["set"])
    factors = [[mean(some, f"factor of {what}") for some in by_set.values()] for what in ("repeats", "the truth")]
    worst = by(rows, "set", "maxT holds")
    words = ALTERNATIVES.format(
        maxT=share(float(np.mean(list(worst.values())))), worst=share(min(worst.values())),
        name=min(worst, key=worst.get), low=min(factors[0]), high=max(factors[0]), sets=len(by_set),  # type: ignore[arg-type]
        agree=stats.spearmanr(*factors).statistic,
    )  # fmt: skip
    return f"{words}\n\n{table(('N', *heads), lines)}"


def _repeats(rows: Sequence[Row]) -> str:
    lines = []
    for repeats in sorted({row["repeats"] for row in rows}):
        for interval in BOTH:
            here = pick(rows, repeats=repeats, interval=interval, level=0.95)
            two = [row for row in here if row["metric"] in KINDS["share"]]
            cells = (share(mean(here, "covered")), share(mean(here, "lower")), f"{mean(two, 'width'):.3f}")
            lines.append((f"{repeats:g}", interval, *cells))
    heads = ("repeats", "interval", "covers", "lower bound holds", "mean width of accuracy, AUC and concordance")
    words = (
        "Five repeats of the ten folds against the first of them alone, on the same tables. The factor is the same: "
        "repeats make the estimate steadier, and the bootstrap sees that by itself. What models owe to the rows that "
        "they share it sees in neither case, so that with repeats the calibrated interval covers a little less."
    )
    return f"{words}\n\n{table(heads, lines)}"


if __name__ == "__main__":
    write_page()
