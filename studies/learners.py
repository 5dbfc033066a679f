"""Cheap learners: some thirty configurations fitted on one training set at once, from shared decompositions.

Takes training and test rows of a set, gives predictions [rows, C(, K)] of every configuration; never scores. They are
ordinary methods (penalised linear models, nearest neighbours, kernels, naive Bayes, discriminants, trees, a small
forest, with and without screening); what is unusual is only that a family shares its work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import softmax
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from .harness import Array

COMPONENTS = 60
SCREENED = 40
PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)
NEIGHBOURS = (1, 3, 7, 15, 31)
WIDTHS = (0.3, 1.0, 3.0)
Sizes = tuple[tuple[int | None, int], ...]  # of trees: how deep, and the fewest rows of a leaf
NUMBER_TREES: Sizes = ((2, 5), (4, 5), (None, 3))
LOW = 0.01  # probabilities stay this far from 0 and 1, so that one row cannot make a log loss infinite


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows: linear features [n, r], squared distances [m, n], raw features [n, q]."""

    linear: Array
    linear_test: Array
    distance: Array
    distance_test: Array
    features: Array
    features_test: Array

    def screened(self, Y: Array, most: int) -> tuple[Array, Array]:
        """The features most correlated with the target, best first, in training and test rows."""
        top = screen(self.features, Y, most)
        return self.features[:, top], self.features_test[:, top]


def split(features: Array, similarity: Array | None, train: Array, test: Array) -> Split:
    """Cut rows and compute what all learners share."""
    Z, T = features[train], features[test]
    if similarity is None:
        mean, spread = Z.mean(axis=0), Z.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        linear, linear_test = (Z - mean) / spread, np.clip((T - mean) / spread, -10, 10)
        distance, distance_test = squared_distances(Z, Z), squared_distances(T, Z)
    else:
        G, H = similarity[np.ix_(train, train)].astype(float), similarity[np.ix_(test, train)].astype(float)
        own, own_test = np.diag(G), similarity[test, test].astype(float)
        distance = np.maximum(own[:, None] + own[None] - 2 * G, 0)
        distance_test = np.maximum(own_test[:, None] + own[None] - 2 * H, 0)
        mean = G.mean(axis=0)
        G = G - mean[None] - mean[:, None] + mean.mean()
        H = H - H.mean(axis=1, keepdims=True) - mean[None] + mean.mean()
        r = min(COMPONENTS, len(train) - 2)
        values, vectors = linalg.eigh(G, subset_by_index=[len(train) - r, len(train) - 1])
        keep = values > 1e-8 * values[-1]
        values, vectors = values[keep], vectors[:, keep]
        scale = np.sqrt(len(train) / values.mean())  # mean variance one
        linear, linear_test = vectors * np.sqrt(values) * scale, (H @ vectors) / np.sqrt(values) * scale
    return Split(linear, linear_test, distance, distance_test, Z, T)


def squared_distances(A: Array, B: Array) -> Array:
    return np.maximum((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None] - 2 * A @ B.T, 0)


# ---- parts that several tasks share ----------------------------------------------------------------------------------
def ridge(X: Array, T: Array, Y: Array, penalties: tuple[float, ...]) -> list[Array]:
    """Least squares with penalties, one decomposition for all: predictions [m, k] for each."""
    mean, centre = X.mean(axis=0), Y.mean(axis=0)
    U, s, V = np.linalg.svd(X - mean, full_matrices=False)
    inner, outer = U.T @ (Y - centre), (T - mean) @ V.T
    return [outer @ ((s / (s**2 + p))[:, None] * inner) + centre for p in penalties]


def neighbours(cut: Split, Y: Array) -> list[Array]:
    """Means of the nearest rows, drawn a little to that of all."""
    order = np.argsort(cut.distance_test, axis=1, kind="stable")[:, : max(NEIGHBOURS)]
    prior = Y.mean(axis=0)
    sums = np.cumsum(Y[order], axis=1)
    return [(sums[:, min(k, len(Y)) - 1] + prior) / (min(k, len(Y)) + 1) for k in NEIGHBOURS]


def kernels(cut: Split, Y: Array, penalties: tuple[float, ...]) -> list[Array]:
    """Ridge regression on Gaussian kernels of several widths."""
    middle = np.median(cut.distance) or cut.distance.mean()  # few columns of few values: most distances are 0
    centre = Y.mean(axis=0)
    found = []
    for width in WIDTHS:
        K, T = np.exp(-cut.distance / (width * middle)), np.exp(-cut.distance_test / (width * middle))
        for p in penalties:
            weights = linalg.solve(K + p * np.eye(len(K)), Y - centre, assume_a="pos")
            found.append(T @ weights + centre)
    return found


def screen(X: Array, Y: Array, k: int) -> Array:
    """The features most correlated with any column of the target."""
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    spread = np.sqrt((Xc**2).sum(axis=0))
    related = np.abs(Xc.T @ Yc) / np.where(spread > 1e-9, spread, np.inf)[:, None]
    return np.argsort(-(related**2).sum(axis=1), kind="stable")[:k]


