"""Which columns are worth shuffling: those that go most with what the final model predicts.

Takes a table and the model's predictions of its rows, gives the numbers of columns, the closest first; one glance at
each column, no model. A column that matters only together with others can be missed, so the report says how they were
chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array


def closest_columns(X: Any, predictions: Array, most: int) -> Array:
    """Give the columns that are most associated with the predictions.

    Parameters
    ----------
    X : pandas.DataFrame or array [N, P]
    predictions : float array [N] or [N, K]
        One column for each class, where there are several.
    most : int

    Returns
    -------
    int array [most]
    """
    targets = _standardised(predictions.reshape(len(predictions), -1))  # [N, K]
    strength = np.zeros(X.shape[1])
    numeric = is_numeric(X)
    if numeric.any():
        values = X.iloc[:, np.flatnonzero(numeric)] if hasattr(X, "iloc") else X[:, numeric]
        columns = _standardised(np.asarray(values, dtype=np.float64))  # [N, P]
        strength[numeric] = ((columns.T @ targets / len(targets)) ** 2).max(axis=1)
    for i in np.flatnonzero(~numeric):
        strength[i] = _between_values(X.iloc[:, i] if hasattr(X, "iloc") else X[:, i], targets)
    return np.argsort(-strength, kind="stable")[:most]


def is_numeric(X: Any) -> Array:
    """Which columns hold numbers or flags, bool [P]."""
    if hasattr(X, "dtypes"):
        return np.array([dtype.kind in "iufb" for dtype in X.dtypes])
    return np.full(X.shape[1], X.dtype.kind in "iufb")


def _standardised(values: Array) -> Array:
    """Centre and scale columns; gaps and constant columns become 0, which goes with nothing."""
    with np.errstate(all="ignore"):
        known = np.isfinite(values)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, values - mean, 0.0)
        spread = np.sqrt((centred**2).mean(axis=0))
        scaled = centred / spread
    return np.where(np.isfinite(scaled), scaled, 0.0)


def _between_values(column: Any, targets: Array) -> float:
    """Share of the spread of the predictions that lies between the values of a text column."""
    _, codes = np.unique(np.asarray([str(v) for v in column]), return_inverse=True)
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, target) / sizes for target in targets.T])  # [K, values]
    return float((means**2 @ sizes / len(targets)).max())
