"""Tables of the study: sub-samples with every split on which any of the intervals rests, and the truth on the rest.

Takes a data set or a simulated one, gives out-of-fold predictions of all configurations: by folds, by pairs of folds,
by random splits of all rows and of halves, and of a hold-out. Never scores. The configurations are cheap ones that
share decompositions (`studies.intervals.learners`), so that several hundred trainings of all of them take seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.linear_model import lasso_path
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ..intervals import data, learners
from . import generators

FOLDS = 10
SPLITS = 15  # random splits of 90 and 10 %: corrected-t, and each half of conservative-z
HALVINGS = 10  # conservative-z
REPEATS = 4  # of Bates' nested cross-validation
#: Predictions [m, C(, K)] on test rows of models trained on training rows.
Fit = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Splits:
    """Random splits of some rows: each test set with the predictions on it."""

    tests: list[np.ndarray]
    predictions: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Trained:
    """One table.

    Attributes
    ----------
    y, y_judges : array [N], [M]
    folds : int array [N]
    predictions : array [N, C(, K)]
        Out of fold.
    paired : array [F, N, C(, K)]
        Row i of entry j: by the model trained without fold j and without the fold of row i; NaN where they are the
        same.
    judged : array [M, C(, K)]
        Of the models trained on all rows.
    repeats : list of (folds, predictions, paired)
        The same by other folds, for rivals.
    splits : Splits
        Of all rows.
    halves : list of (Splits, Splits)
        Of two halves that share no row, a pair for each halving.
    held : (rows, out-of-fold predictions of the others, predictions on the rows)
    """

    y: np.ndarray
    y_judges: np.ndarray
    folds: np.ndarray
    predictions: np.ndarray
    paired: np.ndarray
    judged: np.ndarray
    repeats: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    splits: Splits
    halves: list[tuple[Splits, Splits]]
    held: tuple[np.ndarray, np.ndarray, np.ndarray]


def train(
    fit: Fit, y: np.ndarray, judges: np.ndarray, y_judges: np.ndarray, task: str, rng: np.random.Generator, heavy: bool
) -> Trained:
    """Train all configurations on all that is needed of N rows.

    Parameters
    ----------
    fit : Fit
        Rows are counted from 0 to N - 1; `judges` are numbers that it knows, too.
    y : array [N]
    judges : int array [M]
    y_judges : array [M]
    task : {"classification", "regression"}
    rng : Generator
    heavy : bool
        Whether to train what only the rivals with hundreds of trainings ask for.
    """
    n = len(y)
    rows = np.arange(n)
    judged = fit(rows, judges)
    once = by_folds(fit, y, task, rng)
    splits, held = _splits(fit, rows, rng), _held(fit, y, task, rng)
    halves: list[tuple[Splits, Splits]] = []
    for _ in range(HALVINGS if heavy else 0):
        order = rng.permutation(n)
        halves.append((_splits(fit, order[: n // 2], rng), _splits(fit, order[n // 2 : n // 2 * 2], rng)))
    again = [by_folds(fit, y, task, rng) for _ in range(REPEATS - 1 if heavy else 0)]
    return Trained(y, y_judges, *once, judged, again, splits, halves, held)


def by_folds(fit: Fit, y: np.ndarray, task: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Folds [N], out-of-fold predictions [N, C(, K)], and those without a second fold [F, N, C(, K)]."""
    rows, folds = np.arange(len(y)), spread(task, y, FOLDS, rng)
    parts = [fit(rows[folds != k], rows[folds == k]) for k in range(FOLDS)]
    out = np.full((len(y), *parts[0].shape[1:]), np.nan, np.float32)
    paired = np.full((FOLDS, *out.shape), np.nan, np.float32)
    for k in range(FOLDS):
        out[folds == k] = parts[k]
        for j in range(k):
            test = (folds == k) | (folds == j)
            found = fit(rows[~test], rows[test])
            of_k = folds[test] == k
            paired[j, folds == k], paired[k, folds == j] = found[of_k], found[~of_k]
    return folds, out, paired


