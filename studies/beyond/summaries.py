"""Bias and error by metric, over data sets and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Rows = Sequence[dict[str, Any]]
TITLES = {
    "r2": "R2",
    "neg_mean_squared_error": "squared error",
    "concordance_index": "C-index",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc_ovr": "AUC (one against the rest)",
}
KINDS = {"regression": "regression", "survival": "survival", "classes": "many classes"}


def of_metric(rows: Rows, metric: str) -> list[dict[str, Any]]:
    """The rows of one metric."""
    return [row for row in rows if row["metric"] == metric]


def cells(rows: Rows, what: Any) -> np.ndarray:
    """The mean of a number in each data set and size; `what` is a function of a row. NaN is left out."""
    found: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        value = what(row)
        if np.isfinite(value):
            found.setdefault((row["data"], row["n"]), []).append(value)
    return np.array([np.mean(values) for values in found.values()])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def bias(rows: Rows, protocol: str) -> tuple[float, float]:
    """Mean bias over data sets and sizes, and its standard error; positive is optimistic."""
    return mean_and_error(cells(rows, lambda row: row[protocol] - row["truth"]))


def rmse(rows: Rows, protocol: str) -> float:
    """Root of the mean squared error over sub-data sets."""
    return float(np.sqrt(np.nanmean([(row[protocol] - row["truth"]) ** 2 for row in rows])))
