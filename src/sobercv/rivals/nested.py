"""Nested selection from finished predictions: what nested cross-validation becomes when training sets do not matter."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ..errors import SoberError
from ..inference import Estimate
from ..inference.question import MetricLike
from ..inference.tables import MemoryTable
from .on_predictions import RivalOptions, estimate_of, need_folds, opened


def nested(y: Any, predictions: Any, metric: MetricLike = "roc_auc", **options: Unpack[RivalOptions]) -> Estimate:
    """Select on all folds but one, score that one, take the mean, as in the paper's simulation.

    Nested cross-validation itself trains anew: see `sobercv.compare`.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    **options
        `folds`, `groups`, `sample_weight`, `pos_label`, `select`, `aggregate`, `within_folds`, `random_state`
        and `n_jobs`, as for `bbc`. `folds` are needed.

    Returns
    -------
    Estimate
        Without interval.
    """
    return nested_score(opened(y, predictions, metric, options))


def nested_score(table: MemoryTable) -> Estimate:
    """Select without each fold, judge on it."""
    need_folds(table, "nested")
    if table.n_repeats > 1:
        raise SoberError("E114", f"`nested` works on one repeat; got {table.n_repeats}. Pass them one by one.")
    whole = table.whole()[0]
    winner = table.winner(whole)
    fold_of = table.fold_of[:, 0]
    kept = (fold_of != np.unique(fold_of)[:, None]).view(np.uint8)  # [K, N]: everything but one fold
    chosen = table.select(table.scorers[0].scores(kept))
    by_fold = table.fold_scores()[0][np.arange(len(kept)), chosen]
    by_fold = by_fold[(chosen >= 0) & ~np.isnan(by_fold)]
    if len(by_fold) == 0:
        name = table.question.first.name
        raise SoberError("E109", f"{name} is undefined on every fold. Use fewer folds, or sobercv.bbc.")
    return estimate_of(table, 0, "ncv", float(by_fold.mean()), whole, winner, len(kept) - len(by_fold))
