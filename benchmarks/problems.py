"""The tables that are scored: one for each metric, with configurations of different worth.

Takes sizes, gives a `Problem`: what a user has in hand when calling `sobercv.bbc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sobercv
from sobercv.testing import simulate

METRICS = ("accuracy", "roc_auc", "concordance_index", "neg_mean_squared_error", "neg_log_loss")


@dataclass(frozen=True, eq=False)
class Problem:
    metric: str
    y: Any  # [N], or (event, time) records
    predictions: np.ndarray  # [N, C]

    def bbc(self, n_bootstraps: int, counts: np.ndarray | None = None) -> Any:
        """The whole call, on all cores."""
        return sobercv.bbc(self.y, self.predictions, self.metric, n_bootstraps=n_bootstraps, counts=counts, n_jobs=-1)


def problem(metric: str, n: int, c: int) -> Problem:
    rng = np.random.default_rng(1)
    if metric == "accuracy":
        data = simulate.beta_accuracy(n, c, seed=1)
        return Problem(metric, data.y, data.predictions)
    if metric in ("roc_auc", "neg_log_loss"):
        data = simulate.binormal_auc(n, c, seed=1)
        scores = data.predictions
        return Problem(metric, data.y, scores if metric == "roc_auc" else 1.0 / (1.0 + np.exp(-scores)))
    noise = np.linspace(0.5, 1.5, c) * rng.standard_normal((n, c))
    if metric == "neg_mean_squared_error":
        y = rng.standard_normal(n)
        return Problem(metric, y, y[:, None] + noise)
    risk = rng.standard_normal(n)
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(2.0, n)
    y = np.empty(n, [("event", bool), ("time", float)])
    y["event"], y["time"] = time <= censored, np.minimum(time, censored)  # about a third is censored
    return Problem(metric, y, risk[:, None] + noise)
