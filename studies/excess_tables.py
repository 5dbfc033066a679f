"""Tables of the study of excess: sub-samples with every split on which any of the intervals rests, and the truth.

Out-of-fold predictions of all configurations by folds, by pairs of folds, by random splits of all rows and of halves,
and of a hold-out. The configurations are cheap and share decompositions, so that several hundred trainings of all of
them take seconds. Data are real, or simulated as in other people's studies of intervals, by their published formulas:

- Schulz-Kümpel et al. (arXiv 2409.18836): their seven artificial generators. `bates_*` has five features of 20 or 100
  with a coefficient of 1; `chen_10` three of six latent features behind ten noisy copies each (`chen_10_null`: none);
  `friedman1` is Friedman's first.
- Rink and Brannath (2025): `normal` features of which some have a coefficient of 1, and `two_class`, their feature
  case B (the `twoClassSim` of R's caret with 500 noise features, 485 correlated ones and 1 % of the labels flipped).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn import config_context
from sklearn.datasets import make_friedman1
from sklearn.linear_model import lasso_path

from . import learners, sets
from .harness import Array, Rng
from .sets import Fit, SubSample

#: Schulz-Kümpel et al.'s generators, for which no constant was chosen either.
SIMULATED = (
    "bates_classif_20", "bates_classif_100", "bates_regr_20", "bates_regr_100", "chen_10", "chen_10_null", "friedman1",
)  # fmt: skip
FOLDS = 10
SPLITS = 15  # random splits of 90 and 10 %: corrected-t, and each half of conservative-z
HALVINGS = 10  # conservative-z
REPEATS = 4  # of Bates' nested cross-validation
#: Each test set with the predictions on it.
Splits = list[tuple[Array, Array]]
#: Folds [N], out-of-fold predictions [N, C(, K)], and those without a second fold [F, N, C(, K)]: row i of the j-th is
#: by the model without fold j and without the fold of row i; NaN where they are the same.
ByFolds = tuple[Array, Array, Array]


class Trained(NamedTuple):
    """One table."""

    sample: SubSample  # by the first folds
    repeats: list[ByFolds]  # one; or several, for rivals
    splits: Splits  # of all rows
    halves: list[list[Splits]]  # of two halves that share no row, a pair for each halving
    #: Rows of a hold-out, out-of-fold predictions of the others, and predictions on the rows.
    held: tuple[Array, Array, Array]


def train(fit: Fit, y: Array, y_judges: Array, rng: Rng, heavy: bool) -> Trained:
    """Train all configurations on all that is needed of N rows.

    `fit` knows the rows by numbers from 0 to N - 1, and those that judge by the next ones; `heavy` trains what only
    the rivals with hundreds of trainings ask for.
    """
    n = len(y)
    rows = np.arange(n)
    judged = fit(rows, np.arange(n, n + len(y_judges)))
    repeats = [by_folds(fit, y, rng)]
    splits, held = random_splits(fit, rows, rng), hold_out(fit, y, rng)
    halves = []
    for _ in range(HALVINGS if heavy else 0):
        order = rng.permutation(n)
        halves.append([random_splits(fit, half, rng) for half in (order[: n // 2], order[n // 2 : n // 2 * 2])])
    repeats += [by_folds(fit, y, rng) for _ in range(REPEATS - 1 if heavy else 0)]
    folds, out, _ = repeats[0]
    return Trained(SubSample(y, folds[:, None], out[:, :, None], y_judges, judged), repeats, splits, halves, held)


def by_folds(fit: Fit, y: Array, rng: Rng) -> ByFolds:
    """Cross-validate without each fold, and without each two folds."""
    rows, folds = np.arange(len(y)), sets.spread_folds(y, rng, FOLDS)
    out = sets.out_of_fold(fit, rows, folds).astype(np.float32)
    paired = np.full((FOLDS, *out.shape), np.nan, np.float32)
    for k in range(FOLDS):
        for j in range(k):
            test = (folds == k) | (folds == j)
            found = fit(rows[~test], rows[test])
            of_k = folds[test] == k
            paired[j, folds == k], paired[k, folds == j] = found[of_k], found[~of_k]
    return folds, out, paired


def random_splits(fit: Fit, rows: Array, rng: Rng) -> Splits:
    """Train on 90 % of the rows."""
    orders = [rng.permutation(rows) for _ in range(SPLITS)]
    size = max(len(rows) // 10, 1)
    return [(order[:size], fit(order[size:], order[:size])) for order in orders]


def hold_out(fit: Fit, y: Array, rng: Rng) -> tuple[Array, Array, Array]:
    """Hold out a third, cross-validate on the rest."""
    third = sets.spread_folds(y, rng, 3)
    held, rest = np.flatnonzero(third == 0), np.flatnonzero(third != 0)
    folds = sets.spread_folds(y[rest], rng, 5)
    return held, sets.out_of_fold(fit, rest, folds).astype(np.float32), fit(rest, held)


def real(ready: sets.Ready, n: int, sample: int, *, heavy: bool) -> Trained:
    """Draw a sub-sample, and train on it; up to 3,000 other rows judge."""
    rng = np.random.default_rng([n, sample, *ready.name.encode()])
    rows, judges = sets.draw(ready.y, n, rng, fewest=4)
    both = np.concatenate([rows, judges])
    fit = partial(sets.fit, ready, seed=sample, recipes={"classification": classes, "regression": numbers})
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return train(lambda one, other: fit(both[one], both[other]), ready.y[rows], ready.y[judges], rng, heavy)


TREES: learners.Sizes = ((3, 5), (None, 1))


def classes(cut: learners.Split, y: Array, k: int, seed: int) -> Array:
    """Probabilities [m, C, k] of 21 configurations; the first is one that people try first."""
    Y = np.eye(k)[y]
    Z, T = cut.screened(Y, 30)
    found = learners.ridge(cut.linear, cut.linear_test, Y, (30.0, 1000.0, 200.0, 5.0, 1.0))
    found += learners.neighbours(cut, Y)
    found += [learners.bayes(cut.features, cut.features_test, Y), learners.bayes(Z[:, :10], T[:, :10], Y)]
    found += [learners.discriminant(cut.linear, cut.linear_test, Y, shrink) for shrink in (0.1, 0.6)]
    found += [learners.discriminant(Z[:, :q], T[:, :q], Y, 0.05) for q in (3, 10, 30)]
    found += learners.ridge(Z[:, :5], T[:, :5], Y, (1.0,)) + learners.ridge(Z, T, Y, (1.0,))
    return learners.probabilities(found + learners.trees(Z, T, y, seed, TREES, k=k))


def numbers(cut: learners.Split, y: Array, k: int, seed: int) -> Array:
    """Predictions [m, C] of 18 configurations; the first is one that people try first."""
    Y, centre, scale = learners.standardised(y)
    Z, T = cut.screened(Y, 30)
    found = learners.ridge(cut.linear, cut.linear_test, Y, (10.0, 1000.0, 200.0, 50.0, 1.0))
    found += learners.neighbours(cut, Y)
    found += learners.ridge(Z[:, :10], T[:, :10], Y, (10.0, 0.1)) + learners.ridge(Z, T, Y, (30.0, 1.0))
    found += learners.ridge(Z[:, :2], T[:, :2], Y, (0.1,)) + learners.ridge(Z[:, :1], T[:, :1], Y, (0.1,))
    found += [(p - centre) / scale for p in learners.trees(Z, T, y, seed, TREES)]
    return centre + scale * learners.columns(found)


# ---- simulated data ----
def population(name: str, n: int) -> tuple[Array, Array]:
    """Features and target of n rows."""
    rng = np.random.default_rng(list(name.encode()))
    if name == "friedman1":
        X, y = make_friedman1(n, random_state=1, noise=1.0)
        return X, y
    if name.startswith("chen"):
        latent, copies = rng.random((n, 6)), 10
        a, b, c = rng.normal(0.2, 1.0, (3, n)) if name.endswith("null") else latent[:, :3].T
        y = 0.25 * np.exp(4 * a) + 4 * expit(20 * (b - 0.5)) + 3 * c + rng.normal(0, 0.2, n)
        noise = 0.01 + 0.5 * np.arange(copies) / (copies - 1)
        return (latent[:, :, None] + noise * rng.normal(0.3, 1.0, (n, 6, copies))).reshape(n, -1), y
    X = rng.standard_normal((n, int(name.rsplit("_", 1)[1])))
    linear = X[:, :5].sum(axis=1)
    if "classif" in name:
        return X, (rng.random(n) < expit(linear)).astype(np.int64)
    return X, linear + rng.standard_normal(n)


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


def lasso(design: str, n: int, sample: int) -> Trained:
    """Rink and Brannath's design: "b", or the number of active features.

    They fit logistic lassos; here they are lassos of the label, which take a tenth of the time. The path of penalties
    is that of all rows, as in glmnet.
    """
    active, p = 0 if design == "b" else int(design), 1000
    rng = np.random.default_rng([active, sample, n, p])
    if design == "b":
        X, y = two_class(n + sets.MOST_JUDGES, rng)
    else:  # independent normal features, some with a coefficient of 1, logistic labels
        X = rng.standard_normal((n + sets.MOST_JUDGES, p), dtype=np.float32).astype(np.float64)
        y = (rng.random(len(X)) < expit(X[:, :active].sum(axis=1))).astype(np.int64)
    top = np.abs((X[:n] - X[:n].mean(axis=0)).T @ (y[:n] - y[:n].mean())).max() / n
    penalties = top * np.geomspace(0.95, 0.08, 30)

    def fit(train: Array, test: Array) -> Array:
        mean, share = X[train].mean(axis=0), y[train].mean()
        weights = lasso_path(X[train] - mean, y[train] - share, alphas=penalties, tol=1e-3)[1]
        return np.clip(share + (X[test] - mean) @ weights, 0.01, 0.99)

    return train(fit, y[:n], y[n:], rng, heavy=False)
