"""What the charts of every task are made of: bins of equal size, and lines with their bands.

Takes arrays of one chart, gives records of lines; never draws.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .evidence import Band
from .records import Line


def bin_edges(values: Array, most: int = 10) -> Array:
    """Cut values into bins of equal size, at least some 30 values each."""
    n_bins = int(np.clip(len(values) // 30, 3, most))
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1.0])


def bin_means(bins: Array, k: int, weight: Array, values: Array) -> Array:
    """Weighted mean of the values in each bin [k]; NaN in an empty one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(bins, weight * values, minlength=k) / np.bincount(bins, weight, minlength=k)


def line_of(label: str, x: Array, band: Band, text: str = "", *, stepped: bool = False, marked: bool = False) -> Line:
    """Write a band as a line of a chart."""
    return Line(
        label, tuple(_six(v) for v in x.tolist()), known(band.centre), known(band.low), known(band.high),
        text, stepped, marked,
    )  # fmt: skip


def known(values: Array) -> tuple[float | None, ...]:
    """Write numbers with six digits; None where undefined."""
    return tuple(None if v != v else _six(v) for v in values.tolist())


def _six(value: float) -> float:
    return float(f"{value:.6g}")
