"""Mixes: weights of columns whose weighted mean errs least, by the products of their errors.

With products of errors G [C, C], a mix with weights w (none negative, sum 1) has the squared error w'Gw. Samples are
not needed: what is present in a resample is in G.
"""

from __future__ import annotations

import numpy as np

from ...compiled import compiled

_TIE = 1e-12  # losses that differ by less, relative to their size, are equal: the first column counts


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
