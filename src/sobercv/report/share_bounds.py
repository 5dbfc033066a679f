"""Bounds of shares that are nothing or everything: there every resample says the same, and yet nobody is sure.

Takes shares with their bands and how many samples each is a share of, gives wider bands; never resamples.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ..containers import Array
from .evidence import Band


def widened(band: Band, sizes: Array, level: float) -> Band:
    """Put Wilson's bound where a share is 0 or 1; elsewhere the band stays as it is.

    Parameters
    ----------
    band : Band
        Shares [G].
    sizes : array [G]
        How many samples, or groups, each is a share of.
    level : float
    """
    square = NormalDist().inv_cdf(0.5 + level / 2.0) ** 2
    n = np.maximum(sizes, 1)
    low = np.where(band.centre == 1.0, np.minimum(band.low, n / (n + square)), band.low)
    high = np.where(band.centre == 0.0, np.maximum(band.high, square / (n + square)), band.high)
    return Band(band.centre, low, high)
