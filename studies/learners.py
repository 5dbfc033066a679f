"""Cheap learners: some thirty configurations fitted on one training set at once, from shared decompositions.

Takes training and test rows of a set, gives predictions [rows, C(, K)] of every configuration; never scores. They are
ordinary methods (penalised linear models, nearest neighbours, kernels, naive Bayes, discriminants, trees, a small
forest, with and without screening); what is unusual is only that a family shares its work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import linalg
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

COMPONENTS = 60
SCREENED = 40
PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)
NEIGHBOURS = (1, 3, 7, 15, 31)
WIDTHS = (0.3, 1.0, 3.0)
Sizes = tuple[tuple[int | None, int], ...]
LOW = 0.01  # probabilities stay this far from 0 and 1, so that one row cannot make a log loss infinite


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows: linear features [n, r], squared distances [m, n], raw features [n, q]."""

    linear: np.ndarray
    linear_test: np.ndarray
    distance: np.ndarray
    distance_test: np.ndarray
    features: np.ndarray
    features_test: np.ndarray


def split(features: np.ndarray, similarity: np.ndarray | None, train: np.ndarray, test: np.ndarray) -> Split:
    """Cut rows and compute what all learners share."""
    Z, T = features[train], features[test]
    if similarity is None:
        mean, spread = Z.mean(axis=0), Z.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        linear, linear_test = (Z - mean) / spread, np.clip((T - mean) / spread, -10, 10)
        distance, distance_test = _squared(Z, Z), _squared(T, Z)
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


