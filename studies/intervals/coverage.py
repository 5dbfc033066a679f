"""How often intervals cover, by group of rows; other constants of the calibrated interval tried on the same rows.

Takes rows of `measure`, gives plain numbers; bootstraps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import special

from sobercv.inference.intervals import CROSS_VALIDATED, Calibrated

from .measure import LEVELS

INTERVALS = ("percentile", "calibrated")
#: Values that are tried for the constant that was chosen on real data.
EXCESSES = tuple(round(1.0 + 0.1 * k, 1) for k in range(11))
Row = Mapping[str, Any]


def ends(row: Row, interval: str, level: float, excess: float = CROSS_VALIDATED) -> tuple[float, float, float]:
    """Both ends of the interval and the one-sided lower bound, as `Estimate` gives them."""
    if interval == "percentile":
        return tuple(row[f"q{round(share, 3):g}"] for share in ((1 - level) / 2, (1 + level) / 2, 1 - level))  # type: ignore[return-value]
    range_ = (row["low"], row["high"])
    calibrated = Calibrated(
        row["centre"], row["size"] / excess, row["doubt"], range_, row["freedom"], row["still lost"]
    )
    low, high = calibrated.bounds((1 + level) / 2)
    return min(low, row["value"]), max(high, row["value"]), min(calibrated.bounds(level)[0], row["value"])


def judged(row: Row, interval: str, level: float, excess: float = CROSS_VALIDATED) -> tuple[bool, bool, bool, float]:
    """Whether the interval covers, whether the lower bound holds, whether the interval covers the truth as measured
    (noise and all), and the interval's width.

    The truth of real data is a score on rows that are held out, and so has an error of its own; it is added in
    quadrature to the distance of a bound from the estimate.
    """
    low, high, lower = ends(row, interval, level, excess)
    middle = row["value"] if interval == "percentile" else row["centre"]
    truth, tiny = row["truth"], 1e-9 * (1 + abs(row["truth"]))
    both, one = (special.ndtri(share) * row["truth error"] for share in ((1 + level) / 2, level))
    covered = moved_out(low, middle, both) - tiny <= truth <= moved_out(high, middle, both) + tiny
    return covered, truth >= moved_out(lower, middle, one) - tiny, low - tiny <= truth <= high + tiny, high - low


def moved_out(bound: float, middle: float, error: float) -> float:
    """Move a bound away from the middle by an error of the truth."""
    return middle + float(np.copysign(np.hypot(bound - middle, error), bound - middle)) if error > 0 else bound


def summarise(rows: Iterable[Row], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Coverage and width for each group of rows, interval and level.

    Parameters
    ----------
    rows : iterable of rows
    names : tuple of str
        Columns that make a group.
    """
    found = []
    for key, some in grouped(rows, lambda row: tuple(row[name] for name in names)).items():
        for interval in INTERVALS:
            for level in LEVELS:
                covered, lower, measured, width = np.array([judged(row, interval, level) for row in some]).T
                found.append(
                    {
                        **dict(zip(names, key, strict=True)),
                        "tables": len(some),
                        "interval": interval,
                        "level": level,
                        "covered": covered.mean(),
                        "lower": lower.mean(),
                        "as measured": measured.mean(),
                        "width": width.mean(),
                    }
                )
    return found


def by_excess(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Coverage of each data set for every value of the constant, so that it can be chosen without that set."""
    found = []
    for name, some in grouped(rows, lambda row: row["set"]).items():
        for excess in EXCESSES:
            out: dict[str, Any] = {"set": name, "tables": len(some), "excess": excess}
            for level in LEVELS:
                covered, lower, _, width = np.array([judged(row, "calibrated", level, excess) for row in some]).T
                out |= {f"covered {level:g}": covered.mean(), f"lower {level:g}": lower.mean()}
                out[f"width {level:g}"] = width.mean()
            found.append(out)
    return found


def choose(table: Iterable[Row], without: str | None = None) -> float:
    """The value that brings the mean over other data sets closest to what is promised: two-sided, lower, all levels."""
    rows = [row for row in table if row["set"] != without]
    return min(EXCESSES, key=lambda excess: distance([row for row in rows if row["excess"] == excess]))


def distance(rows: Iterable[Row]) -> float:
    """How far the mean over data sets is from what is promised; mean over levels, intervals and lower bounds."""
    rows = list(rows)
    return float(
        np.mean(
            [
                abs(np.mean([row[f"{what} {level:g}"] for row in rows]) - level)
                for level in LEVELS
                for what in ("covered", "lower")
            ]
        )
    )


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows by key, in the order in which keys are met."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found
