"""Plain cross-validation: the winner is judged by the score that selected it (CVT; paper, algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

from ..inference import Estimate
from ..inference.estimate import with_names
from ..inference.question import MetricLike
from ..inference.tables import MemoryTable
from .on_predictions import RivalOptions, estimate_of, opened


@overload
def naive(y: Any, predictions: Any, metric: MetricLike = ..., **options: Unpack[RivalOptions]) -> Estimate: ...
@overload
def naive(
    y: Any, predictions: Any, metric: Sequence[MetricLike], **options: Unpack[RivalOptions]
) -> dict[str, Estimate]: ...
def naive(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    **options: Unpack[RivalOptions],
) -> Estimate | dict[str, Estimate]:
    """Score the winner as plain cross-validation does: optimistic, since this score selected it.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    **options
        `folds`, `groups`, `sample_weight`, `pos_label`, `select`, `aggregate`, `within_folds`, `random_state`
        and `n_jobs`, as for `bbc`.

    Returns
    -------
    Estimate, or a dict of them by metric
        Without interval.

    Examples
    --------
    >>> import sobercv
    >>> y = [0, 0, 1, 1]
    >>> sobercv.naive(y, [[0, 1], [0, 0], [1, 1], [0, 1]], "accuracy").value  # two configurations
    0.75
    """
    table = opened(y, predictions, metric, options)
    found: Estimate | dict[str, Estimate] = table.question.answer(with_names(naive_scores(table), predictions))
    return found


def naive_scores(table: MemoryTable) -> dict[str, Estimate]:
    """Judge the winner by the scores that selected it."""
    wholes = table.whole()
    winner = table.winner(wholes[0])
    return {
        metric.name: estimate_of(table, k, "naive", float(whole[winner]), whole, winner)
        for k, (metric, whole) in enumerate(zip(table.question.metrics, wholes, strict=True))
    }