def _splits(fit: Fit, rows: np.ndarray, rng: np.random.Generator) -> Splits:
    tests, found = [], []
    for _ in range(SPLITS):
        order = rng.permutation(rows)
        size = max(len(rows) // 10, 1)
        tests.append(order[:size])
        found.append(fit(order[size:], order[:size]))
    return Splits(tests, found)


def _held(fit: Fit, y: np.ndarray, task: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    third = spread(task, y, 3, rng)
    held, rest = np.flatnonzero(third == 0), np.flatnonzero(third != 0)
    folds = spread(task, y[rest], 5, rng)
    first = fit(rest, held)
    out = np.full((len(rest), *first.shape[1:]), np.nan, np.float32)
    for k in range(5):
        out[folds == k] = fit(rest[folds != k], rest[folds == k])
    return held, out, first


def spread(task: str, y: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Folds of equal size; classes are spread evenly over them."""
    order = rng.permutation(len(y))
    if task == "classification":
        order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), np.int64)
    folds[order] = np.arange(len(y)) % k
    return folds


# ---- real data -------------------------------------------------------------------------------------------------------
def real(ready: data.Ready, n: int, sample: int, *, heavy: bool) -> Trained:
    """Draw a sub-sample, and train on it; up to 3,000 other rows judge."""
    rng = np.random.default_rng([n, sample, *ready.name.encode()])
    while True:
        order = rng.permutation(len(ready.y))
        rows, judges = order[:n], order[n : n + 3000]
        if ready.task == "regression" or np.bincount(ready.y[rows], minlength=ready.n_classes).min() >= 4:
            break
    both = np.concatenate([rows, judges])

    def fit(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        cut = learners.split(ready.features, ready.similarity, both[train], both[test])
        if ready.task == "regression":
            return numbers(cut, ready.y[both[train]], sample)
        found = classes(cut, ready.y[both[train]], ready.n_classes, sample)
        return found[:, :, 1] if ready.n_classes == 2 else found

    return train(fit, ready.y[rows], np.arange(n, len(both)), ready.y[judges], ready.task, rng, heavy)


def classes(cut: learners.Split, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Probabilities [m, C, k] of 21 configurations; the first is one that people try first."""
    Y = np.eye(k)[y]
    top = learners.screen(cut.features, Y, 30)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = learners.ridge(cut.linear, cut.linear_test, Y, (30.0, 1000.0, 200.0, 5.0, 1.0))
    found += learners.neighbours(cut, Y)
    found += [learners._bayes(cut.features, cut.features_test, Y), learners._bayes(Z[:, :10], T[:, :10], Y)]
    found += [learners._discriminant(cut.linear, cut.linear_test, Y, shrink) for shrink in (0.1, 0.6)]
    found += [learners._discriminant(Z[:, :q], T[:, :q], Y, 0.05) for q in (3, 10, 30)]
    found += learners.ridge(Z[:, :5], T[:, :5], Y, (1.0,)) + learners.ridge(Z, T, Y, (1.0,))
    for depth, leaf in ((3, 5), (None, 1)):
        with config_context(assume_finite=True, skip_parameter_validation=True):
            tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=seed).fit(Z, y)
            found.append(learners._complete(tree, T, k))
    return np.stack([learners._probabilities(p) for p in found], axis=1)


def numbers(cut: learners.Split, y: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C] of 18 configurations; the first is one that people try first."""
    centre, scale = y.mean(), max(y.std(), 1e-12)
    Y = ((y - centre) / scale)[:, None]
    top = learners.screen(cut.features, Y, 30)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = learners.ridge(cut.linear, cut.linear_test, Y, (10.0, 1000.0, 200.0, 50.0, 1.0))
    found += learners.neighbours(cut, Y)
    found += learners.ridge(Z[:, :10], T[:, :10], Y, (10.0, 0.1)) + learners.ridge(Z, T, Y, (30.0, 1.0))
    found += learners.ridge(Z[:, :2], T[:, :2], Y, (0.1,)) + learners.ridge(Z[:, :1], T[:, :1], Y, (0.1,))
    for depth, leaf in ((3, 5), (None, 1)):
        with config_context(assume_finite=True, skip_parameter_validation=True):
            tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=seed).fit(Z, y)
            found.append((tree.predict(T) - centre)[:, None] / scale)
    return centre + scale * np.column_stack([f.reshape(len(T), -1)[:, 0] for f in found])


# ---- Rink and Brannath -----------------------------------------------------------------------------------------------
def lasso(design: str, sample: int, n: int = 400, p: int = 1000, models: int = 30) -> Trained:
    """Simulate their design: "b", or the number of active features (see `generators`).

    They fit logistic lassos; here they are lassos of the label, which take a tenth of the time. The path of penalties
    is that of all rows, as in glmnet.
    """
    case_b = design == "b"
    rng = np.random.default_rng([0 if case_b else int(design), sample, n, p])
    X, y = generators.two_class(n + 3000, rng) if case_b else generators.normal(int(design), n + 3000, p, rng)
    top = np.abs((X[:n] - X[:n].mean(axis=0)).T @ (y[:n] - y[:n].mean())).max() / n
    penalties = top * np.geomspace(0.95, 0.08, models)

    def fit(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        mean, share = X[train].mean(axis=0), y[train].mean()
        weights = lasso_path(X[train] - mean, y[train] - share, alphas=penalties, tol=1e-3)[1]
        return np.clip(share + (X[test] - mean) @ weights, 0.01, 0.99)

    return train(fit, y[:n], np.arange(n, len(X)), y[n:], "classification", rng, heavy=False)
