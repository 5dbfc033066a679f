"""One real table judged by every protocol: what each says, and the score that the winner really has.

Takes a table of the study of intervals (out-of-fold predictions, and those of the refitted models for rows that no
model saw), gives plain rows; trains nothing. So nested cross-validation selects anew without each fold, among the
models that are there: it is `sobercv.nested`, not trained anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sobercv
from sobercv import Predictions, SoberError, metrics

from ..intervals.measure import build, kind_of

METRICS = {
    "classes": ("accuracy", "balanced_accuracy", "roc_auc_ovr"),
    "regression": ("r2", "neg_mean_squared_error"),
    "survival": ("concordance_index",),
}
PROTOCOLS = ("naive", "ncv", "bbc", "632+")
INTERVALS = ("calibrated", "percentile")
LEVEL = 0.95


def judge(table: dict[str, np.ndarray], seed: int) -> list[dict[str, Any]]:
    """Judge a table by the metrics of its kind; squared errors are divided by the variance of the target."""
    task, kind = kind_of(table["y"])
    full = build(table["y"], table["predictions"], task, table["folds"].astype(np.int64)).take_repeat(0)
    truths = build(table["y_judges"], table["judged"].astype(np.float64)[:, :, None], task)
    rows = []
    for metric in METRICS[kind]:
        unit = float(np.var(table["y_judges"])) if metric == "neg_mean_squared_error" else 1.0
        found = {
            interval: sobercv.bbc(None, full, metric, interval=interval, random_state=seed, n_jobs=1)
            for interval in INTERVALS
        }
        bbc = found["percentile"]
        ones, winner = np.ones((1, truths.n_samples), np.uint8), np.full(1, bbc.winner)
        truth = float(metrics.get(metric).bind(truths, n_jobs=1).picked(ones, winner)[0])
        said = {
            "naive": bbc.naive,
            "ncv": _nested(full, metric),
            "bbc": bbc.value,
            "632+": bbc.as_632plus().value,
        }
        row: dict[str, Any] = {"kind": kind, "metric": metric, "truth": truth / unit}
        row |= {name: value / unit for name, value in said.items()}
        for interval, estimate in found.items():
            low, high = estimate.interval_at(LEVEL)
            row |= {f"covers {interval}": float(low <= truth <= high), f"width {interval}": (high - low) / unit}
            row[f"lower {interval}"] = float(estimate.lower_bound(LEVEL) <= truth)
        rows.append(row)
    return rows


def _nested(table: Predictions, metric: str) -> float:
    """Give NaN where the metric is undefined on every fold, as the AUC of many classes in folds of six samples is."""
    try:
        return sobercv.nested(None, table, metric, n_jobs=1).value
    except SoberError as error:
        if error.code != "E109":
            raise
        return float("nan")
