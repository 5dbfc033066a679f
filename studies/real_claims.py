"""Every statement of section 6.2 that holds a number or a direction, checked against our results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .evidence import Claim, all_of

SMALL = (20, 40, 60, 80, 100)
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
NAMES = {"naive": "CVT", "tt": "TT", "ncv": "NCV", "bbc": "BBC", "bced": "BCED"}
#: Percent of the performance that the paper lost at N = 500.
LOSSES = {"gisette": 0.44, "jasmine": 0.15, "madelon": 1.4}
#: Fewer sub-samples than these cannot tell: at all, how far NCV is off on one data set, with all 610 configurations.
ENOUGH, ENOUGH_NESTED, ENOUGH_WIDE = 30, 10, 8
Rows = pd.DataFrame
Add = Callable[..., None]


def true_column(protocol: str) -> str:
    """Which column holds the true performance of what a protocol returns."""
    return f"truth {protocol}" if protocol in ("bbc-f", "bced", "bced50", "bbc10") else "truth bbc"


def bias(rows: Rows, protocol: str) -> pd.Series:
    """Estimate minus truth on every sub-sample."""
    return rows[protocol] - rows[true_column(protocol)]


def coverage(rows: Rows, protocol: str, level: float) -> float:
    """How often the interval of this level holds the truth."""
    return float((rows[f"reached {protocol}"] <= level + 1e-9).mean())


def over(rows: Rows, protocol: str) -> np.ndarray:
    """Coverage above its level, for all levels."""
    return np.array([coverage(rows, protocol, level) - level for level in LEVELS])


def relative(rows: Rows, one: str, other: str) -> float:
    """Mean true performance of what one protocol returns, relative to that of another."""
    return float(rows[true_column(one)].mean() / rows[true_column(other)].mean())


def cells(rows: Rows) -> Iterator[tuple[str, int, Rows]]:
    """Rows of every data set and size."""
    return ((data, n, part) for (data, n), part in rows.groupby(["data", "n"]))


def error_of(values: Any) -> float:
    """Standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def side(values: Any, above: bool, of: float = 0.0) -> bool | None:
    """Whether the mean lies on this side; None where it does not, but two standard errors would carry it there."""
    mean = float(np.mean(values))
    if (mean > of) == above:
        return True
    return None if not abs(mean - of) > 2 * error_of(values) else False


def pm(values: Any) -> str:
    """Write a mean with two standard errors; one number has none."""
    mean = float(np.mean(values))
    return f"{mean:+.3f} ± {2 * error_of(values):.3f}" if len(values) > 1 else f"{mean:+.3f}"


def by_n(rows: Rows, protocol: str) -> str:
    """Write the mean bias at every size."""
    return ", ".join(f"{bias(part, protocol).mean():+.3f} (N = {n})" for n, part in rows.groupby("n"))


def claims(rows: Rows, wide: Rows | None = None, nested: Rows | None = None) -> list[Claim]:
    """All statements that the results can speak to.

    `wide` are rows of all 610 configurations, `nested` more rows of the two places where the paper names NCV's bias;
    both stand in the place of what the main rows say.
    """
    found: dict[str, Claim] = {}

    def add(where: str, says: str, paper: str, ours: str, agrees: bool | None, comment: str = "") -> None:
        found[says] = Claim(where, says, paper, ours, None if agrees is None else bool(agrees), comment)

    _bias(rows, add)
    _nested(rows, add)
    _dropping_bias(rows, add)
    _dropping(rows, add)
    if "width 9" in rows:
        _repeats(rows, add)
    _coverage(rows, add)
    if "width 9" in rows:
        _widths(rows, add)
    if wide is not None:
        _wide(wide, add)
    if nested is not None:
        _nested(nested, add)
    few = len(rows) < ENOUGH
    return [replace(c, agrees=c.agrees or None) if few else c for c in found.values()]


