"""What any interval could want to know about one table: scores, draws, spreads; measured once, kept in a small file.

Takes a table with its truth, gives arrays; never decides what an interval is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sobercv import Predictions, metrics
from sobercv.inference.resample import Bootstrap
from sobercv.inference.selection import best

BOOTSTRAPS = 1000
METRICS = {
    "binary": ("accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"),
    "classes": ("accuracy", "balanced_accuracy", "roc_auc_ovr", "neg_log_loss"),
    "regression": ("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
    "survival": ("concordance_index",),
}


def measure(
    table: Predictions, metric: str, seed: int, n_bootstraps: int = BOOTSTRAPS, deep: bool = True
) -> dict[str, Any]:
    """Bootstrap one table for one metric."""
    scorer = metrics.get(metric).bind(table, n_jobs=1)
    n = table.n_samples
    whole = scorer.scores(np.ones((1, n), np.uint8))[0]  # [C]
    winner = int(best(whole[None])[0])
    bootstrap = Bootstrap(n, seed, groups=table.groups)
    counts = bootstrap.counts(0, n_bootstraps)
    inside = scorer.scores(counts)  # [B, C]
    chosen = best(inside)
    absent = (counts == 0).view(np.uint8)
    draws = scorer.picked(absent, chosen)
    own = scorer.picked(absent, np.full(n_bootstraps, winner))
    out = {
        "scores": whole,
        "winner": winner,
        "variance": np.nanvar(inside, axis=0, ddof=1),
        "draws": draws.astype(np.float32),
        "own": own.astype(np.float32),
        "wins": np.bincount(chosen[chosen >= 0], minlength=len(whole)),
        "inside_own": inside[:, winner].astype(np.float32),
        "inside_best": np.nanmax(inside, axis=1).astype(np.float32),
    }
    if deep:
        ok = ~np.isnan(inside).any(axis=1)
        out["covariance"] = np.cov(inside[ok].T).astype(np.float32)
        out |= _rows(table, metric, whole)
    return out


def _rows(table: Predictions, metric: str, whole: np.ndarray) -> dict[str, np.ndarray]:
    """What each row adds to the score (a jackknife that doubles one row), and how that differs by fold and repeat."""
    n = table.n_samples
    doubled = (np.ones((n, n), np.uint8) + np.eye(n, dtype=np.uint8)).astype(np.uint8)
    parts, by_repeat = [], []
    for r in range(table.n_repeats):
        scorer = metrics.get(metric).bind(table.take_repeat(r), n_jobs=1)
        s = scorer.scores(np.ones((1, n), np.uint8))[0]
        by_repeat.append(s)
        parts.append((n + 1) * (scorer.scores(doubled) - s))  # [N, C]
    h = np.stack(parts, axis=2)  # [N, C, R], mean near 0
    mean = h.mean(axis=2)
    out = {
        "by_repeat": np.stack(by_repeat, axis=1),  # [C, R]
        "row_variance": (mean**2).sum(axis=0) / n**2,
        "row_kurtosis": (mean**4).mean(axis=0) / np.maximum((mean**2).mean(axis=0), 1e-300) ** 2,
        "single_row_variance": (h**2).sum(axis=0).mean(axis=1) / n**2,
    }
    folds = table.fold_of
    k = int(folds.max()) + 1
    between = np.zeros((h.shape[1], table.n_repeats))
    for r in range(table.n_repeats):
        for fold in range(k):
            here = h[folds[:, r] == fold, :, r]
            between[:, r] += here.sum(axis=0) ** 2
    out["fold_variance"] = between / n**2 * k / (k - 1)  # [C, R]: would equal the row variance without shared models
    if table.n_repeats > 1:
        e = h - mean[:, :, None]
        within = (e**2).sum(axis=(0, 2)) / (table.n_repeats - 1) / n**2
        shared = np.zeros(h.shape[1])
        for r in range(table.n_repeats):
            for fold in range(k):
                shared += e[folds[:, r] == fold, :, r].sum(axis=0) ** 2
        out["noise_rows"] = within
        out["noise_folds"] = shared / (table.n_repeats - 1) / n**2
    return out


def truth(
    y: np.ndarray, judged: np.ndarray, task: str, metric: str, seed: int, n_bootstraps: int = 100
) -> dict[str, np.ndarray]:
    """Score of the refitted models on the rows that judge [C], and its standard error."""
    table = build(y, judged[:, :, None] if judged.ndim == 2 else judged[:, :, None, :], task)
    scorer = metrics.get(metric).bind(table, n_jobs=1)
    score = scorer.scores(np.ones((1, len(y)), np.uint8))[0]
    spread = scorer.scores(Bootstrap(len(y), seed, "judges").counts(0, n_bootstraps))
    return {"truth": score, "truth_error": np.nanstd(spread, axis=0, ddof=1)}


def build(y: np.ndarray, predictions: np.ndarray, task: str, folds: np.ndarray | None = None) -> Predictions:
    """Bring arrays of the cache into a table."""
    values = predictions.astype(np.float64)
    if values.ndim == 4:
        values /= values.sum(axis=3, keepdims=True)
    responses = ("predict_proba",) if task == "classification" else ("predict",)
    return Predictions.build(y, values, task=task, responses=responses, folds=folds)  # type: ignore[arg-type]


def kind_of(y: np.ndarray) -> tuple[str, str]:
    """The task, and the row of METRICS."""
    if y.dtype.names:
        return "survival", "survival"
    if y.dtype.kind == "f":
        return "regression", "regression"
    return "classification", "binary" if y.max() == 1 else "classes"
