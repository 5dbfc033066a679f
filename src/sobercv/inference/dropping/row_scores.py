"""Scores of single samples, for rules that reason about means of them.

Takes a table and a question whose metric is a mean over samples, gives a loss between 0 and 1 for each unit (sample or
group) and configuration; refuses metrics that are no such means, before any training.
"""

from __future__ import annotations

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...predictions import Predictions
from ..question import Question

_TOGETHER = 256  # samples scored at a time: each by counts that hold it alone


def check_row_means(rule: str, question: Question) -> None:
    """Refuse a metric that is not a mean over samples of something bounded."""
    metric = question.first
    low, high = metric.range
    if not metric.linear or not np.isfinite([low, high]).all() or question.aggregate != "pooled":
        raise SoberError(
            "E114",
            f"{rule} serves metrics that are means over samples of a bounded loss, such as accuracy and "
            f"neg_brier_score, pooled over folds; got {metric.name}, aggregate={question.aggregate!r}. Write "
            "drop=sobercv.PredictiveDrop(), which serves every metric.",
        )


def row_losses(table: Predictions, question: Question) -> Array:
    """Loss of every sample by itself, 0 the best and 1 the worst possible [N, C]."""
    if table.n_repeats > 1 or table.sample_weight is not None:
        raise SoberError("E114", "This drop rule serves one repeat without weights. Write drop='bced'.")
    low, high = question.first.range
    out = np.empty((table.n_samples, table.n_configurations))
    for at in range(0, table.n_samples, _TOGETHER):
        some = slice(at, min(at + _TOGETHER, table.n_samples))
        part = table.take_rows(np.arange(some.start, some.stop))
        out[some] = question.bind(part).scores(np.eye(part.n_samples, dtype=np.uint8))
    return (high - out) / (high - low)
