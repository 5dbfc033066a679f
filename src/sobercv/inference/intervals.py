"""Intervals and bounds from draws: order statistics, nothing else.

Takes draws, gives `[b_(a/2 B), b_((1 - a/2) B)]` (paper, section 4.1): for B = 1000 and 95 % the 25th and the 975th.
"""

from __future__ import annotations

import math

import numpy as np

from ..containers import Array
from ..errors import SoberError

#: A resample holds this share of the samples, 1 - 1/e.
PRESENT = 1.0 - math.exp(-1.0)
#: A mean over the present samples, none of them twice, varies less over resamples than one over draws with replacement
#: does, and that varies as samples do; a mean over the absent ones varies more, by the same factor.
STEADIER = math.sqrt((1.0 - PRESENT) / PRESENT)


def check_level(level: float, name: str = "confidence_level") -> float:
    """Refuse a level that is not a share."""
    if not isinstance(level, (int, float, np.floating, np.integer)) or not 0.0 < float(level) < 1.0:
        hint = f" Write {float(level) / 100:g} for {level:g} %." if _is_percent(level) else " Write 0.95 for 95 %."
        raise SoberError("E108", f"`{name}` must lie strictly between 0 and 1; got {level!r}.{hint}")
    return float(level)


def _is_percent(level: object) -> bool:
    return isinstance(level, (int, float)) and 1 < level < 100


def quantile(draws: Array, share: float) -> float:
    """Give the smallest draw that at least this share of the defined draws do not exceed."""
    defined = draws[~np.isnan(draws)]
    if (defined[1:] < defined[:-1]).any():
        defined = np.sort(defined)
    # Rounded before the ceiling: (1 - 0.95) / 2 * 1000 is a hair above 25 in binary, and must stay the 25th.
    position = int(np.ceil(np.round(share * len(defined), 9)))
    return float(defined[min(max(position, 1), len(defined)) - 1])


def percentile_interval(draws: Array, level: float) -> tuple[float, float]:
    """Two-sided interval that leaves the same share of draws out on each side."""
    tail = (1.0 - check_level(level)) / 2.0
    return quantile(draws, tail), quantile(draws, 1.0 - tail)


def difference_interval(draws: Array, level: float, *, fixed_models: bool, same: bool) -> tuple[float, float]:
    """Interval of the difference of two selections.

    Parameters
    ----------
    draws : array [B]
        Difference in each resample; NaN where undefined.
    level : float
    fixed_models : bool
        Whether nothing was cross-validated. Then draws vary more than the table's difference does, for they are judged
        by the absent samples alone, and are drawn together; else that room is needed (docs/tuned.md).
    same : bool
        Whether both select the same on the whole table: then there is no difference, and the interval reaches 0.
    """
    low, high = percentile_interval(draws, level)
    if fixed_models:
        centre = float(np.nanmean(draws))
        low, high = (centre + STEADIER * (end - centre) for end in (low, high))
    return (min(low, 0.0), max(high, 0.0)) if same else (low, high)
