"""What the results of the study on real data say, by data set and size, and on which side of a number a mean lies.

Takes the rows of a results file, one per sub-data set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..harness import Rows
from .design import LEVELS

SMALL = (20, 40, 60, 80, 100)
#: Which column holds the true performance of what a protocol returns.
TRUTH = dict.fromkeys(("naive", "tt", "ncv", "bbc", "632+"), "truth bbc") | {
    p: f"truth {p}" for p in ("bbc-f", "bced", "bced50", "bbc10")
}


def sizes(rows: Rows) -> list[int]:
    """Sample sizes in the results."""
    return sorted({int(r["n"]) for r in rows})


def names(rows: Rows) -> list[str]:
    """Data sets in the results."""
    return sorted({r["data"] for r in rows})


def at(rows: Rows, n: Sequence[int] | None = None, data: str | None = None) -> Rows:
    """Only some sizes, only one data set."""
    return [r for r in rows if (n is None or r["n"] in n) and (data is None or r["data"] == data)]


def column(rows: Rows, name: str) -> np.ndarray:
    """One column."""
    return np.array([row[name] for row in rows], dtype=float)


def bias(rows: Rows, protocol: str) -> np.ndarray:
    """Estimate minus truth on every sub-data set."""
    return column(rows, protocol) - column(rows, TRUTH[protocol])


def coverage(rows: Rows, protocol: str, level: float) -> float:
    """How often the interval of this level holds the truth."""
    return float((column(rows, f"reached {protocol}") <= level + 1e-9).mean())


def miscalibration(rows: Rows, protocol: str) -> float:
    """Mean distance of the coverage from the level, over all levels."""
    return float(np.mean([abs(coverage(rows, protocol, level) - level) for level in LEVELS]))


def relative(rows: Rows, one: str, other: str) -> float:
    """Mean true performance of what one protocol returns, relative to that of another."""
    return float(column(rows, TRUTH[one]).mean() / column(rows, TRUTH[other]).mean())


def cells(rows: Rows) -> list[tuple[str, int, Rows]]:
    """Rows of every data set and size."""
    return [(d, n, part) for d in names(rows) for n in sizes(rows) if (part := at(rows, (n,), d))]


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def side(values: np.ndarray, above: bool, of: float = 0.0) -> bool | None:
    """Whether the mean lies on this side; None where it does not, but two standard errors would carry it there."""
    mean, error = mean_and_error(values)
    if (mean > of) == above:
        return True
    return None if not abs(mean - of) > 2 * error else False


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """Whether all agree; None where none disagrees but some cannot be told."""
    return False if False in answers else None if None in answers else True


def pm(values: np.ndarray) -> str:
    """Write a mean with two standard errors; one number has none."""
    mean, error = mean_and_error(values)
    return f"{mean:+.3f} ± {2 * error:.3f}" if len(values) > 1 else f"{mean:+.3f}"


def by_n(rows: Rows, protocol: str) -> str:
    """Write the mean bias at every size."""
    return ", ".join(f"{bias(at(rows, (n,)), protocol).mean():+.3f} (N = {n})" for n in sizes(rows))