def trees(Z: Array, T: Array, y: Array, seed: int, sizes: Sizes, forest: int = 0, k: int = 0) -> list[Array]:
    """Trees of some depths and smallest leaves, and a forest: numbers [m], or probabilities [m, k] of k classes."""
    Tree, Forest = (DecisionTreeClassifier, ExtraTreesClassifier) if k else (DecisionTreeRegressor, ExtraTreesRegressor)
    models = [Tree(max_depth=depth, min_samples_leaf=leaf, random_state=seed) for depth, leaf in sizes]
    if forest:
        models.append(Forest(forest, min_samples_leaf=2 if k else 3, random_state=seed, n_jobs=1))
    found = []
    for model in models:
        model.fit(Z, y)
        found.append(np.zeros((len(T), k)) if k else model.predict(T))
        if k:  # classes that are not there have no chance
            found[-1][:, model.classes_] = model.predict_proba(T)
    return found


def newton(steep: Callable[[Array], tuple[Array, Array]], X: Array, weights: Array, most: float) -> Array:
    """Newton's method by slope and curvature; no leap of more than so many units of the linear term."""
    for _ in range(8):
        slope, curve = steep(weights)
        step = linalg.solve(curve, slope, assume_a="pos")
        size = np.abs(X @ step).max()
        weights = weights + step * min(1.0, most / max(size, 1e-12))
        if size < 1e-3:
            break
    return weights


# ---- classification --------------------------------------------------------------------------------------------------
def classify(cut: Split, y: Array, k: int, seed: int) -> Array:
    """Probabilities [m, C, k]."""
    Y = np.eye(k)[y]
    Z, T = cut.screened(Y, SCREENED)
    found = logistic(cut.linear, cut.linear_test, Y, PENALTIES if k == 2 else PENALTIES[::2])
    found += ridge(cut.linear, cut.linear_test, Y, (1000.0, 30.0, 1.0))
    found += neighbours(cut, Y)
    found += kernels(cut, Y, (0.3,))
    found += [bayes(cut.features, cut.features_test, Y), bayes(Z[:, :10], T[:, :10], Y)]
    found += [discriminant(cut.linear, cut.linear_test, Y, shrink) for shrink in (0.1, 0.6)]
    found += [discriminant(Z[:, :10], T[:, :10], Y, 0.05)]
    found += logistic(Z[:, :10], T[:, :10], Y, (1.0, 0.05)) + logistic(Z[:, :30], T[:, :30], Y, (3.0,))
    found += trees(Z, T, y, seed, ((2, 5), (5, 3), (None, 1)), 25, k)
    return probabilities(found)


def probabilities(found: list[Array]) -> Array:
    """Put configurations together [m, C, k], with sums of 1."""
    made = np.stack(found, axis=1)
    made = np.clip(np.nan_to_num(made, nan=1.0 / made.shape[2]), LOW, 1 - LOW)
    return made / made.sum(axis=2, keepdims=True)


def logistic(X: Array, T: Array, Y: Array, penalties: tuple[float, ...]) -> list[Array]:
    """One class against the rest, by Newton's method, from large penalties to small."""
    mean = X.mean(axis=0)
    X, T = np.column_stack([X - mean, np.ones(len(X))]), np.column_stack([T - mean, np.ones(len(T))])
    k = Y.shape[1]
    found = [np.zeros((len(T), k)) for _ in penalties]
    for column in [1] if k == 2 else range(k):
        weights = np.zeros(X.shape[1])
        for penalty, out in zip(penalties, found, strict=True):
            shrink = np.full(X.shape[1], penalty)
            shrink[-1] = 1e-3  # the constant is free, but for classes that are not there

            def steep(weights: Array) -> tuple[Array, Array]:
                p = 1 / (1 + np.exp(-np.clip(X @ weights, -15, 15)))
                curve = (X * (p * (1 - p))[:, None]).T @ X
                return X.T @ (Y[:, column] - p) - shrink * weights, curve + np.diag(shrink)  # noqa: B023

            weights = newton(steep, X, weights, 4.0)
            out[:, column] = 1 / (1 + np.exp(-np.clip(T @ weights, -30, 30)))
            if k == 2:
                out[:, 0] = 1 - out[:, 1]
    return found


def bayes(X: Array, T: Array, Y: Array) -> Array:
    """Naive Bayes with normal features, whose variances are drawn a little to that of all rows."""
    n = Y.sum(axis=0)
    prior = (n + 1) / (n + 1).sum()
    shared = X.var(axis=0) + 1e-3
    log = np.full((len(T), Y.shape[1]), -np.inf)
    for k in np.flatnonzero(n):
        here = X[Y[:, k] > 0]
        mean = here.mean(axis=0)
        var = (((here - mean) ** 2).sum(axis=0) + 3 * shared) / (len(here) + 3)
        log[:, k] = np.log(prior[k]) - 0.5 * (((T - mean) ** 2) / var + np.log(var)).sum(axis=1)
    return softmax(log, axis=1)


