"""Margins of the confusion matrix: how often each class was true, predicted, and both, in every resample.

Takes one part of labels, gives three tables for a formula: hits, predicted and true weight of every class. They come
from tallies of bits or, with weights, from matrix products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..containers import Array
from .bits import pack, picked_tallies, tallies
from .part import Core, Part
from .pointwise import picked_product, product

#: (hits, predicted, true), each [B, C, K] or [B, K] -> score without the last axis
Formula = Callable[[Array, Array, Array], Array]


class MarginsCore(Core):
    """Labels bound to their truth; indicators are made for one class at a time, so memory stays that of the labels."""

    def __init__(self, part: Part, formula: Formula) -> None:
        self._labels = np.ascontiguousarray(part.values.T)  # [C, N]
        self._part = part
        self._formula = formula
        self._rows = [np.flatnonzero(part.y == k) for k in range(part.n_classes)]
        self._truth = np.stack([part.y == k for k in range(part.n_classes)])  # [K, N]

    def scores(self, counts: Array) -> Array:
        everywhere = np.arange(counts.shape[1])
        true = sums(self._part, counts, self._truth, everywhere)  # [B, K]
        shape = (len(counts), len(self._labels), self._part.n_classes)
        hits, predicted = np.empty(shape), np.empty(shape)
        for k, rows in enumerate(self._rows):
            said = self._labels == k
            predicted[:, :, k] = sums(self._part, counts, said, everywhere)
            hits[:, :, k] = sums(self._part, counts[:, rows], said[:, rows], rows)
        return self._formula(hits, predicted, np.broadcast_to(true[:, None, :], shape))

    def picked(self, counts: Array, winners: Array) -> Array:
        everywhere = np.arange(counts.shape[1])
        true = sums(self._part, counts, self._truth, everywhere)
        hits, predicted = np.empty(true.shape), np.empty(true.shape)
        which, position = np.unique(winners, return_inverse=True)
        for k, rows in enumerate(self._rows):
            said = self._labels[which] == k
            predicted[:, k] = sums(self._part, counts, said, everywhere, position)
            hits[:, k] = sums(self._part, counts[:, rows], said[:, rows], rows, position)
        return self._formula(hits, predicted, true)


def sums(part: Part, counts: Array, flags: Array, rows: Array, position: Array | None = None) -> Array:
    """Weight of the flagged samples of these rows: [B, C], or [B] for one row of flags a resample."""
    if part.weight is None:
        return tallies(counts, pack(flags)) if position is None else picked_tallies(counts, pack(flags), position)
    weighted = flags * part.weight[rows]
    return product(counts, weighted) if position is None else picked_product(counts, weighted, position)
