"""Real data sets, and their sub-samples: out-of-fold predictions of every configuration, and their truth.

A set is a NAME.npz file with `X` and `y` (or `time` and `event`) in one of the folders, made ready for learners that
work on similarities. Features are brought to a common scale with the statistics of the whole set, which uses no target.
A table never holds scores, so that any metric and any rule of selection finds its truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits

from sobercv import Predictions, metrics

from . import learners
from .harness import Array, Key, Options, Rng

MOST_ROWS = 4000  # more rows than this add nothing to the truth that two thousand do not already say
MOST_FEATURES = 300  # for trees and screening; the similarities know all features
WIDE = 200  # from here on, linear models are computed from similarities
FOLDS = 10
MOST_JUDGES = 3000  # rows on which the true score is measured
#: Every set of the studies: its kind, the file that it is a column of (names that end in "classes" are cut into eight),
#: and how many rows a sub-sample has in each study, with the number of sub-samples where sets differ in it.
SETS = pd.read_csv(Path(__file__).with_name("sets.csv"), dtype=str, keep_default_na=False).set_index("set")
N_CLASSES = 8
CLASSES = ("binary", "classes")


def sizes(study: str, *kinds: str) -> dict[str, dict[int, int]]:
    """The sets of a study, of some kinds or all: rows of a sub-sample, and how many sub-samples (0: as all)."""
    cells = SETS[(SETS[study] != "") & (SETS.kind.isin(kinds) | (not kinds))][study]
    return {
        name: {int(n): int(many or 0) for n, _, many in (one.partition(":") for one in cell.split())}
        for name, cell in cells.items()
    }


def in_rounds(each: Mapping[str, Mapping[int, int]], at_once: int) -> list[Key]:
    """Set, size and sub-sample, given how many; the first ones of every set first, so that an early look sees all."""
    found = [(name, n, sample) for name, sizes in each.items() for n, many in sizes.items() for sample in range(many)]
    return sorted(found, key=lambda place: (place[2] // at_once, place))


#: Predictions [m, C(, K)] on test rows of models trained on training rows.
Fit = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class Ready:
    """A data set as the learners want it."""

    name: str
    features: Array  # standardised; of wide sets the columns of largest variance [n, q]
    similarity: Array | None  # inner products of all features [n, n]; None for narrow sets
    y: Array  # class indices, numbers, or records of (event, time) [n]


def read(options: Options, name: str) -> Ready:
    """Read a data set and make it ready."""
    if name in ("digits", "digits_odd"):
        X, y = load_digits(return_X_y=True)
        return Ready(name, *numbers(X.astype(float)), y if name == "digits" else y % 2)
    return _load(options.find(SETS.file.get(name) or name), name)


def raw(path: Path) -> dict[str, Any]:
    """The arrays of a file, with `X` as numbers."""
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    return parts | {"X": sparse.load_npz(path).tocsr() if "indptr" in parts else parts["X"].astype(np.float64)}


@lru_cache(maxsize=1)
def _load(path: Path, name: str) -> Ready:
    parts = raw(path)
    X = parts["X"]
    if "time" in parts:
        y = np.zeros(len(parts["time"]), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = parts["event"] == 1, parts["time"]
    else:
        y = parts["y"].astype(float if parts["y"].dtype.kind == "f" else np.int64)
    if SETS.file.get(name):
        column = list(parts["feature_names"]).index(SETS.column[name])
        y, X = X[:, column].copy(), np.delete(X, column, axis=1)
    if name.endswith("_classes"):
        y = np.searchsorted(np.quantile(y, np.arange(1, N_CLASSES) / N_CLASSES), y).astype(np.int64)
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
        X, y = X[rows], y[rows]
    if kind_of(y) in CLASSES:
        y = np.unique(y, return_inverse=True)[1]
    return Ready(name, *(_text(X.astype(np.float64)) if sparse.issparse(X) else numbers(X)), y)


def numbers(X: Array) -> tuple[Array, Array | None]:
    """Features and similarities of a table of numbers."""
    spread = X.std(axis=0)
    order = np.argsort(-spread, kind="stable")[:MOST_FEATURES]
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X = np.clip(X, -8, 8)  # one wild value must not rule all distances
    similarity = (X.astype(np.float32) @ X.T.astype(np.float32)) / X.shape[1] if X.shape[1] > WIDE else None
    return np.ascontiguousarray(X[:, np.sort(order)] if X.shape[1] > MOST_FEATURES else X), similarity


def _text(X: sparse.csr_matrix) -> tuple[Array, Array | None]:
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
@dataclass(frozen=True, eq=False)
class SubSample:
    """Rows with their out-of-fold predictions, and rows that no model saw, on which the true score is measured."""

    y: Array  # [N]
    folds: Array  # [N, R]
    predictions: Array  # [N, C, R(, K)]
    y_judges: Array  # [M]
    judged: Array  # by the models refitted on all N rows [M, C(, K)]

    @cached_property
    def table(self) -> Predictions:
        """What a search would have left."""
        return build(self.y, self.predictions, self.folds)

    @cached_property
    def judges(self) -> Predictions:
        """The rows on which the true score is measured."""
        return build(self.y_judges, self.judged[:, :, None])

    def truth(self, metric: str) -> Array:
        """The true score of every configuration [C]."""
        return scores_on(self.judges, metric)


def strata(y: Array) -> Array:
    """What is spread evenly: classes, or events; nothing in numbers."""
    return y["event"].astype(int) if y.dtype.names else np.zeros(len(y), int) if y.dtype.kind == "f" else y


def draw(y: Array, n: int, rng: Rng, fewest: int | None = None, most_judges: int = MOST_JUDGES) -> tuple[Array, Array]:
    """Rows of a sub-sample, and rows that judge; by default four of each class (of many classes: two) are there."""
    kind, of = kind_of(y), strata(y)
    fewest = {"binary": 4, "classes": 2, "survival": 8, "regression": 0}[kind] if fewest is None else fewest
    while True:
        order = rng.permutation(len(y))
        rows, judges = order[:n], order[n : n + most_judges]
        there = np.bincount(of[rows], minlength=of.max() + 1)
        if (there[1] if kind == "survival" else there.min()) >= fewest:
            return rows, judges


def spread_folds(y: Array, rng: Rng, k: int = FOLDS) -> Array:
    """Folds of equal size; classes (or events) are spread evenly over them."""
    order = rng.permutation(len(y))
    order = order[np.argsort(strata(y)[order], kind="stable")]
    out = np.empty(len(y), np.int64)
    out[order] = np.arange(len(y)) % k
    return out


def fit(ready: Ready, train: Array, test: Array, seed: int, recipes: learners.Recipes = learners.FULL) -> Array:
    """Predictions [m, C], or [m, C, K] for more than two classes, of models trained on these rows."""
    y, kind = ready.y, kind_of(ready.y)
    k = int(y.max()) + 1 if kind in CLASSES else 0
    cut = learners.split(ready.features, ready.similarity, train, test)
    found = recipes["classification" if k else kind](cut, y[train], k, seed)
    return found[:, :, 1] if k == 2 else found


def out_of_fold(fit: Fit, rows: Array, folds: Array) -> Array:
    """Predictions of each row by the model that was trained without its fold."""
    parts = [fit(rows[folds != k], rows[folds == k]) for k in range(folds.max() + 1)]
    return np.concatenate(parts)[np.argsort(np.argsort(folds, kind="stable"))]


def trained(
    options: Options, name: str, n: int, sample: int, learn: Callable[..., Array] = fit, *, k: int = FOLDS,
    repeats: int = 1, **drawn: int,
) -> SubSample:  # fmt: skip
    """Draw a sub-sample of a set, and train on it without each fold, and on all of it; the place is the seed."""
    ready = read(options, name)
    rng = np.random.default_rng([n, sample, *name.encode()])
    rows, judges = draw(ready.y, n, rng, **drawn)
    folds = np.stack([spread_folds(ready.y[rows], rng, k) for _ in range(repeats)], axis=1)
    fit = partial(learn, ready, seed=sample)
    out = np.stack([out_of_fold(fit, rows, by) for by in folds.T], axis=2)
    return SubSample(ready.y[rows], folds, out, ready.y[judges], fit(rows, judges))


def kept(options: Options, name: str, make: Callable[[], SubSample]) -> SubSample:
    """A sub-sample of the work folder, made where it is missing; in few bytes."""

    def compact() -> dict[str, Array]:
        arrays = dict(vars(make()))
        small = {"folds": np.int8, "predictions": np.float32}
        small["judged"] = np.float16 if arrays["judged"].ndim == 3 else np.float32
        return {name: values.astype(small.get(name, values.dtype)) for name, values in arrays.items()}

    return SubSample(**options.kept(name, compact))


def sub_sample(options: Options, name: str, n: int, sample: int, repeats: int) -> SubSample:
    """A sub-sample of a set, kept in the work folder."""
    make = partial(trained, options, name, n, sample, repeats=repeats)
    return kept(options, table_name(name, n, sample, repeats), make)


def table_name(name: str, n: int, sample: int, repeats: int) -> str:
    """Name of a table in the work folder."""
    return f"{name}-{n:03d}-{sample:03d}-r{repeats}"


def kind_of(y: Array) -> str:
    """The task of a target; two classes and more are different kinds."""
    if y.dtype.names:
        return "survival"
    return "regression" if y.dtype.kind == "f" else "binary" if y.max() == 1 else "classes"


def build(y: Array, predictions: Array, folds: Array | None = None) -> Predictions:
    """Predictions [N, C], [N, C, R] or [N, C, R, K] as sober takes them: probabilities, numbers or risks."""
    values = predictions.astype(np.float64)
    if values.ndim == 4:
        values /= values.sum(axis=3, keepdims=True)
    task, response = ("classification", "predict_proba") if kind_of(y) in CLASSES else (kind_of(y), "predict")
    folds = None if folds is None else folds.astype(np.int64)
    return Predictions.build(y, values, task=task, responses=(response,), folds=folds)


def scores_on(table: Predictions, metric: str) -> Array:
    """Score of every configuration on all rows [C]."""
    return metrics.get(metric).bind(table, n_jobs=1).scores(np.ones((1, table.n_samples), np.uint8))[0]
