"""What all 610 configurations say, where the number of configurations matters.

Takes the rows of `results-width.csv`, gives claims that stand in the place of those of the small scale, and a table.
"""

from __future__ import annotations

import numpy as np

from ..claims import Claim
from .judging import pm, side
from .measures import SMALL, Rows, at, cells, column, sizes

#: Fewer sub-data sets than this leave a claim to the small scale, which has more of them.
ENOUGH = 8


def off(rows: Rows, name: str, truth: str = "") -> np.ndarray:
    """Estimate less truth on every sub-data set."""
    return column(rows, name) - column(rows, f"truth {truth or name}")


def width_claims(rows: Rows) -> list[Claim]:
    """The claims that the rows are enough for."""
    found = []
    tiny, small, large = at(rows, (20,)), at(rows, SMALL), at(rows, (500,))
    if len(tiny) >= ENOUGH:
        values = off(tiny, "tt", "bbc")
        comment = f"610 configurations, {len(tiny)} sub-data sets"
        if abs(values.mean()) < 2 * values.std(ddof=1) / len(values) ** 0.5:
            comment += "; by its sign alone, two errors reach across"
        says = "TT over-estimates for N = 20"
        found.append(Claim("6.2.1, fig. 2", says, "> 0", pm(values), side(values, True), comment))
    if len(small) >= ENOUGH:
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


def table(rows: Rows) -> list[list[str]]:
    """Heads, then bias, what dropping saves and what it costs, by size."""
    heads = ["N", "sub-samples", "plain CV", "TT", "BBC", "dropped", "gone after two folds", "models saved", "AUC lost"]
    lines = [heads]
    shown = [(str(n), at(rows, (n,))) for n in sizes(rows)]
    if len(small := at(rows, SMALL)) >= ENOUGH:
        shown.append((f"up to {max(SMALL)}", small))
    for title, part in shown:
        first = [title, str(len(part)), *(pm(off(part, p, "bbc")) for p in ("naive", "tt", "bbc"))]
        for name, words in (("strict", "what is worse"), ("equals", "ties, too")):
            gone, models = 1 - column(part, f"alive {name}").mean(), column(part, f"models {name}").mean()
            lost = 1 - column(part, f"truth {name}").mean() / column(part, "truth bbc").mean()
            lines.append([*first, words, f"{100 * gone:.0f} %", f"{1 / models:.1f}", f"{100 * lost:+.2f} %"])
    return lines
