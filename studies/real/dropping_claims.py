"""Section 6.2.2: what the paper says about dropping, its cost and its gain.

Takes the rows of a results file, gives claims.
"""

from __future__ import annotations

import numpy as np

from ..claims import Claim
from .measures import SMALL, Rows, at, cells, column, relative

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
