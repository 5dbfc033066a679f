"""How often the intervals of a table cover, with any factor; what factor would have been right.

Takes rows of `measure` as they were kept, gives plain numbers; trains and bootstraps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from sobercv.inference.instability import Missed, widened
from sobercv.inference.intervals import CROSS_VALIDATED, Calibrated, shape

from ..intervals.coverage import moved_out
from .measure import LEVEL
from .run import CALIBRATION, lines

Row = dict[str, Any]
TEXT = ("set", "kind", "metric", "which", "pair")


def read(path: Path) -> list[Row]:
    """Rows with numbers; NaN where a method has none."""
    return [
        {name: value if name in TEXT else float(value or "nan") for name, value in line.items()} for line in lines(path)
    ]


def seen(row: Row) -> float:
    """The variance that the bootstrap shows."""
    return float(shape(np.array([row["centre"]]), (row["low"], row["high"]))[0]) / row["size"]


def needed(rows: Iterable[Row]) -> float:
    """The factor that would have been right: squared errors by what the bootstrap shows, without what else is known."""
    known = [r for r in rows if seen(r) > 0]  # a perfect centre shows none
    each = [((r["truth"] - r["centre"]) ** 2 - r["truth error"] ** 2 - r["doubt"]) / seen(r) for r in known]
    return float(np.mean(np.clip(each, -5, 25)))  # one heavy tail must not be the mean


def assumed(row: Row) -> Calibrated:
    """The default interval."""
    return Calibrated(
        row["centre"], row["size"] / CROSS_VALIDATED, row["doubt"], (row["low"], row["high"]), row["freedom"],
        row["still lost"],
    )  # fmt: skip


def missed(row: Row) -> float:
    """The variance that pair models say the bootstrap misses."""
    return Missed(row["J pairs"], 0.0 if math.isnan(row["J shared"]) else row["J shared"]).variance


def factor(row: Row) -> float:
    """The factor that pair models lead to."""
    return widened(assumed(row), missed(row)).excess


def paired(row: Row) -> Calibrated:
    """The interval with what pair models tell."""
    return widened(assumed(row), missed(row))


def trusting(trust: float) -> Callable[[Row], Calibrated]:
    """The interval with another share of what pair models tell."""
    return lambda row: widened(assumed(row), missed(row), trust)


def by_factor(factor: float) -> Callable[[Row], Calibrated]:
    """The interval with another constant."""

    def made(row: Row) -> Calibrated:
        usual = assumed(row)
        return Calibrated(usual.centre, row["size"] / factor, usual.doubt, usual.range, usual.freedom, usual.still_lost)

    return made


Ends = tuple[float, float, float]


def ends(row: Row, made: Callable[[Row], Calibrated]) -> Ends:
    """Both ends at 95 %, and the one-sided lower bound; as `Estimate` gives them."""
    bounds, value = made(row), row["value"]
    low, high = bounds.bounds((1 + LEVEL) / 2)
    return min(low, value), max(high, value), min(bounds.bounds(LEVEL)[0], value)


def percentile(row: Row) -> Ends:
    """The paper's interval."""
    return row["q0.025"], row["q0.975"], row["q0.05"]


def rival(name: str) -> Callable[[Row], Ends]:
    """A published interval."""
    return lambda row: (row[f"{name} l"], row[f"{name} h"], row[f"{name} b"])


def judged(row: Row, made: Ends, middle: float, truth: float) -> tuple[float, float, float]:
    """Whether the interval covers, whether the lower bound holds, and the width; NaN for ends that a method lacks.

    The truth is measured; its standard error is added in quadrature to the distance of a bound from the middle.
    """
    low, high, lower = made
    tiny, error = 1e-9 * (1 + abs(truth)), row["truth error"]
    both, one = (special.ndtri(share) * error for share in ((1 + LEVEL) / 2, LEVEL))
    covers = moved_out(low, middle, both) - tiny <= truth <= moved_out(high, middle, both) + tiny
    holds = truth >= moved_out(lower, middle, one) - tiny
    return (
        float(covers) if math.isfinite(low) else math.nan,
        float(holds) if math.isfinite(lower) else math.nan,
        high - low,
    )


def cover(rows: Sequence[Row], made: Callable[[Row], Calibrated]) -> tuple[float, float, float]:
    """Share that covers, share of lower bounds that hold, and width by that of percentiles (geometric mean)."""
    found = [judged(r, ends(r, made), r["centre"], r["truth"]) for r in rows]
    widths = [
        w / (r["q0.975"] - r["q0.025"]) for r, (_, _, w) in zip(rows, found, strict=True) if r["q0.975"] > r["q0.025"]
    ]
    return (
        float(np.mean([f[0] for f in found])),
        float(np.mean([f[1] for f in found])),
        float(np.exp(np.mean(np.log(widths)))),
    )


def is_calibration(row: Row) -> bool:
    """Whether constants were chosen on this set."""
    return row["set"] in CALIBRATION
