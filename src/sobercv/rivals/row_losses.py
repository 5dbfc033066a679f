"""Losses of single samples, for drop rules that reason about means of them."""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import Question
from ..predictions import Predictions

_TOGETHER = 256  # samples scored at a time: each by counts that hold it alone


def check_row_means(rule: str, table: Predictions, question: Question, by_groups: bool = False) -> None:
    """Refuse what is not a mean over samples of something bounded: by its metric, or by how samples count.

    Parameters
    ----------
    rule : str
        Name of the rule, for messages.
    table : Predictions
        Perhaps before anything is predicted.
    question : Question
    by_groups : bool
        Whether the rule can take groups as wholes.
    """
    metric = question.first
    low, high = metric.range
    if not metric.linear or not np.isfinite([low, high]).all() or question.aggregate != "pooled":
        raise SoberError(
            "E114",
            f"{rule} serves metrics that are means over samples of a bounded loss, such as accuracy and "
            f"neg_brier_score, pooled over folds; got {metric.name}, aggregate={question.aggregate!r}. Write "
            "drop=sobercv.PredictiveDrop(), which serves every metric.",
        )
    got = {
        f"{table.n_repeats} repeats": table.n_repeats > 1,
        "weights": table.sample_weight is not None,
        "groups": table.groups is not None and not by_groups,
    }
    unfit = [what for what, is_there in got.items() if is_there]
    if unfit:
        raise SoberError(
            "E114",
            f"{rule} takes samples that count once each, alone; got {', '.join(unfit)}. Write "
            "drop=sobercv.PredictiveDrop(), which takes them.",
        )


def row_losses(table: Predictions, question: Question) -> Array:
    """Loss of every sample by itself, 0 the best and 1 the worst possible [N, C]."""
    low, high = question.for_target(table.target).first.range
    out = np.empty((table.n_samples, table.n_configurations))
    for at in range(0, table.n_samples, _TOGETHER):
        some = slice(at, min(at + _TOGETHER, table.n_samples))
        part = table.take_rows(np.arange(some.start, some.stop))
        out[some] = question.bind(part).scores(np.eye(part.n_samples, dtype=np.uint8))
    return (high - out) / (high - low)
