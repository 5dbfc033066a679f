"""Ensembles put together on really repeated rows: the slow twins of `greedy_ensemble` and its kin.

Nothing here is clever: every mix that could come next is written out and its squared error taken, row by row.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize


def squared_error(y, columns, weights, w):
    return float(np.average((columns @ weights - y) ** 2, weights=w))


def greedy(y, columns, w, size):
    """Caruana et al. 2004: with replacement; the best of the mixes on the way, the first of equals."""
    c, members, mixes = columns.shape[1], [], []
    for _ in range(size):
        tried = [np.bincount([*members, k], minlength=c) / (len(members) + 1) for k in range(c)]
        errors = [squared_error(y, columns, mix, w) for mix in tried]
        members.append(next(k for k in range(c) if errors[k] <= min(errors) * (1 + 1e-10)))
        mixes.append((errors[members[-1]], tried[members[-1]]))
    least = min(error for error, _ in mixes)
    return next(mix for error, mix in mixes if error <= least * (1 + 1e-10))


def stacked(y, columns, w):
    """The best weights by a solver of scipy's that knows nothing of ours."""
    c = columns.shape[1]
    found = optimize.minimize(
        lambda v: squared_error(y, columns, v, w),
        np.full(c, 1 / c),
        method="SLSQP",
        bounds=[(0, 1)] * c,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x


def best_k(scores, k):
    order = sorted(range(len(scores)), key=lambda c: (-scores[c], c))[:k]
    return np.bincount(order, minlength=len(scores)) / k
