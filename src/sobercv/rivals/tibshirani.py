"""The correction of Tibshirani and Tibshirani (TT; paper, algorithm 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

import numpy as np

from ..errors import SoberError
from ..inference import Estimate
from ..inference.estimate import with_names
from ..inference.question import MetricLike
from ..inference.tables import MemoryTable
from .on_predictions import RivalOptions, estimate_of, need_folds, opened


@overload
def tibshirani(y: Any, predictions: Any, metric: MetricLike = ..., **options: Unpack[RivalOptions]) -> Estimate: ...
@overload
def tibshirani(
    y: Any, predictions: Any, metric: Sequence[MetricLike], **options: Unpack[RivalOptions]
) -> dict[str, Estimate]: ...
def tibshirani(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    **options: Unpack[RivalOptions],
) -> Estimate | dict[str, Estimate]:
    """Correct by Tibshirani and Tibshirani's method: take off how much better the choice of each fold is there.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    **options
        `folds`, `groups`, `sample_weight`, `pos_label`, `select`, `aggregate`, `within_folds`, `random_state`
        and `n_jobs`, as for `bbc`. `folds` are needed.

    Returns
    -------
    Estimate, or a dict of them by metric
        Without interval.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> found = sobercv.tibshirani(data.y, data.predictions, "accuracy", folds=data.folds)
    >>> bool(found.value < found.naive)
    True
    """
    table = opened(y, predictions, metric, options)
    found: Estimate | dict[str, Estimate] = table.question.answer(with_names(tibshirani_scores(table), predictions))
    return found


def tibshirani_scores(table: MemoryTable) -> dict[str, Estimate]:
    """Take off what the configuration that the rule selects in each fold is better by, on average.

    The metric that selects selects in the folds, too; the other metrics judge the same choices.
    """
    need_folds(table, "tibshirani")
    wholes, folds = table.whole(), table.fold_scores()
    winner = table.winner(wholes[0])
    chosen = table.select(folds[0])  # one per fold; -1 where the first metric is undefined
    found = {}
    for k, (metric, whole, by_fold) in enumerate(zip(table.question.metrics, wholes, folds, strict=True)):
        lead = by_fold[np.arange(len(by_fold)), chosen] - by_fold[:, winner]  # [K]
        defined = (chosen >= 0) & ~np.isnan(lead)
        if not defined.any():
            raise SoberError(
                "E109", f"{metric.name} is undefined on every fold, so TT has nothing to go by. Use sobercv.bbc."
            )
        value = float(whole[winner] - lead[defined].mean())
        found[metric.name] = estimate_of(table, k, "tt", value, whole, winner, int((~defined).sum()))
    return found
