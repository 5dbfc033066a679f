"""What a metric scores at a time: one repeat or one fold of it, and the metric bound to that.

Takes a table and rows, gives a `Part`; a `Core` takes counts, gives scores in the natural direction of its metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..predictions import Predictions
from . import blocks


@dataclass(frozen=True, eq=False)
class Part:
    """One repeat (or one fold of it): all its samples are present, and there is one prediction for each.

    Attributes
    ----------
    y : array [N]
    values : array [N, C] or [N, C, K]
        The response that the metric asked for.
    weight : float array [N] or None
    fold : int array [N]
        Zero everywhere unless pairs are to be compared within folds only.
    classes : array [K] or None
    positive : int or None
        Index of the positive class.
    """

    y: Array
    values: Array
    weight: Array | None
    fold: Array
    classes: Array | None
    positive: int | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 0 if self.classes is None else len(self.classes)

    def index_of_positive(self, label: Any = None) -> int:
        """Index of the class that counts as positive: the one with this label, else the target's, else the last."""
        labels = [] if self.classes is None else self.classes.tolist()
        if label is None:
            return len(labels) - 1 if self.positive is None else self.positive
        if label not in labels:
            shown = ", ".join(repr(c) for c in labels[:5])
            raise SoberError("E108", f"`pos_label` must be one of the classes ({shown}); got {label!r}.")
        return labels.index(label)

    def totals(self, counts: Array) -> Array:
        """Weight of the samples present in each resample [B]."""
        if self.weight is None:
            return counts.sum(axis=1, dtype=np.float64)
        out = np.zeros(len(counts))
        for at in range(0, len(self.weight), blocks.ROWS):  # in pieces: counts as floats take eight times the memory
            out += counts[:, at : at + blocks.ROWS].astype(np.float64) @ self.weight[at : at + blocks.ROWS]
        return out


class Core(ABC):
    """A metric bound to one part, in its natural direction: a loss stays a loss here."""

    @abstractmethod
    def scores(self, counts: Array) -> Array:
        """Score every configuration on every resample: [B, N] -> [B, C]."""

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration for each resample: [B, N], [B] -> [B]."""
        out = np.empty(len(winners))
        for winner in np.unique(winners):
            here = winners == winner
            out[here] = self.only(int(winner)).scores(counts[here])[:, 0]
        return out

    def only(self, configuration: int) -> Core:
        """Bind to a single configuration."""
        raise NotImplementedError

    @property
    def complaint(self) -> str:
        """What a user's function said when it first refused; "" where there is none, or where it did not."""
        return ""


def part_of(predictions: Predictions, values: Array, repeat: int, rows: Array | slice, within_folds: bool) -> Part:
    """Cut one repeat, or some rows of it, out of a table; pairs are compared across folds unless `within_folds`."""
    fold = predictions.fold_of[rows, repeat]
    return Part(
        y=predictions.y[rows],
        values=values[rows, :, repeat],
        weight=None if predictions.sample_weight is None else predictions.sample_weight[rows],
        fold=fold if within_folds else np.zeros_like(fold),
        classes=predictions.classes,
        positive=predictions.target.positive,
    )


def as_counts(counts: Array) -> Array:
    """Bring counts to the smallest type that the kernels take: uint8 where they fit."""
    counts = np.asarray(counts)
    if counts.dtype == np.uint8:
        return counts
    if counts.dtype == np.bool_:
        return counts.view(np.uint8)
    if counts.size == 0:
        return counts.astype(np.uint8)
    if counts.dtype.kind not in "iu" or counts.min() < 0 or counts.max() >= 2**31:
        raise SoberError("E108", "`counts` must be whole numbers from 0 to 2,147,483,647: how often each was drawn.")
    return counts.astype(np.uint8 if counts.max() < 256 else np.int32)
