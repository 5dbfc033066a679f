"""Sections 6.2.3 and 6.2.4: what the paper says about repeats and about intervals.

Takes the rows of a results file, gives claims.
"""

from __future__ import annotations

import numpy as np

from ..claims import Claim
from .design import LEVELS, REPEATS
from .judging import pm
from .measures import SMALL, TRUTH, Rows, at, bias, cells, column, coverage, miscalibration, relative, sizes


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
