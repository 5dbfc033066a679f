"""Scans of sorted samples for all resamples at once: orders `[C, N]` and counts `[N, B]` in, `[C, B]` out."""

import numpy as np

from ...compiled import compiled


@compiled
def average_precision(order, score, positive, weight, counts, out):
    """Sum of precision times gain in recall over runs of equal scores, before division by the positives [C, B]."""
    n_resamples = counts.shape[1]
    found = np.empty(n_resamples, np.float64)
    seen = np.empty(n_resamples, np.float64)
    new = np.zeros(n_resamples, np.float64)
    area = np.empty(n_resamples, np.float64)
    for c in range(order.shape[0]):
        found[:] = 0.0
        seen[:] = 0.0
        area[:] = 0.0
        any_new = False
        for j in range(order.shape[1]):
            i = order[c, j]
            row = counts[i]
            w = weight[i]
            for b in range(n_resamples):
                seen[b] += w * row[b]
            if positive[i]:
                any_new = True
                for b in range(n_resamples):
                    new[b] += w * row[b]
            if any_new and (j + 1 == order.shape[1] or score[c, order[c, j + 1]] != score[c, i]):
                any_new = False
                for b in range(n_resamples):
                    found[b] += new[b]
                    area[b] += new[b] * found[b] / max(seen[b], 1e-300)
                    new[b] = 0.0
        for b in range(n_resamples):
            out[c, b] = area[b]


@compiled
def quantiles(order, value, weight, reached, slack, counts, out):
    """Weighted quantiles [C, B]: the mean of the first value at which a weight is reached and the first beyond it.

    `reached` [B] is that weight: half of all for a median, next to none for the first value that is present. Sums of
    non-integer weights carry rounding, so that "reached" is meant within `slack` [B].
    """
    n_resamples = counts.shape[1]
    below = np.empty(n_resamples, np.float64)
    low = np.empty(n_resamples, np.float64)
    high = np.empty(n_resamples, np.float64)
    for c in range(order.shape[0]):
        below[:] = 0.0
        low[:] = np.nan
        high[:] = np.nan
        left = n_resamples
        for j in range(order.shape[1]):
            if left == 0:
                break
            i = order[c, j]
            row = counts[i]
            w = weight[i]
            v = value[c, i]
            for b in range(n_resamples):
                after = below[b] + w * row[b]
                if below[b] < reached[b] - slack[b] and after >= reached[b] - slack[b]:
                    low[b] = v
                if below[b] <= reached[b] + slack[b] and after > reached[b] + slack[b]:
                    high[b] = v
                    left -= 1
                below[b] = after
        for b in range(n_resamples):
            out[c, b] = 0.5 * (low[b] + high[b])
