"""BBC on predictions that are read in blocks: by rows for means, by columns for all else, by bins where asked.

Takes a `Source` and what `sobercv.bbc` was asked for, gives the same `Drawn` as the route in memory: the counts of a
sample do not depend on how the table was cut.
"""

from __future__ import annotations

from typing import Any

from ...errors import SoberError
from ...metrics.pointwise import Pointwise
from ..claims import Drawn
from . import bins, columns, rows
from .request import Request, prepare

BINS = 512


def draw(request: Request, approximate: bool | int) -> Drawn:
    """Find the cheapest route that gives the exact answer; the approximate one only if asked for."""
    if approximate is not False:
        return bins.draw(request, _n_bins(request, approximate))
    pooled = request.aggregate == "pooled" and not request.within_folds
    if pooled and all(isinstance(metric, Pointwise) for metric in request.metrics):
        return rows.draw(request)
    return columns.draw(request)


def _n_bins(request: Request, approximate: Any) -> int:
    if [metric.name for metric in request.metrics] != ["roc_auc"]:
        raise SoberError(
            "E114",
            "`approximate` replaces the exact AUC by histograms, so it goes with metric='roc_auc' alone. Leave it out.",
        )
    n = BINS if approximate is True else approximate
    if not isinstance(n, int) or not 2 <= n <= 1 << 14:
        raise SoberError(
            "E108", f"`approximate` must be True or a number of bins from 2 to 16384; got {approximate!r}. Write True."
        )
    return n


__all__ = ["BINS", "Request", "draw", "prepare"]
