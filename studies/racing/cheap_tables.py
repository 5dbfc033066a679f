"""Complete cross-validations of real sub-samples, by learners that share their work: numbers, times and classes.

Takes folders of data, writes one file for each sub-sample; resumable. Some sixty configurations: linear models,
neighbours, kernels and trees, each with all features, a third and an eighth of them, screened on the training rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import DecisionTreeRegressor

from ..intervals import data, learners
from ..intervals.tables import spread_folds
from .tables import FOLDS, MOST_JUDGES, Place

#: Data set -> how many sub-samples of which size; the rest of the rows judges.
REGRESSION: dict[str, dict[int, int]] = {
    "diamonds_price": {100: 12, 500: 10},
    "fair_affairs": {100: 12, 500: 10},
    "randhie_visits": {100: 12, 500: 10},
    "cells_entropy": {100: 12, 500: 10},
    "cells_neighbor": {100: 12, 500: 10},
    "diabetes": {100: 12},
}
SURVIVAL: dict[str, dict[int, int]] = {
    "flchain": {100: 10, 500: 8},
    "actg175": {100: 10, 500: 8},
    "rott2": {100: 10, 500: 8},
    "support2": {100: 10, 500: 8},
    "regimes": {100: 10, 500: 8},
    "smarto": {100: 10, 500: 8},
    "gbsg2": {100: 10},
}
#: For the races of others; the default is judged on the larger tables of `tables`.
CLASSES: dict[str, dict[int, int]] = {
    name: {100: 6, 500: 4} for name in ("sylvine", "ada_agnostic_train", "cells", "jasmine")
}
METRICS = {"regression": ("r2",), "survival": ("concordance_index",), "classification": ("roc_auc", "accuracy")}
#: Trees: how deep, and the fewest rows of a leaf.
TREES = ((2, 5), (4, 5), (None, 3), (None, 10))


def places(sets: Mapping[str, Mapping[int, int]], most: int | None = None) -> list[Place]:
    """All sub-samples of some sets, the first of every set and size first."""
    found = [
        Place(name, n, sample)
        for name, sizes in sets.items()
        for n, how_many in sizes.items()
        for sample in range(how_many if most is None else min(how_many, most))
    ]
    return sorted(found, key=lambda p: (p.sample // 2, p.name, p.n, p.sample))


def table(ready: data.Ready, place: Place) -> dict[str, Any]:
    """Train everything on one sub-sample.

    Returns
    -------
    dict of arrays
        y [N], fold [N], predictions [N, C] (out of fold), y_judges [M], judged [M, C] (of the models trained on all N
        rows), seconds
    """
    start = time.process_time()
    rng = np.random.default_rng([place.n, place.sample, *place.name.encode()])
    order = rng.permutation(len(ready.y))
    rows, judges = order[: place.n], order[place.n : place.n + MOST_JUDGES]
    fold = spread_folds(ready.task, ready.y[rows], rng)
    judged = fit(ready, rows, judges, place.sample)
    out = np.empty((place.n, judged.shape[1]))
    for k in range(FOLDS):
        out[fold == k] = fit(ready, rows[fold != k], rows[fold == k], place.sample)
    return {
        "y": ready.y[rows], "fold": fold.astype(np.int8), "predictions": out.astype(np.float32),
        "y_judges": ready.y[judges], "judged": judged.astype(np.float32),
        "seconds": np.array(time.process_time() - start),
    }  # fmt: skip


def fit(ready: data.Ready, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C] of models trained on these rows: numbers, risks, or probabilities of the second class."""
    y = ready.y[train]
    if ready.task == "classification":
        return _classify(ready, train, test, seed)
    target = y if ready.task == "regression" else learners.residual(y["time"], y["event"])
    centre, scale = target.mean(), max(float(target.std()), 1e-12)
    Y = ((target - centre) / scale)[:, None]
    found: list[np.ndarray] = []
    ranked = learners.screen(ready.features[train], Y, ready.features.shape[1])
    for k in dict.fromkeys(max(2, round(len(ranked) / part)) for part in (1, 3, 8)):
        cut = learners.split(np.ascontiguousarray(ready.features[:, np.sort(ranked[:k])]), None, train, test)
        if ready.task == "survival":
            found += learners.cox(cut.linear, cut.linear_test, y["time"], y["event"], (100.0, 30.0, 10.0, 3.0, 1.0))
            found += learners.ridge(cut.linear, cut.linear_test, Y, (300.0, 30.0, 3.0))
            found += learners.neighbours(cut, Y)[1:] + learners.kernels(cut, Y, (1.0,))
        else:
            found += learners.ridge(cut.linear, cut.linear_test, Y, (300.0, 100.0, 30.0, 10.0, 1.0))
            found += learners.neighbours(cut, Y) + learners.kernels(cut, Y, (1.0, 0.1))
        found += _trees(cut.features, cut.features_test, Y[:, 0], seed)
    together = np.column_stack([f.reshape(len(test), -1)[:, 0] for f in found])
    assert np.isfinite(together).all()
    return centre + scale * together if ready.task == "regression" else together


def _classify(ready: data.Ready, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Probabilities [m, C] by the learners of the study of intervals, with all features and with a fifth of them."""
    y = ready.y[train]
    ranked = learners.screen(ready.features[train], np.eye(2)[y], ready.features.shape[1])
    found = []
    for k in (len(ranked), max(4, len(ranked) // 5)):
        cut = learners.split(np.ascontiguousarray(ready.features[:, np.sort(ranked[:k])]), None, train, test)
        found.append(learners.classify(cut, y, 2, seed)[:, :, 1])
    return np.concatenate(found, axis=1)


def _trees(Z: np.ndarray, T: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
    models: list[Any] = [
        DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=seed) for depth, leaf in TREES
    ]
    models.append(ExtraTreesRegressor(20, min_samples_leaf=3, random_state=seed, n_jobs=1))
    return [model.fit(Z, y).predict(T) for model in models]