def discriminant(X: Array, T: Array, Y: Array, shrink: float) -> Array:
    """Linear discriminants with a shrunken covariance."""
    n = Y.sum(axis=0)
    means = (Y.T @ X) / np.maximum(n, 1)[:, None]
    within = X - Y @ means
    S = within.T @ within / max(len(X) - Y.shape[1], 1)
    S = (1 - shrink) * S + shrink * max(np.trace(S) / len(S), 1e-6) * np.eye(len(S))
    solved = linalg.solve(S + 1e-6 * np.eye(len(S)), means.T, assume_a="pos")  # [r, k]
    log = T @ solved - 0.5 * (means.T * solved).sum(axis=0) + np.log(np.maximum(n, 1e-9) / n.sum())
    return softmax(np.where(n > 0, log, -np.inf), axis=1)


# ---- regression ------------------------------------------------------------------------------------------------------
def standardised(y: Array) -> tuple[Array, float, float]:
    """A target of mean 0 and variance 1 [n, 1]; its mean and standard deviation."""
    centre, scale = y.mean(), max(float(y.std()), 1e-12)
    return ((y - centre) / scale)[:, None], centre, scale


def columns(found: list[Array]) -> Array:
    """Put configurations together [m, C]."""
    return np.column_stack([f.reshape(len(f)) for f in found])


def regress(cut: Split, y: Array, k: int, seed: int) -> Array:
    """Predictions [m, C]."""
    Y, centre, scale = standardised(y)
    Z, T = cut.screened(Y, SCREENED)
    found = ridge(cut.linear, cut.linear_test, Y, (1000.0, 200.0, 50.0, 10.0, 1.0))
    found += neighbours(cut, Y)
    found += kernels(cut, Y, (1.0, 0.1))
    found += ridge(Z[:, :10], T[:, :10], Y, (10.0, 0.1)) + ridge(Z[:, :30], T[:, :30], Y, (30.0, 1.0))
    found += ridge(Z[:, :2], T[:, :2], Y, (0.1,))
    found += trees(Z, T, Y[:, 0], seed, NUMBER_TREES, 25)
    return centre + scale * columns(found)


# ---- survival --------------------------------------------------------------------------------------------------------
def survive(cut: Split, y: Array, k: int, seed: int) -> Array:
    """Risks [m, C]: Cox models, and models of the martingale residuals of a model without features."""
    Y = residual(y)[:, None]
    Z, T = cut.screened(Y, SCREENED)
    found = cox(cut.linear, cut.linear_test, y, (100.0, 10.0, 3.0, 1.0, 0.1))
    found += cox(Z[:, :5], T[:, :5], y, (1.0,)) + cox(Z[:, :15], T[:, :15], y, (10.0, 1.0))
    found += ridge(cut.linear, cut.linear_test, Y, (300.0, 30.0, 3.0))
    found += neighbours(cut, Y)[1:]
    found += kernels(cut, Y, (1.0,))
    found += [T[:, 0] * np.sign((Z[:, 0] - Z[:, 0].mean()) @ Y[:, 0])]
    found += trees(Z, T, Y[:, 0], seed, NUMBER_TREES, 25)
    return columns(found)


def residual(y: Array) -> Array:
    """Events minus what Nelson and Aalen's curve expects: the martingale residuals of a model without features."""
    values, place = np.unique(y["time"], return_inverse=True)
    died = np.bincount(place, y["event"].astype(float), len(values))
    at_risk = np.cumsum(np.bincount(place, minlength=len(values))[::-1])[::-1]
    return y["event"] - np.cumsum(died / at_risk)[place]


def cox(X: Array, T: Array, y: Array, penalties: tuple[float, ...]) -> list[Array]:
    """Risks by penalised Cox regression, from large penalties to small."""
    mean = X.mean(axis=0)
    order = np.argsort(-y["time"], kind="stable")
    X, y = np.ascontiguousarray((X - mean)[order]), y[order]
    tied = np.searchsorted(-y["time"], -y["time"], "right")[y["event"]] - 1  # the last row at risk with each event
    weights, found = np.zeros(X.shape[1]), []
    for p in penalties:

        def steep(weights: Array) -> tuple[Array, Array]:  # of the partial likelihood, Breslow's
            linear = X @ weights
            e = np.exp(linear - linear.max())
            at_risk = np.cumsum(e)[tied]
            means = np.cumsum(e[:, None] * X, axis=0)[tied] / at_risk[:, None]
            shares = e * np.cumsum(np.bincount(tied, 1 / at_risk, len(e))[::-1])[::-1]
            slope, curve = (X[y["event"]] - means).sum(axis=0), (X * shares[:, None]).T @ X - means.T @ means
            return slope - p * weights, curve + p * np.eye(len(weights))  # noqa: B023

        weights = newton(steep, X, weights, 3.0)
        found.append((T - mean) @ weights)
    return found


#: What is fitted for each task: training and test rows, target, number of classes and seed -> predictions.
Recipes = Mapping[str, Callable[[Split, Array, int, int], Array]]
FULL: Recipes = {"classification": classify, "regression": regress, "survival": survive}
