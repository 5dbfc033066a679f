"""The real data of the study: a folder of NAME.npz files, made ready for learners that work on similarities.

Takes a name, gives features, a similarity matrix of all rows and the target; never splits and never trains. Features
are brought to a common scale with the statistics of the whole set: that uses no target and only says what the set is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..harness import Say, make_missing

MOST_ROWS = 4000  # more rows than this add nothing to the truth that two thousand do not already say
MOST_FEATURES = 300  # for trees and screening; the similarities know all features
WIDE = 200  # from here on, linear models are computed from similarities


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


#: Targets that are columns of another set: name -> (file, column).
DERIVED = {"cells_entropy": ("cells", "entropy_inten_ch_3"), "cells_neighbor": ("cells", "neighbor_min_dist_ch_1")}


def find(folders: Sequence[Path], name: str) -> Path | None:
    """Find the file of a data set."""
    file = DERIVED.get(name, (name,))[0]
    return next((folder / f"{file}.npz" for folder in folders if (folder / f"{file}.npz").exists()), None)


def read(folders: Sequence[Path], name: str) -> Ready:
    """Read a data set that is at hand."""
    path = find(folders, name)
    assert path is not None, name
    return load(path, name)


def make_tables(
    folders: Sequence[Path], work: Path, places: Sequence[Any], table: Callable[[Ready, Any], Any], say: Say = print
) -> list[Any]:
    """Make the tables of sub-samples that are missing; return the places whose data are at hand."""
    found = [place for place in places if find(folders, place.name) is not None]
    make_missing({work / p.file: partial(_table, folders, p, table) for p in found}, "tables", say=say)
    return found


def _table(folders: Sequence[Path], place: Any, table: Callable[[Ready, Any], Any]) -> Any:
    return table(read(folders, place.name), place)


@lru_cache(maxsize=1)
def load(path: Path, name: str) -> Ready:
    """Read a data set and make it ready."""
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    X = sparse.load_npz(path).tocsr() if "indptr" in parts else parts["X"].astype(np.float64)
    y, task = _target(parts)
    if name in DERIVED:
        column = list(parts["feature_names"]).index(DERIVED[name][1])
        y, task = X[:, column].copy(), "regression"
        X = np.delete(X, column, axis=1)
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
        X, y = X[rows], y[rows]
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    features, similarity = _text(X.astype(np.float64)) if sparse.issparse(X) else _numbers(X)
    return Ready(name, task, features, similarity, y)


def _target(parts: dict[str, np.ndarray]) -> tuple[np.ndarray, str]:
    if "time" in parts:
        y = np.zeros(len(parts["time"]), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = parts["event"] == 1, parts["time"]
        return y, "survival"
    y = parts["y"]
    return (y.astype(float), "regression") if y.dtype.kind == "f" else (y.astype(np.int64), "classification")


def _numbers(X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
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
