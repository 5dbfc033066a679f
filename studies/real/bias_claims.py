"""Section 6.2.1: what the paper says about the bias of every protocol.

Takes the rows of a results file, gives claims.
"""

from __future__ import annotations

import numpy as np

from ..claims import Claim
from .judging import all_of, by_n, pm, side
from .measures import SMALL, Rows, at, bias, cells, mean_and_error, sizes

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
