"""Simulated data of other people's studies of intervals, by their published formulas.

- Schulz-Kümpel et al. (arXiv 2409.18836): their seven artificial generators. `bates_*` has five features of 20 or 100
  with a coefficient of 1; `chen_10` three of six latent features behind ten noisy copies each (`chen_10_null`: none);
  `friedman1` is Friedman's first.
- Rink and Brannath (2025): `normal` features of which some have a coefficient of 1, and `two_class`, their feature
  case B (the `twoClassSim` of R's caret with 500 noise features, 485 correlated ones and 1 % of the labels flipped).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_friedman1

from .harness import Array, Rng

#: Name -> task.
POPULATIONS = {
    "bates_classif_20": "classification", "bates_classif_100": "classification", "bates_regr_20": "regression",
    "bates_regr_100": "regression", "chen_10": "regression", "chen_10_null": "regression", "friedman1": "regression",
}  # fmt: skip


def population(name: str, n: int) -> tuple[Array, Array]:
    """Features and target of n rows."""
    rng = np.random.default_rng(list(name.encode()))
    if name == "friedman1":
        X, y = make_friedman1(n, random_state=1, noise=1.0)
        return X, y
    if name.startswith("chen"):
        return _chen(n, rng, null=name.endswith("null"))
    X = rng.standard_normal((n, int(name.rsplit("_", 1)[1])))
    linear = X[:, :5].sum(axis=1)
    if "classif" in name:
        return X, (rng.random(n) < expit(linear)).astype(np.int64)
    return X, linear + rng.standard_normal(n)


def _chen(n: int, rng: Rng, *, null: bool) -> tuple[Array, Array]:
    latent, copies = rng.random((n, 6)), 10
    a, b, c = rng.normal(0.2, 1.0, (3, n)) if null else latent[:, :3].T
    y = 0.25 * np.exp(4 * a) + 4 * expit(20 * (b - 0.5)) + 3 * c + rng.normal(0, 0.2, n)
    noise = 0.01 + 0.5 * np.arange(copies) / (copies - 1)
    return (latent[:, :, None] + noise * rng.normal(0.3, 1.0, (n, 6, copies))).reshape(n, -1), y


def normal(active: int, n: int, p: int, rng: Rng) -> tuple[Array, Array]:
    """Independent normal features, `active` of them with a coefficient of 1, logistic labels."""
    X = rng.standard_normal((n, p), dtype=np.float32).astype(np.float64)
    return X, (rng.random(n) < expit(X[:, :active].sum(axis=1))).astype(np.int64)


def two_class(n: int, rng: Rng) -> tuple[Array, Array]:
    """Two correlated, ten linear and three non-linear features, 500 of noise and 485 that correlate by .8."""
    pair = rng.multivariate_normal([0, 0], [[2, 1.3], [1.3, 2]], n)
    linear = rng.standard_normal((n, 10))
    u = np.column_stack([rng.uniform(-1, 1, n), rng.random((n, 2))])
    odds = -5 - 4 * pair[:, 0] + 4 * pair[:, 1] + 2 * pair[:, 0] * pair[:, 1]
    odds += u[:, 0] ** 3 + 2 * np.exp(-6 * (u[:, 0] - 0.3) ** 2) + 2 * np.sin(np.pi * u[:, 1] * u[:, 2])
    odds += linear @ (np.linspace(10, 1, 10) / 4 * (-1.0) ** np.arange(10))
    y = (rng.random(n) < expit(odds)) ^ (rng.random(n) < 0.01)
    shared = np.sqrt(0.8) * rng.standard_normal((n, 1)) + np.sqrt(0.2) * rng.standard_normal((n, 485))
    return np.hstack([pair, linear, u, rng.standard_normal((n, 500)), shared]), y.astype(np.int64)
