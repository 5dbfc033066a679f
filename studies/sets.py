"""Real data sets, and tables of their sub-samples: out-of-fold predictions of every configuration, and their truth.

A set is a NAME.npz file with `X` and `y` (or `time` and `event`) in one of the folders, made ready for learners that
work on similarities. Features are brought to a common scale with the statistics of the whole set: that uses no target,
and only says what the set is. A table never holds scores, so that any metric and any rule of selection finds its truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits

from sobercv import Predictions, metrics

from . import learners
from .harness import Options

MOST_ROWS = 4000  # more rows than this add nothing to the truth that two thousand do not already say
MOST_FEATURES = 300  # for trees and screening; the similarities know all features
WIDE = 200  # from here on, linear models are computed from similarities
FOLDS = 10
MOST_JUDGES = 3000  # rows that tell the truth
#: Targets that are columns of another set: name -> (file, column). Names that end in "classes" are cut into eight.
COLUMNS = {
    "cells_entropy": ("cells", "entropy_inten_ch_3"), "cells_neighbor": ("cells", "neighbor_min_dist_ch_1"),
    "cells_width": ("cells", "width_ch_1"), "cells_classes": ("cells", "entropy_inten_ch_4"),
    "cells_bfr": ("cells", "shape_bfr_ch_1"), "cells_fiber": ("cells", "fiber_width_ch_1"),
    "cells_skew_classes": ("cells", "skew_inten_ch_3"),
}  # fmt: skip
N_CLASSES = 8
#: Predictions [m, C(, K)] on test rows of models trained on training rows.
Fit = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Ready:
    """A data set as the learners want it.

    Attributes
    ----------
    name : str
    task : {"classification", "regression", "survival"}
    features : float array [n, q]
        Standardised; of wide sets the columns of largest variance.
    similarity : float array [n, n] or None
        Inner products of all features; None for narrow sets, whose features are all there.
    y : array [n]
        Class indices, numbers, or records of (event, time).
    """

    name: str
    task: str
    features: np.ndarray
    similarity: np.ndarray | None
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where the target is not a class."""
        return int(self.y.max()) + 1 if self.task == "classification" else 0

    @property
    def kind(self) -> str:
        """The task, with two classes and more told apart."""
        return self.task if self.task != "classification" else "binary" if self.n_classes == 2 else "classes"


def read(options: Options, name: str) -> Ready:
    """Read a data set and make it ready."""
    if name in ("digits", "digits_odd"):
        X, y = load_digits(return_X_y=True)
        return Ready(name, "classification", *numbers(X.astype(float)), y if name == "digits" else y % 2)
    return _load(options.find(COLUMNS.get(name, (name,))[0]), name)


@lru_cache(maxsize=1)
def _load(path: Path, name: str) -> Ready:
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    X = sparse.load_npz(path).tocsr() if "indptr" in parts else parts["X"].astype(np.float64)
    y, task = _target(parts)
    if name in COLUMNS:
        column = list(parts["feature_names"]).index(COLUMNS[name][1])
        y, task = X[:, column].copy(), "regression"
        X = np.delete(X, column, axis=1)
    if name.endswith("_classes"):
        cuts = np.quantile(y, np.arange(1, N_CLASSES) / N_CLASSES)
        y, task = np.searchsorted(cuts, y).astype(np.int64), "classification"
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
        X, y = X[rows], y[rows]
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    features, similarity = _text(X.astype(np.float64)) if sparse.issparse(X) else numbers(X)
    return Ready(name, task, features, similarity, y)


