"""Tables of the study of excess: sub-samples with every split on which any of the intervals rests, and the truth.

Out-of-fold predictions of all configurations by folds, by pairs of folds, by random splits of all rows and of halves,
and of a hold-out. The configurations are cheap and share decompositions, so that several hundred trainings of all of
them take seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.linear_model import lasso_path

from . import generators, learners, sets
from .sets import Fit

#: Constants are chosen on these ...
CALIBRATION = {
    "sylvine": (50, 100, 200, 400), "jasmine": (50, 100, 200), "gina": (50, 100, 200), "cells": (50, 100, 200, 400),
    "ada_agnostic_train": (50, 100, 200), "farm_ads": (50, 100), "gisette_valid": (50, 100), "breast_gravier": (50,),
    "cells_entropy": (50, 100, 200, 400), "diabetes": (50, 100), "digits_odd": (60, 120, 240),
}  # fmt: skip
#: ... and judged on these.
JUDGING = {
    "madeline": (50, 100, 200, 400), "madelon": (50, 100, 200), "basehock": (50, 100, 200), "pcmac": (50, 100),
    "sylva_agnostic_train": (100, 200, 400), "dexter": (50, 100), "breast_cancer_wdbc": (50, 100), "arcene": (50,),
    "alzheimers": (50, 100), "ionosphere": (50, 100), "parkinsons": (50,), "prostate_singh": (50,),
    "cells_neighbor": (50, 100, 200, 400), "meats_fat": (50,), "cells_width": (50, 100, 200, 400),
    "digits": (60, 120, 240), "cells_classes": (60, 120, 240),
}  # fmt: skip
#: Sets that were added when all constants stood.
FRESH = {
    "hiva_agnostic_train": (200, 400), "permeability_qsar": (50, 100), "cells_bfr": (50, 100, 200, 400),
    "cells_fiber": (50, 100, 200, 400), "cells_skew_classes": (60, 120, 240),
}  # fmt: skip
#: Others' simulations, for which no constant was chosen either.
SIMULATED = dict.fromkeys(generators.POPULATIONS, (100, 400))
FOLDS = 10
SPLITS = 15  # random splits of 90 and 10 %: corrected-t, and each half of conservative-z
HALVINGS = 10  # conservative-z
REPEATS = 4  # of Bates' nested cross-validation
#: Each test set with the predictions on it.
Splits = list[tuple[np.ndarray, np.ndarray]]


class ByFolds(NamedTuple):
    """One cross-validation: folds [N], out-of-fold predictions [N, C(, K)], and those without a second fold.

    Row i of `paired[j]` [F, N, C(, K)] is by the model without fold j and without the fold of row i; NaN where they are
    the same.
    """

    folds: np.ndarray
    predictions: np.ndarray
    paired: np.ndarray


class Trained(NamedTuple):
    """One table.

    Attributes
    ----------
    y, y_judges : array [N], [M]
    judged : array [M, C(, K)]
        Of the models trained on all rows.
    once : ByFolds
    repeats : list of ByFolds
        By other folds, for rivals.
    splits : Splits
        Of all rows.
    halves : list of (Splits, Splits)
        Of two halves that share no row, a pair for each halving.
    held : (rows, out-of-fold predictions of the others, predictions on the rows)
    """

    y: np.ndarray
    y_judges: np.ndarray
    judged: np.ndarray
    once: ByFolds
    repeats: list[ByFolds]
    splits: Splits
    halves: list[tuple[Splits, Splits]]
    held: tuple[np.ndarray, np.ndarray, np.ndarray]


def train(fit: Fit, y: np.ndarray, y_judges: np.ndarray, task: str, rng: np.random.Generator, heavy: bool) -> Trained:
    """Train all configurations on all that is needed of N rows.

    `fit` knows the rows by numbers from 0 to N - 1, and those that judge by the next ones; `heavy` trains what only
    the rivals with hundreds of trainings ask for.
    """
    n = len(y)
    rows = np.arange(n)
    judged = fit(rows, np.arange(n, n + len(y_judges)))
    once = by_folds(fit, y, task, rng)
    splits, held = _splits(fit, rows, rng), _held(fit, y, task, rng)
    halves: list[tuple[Splits, Splits]] = []
    for _ in range(HALVINGS if heavy else 0):
        order = rng.permutation(n)
        halves.append((_splits(fit, order[: n // 2], rng), _splits(fit, order[n // 2 : n // 2 * 2], rng)))
    again = [by_folds(fit, y, task, rng) for _ in range(REPEATS - 1 if heavy else 0)]
    return Trained(y, y_judges, judged, once, again, splits, halves, held)


def by_folds(fit: Fit, y: np.ndarray, task: str, rng: np.random.Generator) -> ByFolds:
    """Cross-validate without each fold, and without each two folds."""
    rows, folds = np.arange(len(y)), sets.spread_folds(task, y, rng, FOLDS)
    out = sets.out_of_fold(fit, rows, folds).astype(np.float32)
    paired = np.full((FOLDS, *out.shape), np.nan, np.float32)
    for k in range(FOLDS):
        for j in range(k):
            test = (folds == k) | (folds == j)
            found = fit(rows[~test], rows[test])
            of_k = folds[test] == k
            paired[j, folds == k], paired[k, folds == j] = found[of_k], found[~of_k]
    return ByFolds(folds, out, paired)


def _splits(fit: Fit, rows: np.ndarray, rng: np.random.Generator) -> Splits:
    found, size = [], max(len(rows) // 10, 1)
    for _ in range(SPLITS):
        order = rng.permutation(rows)
        found.append((order[:size], fit(order[size:], order[:size])))
    return found


def _held(fit: Fit, y: np.ndarray, task: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    third = sets.spread_folds(task, y, rng, 3)
    held, rest = np.flatnonzero(third == 0), np.flatnonzero(third != 0)
    folds = sets.spread_folds(task, y[rest], rng, 5)
    return held, sets.out_of_fold(fit, rest, folds).astype(np.float32), fit(rest, held)


def real(ready: sets.Ready, n: int, sample: int, *, heavy: bool) -> Trained:
    """Draw a sub-sample, and train on it; up to 3,000 other rows judge."""
    rng = np.random.default_rng([n, sample, *ready.name.encode()])
    rows, judges = sets.draw(ready, n, rng, fewest=4)
    both = np.concatenate([rows, judges])

    def fit(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        cut = learners.split(ready.features, ready.similarity, both[train], both[test])
        y = ready.y[both[train]]
        if ready.task == "regression":
            return numbers(cut, y, sample)
        found = classes(cut, y, ready.n_classes, sample)
        return found[:, :, 1] if ready.n_classes == 2 else found

    with config_context(assume_finite=True, skip_parameter_validation=True):
        return train(fit, ready.y[rows], ready.y[judges], ready.task, rng, heavy)


TREES: learners.Sizes = ((3, 5), (None, 1))


def classes(cut: learners.Split, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Probabilities [m, C, k] of 21 configurations; the first is one that people try first."""
    Y = np.eye(k)[y]
    top = learners.screen(cut.features, Y, 30)
    Z, T = cut.features[:, top], cut.features_test[:, top]
    found = learners.ridge(cut.linear, cut.linear_test, Y, (30.0, 1000.0, 200.0, 5.0, 1.0))
    found += learners.neighbours(cut, Y)
    found += [learners.bayes(cut.features, cut.features_test, Y), learners.bayes(Z[:, :10], T[:, :10], Y)]
    found += [learners.discriminant(cut.linear, cut.linear_test, Y, shrink) for shrink in (0.1, 0.6)]
    found += [learners.discriminant(Z[:, :q], T[:, :q], Y, 0.05) for q in (3, 10, 30)]
    found += learners.ridge(Z[:, :5], T[:, :5], Y, (1.0,)) + learners.ridge(Z, T, Y, (1.0,))
    found += learners.class_trees(Z, T, y, k, seed, TREES)
    return np.stack([learners.probabilities(p) for p in found], axis=1)


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
    found += [(p - centre) / scale for p in learners.trees(Z, T, y, seed, TREES, forest=0)]
    return centre + scale * np.column_stack([f.reshape(len(T), -1)[:, 0] for f in found])


def lasso(design: str, sample: int, n: int = 400, p: int = 1000, models: int = 30) -> Trained:
    """Rink and Brannath's design: "b", or the number of active features (see `generators`).

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

    return train(fit, y[:n], y[n:], "classification", rng, heavy=False)
