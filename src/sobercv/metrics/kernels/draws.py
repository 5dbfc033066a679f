"""Drawing resamples, and picking the best of each: what every bootstrap does, whatever the metric."""

import numpy as np

from ...compiled import compiled


@compiled
def _mix(z):
    """Scatter 64 bits (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def draw(key, first, n_draws, counts):
    """Draw n_draws[b] units with replacement for each resample b and count them: counts [B, units].

    Every resample has a SplitMix64 stream of its own, started from (key, its number), so that any block of resamples
    can be drawn alone, by any thread, and is always the same.
    """
    step = np.uint64(0x9E3779B97F4A7C15)
    n = np.float64(counts.shape[1])
    for b in range(counts.shape[0]):
        row = counts[b]
        state = _mix(key + _mix(np.uint64(first + b + 1) * step))
        for _ in range(n_draws[b]):
            state += step
            row[np.int64(np.float64(_mix(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)] += 1


@compiled
def first_best(scores, tie, unit, out):
    """The first of the highest of scores [C, B] for each b, equals within tie * (unit + size); -1 where all are NaN."""
    n_configurations, n_resamples = scores.shape
    top = np.empty(n_resamples, np.float64)
    for b in range(n_resamples):
        top[b] = -np.inf
    for c in range(n_configurations):
        for b in range(n_resamples):
            top[b] = scores[c, b] if scores[c, b] > top[b] else top[b]
    for b in range(n_resamples):
        out[b] = -1
        if top[b] == -np.inf:
            top[b] = np.nan
        elif top[b] < np.inf:
            top[b] -= tie * (unit + abs(top[b]))
    for c in range(n_configurations - 1, -1, -1):  # backwards, so that the first of equals stays
        for b in range(n_resamples):
            out[b] = c if scores[c, b] >= top[b] else out[b]