def _target(parts: dict[str, np.ndarray]) -> tuple[np.ndarray, str]:
    if "time" in parts:
        y = np.zeros(len(parts["time"]), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = parts["event"] == 1, parts["time"]
        return y, "survival"
    y = parts["y"]
    return (y.astype(float), "regression") if y.dtype.kind == "f" else (y.astype(np.int64), "classification")


def numbers(X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Features and similarities of a table of numbers."""
    spread = X.std(axis=0)
    order = np.argsort(-spread, kind="stable")[:MOST_FEATURES]
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X = np.clip(X, -8, 8)  # one wild value must not rule all distances
    similarity = (X.astype(np.float32) @ X.T.astype(np.float32)) / X.shape[1] if X.shape[1] > WIDE else None
    return np.ascontiguousarray(X[:, np.sort(order)] if X.shape[1] > MOST_FEATURES else X), similarity


def _text(X: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray | None]:
    """Term counts: logarithms, rare terms count more, every row of length one."""
    X = X.copy()
    X.data = np.log1p(X.data)
    present = np.bincount(X.indices, minlength=X.shape[1])
    X = sparse.csr_matrix(X @ sparse.diags(np.log((1 + X.shape[0]) / (1 + present))))
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_matrix(sparse.diags(1 / np.where(length > 0, length, 1.0)) @ X)
    similarity = np.asarray((X @ X.T).todense(), dtype=np.float32)
    mean = np.asarray(X.mean(axis=0)).ravel()
    spread = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    order = np.sort(np.argsort(-spread, kind="stable")[:MOST_FEATURES])
    dense = np.asarray(X[:, order].todense())
    return (dense - dense.mean(axis=0)) / dense.std(axis=0), similarity


# ---- sub-samples ----
def draw(ready: Ready, n: int, rng: np.random.Generator, fewest: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a sub-sample, and rows that judge; by default four of each class (of many classes: two) are there."""
    fewest = fewest or (4 if ready.kind == "binary" else 2)
    while True:
        order = rng.permutation(len(ready.y))
        rows, judges = order[:n], order[n : n + MOST_JUDGES]
        y = ready.y[rows]
        if ready.task == "survival":
            if y["event"].sum() >= 8:
                return rows, judges
        elif ready.task == "regression" or np.bincount(y, minlength=ready.n_classes).min() >= fewest:
            return rows, judges


def spread_folds(task: str, y: np.ndarray, rng: np.random.Generator, k: int = FOLDS) -> np.ndarray:
    """Folds of equal size; classes (or events) are spread evenly over them."""
    kind = y if task == "classification" else y["event"].astype(int) if task == "survival" else np.zeros(len(y), int)
    order = rng.permutation(len(y))
    order = order[np.argsort(kind[order], kind="stable")]
    out = np.empty(len(y), np.int64)
    out[order] = np.arange(len(y)) % k
    return out


def fit(ready: Ready, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C], or [m, C, K] for more than two classes, of models trained on these rows."""
    cut = learners.split(ready.features, ready.similarity, train, test)
    if ready.task == "regression":
        return learners.regress(cut, ready.y[train], seed)
    if ready.task == "survival":
        return learners.survive(cut, ready.y[train], seed)
    found = learners.classify(cut, ready.y[train], ready.n_classes, seed)
    return found[:, :, 1] if ready.n_classes == 2 else found


def out_of_fold(fit: Fit, rows: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Predictions of each row by the model that was trained without its fold."""
    parts = [fit(rows[folds != k], rows[folds == k]) for k in range(folds.max() + 1)]
    out = np.empty((len(rows), *parts[0].shape[1:]))
    for k, part in enumerate(parts):
        out[folds == k] = part
    return out


def sub_sample(options: Options, name: str, n: int, sample: int, repeats: int) -> dict[str, np.ndarray]:
    """A table of the work folder, made where it is missing.

    Returns
    -------
    dict of arrays
        y [N], y_judges [M], folds [N, R], predictions [N, C, R(, K)], judged [M, C(, K)] (of the models refitted on
        all N rows)
    """
    return options.kept(table_name(name, n, sample, repeats), partial(_train, options, name, n, sample, repeats))


def table_name(name: str, n: int, sample: int, repeats: int) -> str:
    """Name of a table in the work folder."""
    return f"{name}-{n:03d}-{sample:03d}-r{repeats}"


def _train(options: Options, name: str, n: int, sample: int, repeats: int) -> dict[str, np.ndarray]:
    ready = read(options, name)
    rng = np.random.default_rng([n, sample, *name.encode()])
    rows, judges = draw(ready, n, rng)
    y = ready.y[rows]
    folds = np.stack([spread_folds(ready.task, y, rng) for _ in range(repeats)], axis=1)
    fits = partial(fit, ready, seed=sample)
    judged = fits(rows, judges)
    out = np.stack([out_of_fold(fits, rows, folds[:, r]) for r in range(repeats)], axis=2)
    return {
        "y": y, "y_judges": ready.y[judges], "folds": folds.astype(np.int8), "predictions": out.astype(np.float32),
        "judged": judged.astype(np.float16 if judged.ndim == 3 else np.float32),
    }  # fmt: skip


def kind_of(y: np.ndarray) -> tuple[str, str]:
    """The task of a target, and the task with two classes and more told apart."""
    if y.dtype.names:
        return "survival", "survival"
    if y.dtype.kind == "f":
        return "regression", "regression"
    return "classification", "binary" if y.max() == 1 else "classes"


def build(y: np.ndarray, predictions: np.ndarray, folds: np.ndarray | None = None) -> Predictions:
    """Predictions [N, C], [N, C, R] or [N, C, R, K] as sober takes them: probabilities, numbers or risks."""
    values = predictions.astype(np.float64)
    if values.ndim == 4:
        values /= values.sum(axis=3, keepdims=True)
    task = kind_of(y)[0]
    responses = ("predict_proba",) if task == "classification" else ("predict",)
    folds = None if folds is None else folds.astype(np.int64)
    return Predictions.build(y, values, task=task, responses=responses, folds=folds)


def scores_on(table: Predictions, metric: str) -> np.ndarray:
    """Score of every configuration on all rows [C]."""
    return metrics.get(metric).bind(table, n_jobs=1).scores(np.ones((1, table.n_samples), np.uint8))[0]


def truths(table: dict[str, np.ndarray]) -> Predictions:
    """The rows of a table that judge."""
    return build(table["y_judges"], table["judged"].astype(np.float64)[:, :, None])
