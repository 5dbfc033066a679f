"""Every sentence of section 6.2 that holds a number or a direction, checked against our results.

Takes the rows of a results file, one per sub-data set; returns claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..claims import Claim, as_text
from ..harness import Rows
from .design import LEVELS, REPEATS
from .measures import (
    SMALL,
    TRUTH,
    all_of,
    at,
    bias,
    by_n,
    cells,
    column,
    coverage,
    mean_and_error,
    miscalibration,
    pm,
    relative,
    side,
    sizes,
)  # fmt: skip

#: Fewer sub-data sets than this cannot tell that a claim is wrong.
ENOUGH = 30


def claims(rows: Rows, wide: Sequence[dict[str, Any]] = (), nested: Sequence[dict[str, Any]] = ()) -> list[Claim]:
    """All claims of the section that the results can speak to.

    `wide` are rows of all 610 configurations, `nested` more rows of the two places where the paper names NCV's bias.
    """
    instead = {claim.says: claim for claim in [*width_claims(list(wide)), *nested_claims(list(nested))]}
    found = [*bias_claims(rows), *dropping_claims(rows), *interval_claims(rows)]
    found = [instead.get(claim.says, claim) for claim in found]
    return found if len(rows) >= ENOUGH else [replace(c, agrees=c.agrees or None) for c in found]


def table_of(rows: Rows) -> str:
    """The claims for a terminal."""
    return as_text(claims(rows))


# ---- 6.2.1: bias ----
#: What the paper calls the protocols.
NAMES = {"naive": "CVT", "tt": "TT", "ncv": "NCV", "bbc": "BBC", "bced": "BCED"}
#: Fewer sub-data sets than this cannot tell how far NCV is off on one data set.
ENOUGH_NESTED = 10


def bias_claims(rows: Rows) -> list[Claim]:
    """All claims of the section."""
    return [*_naive(rows), *_tt(rows), *_low_bias(rows), *_dropping(rows)]


def _naive(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    small = [n for n in sizes(rows) if n <= 100]
    up = all_of([side(bias(at(rows, (n,)), "naive"), True) for n in small])
    found = [
        Claim(where, "CVT is optimistic for N up to 100", "> 0", by_n(at(rows, small), "naive"), up),
    ]
    first, last = sizes(rows)[0], sizes(rows)[-1]
    a, b = (float(bias(at(rows, (n,)), "naive").mean()) for n in (first, last))
    found.append(
        Claim(
            where,
            "the bias of CVT tends to zero",
            "falling",
            f"{a:+.3f} (N = {first}) to {b:+.3f} (N = {last})",
            abs(b) < abs(a) / 2,
        )
    )
    return found


def _tt(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    found = []
    if at(rows, (20,)):
        values = bias(at(rows, (20,)), "tt")
        found.append(Claim(where, "TT over-estimates for N = 20", "> 0", pm(values), side(values, True)))
    large = [n for n in sizes(rows) if n >= 60]
    if large:
        down = all_of([side(bias(at(rows, (n,)), "tt"), False) for n in large])
        found.append(Claim(where, "TT over-corrects for N of 60 and more", "< 0", by_n(at(rows, large), "tt"), down))
    protocols = ("naive", "tt", "ncv", "bbc", "bced")
    size = {p: float(np.mean([abs(bias(part, p).mean()) for _, _, part in cells(rows)])) for p in protocols}
    worst = sorted(size, key=lambda p: -size[p])[:2]
    found.append(
        Claim(
            where,
            "TT has the worst results of all protocols except CVT",
            "CVT, then TT",
            ", ".join(f"{NAMES[p]} {size[p]:.3f}" for p in sorted(size, key=lambda p: -size[p])),
            set(worst) == {"naive", "tt"},
            "mean over data sets and sizes of |bias|",
        )
    )
    return found


def _low_bias(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    found = []
    for p in ("ncv", "bbc"):
        each = [bias(at(rows, (n,)), p) for n in sizes(rows)]
        low = all_of([side(b * np.sign(b.mean()), False, of=0.04) for b in each])
        found.append(
            Claim(
                where,
                f"{NAMES[p]} has low bias whatever the sample size",
                "about 0",
                by_n(rows, p),
                low,
                "mean over data sets; agrees when no size is off by more than 0.04",
            )
        )
    conservative = [(d, n, bias(part, "bbc").mean() < 0) for d, n, part in cells(rows)]
    share = float(np.mean([c for *_, c in conservative]))
    others = ", ".join(f"{d} {n}" for d, n, c in conservative if not c) or "none"
    found.append(
        Claim(
            where,
            "BBC is mainly conservative, except for madeline at N = 40 and madelon at N = 60, 80, 100",
            "mainly",
            f"in {100 * share:.0f} % of data sets and sizes; not: {others}",
            share > 0.5,
        )
    )
    return [*found, *nested_claims(rows)]


def nested_claims(rows: Rows) -> list[Claim]:
    """Judge what the paper says about NCV on single data sets, from rows that may be of these alone."""
    found = []
    for name, paper in (("dexter", 0.033), ("madeline", 0.031)):
        if part := at(rows, (40,), name):
            mean, error = mean_and_error(bias(part, "ncv"))
            size = f"{len(part)} sub-data set" + "s" * (len(part) > 1)
            agrees = None if len(part) < ENOUGH_NESTED else bool(abs(mean - paper) < 2 * error)
            found.append(
                Claim(
                    "6.2.1, fig. 2",
                    f"NCV is slightly optimistic for {name} at N = 40",
                    f"{paper:+.3f}",
                    pm(bias(part, "ncv")),
                    agrees,
                    f"agrees when two errors reach it; {size}",
                )
            )
    return found


def _dropping(rows: Rows) -> list[Claim]:
    where = "6.2.1, fig. 2"
    found = []
    small = at(rows, SMALL)
    more = np.abs([bias(part, "bced").mean() for _, _, part in cells(small)])
    less = np.abs([bias(part, "bbc").mean() for _, _, part in cells(small)])
    found.append(
        Claim(
            where,
            "BCED has a larger bias than BBC for N up to 100, on average",
            "larger",
            f"{more.mean():.3f} against {less.mean():.3f}",
            side(more - less, True),
            "mean |bias|, no guard",
        )
    )
    if large := at(rows, (500,)):
        gap = bias(large, "bced") - bias(large, "bbc")
        found.append(
            Claim(
                where,
                "for N = 500 the bias of BCED is identical to that of BBC",
                "0",
                pm(gap),
                abs(gap.mean()) < 0.005,
            )
        )
    return found


# ---- 6.2.2: dropping ----
WHERE = "6.2.2, fig. 3"
#: Percent of the performance that the paper lost at N = 500.
LOSSES = {"gisette": 0.44, "jasmine": 0.15, "madelon": 1.4}


def dropping_claims(rows: Rows) -> list[Claim]:
    """All claims of the section."""
    return [*_small_samples(rows), *_large_samples(at(rows, (500,)))]


def _small_samples(rows: Rows) -> list[Claim]:
    found = []
    small = [(1 - relative(part, "bced", "bbc"), d, n) for d, n, part in cells(at(rows, SMALL))]
    guarded = [(1 - relative(part, "bced50", "bbc"), d, n) for d, n, part in cells(at(rows, SMALL))]
    worst = max(small)
    average, average_guarded = (float(np.mean([loss for loss, *_ in each])) for each in (small, guarded))
    found.append(
        Claim(
            WHERE,
            "without a guard BCED loses performance for N up to 100, at worst (dexter, N = 40)",
            "9.05 %",
            f"{100 * worst[0]:.2f} % ({worst[1]}, N = {worst[2]}); {100 * average:.2f} % on average",
            worst[0] > 0.02,
        )
    )
    found.append(
        Claim(
            WHERE,
            "a guard of 50 predictions avoids that loss",
            "recommended",
            f"{100 * max(guarded)[0]:.2f} % at worst; {100 * average_guarded:.2f} % on average",
            max(guarded)[0] < worst[0] and average_guarded < 0.005,
        )
    )
    gone = 1 - column(at(rows, SMALL), "alive bced")
    found.append(
        Claim(
            WHERE,
            "for N up to 100 most configurations are dropped in the first couple of folds",
            "> 95 %",
            f"{100 * gone.mean():.0f} % after two folds",
            bool(gone.mean() > 0.5),
            "agrees when it is most of them; see below",
        )
    )
    return found


def _large_samples(large: Rows) -> list[Claim]:
    found = []
    for d, _, part in cells(large):
        loss = 100 * (1 - relative(part, "bced", "bbc"))
        paper = LOSSES.get(d, 0.0)
        found.append(
            Claim(
                WHERE,
                f"loss of BCED at N = 500: {d}",
                f"{paper:g} %",
                f"{loss:.2f} %",
                loss < paper + 0.5,
                "agrees when at most half a percent more",
            )
        )
    if large:
        ups = {d: float(1 / column(part, "models bced").mean()) for d, _, part in cells(large)}
        listed = ", ".join(f"{d} {u:.1f}" for d, u in ups.items())
        inside = [u for u in ups.values() if 2 <= u <= 10]
        found.append(
            Claim(
                "6.2.2, fig. 4",
                "BCED is 2 to 5 times faster than CVT at N = 500, up to 10",
                "2 to 5, up to 10",
                listed,
                len(inside) > len(ups) / 2,
                "ratio of models trained",
            )
        )
    return found


# ---- 6.2.3 and 6.2.4: repeats and intervals ----
def interval_claims(rows: Rows) -> list[Claim]:
    """All claims of both sections."""
    return [*_repeats(rows), *_coverage(rows), *_widths(rows)]


def _has_repeats(rows: Rows) -> bool:
    return f"width {REPEATS - 1}" in rows[0]


def _repeats(rows: Rows) -> list[Claim]:
    where = "6.2.3, fig. 5"
    found: list[Claim] = []
    if not _has_repeats(rows):
        return found
    for says, protocol, n in (
        (
            "10 repeats return an equally good or better model than one, for N of 40 and more",
            "bbc",
            [n for n in sizes(rows) if n >= 40],
        ),
        (
            "10 repeats return a better model than NCV, for N of 40 and more (except philippine, jasmine)",
            "ncv",
            [n for n in sizes(rows) if n >= 40],
        ),
    ):
        parts = [
            (d, m, part) for d, m, part in cells(at(rows, n)) if protocol == "bbc" or d not in ("philippine", "jasmine")
        ]
        gains = [relative(part, "bbc10", protocol) - 1 for *_, part in parts]
        every = [r for *_, part in parts for r in part]
        difference = column(every, "truth bbc10") - column(every, TRUTH[protocol])
        good = float(np.mean([g > -0.0025 for g in gains]))
        found.append(
            Claim(
                where,
                says,
                "systematically",
                f"{pm(difference)} AUC; not worse in {100 * good:.0f} % of data sets and sizes",
                bool(difference.mean() > 0 and good > 0.5),
                "not worse: by less than a quarter of a percent",
            )
        )
    gap = bias(rows, "bbc10") - bias(rows, "bbc")
    found.append(
        Claim(where, "the bias with 10 repeats is similar to that with one", "similar", pm(gap), abs(gap.mean()) < 0.02)
    )
    return found


def _coverage(rows: Rows) -> list[Claim]:
    where = "6.2.4, fig. 6"
    found = []
    for n, says in (
        (20, "the intervals of BBC are conservative for N = 20"),
        (100, "and still conservative for N = 100"),
    ):
        if part := at(rows, (n,)):
            over = float(np.mean([coverage(part, "bbc", level) - level for level in LEVELS]))
            eighty, ninety_five = (100 * coverage(part, "bbc", level) for level in (0.8, 0.95))
            covered = f"80 % interval covers {eighty:.0f} %, 95 % covers {ninety_five:.0f} %"
            found.append(
                Claim(
                    where,
                    says,
                    "coverage above level",
                    covered,
                    over > 0,
                    f"{len(part)} sub-data sets; mean over levels {over:+.2f}",
                )
            )
    if not _has_repeats(rows):
        return found
    small = at(rows, SMALL)
    found.append(
        Claim(
            where,
            "10 repeats bring coverage closer to its level",
            "closer",
            f"mean distance {miscalibration(small, 'bbc10'):.3f} against {miscalibration(small, 'bbc'):.3f}",
            miscalibration(small, "bbc10") < miscalibration(small, "bbc"),
            "N up to 100",
        )
    )
    if large := at(rows, (500,)):
        over = float(np.mean([coverage(large, "bbc10", level) - level for level in LEVELS]))
        found.append(
            Claim(
                where,
                "for N = 500 the intervals of BCED and of 10 repeats are not conservative",
                "coverage below level",
                f"mean over levels {over:+.2f} (10 repeats)",
                over < 0 if len(large) >= 50 else None,
                f"{len(large)} sub-data sets",
            )
        )
    return found


def _widths(rows: Rows) -> list[Claim]:
    where = "6.2.4, fig. 7"
    found: list[Claim] = []
    if not _has_repeats(rows):
        return found
    small = at(rows, SMALL)
    one, four, ten = (column(small, f"width {r}" if r < REPEATS else "width bbc10").mean() for r in (1, 4, REPEATS))
    found.append(
        Claim(
            where,
            "10 repeats greatly shrink the intervals, for N up to 100",
            "shrink",
            f"mean width {one:.3f} to {ten:.3f}",
            bool(ten < 0.95 * one),
        )
    )
    found.append(
        Claim(
            where,
            "3 to 4 repeats suffice",
            "most of the gain",
            f"{100 * (one - four) / (one - ten):.0f} % of it with 4",
            bool((one - four) > 0.7 * (one - ten)),
        )
    )
    by_n = [column(at(rows, (n,)), "width bbc").mean() for n in sizes(rows)]
    found.append(
        Claim(
            where,
            "intervals shrink with the sample size",
            "falling in N",
            " > ".join(f"{w:.2f}" for w in by_n),
            bool(np.all(np.diff(by_n) < 0)),
        )
    )
    return found


# ---- all 610 configurations, where their number matters ----
#: Fewer sub-data sets than this leave a claim to the small scale, which has more of them.
ENOUGH_WIDE = 8


def off(rows: Rows, name: str, truth: str = "") -> np.ndarray:
    """Estimate less truth on every sub-data set."""
    return column(rows, name) - column(rows, f"truth {truth or name}")


def width_claims(rows: Rows) -> list[Claim]:
    """The claims that the rows are enough for."""
    found = []
    tiny, small, large = at(rows, (20,)), at(rows, SMALL), at(rows, (500,))
    if len(tiny) >= ENOUGH_WIDE:
        values = off(tiny, "tt", "bbc")
        comment = f"610 configurations, {len(tiny)} sub-data sets"
        if abs(values.mean()) < 2 * values.std(ddof=1) / len(values) ** 0.5:
            comment += "; by its sign alone, two errors reach across"
        says = "TT over-estimates for N = 20"
        found.append(Claim("6.2.1, fig. 2", says, "> 0", pm(values), side(values, True), comment))
    if len(small) >= ENOUGH_WIDE:
        size = {p: np.abs([off(part, p).mean() for *_, part in cells(small)]) for p in ("bbc", "strict", "equals")}
        found.append(
            Claim(
                "6.2.1, fig. 2",
                "BCED has a larger bias than BBC for N up to 100, on average",
                "larger",
                f"{size['strict'].mean():.3f} against {size['bbc'].mean():.3f}; "
                f"{size['equals'].mean():.3f} with equals dropped",
                side(size["strict"] - size["bbc"], True),
                f"mean |bias|, no guard; 610 configurations, {len(small)} sub-data sets",
            )
        )
    if large:
        ups = {d: float(1 / column(part, "models strict").mean()) for d, _, part in cells(large)}
        inside = sum(2 <= up <= 10 for up in ups.values())
        found.append(
            Claim(
                "6.2.2, fig. 4",
                "BCED is 2 to 5 times faster than CVT at N = 500, up to 10",
                "2 to 5, up to 10",
                ", ".join(f"{d} {up:.1f}" for d, up in ups.items()),
                inside > len(ups) / 2,
                "ratio of models trained; 610 configurations",
            )
        )
    return found


def width_table(rows: Rows) -> list[list[str]]:
    """Heads, then bias, what dropping saves and what it costs, by size."""
    heads = ["N", "sub-samples", "plain CV", "TT", "BBC", "dropped", "gone after two folds", "models saved", "AUC lost"]
    lines = [heads]
    shown = [(str(n), at(rows, (n,))) for n in sizes(rows)]
    if len(small := at(rows, SMALL)) >= ENOUGH_WIDE:
        shown.append((f"up to {max(SMALL)}", small))
    for title, part in shown:
        first = [title, str(len(part)), *(pm(off(part, p, "bbc")) for p in ("naive", "tt", "bbc"))]
        for name, words in (("strict", "what is worse"), ("equals", "ties, too")):
            gone, models = 1 - column(part, f"alive {name}").mean(), column(part, f"models {name}").mean()
            lost = 1 - column(part, f"truth {name}").mean() / column(part, "truth bbc").mean()
            lines.append([*first, words, f"{100 * gone:.0f} %", f"{1 / models:.1f}", f"{100 * lost:+.2f} %"])
    return lines
