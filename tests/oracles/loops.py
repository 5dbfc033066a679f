"""What single compiled loops do, in plain numpy."""

import numpy as np


def _mix(z):
    """Scatter 64 bits: the last step of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def draw(key, first, n_draws, n):
    """Counts of n_draws[b] units of n, drawn with replacement [B, n]."""
    step = np.uint64(0x9E3779B97F4A7C15)
    starts = _mix(key + _mix(np.arange(first + 1, first + len(n_draws) + 1).astype(np.uint64) * step))
    out = np.zeros((len(n_draws), n), np.uint8)
    for b, start in enumerate(starts):
        state = start + np.arange(1, n_draws[b] + 1).astype(np.uint64) * step
        place = ((_mix(state) >> np.uint64(11)).astype(np.float64) * (1.0 / 9007199254740992.0) * n).astype(np.int64)
        out[b] += np.bincount(place, minlength=n).astype(np.uint8)
    return out


def first_best(scores, tie, unit):
    """First of the highest scores of each row [B]; -1 where none is defined."""
    with np.errstate(invalid="ignore"):
        top = np.fmax.reduce(scores, axis=1)
        least = np.where(np.isinf(top), top, top - tie * (unit + np.abs(top)))
        least[top == -np.inf] = np.nan
        near = scores >= least[:, None]
    return np.where(near.any(axis=1), near.argmax(axis=1), -1)
