"""A metric bound to a table: cores of repeats or folds in, one mean out; the only place that applies a sign.

Takes counts, gives scores of which more is better; never looks at a prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..containers import Array

if TYPE_CHECKING:
    from .base import Metric
    from .part import Core


class Scorer:
    """A metric bound to a table, ready for any number of resamples; the mean over repeats or folds is taken here."""

    def __init__(
        self, metric: Metric, parts: list[tuple[Array | None, Core]], equal_weight: bool, n_configurations: int
    ) -> None:
        self.metric = metric
        self._parts = parts
        self._equal = equal_weight
        self.n_configurations = n_configurations

    def scores(self, counts: Array) -> Array:
        """Score every configuration: counts [B, N] -> [B, C]."""
        if len(self._parts) == 1 and self._parts[0][0] is None:
            return self._signed(self._parts[0][1].scores(counts))
        # Nothing has been seen where there is no part: every score is undefined.
        total, weight = np.zeros((2, len(counts), self.n_configurations))
        for rows, core in self._parts:
            here = counts if rows is None else counts[:, rows]
            scores = core.scores(here)
            defined = ~np.isnan(scores)
            w = np.where(defined, 1.0 if self._equal else here.sum(axis=1, dtype=np.float64)[:, None], 0.0)
            total += np.where(defined, scores, 0.0) * w
            weight += w
        return self._signed(_mean(total, weight))

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration for each resample: counts [B, N], winners [B] -> [B]; no winner (-1) gives NaN."""
        out = np.full(len(winners), np.nan)
        some = winners >= 0
        if not some.all():
            if some.any():
                out[some] = self.picked(counts[some], winners[some])
            return out
        if len(self._parts) == 1 and self._parts[0][0] is None:
            return self._signed(self._parts[0][1].picked(counts, winners))
        total, weight = np.zeros(len(winners)), np.zeros(len(winners))
        for rows, core in self._parts:
            here = counts if rows is None else counts[:, rows]
            scores = core.picked(here, winners)
            defined = ~np.isnan(scores)
            w = np.where(defined, 1.0 if self._equal else here.sum(axis=1, dtype=np.float64), 0.0)
            total += np.where(defined, scores, 0.0) * w
            weight += w
        return self._signed(_mean(total, weight))

    @property
    def complaint(self) -> str:
        """What a user's function said when it first refused; "" where there is none, or where it did not."""
        return next((core.complaint for _, core in self._parts if core.complaint), "")

    def _signed(self, scores: Array) -> Array:
        return scores if self.metric.greater_is_better else np.negative(scores, out=scores)


def _mean(total: Array, weight: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / weight
