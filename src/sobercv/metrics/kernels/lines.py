"""Logistic regressions on one variable, a few thousand at a time."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled

_STEPS = 100
_HALVINGS = 40
_ROUNDING = 1e-11  # what the sum of a likelihood may lose, relative to itself


@compiled
def logistic_lines(x, y, weight, counts, configuration, resample, slope, out):
    """Fit log odds of y = out[k, 0] + out[k, 1] x for x[configuration[k]] in resample[k].

    x [C, N], y and weight [N], counts [B, N]; where `slope` is False it is held at 1. NaN where no finite line exists:
    one class only or, for a slope, classes that x separates (the same where x is constant).
    """
    mass = np.empty(y.shape[0])
    for k in range(out.shape[0]):
        row = counts[resample[k]]
        logit = x[configuration[k]]
        low = np.array([np.inf, np.inf])  # smallest and largest x of each class
        high = np.array([-np.inf, -np.inf])
        for i in range(y.shape[0]):
            mass[i] = weight[i] * row[i]
            if mass[i] > 0.0:
                c = 1 if y[i] > 0.0 else 0
                low[c] = min(low[c], logit[i])
                high[c] = max(high[c], logit[i])
        apart = low[1] >= high[0] or low[0] >= high[1]
        if np.isinf(low[0]) or np.isinf(low[1]) or (slope and apart):
            out[k, 0] = np.nan
            out[k, 1] = np.nan
        else:
            out[k, 0], out[k, 1] = _line(logit, y, mass, slope)


@compiled
def _line(x, y, mass, slope):
    """Climb to the highest likelihood by Newton's steps, halved where they jump too far."""
    a = 0.0
    b = 0.0 if slope else 1.0
    here = _likelihood(x, y, mass, a, b)
    for _ in range(_STEPS):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for i in range(y.shape[0]):
            if mass[i] > 0.0:
                p = 1.0 / (1.0 + np.exp(-(a + b * x[i])))
                g = mass[i] * (y[i] - p)
                h = mass[i] * p * (1.0 - p)
                g0 += g
                h00 += h
                g1 += g * x[i]
                h01 += h * x[i]
                h11 += h * x[i] * x[i]
        det = h00 * h11 - h01 * h01
        da = (h11 * g0 - h01 * g1) / det if slope else g0 / h00
        db = (h00 * g1 - h01 * g0) / det if slope else 0.0
        size = max(abs(da), abs(db))
        for _ in range(_HALVINGS):
            there = _likelihood(x, y, mass, a + da, b + db)
            if there >= here - _ROUNDING * (1.0 + abs(here)):  # near the top the gain of a step is lost in rounding
                break
            da *= 0.5
            db *= 0.5
        a += da
        b += db
        here = _likelihood(x, y, mass, a, b)
        if size < 1e-9 * (1.0 + abs(a) + abs(b)):
            break
    return a, b


@compiled
def _likelihood(x, y, mass, a, b):
    total = 0.0
    for i in range(y.shape[0]):
        if mass[i] > 0.0:
            z = a + b * x[i]
            total += mass[i] * (y[i] * z - max(z, 0.0) - np.log1p(np.exp(-abs(z))))
    return total