def _squared(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.maximum((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None] - 2 * A @ B.T, 0)


# ---- parts that several tasks share ----------------------------------------------------------------------------------
def ridge(X: np.ndarray, T: np.ndarray, Y: np.ndarray, penalties: tuple[float, ...]) -> list[np.ndarray]:
    """Least squares with penalties, one decomposition for all: predictions [m, k] for each."""
    mean, centre = X.mean(axis=0), Y.mean(axis=0)
    U, s, V = np.linalg.svd(X - mean, full_matrices=False)
    inner, outer = U.T @ (Y - centre), (T - mean) @ V.T
    return [outer @ ((s / (s**2 + p))[:, None] * inner) + centre for p in penalties]


def neighbours(cut: Split, Y: np.ndarray) -> list[np.ndarray]:
    """Means of the nearest rows, drawn a little to that of all."""
    order = np.argsort(cut.distance_test, axis=1, kind="stable")[:, : max(NEIGHBOURS)]
    prior = Y.mean(axis=0)
    sums = np.cumsum(Y[order], axis=1)
    return [(sums[:, min(k, len(Y)) - 1] + prior) / (min(k, len(Y)) + 1) for k in NEIGHBOURS]


def kernels(cut: Split, Y: np.ndarray, penalties: tuple[float, ...]) -> list[np.ndarray]:
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


def screen(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """The features most correlated with any column of the target."""
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    spread = np.sqrt((Xc**2).sum(axis=0))
    related = np.abs(Xc.T @ Yc) / np.where(spread > 1e-9, spread, np.inf)[:, None]
    return np.argsort(-(related**2).sum(axis=1), kind="stable")[:k]


# ---- classification --------------------------------------------------------------------------------------------------
def classify(cut: Split, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Probabilities [m, C, k]."""
    Y = np.eye(k)[y]
    top = screen(cut.features, Y, SCREENED)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = _logistic(cut.linear, cut.linear_test, Y, PENALTIES if k == 2 else PENALTIES[::2])
    found += ridge(cut.linear, cut.linear_test, Y, (1000.0, 30.0, 1.0))
    found += neighbours(cut, Y)
    found += kernels(cut, Y, (0.3,))
    found += [bayes(cut.features, cut.features_test, Y), bayes(Z[:, :10], T[:, :10], Y)]
    found += [discriminant(cut.linear, cut.linear_test, Y, shrink) for shrink in (0.1, 0.6)]
    found += [discriminant(Z[:, :10], T[:, :10], Y, 0.05)]
    found += _logistic(Z[:, :10], T[:, :10], Y, (1.0, 0.05)) + _logistic(Z[:, :30], T[:, :30], Y, (3.0,))
    found += class_trees(Z, T, y, k, seed, ((2, 5), (5, 3), (None, 1)))
    forest = ExtraTreesClassifier(25, min_samples_leaf=2, random_state=seed, n_jobs=1).fit(Z, y)
    found.append(complete(forest, T, k))
    return np.stack([probabilities(p) for p in found], axis=1)


def probabilities(p: np.ndarray) -> np.ndarray:
    p = np.clip(np.nan_to_num(p, nan=1.0 / p.shape[1]), LOW, 1 - LOW)
    return p / p.sum(axis=1, keepdims=True)


def class_trees(Z: np.ndarray, T: np.ndarray, y: np.ndarray, k: int, seed: int, sizes: Sizes) -> list[np.ndarray]:
    """Probabilities [m, k] by trees of some depths and smallest leaves."""
    models = [DecisionTreeClassifier(max_depth=d, min_samples_leaf=leaf, random_state=seed) for d, leaf in sizes]
    return [complete(model.fit(Z, y), T, k) for model in models]


def complete(model: object, T: np.ndarray, k: int) -> np.ndarray:
    out = np.zeros((len(T), k))
    out[:, model.classes_] = model.predict_proba(T)  # type: ignore[attr-defined]
    return out


def _logistic(X: np.ndarray, T: np.ndarray, Y: np.ndarray, penalties: tuple[float, ...]) -> list[np.ndarray]:
    """One class against the rest, by Newton's method, from large penalties to small."""
    mean = X.mean(axis=0)
    X, T = np.column_stack([X - mean, np.ones(len(X))]), np.column_stack([T - mean, np.ones(len(T))])
    k = Y.shape[1]
    columns = [1] if k == 2 else list(range(k))
    found = [np.zeros((len(T), k)) for _ in penalties]
    for column in columns:
        weights = np.zeros(X.shape[1])
        for i, p in enumerate(penalties):
            weights = _newton(X, Y[:, column], weights, p)
            found[i][:, column] = 1 / (1 + np.exp(-np.clip(T @ weights, -30, 30)))
    if k == 2:
        for p in found:
            p[:, 0] = 1 - p[:, 1]
    return found


def _newton(X: np.ndarray, y: np.ndarray, weights: np.ndarray, penalty: float) -> np.ndarray:
    shrink = np.full(X.shape[1], penalty)
    shrink[-1] = 1e-3  # the constant is free, but for classes that are not there
    for _ in range(8):
        p = 1 / (1 + np.exp(-np.clip(X @ weights, -15, 15)))
        slope = X.T @ (y - p) - shrink * weights
        curve = (X * (p * (1 - p))[:, None]).T @ X
        curve.flat[:: len(curve) + 1] += shrink
        step = linalg.solve(curve, slope, assume_a="pos", check_finite=False)
        size = np.abs(X @ step).max()
        weights = weights + step * min(1.0, 4.0 / max(size, 1e-12))  # no leap of more than four units of log odds
        if size < 1e-3:
            break
    return weights


def bayes(X: np.ndarray, T: np.ndarray, Y: np.ndarray) -> np.ndarray:
    n = Y.sum(axis=0)
    prior = (n + 1) / (n + 1).sum()
    shared = X.var(axis=0) + 1e-3
    log = np.empty((len(T), Y.shape[1]))
    for k in range(Y.shape[1]):
        here = X[Y[:, k] > 0]
        if len(here) == 0:
            log[:, k] = -np.inf
            continue
        mean = here.mean(axis=0)
        var = (((here - mean) ** 2).sum(axis=0) + 3 * shared) / (len(here) + 3)
        log[:, k] = np.log(prior[k]) - 0.5 * (((T - mean) ** 2) / var + np.log(var)).sum(axis=1)
    return _softmax(log)


def discriminant(X: np.ndarray, T: np.ndarray, Y: np.ndarray, shrink: float) -> np.ndarray:
    n = Y.sum(axis=0)
    means = (Y.T @ X) / np.maximum(n, 1)[:, None]
    within = X - Y @ means
    S = within.T @ within / max(len(X) - Y.shape[1], 1)
    S = (1 - shrink) * S + shrink * max(np.trace(S) / len(S), 1e-6) * np.eye(len(S))
    solved = linalg.solve(S + 1e-6 * np.eye(len(S)), means.T, assume_a="pos")  # [r, k]
    log = T @ solved - 0.5 * (means.T * solved).sum(axis=0) + np.log(np.maximum(n, 1e-9) / n.sum())
    return _softmax(np.where(n > 0, log, -np.inf))


def _softmax(log: np.ndarray) -> np.ndarray:
    p = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


# ---- regression ------------------------------------------------------------------------------------------------------
def regress(cut: Split, y: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C]."""
    centre, scale = y.mean(), max(y.std(), 1e-12)
    Y = ((y - centre) / scale)[:, None]
    top = screen(cut.features, Y, SCREENED)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = ridge(cut.linear, cut.linear_test, Y, (1000.0, 200.0, 50.0, 10.0, 1.0))
    found += neighbours(cut, Y)
    found += kernels(cut, Y, (1.0, 0.1))
    found += ridge(Z[:, :10], T[:, :10], Y, (10.0, 0.1)) + ridge(Z[:, :30], T[:, :30], Y, (30.0, 1.0))
    found += ridge(Z[:, :2], T[:, :2], Y, (0.1,))
    found += trees(Z, T, Y[:, 0], seed)
    return centre + scale * np.column_stack([f.reshape(len(T), -1)[:, 0] for f in found])


def trees(
    Z: np.ndarray, T: np.ndarray, y: np.ndarray, seed: int, sizes: Sizes = ((2, 5), (4, 5), (None, 3)), forest: int = 25
) -> list[np.ndarray]:
    """Trees of some depths and smallest leaves, and a forest."""
    models = [DecisionTreeRegressor(max_depth=d, min_samples_leaf=leaf, random_state=seed) for d, leaf in sizes]
    if forest:
        models.append(ExtraTreesRegressor(forest, min_samples_leaf=3, random_state=seed, n_jobs=1))
    return [model.fit(Z, y).predict(T) for model in models]


# ---- survival --------------------------------------------------------------------------------------------------------
def survive(cut: Split, y: np.ndarray, seed: int) -> np.ndarray:
    """Risks [m, C]: Cox models, and models of the martingale residuals of a model without features."""
    time, event = y["time"], y["event"]
    Y = residual(time, event)[:, None]
    top = screen(cut.features, Y, SCREENED)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = cox(cut.linear, cut.linear_test, time, event, (100.0, 10.0, 3.0, 1.0, 0.1))
    found += cox(Z[:, :5], T[:, :5], time, event, (1.0,)) + cox(Z[:, :15], T[:, :15], time, event, (10.0, 1.0))
    found += ridge(cut.linear, cut.linear_test, Y, (300.0, 30.0, 3.0))
    found += neighbours(cut, Y)[1:]
    found += kernels(cut, Y, (1.0,))
    found += [T[:, 0] * np.sign((Z[:, 0] - Z[:, 0].mean()) @ Y[:, 0])]
    found += trees(Z, T, Y[:, 0], seed)
    return np.column_stack([f.reshape(len(T), -1)[:, 0] for f in found])


def residual(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """Events minus what Nelson and Aalen's curve expects: the martingale residuals of a model without features."""
    values, place = np.unique(time, return_inverse=True)
    died = np.bincount(place, event.astype(float), len(values))
    at_risk = np.cumsum(np.bincount(place, minlength=len(values))[::-1])[::-1]
    return event - np.cumsum(died / at_risk)[place]


def cox(
    X: np.ndarray, T: np.ndarray, time: np.ndarray, event: np.ndarray, penalties: tuple[float, ...]
) -> list[np.ndarray]:
    """Risks by penalised Cox regression, from large penalties to small."""
    mean = X.mean(axis=0)
    order = np.argsort(-time, kind="stable")
    X, time, event = np.ascontiguousarray((X - mean)[order]), time[order], event[order]
    weights, found = np.zeros(X.shape[1]), []
    for p in penalties:
        for _ in range(8):
            slope, curve = _partial(X, time, event, weights)
            step = linalg.solve(curve + p * np.eye(len(weights)), slope - p * weights, assume_a="pos")
            size = np.abs(X @ step).max()
            weights = weights + step * min(1.0, 3.0 / max(size, 1e-12))
            if size < 1e-3:
                break
        found.append((T - mean) @ weights)
    return found


@njit(cache=True, fastmath=True)
def _partial(X, time, event, weights):  # type: ignore[no-untyped-def]
    """Slope and curvature of the partial likelihood (Breslow); rows ordered from the longest time to the shortest."""
    n, r = X.shape
    linear = X @ weights
    shift = linear.max()
    slope, curve = np.zeros(r), np.zeros((r, r))
    s0, s1, s2 = 0.0, np.zeros(r), np.zeros((r, r))
    i = 0
    while i < n:
        j = i
        while j < n and time[j] == time[i]:
            e = np.exp(linear[j] - shift)
            s0 += e
            for a in range(r):
                xa = X[j, a] * e
                s1[a] += xa
                for b in range(a + 1):
                    s2[a, b] += xa * X[j, b]
            j += 1
        for row in range(i, j):
            if event[row]:
                for a in range(r):
                    slope[a] += X[row, a] - s1[a] / s0
                    for b in range(a + 1):
                        curve[a, b] += s2[a, b] / s0 - s1[a] * s1[b] / (s0 * s0)
        i = j
    for a in range(r):
        for b in range(a):
            curve[b, a] = curve[a, b]
    return slope, curve
