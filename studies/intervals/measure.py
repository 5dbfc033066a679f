"""One table judged: the intervals that sober gives, and the score that they should cover.

Takes a table with its truth, gives plain rows; the intervals are those of `sobercv.bbc`, nothing is computed anew. A
row keeps what the calibrated interval is made of, so that other constants can be tried on it without another bootstrap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sobercv
from sobercv import Estimate, Predictions, metrics
from sobercv.inference.intervals import CROSS_VALIDATED, quantile
from sobercv.inference.units import Units

from . import simulated

#: Levels of the tables; two-sided intervals and one-sided lower bounds.
LEVELS = (0.8, 0.9, 0.95, 0.99)
#: Quantiles of the draws that percentile intervals and bounds at these levels need.
SHARES = tuple(sorted({round(s, 3) for x in LEVELS for s in (1 - x, (1 - x) / 2, (1 + x) / 2)}))
METRICS = {
    "binary": ("accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"),
    "classes": ("accuracy", "balanced_accuracy", "roc_auc_ovr", "neg_log_loss"),
    "regression": ("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
    "survival": ("concordance_index",),
}
SIMULATED_BOOTSTRAPS = 500
JUDGE_BOOTSTRAPS = 100  # for the standard error of the truth


def real(table: dict[str, np.ndarray], seed: int) -> list[dict[str, Any]]:
    """Judge one real table by every metric, with its first repeat alone and with all of them."""
    task, kind = kind_of(table["y"])
    folds = table["folds"].astype(np.int64)
    full = build(table["y"], table["predictions"], task, folds)
    judged = table["judged"].astype(np.float64)[:, :, None]
    truth = build(table["y_judges"], judged, task)
    rows = []
    for metric in METRICS[kind]:
        scorer = metrics.get(metric).bind(truth, n_jobs=1)
        resamples = Units(truth.n_samples, seed, "judges").counts(0, JUDGE_BOOTSTRAPS)
        for repeats in sorted({1, full.n_repeats}):
            some = full.take_repeat(0) if repeats == 1 else full
            found = sobercv.bbc(None, some, metric, interval="calibrated", random_state=seed)
            chosen = np.full(1, found.winner)
            score = scorer.picked(np.ones((1, truth.n_samples), np.uint8), chosen)[0]
            error = np.nanstd(scorer.picked(resamples, np.repeat(chosen, JUDGE_BOOTSTRAPS)), ddof=1)
            rows.append({"kind": kind, "metric": metric, "repeats": repeats, **row(found, float(score), float(error))})
    return rows


def simulate(setting: simulated.Setting, seed: int) -> dict[str, Any]:
    """Judge one simulated table."""
    made = simulated.table(setting, seed)
    table = Predictions.build(
        made.y,
        _responses(setting, made.predictions),
        task=TASK_OF.get(setting.family, "classification"),  # type: ignore[arg-type]
        groups=made.groups,
    )
    # The models of a simulation are fixed; they are judged as cross-validated ones are, because users' tables are.
    options = {"interval": "calibrated", "n_bootstraps": SIMULATED_BOOTSTRAPS, "random_state": seed}
    found = sobercv.bbc(None, table, setting.metric, **options)
    return row(found, float(made.truth[found.winner]), 0.0)


TASK_OF = {"squared": "regression", "r2": "regression", "concordance": "survival"}
RESPONSE_OF = {"log_loss": "predict_proba", "area": "decision_function"}


def _responses(setting: simulated.Setting, predictions: np.ndarray) -> dict[str, np.ndarray]:
    values = predictions if predictions.ndim == 3 else predictions[:, :, None]
    return {RESPONSE_OF.get(setting.family, "predict"): values}


def row(found: Estimate, truth: float, error: float) -> dict[str, Any]:
    """What is kept of one estimate."""
    calibrated = found.bounds
    assert calibrated is not None, "nothing varies"
    assert found.draws is not None
    return {
        "truth": truth,
        "truth error": error,
        "value": found.value,
        "naive": found.naive,
        "centre": calibrated.centre,
        "size": calibrated.size * CROSS_VALIDATED,  # as resampling shows it
        "doubt": calibrated.doubt,
        "freedom": calibrated.freedom,
        "still lost": calibrated.still_lost,
        "low": calibrated.range[0],
        "high": calibrated.range[1],
        **{f"q{share:g}": quantile(found.draws, share) for share in SHARES},
    }


def build(y: np.ndarray, predictions: np.ndarray, task: str, folds: np.ndarray | None = None) -> Predictions:
    """Bring arrays of a table's file into the form that sober takes."""
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