def _bias(rows: Rows, add: Add) -> None:
    where = "6.2.1, fig. 2"
    small = rows[rows.n <= 100]
    up = all_of([side(bias(part, "naive"), True) for _, part in small.groupby("n")])
    add(where, "CVT is optimistic for N up to 100", "> 0", by_n(small, "naive"), up)
    means = bias(rows, "naive").groupby(rows.n).mean()
    a, b = means.iloc[0], means.iloc[-1]
    add(where, "the bias of CVT tends to zero", "falling",
        f"{a:+.3f} (N = {means.index[0]}) to {b:+.3f} (N = {means.index[-1]})", abs(b) < abs(a) / 2)  # fmt: skip
    if len(tiny := rows[rows.n == 20]):
        add(where, "TT over-estimates for N = 20", "> 0", pm(bias(tiny, "tt")), side(bias(tiny, "tt"), True))
    if len(large := rows[rows.n >= 60]):
        down = all_of([side(bias(part, "tt"), False) for _, part in large.groupby("n")])
        add(where, "TT over-corrects for N of 60 and more", "< 0", by_n(large, "tt"), down)
    size = {p: float(np.mean([abs(bias(part, p).mean()) for *_, part in cells(rows)])) for p in NAMES}
    order = sorted(size, key=lambda p: -size[p])
    add(where, "TT has the worst results of all protocols except CVT", "CVT, then TT",
        ", ".join(f"{NAMES[p]} {size[p]:.3f}" for p in order), set(order[:2]) == {"naive", "tt"},
        "mean over data sets and sizes of |bias|")  # fmt: skip
    for p in ("ncv", "bbc"):
        each = [bias(part, p) for _, part in rows.groupby("n")]
        low = all_of([side(b * np.sign(b.mean()), False, of=0.04) for b in each])
        add(where, f"{NAMES[p]} has low bias whatever the sample size", "about 0", by_n(rows, p), low,
            "mean over data sets; agrees when no size is off by more than 0.04")  # fmt: skip
    conservative = [(d, n, bias(part, "bbc").mean() < 0) for d, n, part in cells(rows)]
    share = float(np.mean([c for *_, c in conservative]))
    others = ", ".join(f"{d} {n}" for d, n, c in conservative if not c) or "none"
    add(where, "BBC is mainly conservative, except for madeline at N = 40 and madelon at N = 60, 80, 100", "mainly",
        f"in {100 * share:.0f} % of data sets and sizes; not: {others}", share > 0.5)  # fmt: skip


def _nested(rows: Rows, add: Add) -> None:
    """What the paper says about NCV on single data sets, from rows that may be of these alone."""
    for name, paper in (("dexter", 0.033), ("madeline", 0.031)):
        if len(part := rows[(rows.n == 40) & (rows.data == name)]):
            off = bias(part, "ncv")
            agrees = None if len(part) < ENOUGH_NESTED else abs(off.mean() - paper) < 2 * error_of(off)
            add("6.2.1, fig. 2", f"NCV is slightly optimistic for {name} at N = 40", f"{paper:+.3f}", pm(off), agrees,
                f"agrees when two errors reach it; {len(part)} sub-data set" + "s" * (len(part) > 1))  # fmt: skip


def _dropping_bias(rows: Rows, add: Add) -> None:
    where, small, large = "6.2.1, fig. 2", rows[rows.n.isin(SMALL)], rows[rows.n == 500]
    more, less = (np.abs([bias(part, p).mean() for *_, part in cells(small)]) for p in ("bced", "bbc"))
    add(where, "BCED has a larger bias than BBC for N up to 100, on average", "larger",
        f"{more.mean():.3f} against {less.mean():.3f}", side(more - less, True), "mean |bias|, no guard")  # fmt: skip
    if len(large):
        gap = bias(large, "bced") - bias(large, "bbc")
        says = "for N = 500 the bias of BCED is identical to that of BBC"
        add(where, says, "0", pm(gap), abs(gap.mean()) < 0.005)


def _dropping(rows: Rows, add: Add) -> None:
    where, small, large = "6.2.2, fig. 3", rows[rows.n.isin(SMALL)], rows[rows.n == 500]
    lost, guarded = ([(1 - relative(part, p, "bbc"), d, n) for d, n, part in cells(small)] for p in ("bced", "bced50"))
    worst, average, average_guarded = max(lost), np.mean([x for x, *_ in lost]), np.mean([x for x, *_ in guarded])
    add(where, "without a guard BCED loses performance for N up to 100, at worst (dexter, N = 40)", "9.05 %",
        f"{100 * worst[0]:.2f} % ({worst[1]}, N = {worst[2]}); {100 * average:.2f} % on average",
        worst[0] > 0.02)  # fmt: skip
    add(where, "a guard of 50 predictions avoids that loss", "recommended",
        f"{100 * max(guarded)[0]:.2f} % at worst; {100 * average_guarded:.2f} % on average",
        max(guarded)[0] < worst[0] and average_guarded < 0.005)  # fmt: skip
    gone = 1 - small["alive bced"].mean()
    add(where, "for N up to 100 most configurations are dropped in the first couple of folds", "> 95 %",
        f"{100 * gone:.0f} % after two folds", gone > 0.5, "agrees when it is most of them; see below")  # fmt: skip
    for d, _, part in cells(large):
        loss, paper = 100 * (1 - relative(part, "bced", "bbc")), LOSSES.get(d, 0.0)
        add(where, f"loss of BCED at N = 500: {d}", f"{paper:g} %", f"{loss:.2f} %", loss < paper + 0.5,
            "agrees when at most half a percent more")  # fmt: skip
    if len(large):
        _speed(large, "models bced", "ratio of models trained", add)


def _speed(large: Rows, column: str, comment: str, add: Add) -> None:
    ups = 1 / large.groupby("data")[column].mean()
    add("6.2.2, fig. 4", "BCED is 2 to 5 times faster than CVT at N = 500, up to 10", "2 to 5, up to 10",
        ", ".join(f"{d} {up:.1f}" for d, up in ups.items()), ups.between(2, 10).mean() > 0.5, comment)  # fmt: skip


