"""Small fits, a few thousand at a time: mixes of columns, and logistic regressions on one variable."""

import numpy as np

from ...compiled import compiled

_TIE = 1e-12  # losses that differ by less, relative to their size, are equal: the first column counts
_STEPS = 100
_HALVINGS = 40
_ROUNDING = 1e-11  # what the sum of a likelihood may lose, relative to itself


# With products of errors G [C, C], a mix with weights w (none negative, sum 1) has the squared error w'Gw.
@compiled
def greedy_mix(products, size, weights):
    """Add columns one by one, with replacement, each the one that helps most; keep the best of the mixes on the way."""
    n = products.shape[0]
    taken = np.zeros(n, np.int64)
    met = np.zeros(n, np.float64)  # products with the sum so far
    own, best = 0.0, np.inf
    for step in range(1, size + 1):
        least = np.inf
        for c in range(n):
            least = min(least, own + 2.0 * met[c] + products[c, c])
        chosen = 0
        for c in range(n):
            if own + 2.0 * met[c] + products[c, c] <= least + _TIE * abs(least):
                chosen = c
                break
        own += 2.0 * met[chosen] + products[chosen, chosen]
        taken[chosen] += 1
        for c in range(n):
            met[c] += products[chosen, c]
        loss = own / (step * step)
        if loss < best - _TIE * abs(best) or step == 1:
            best = loss
            for c in range(n):
                weights[c] = taken[c] / step


@compiled
def least_squares_mix(products, most_steps, weights):
    """The mix of the smallest squared error: move weight between two columns until no move helps."""
    n = products.shape[0]
    start = 0
    scale = 0.0
    for c in range(n):
        scale = max(scale, products[c, c])
        if products[c, c] < products[start, start]:
            start = c
    slope = np.empty(n, np.float64)  # half the slope of the error in each weight
    for c in range(n):
        weights[c] = 0.0
        slope[c] = products[start, c]
    weights[start] = 1.0
    for _ in range(most_steps):
        low, high = 0, -1
        for c in range(n):
            if slope[c] < slope[low]:
                low = c
            if weights[c] > 0.0 and (high < 0 or slope[c] > slope[high]):
                high = c
        gap = slope[high] - slope[low]
        if gap <= 1e-12 * scale:
            break
        bend = products[low, low] + products[high, high] - 2.0 * products[low, high]
        move = weights[high] if bend <= 0.0 else min(weights[high], gap / bend)
        weights[low] += move
        weights[high] = 0.0 if move == weights[high] else weights[high] - move
        for c in range(n):
            slope[c] += move * (products[low, c] - products[high, c])


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
