"""WMC and WMCS as literal loops over configurations and draws: the twin of `sobercv.rivals.weighted_means`."""

from __future__ import annotations

import math

import numpy as np


def covariance(by_fold, test_share):
    """Nadeau and Bengio's variances, the correlations of the fold scores between them."""
    n_folds, c = by_fold.shape
    out = np.zeros((c, c))
    for i in range(c):
        for j in range(c):
            a, b = by_fold[:, i], by_fold[:, j]
            varies = len(set(a)) > 1 and len(set(b)) > 1
            r = 1.0 if i == j else float(np.corrcoef(a, b)[0, 1]) if varies else 0.0
            r = 0.9 if i != j and r > 1 - 1e-12 else r
            factor = 1 / n_folds + test_share / (1 - test_share)
            out[i, j] = r * factor * math.sqrt(a.var(ddof=1) * b.var(ddof=1))
    return out


def weighted_means(mean, noise):
    """WMC, WMCS of the observed means, WMCS of the shrunken means."""
    mean = [float(m) for m in mean]

    def weights(centre):
        wins = [0] * len(centre)
        for one in noise:
            z = [m + e for m, e in zip(centre, one, strict=True)]
            wins[z.index(max(z))] += 1
        return [w / len(noise) for w in wins]

    top = mean.index(max(mean))
    middle = sum(mean) / len(mean)
    winning = [one[top] for one in noise if top == int(np.argmax([m + e for m, e in zip(mean, one, strict=True)]))]
    bias = max(sum(winning) / len(winning), 0.0)
    share = min(bias / (max(mean) - middle), 1.0) if max(mean) > middle else 1.0
    shrunken = [m - share * (m - middle) for m in mean]

    def average(w, of):
        return sum(a * b for a, b in zip(w, of, strict=True))

    return average(weights(mean), mean), average(weights(shrunken), mean), average(weights(shrunken), shrunken)