def _repeats(rows: Rows, add: Add) -> None:
    where, larger = "6.2.3, fig. 5", rows[rows.n >= 40]
    for says, protocol, part in (
        ("10 repeats return an equally good or better model than one, for N of 40 and more", "bbc", larger),
        ("10 repeats return a better model than NCV, for N of 40 and more (except philippine, jasmine)", "ncv",
         larger[~larger.data.isin(["philippine", "jasmine"])]),
    ):  # fmt: skip
        good = float(np.mean([relative(some, "bbc10", protocol) - 1 > -0.0025 for *_, some in cells(part)]))
        gain = part["truth bbc10"] - part[true_column(protocol)]
        add(where, says, "systematically", f"{pm(gain)} AUC; not worse in {100 * good:.0f} % of data sets and sizes",
            gain.mean() > 0 and good > 0.5, "not worse: by less than a quarter of a percent")  # fmt: skip
    gap = bias(rows, "bbc10") - bias(rows, "bbc")
    add(where, "the bias with 10 repeats is similar to that with one", "similar", pm(gap), abs(gap.mean()) < 0.02)


def _coverage(rows: Rows, add: Add) -> None:
    where, small, large = "6.2.4, fig. 6", rows[rows.n.isin(SMALL)], rows[rows.n == 500]
    for n, says in (
        (20, "the intervals of BBC are conservative for N = 20"),
        (100, "and still conservative for N = 100"),
    ):
        if len(part := rows[rows.n == n]):
            above = float(over(part, "bbc").mean())
            eighty, ninety_five = (100 * coverage(part, "bbc", level) for level in (0.8, 0.95))
            add(where, says, "coverage above level",
                f"80 % interval covers {eighty:.0f} %, 95 % covers {ninety_five:.0f} %", above > 0,
                f"{len(part)} sub-data sets; mean over levels {above:+.2f}")  # fmt: skip
    if "width 9" not in rows:
        return
    ten, one = (float(np.abs(over(small, p)).mean()) for p in ("bbc10", "bbc"))
    add(where, "10 repeats bring coverage closer to its level", "closer",
        f"mean distance {ten:.3f} against {one:.3f}", ten < one, "N up to 100")  # fmt: skip
    if len(large):
        above = float(over(large, "bbc10").mean())
        add(where, "for N = 500 the intervals of BCED and of 10 repeats are not conservative", "coverage below level",
            f"mean over levels {above:+.2f} (10 repeats)", above < 0 if len(large) >= 50 else None,
            f"{len(large)} sub-data sets")  # fmt: skip


def _widths(rows: Rows, add: Add) -> None:
    where, small = "6.2.4, fig. 7", rows[rows.n.isin(SMALL)]
    one, four, ten = (small[name].mean() for name in ("width 1", "width 4", "width bbc10"))
    add(where, "10 repeats greatly shrink the intervals, for N up to 100", "shrink",
        f"mean width {one:.3f} to {ten:.3f}", ten < 0.95 * one)  # fmt: skip
    add(where, "3 to 4 repeats suffice", "most of the gain", f"{100 * (one - four) / (one - ten):.0f} % of it with 4",
        (one - four) > 0.7 * (one - ten))  # fmt: skip
    widths = rows.groupby("n")["width bbc"].mean()
    add(where, "intervals shrink with the sample size", "falling in N", " > ".join(f"{w:.2f}" for w in widths),
        (np.diff(widths) < 0).all())  # fmt: skip


def _wide(rows: Rows, add: Add) -> None:
    """All 610 configurations, where their number matters."""
    tiny, small, large = rows[rows.n == 20], rows[rows.n.isin(SMALL)], rows[rows.n == 500]
    if len(tiny) >= ENOUGH_WIDE:
        off = tiny["tt"] - tiny["truth bbc"]
        comment = f"610 configurations, {len(tiny)} sub-data sets"
        if abs(off.mean()) < 2 * error_of(off):
            comment += "; by its sign alone, two errors reach across"
        add("6.2.1, fig. 2", "TT over-estimates for N = 20", "> 0", pm(off), side(off, True), comment)
    if len(small) >= ENOUGH_WIDE:
        size = {
            p: np.abs([(part[p] - part[f"truth {p}"]).mean() for *_, part in cells(small)])
            for p in ("bbc", "strict", "equals")
        }
        add("6.2.1, fig. 2", "BCED has a larger bias than BBC for N up to 100, on average", "larger",
            f"{size['strict'].mean():.3f} against {size['bbc'].mean():.3f}; "
            f"{size['equals'].mean():.3f} with equals dropped", side(size["strict"] - size["bbc"], True),
            f"mean |bias|, no guard; 610 configurations, {len(small)} sub-data sets")  # fmt: skip
    if len(large):
        _speed(large, "models strict", "ratio of models trained; 610 configurations", add)
