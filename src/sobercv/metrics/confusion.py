"""Metrics of the confusion matrix: how often each class was true, predicted, and both.

Takes one part of labels, gives three tables for each resample: hits, predicted and true weight of every class. They
come from tallies of bits or, with weights, from matrix products. A class that is never predicted scores 0, as in
scikit-learn; a score that the truth alone makes impossible (no positive sample, one class only) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..containers import Array
from ..targets import TaskName
from .base import Core, Metric, Part
from .bits import pack, picked_tallies, tallies
from .pointwise import picked_product, product

Average = Literal["macro", "micro", "weighted"]
#: (hits, predicted, true), each [B, C, K] or [B, K] -> score without the last axis
Formula = Callable[[Array, Array, Array], Array]


class ConfusionCore(Core):
    """Labels bound to their truth; indicators are made for one class at a time, so memory stays that of the labels."""

    def __init__(self, part: Part, formula: Formula) -> None:
        self._labels = np.ascontiguousarray(part.values.T)  # [C, N]
        self._part = part
        self._formula = formula
        self._rows = [np.flatnonzero(part.y == k) for k in range(part.n_classes)]
        self._truth = np.stack([part.y == k for k in range(part.n_classes)])  # [K, N]

    def scores(self, counts: Array) -> Array:
        everywhere = np.arange(counts.shape[1])
        true = self._sums(counts, self._truth, everywhere)  # [B, K]
        shape = (len(counts), len(self._labels), self._part.n_classes)
        hits, predicted = np.empty(shape), np.empty(shape)
        for k, rows in enumerate(self._rows):
            said = self._labels == k
            predicted[:, :, k] = self._sums(counts, said, everywhere)
            hits[:, :, k] = self._sums(counts[:, rows], said[:, rows], rows)
        return self._formula(hits, predicted, np.broadcast_to(true[:, None, :], shape))

    def picked(self, counts: Array, winners: Array) -> Array:
        everywhere = np.arange(counts.shape[1])
        true = self._sums(counts, self._truth, everywhere)
        hits, predicted = np.empty(true.shape), np.empty(true.shape)
        which, position = np.unique(winners, return_inverse=True)
        for k, rows in enumerate(self._rows):
            said = self._labels[which] == k
            predicted[:, k] = self._sums(counts, said, everywhere, position)
            hits[:, k] = self._sums(counts[:, rows], said[:, rows], rows, position)
        return self._formula(hits, predicted, true)

    def _sums(self, counts: Array, flags: Array, rows: Array, position: Array | None = None) -> Array:
        """Weight of the flagged samples of these rows: [B, C], or [B] for one row of flags a resample."""
        if self._part.weight is None:
            return tallies(counts, pack(flags)) if position is None else picked_tallies(counts, pack(flags), position)
        weighted = flags * self._part.weight[rows]
        return product(counts, weighted) if position is None else picked_product(counts, weighted, position)


class Confusion(Metric):
    """A metric that is a formula of hits, predicted and true weights of the classes."""

    task: TaskName = "classification"

    def __init__(self, name: str, formula: Formula, *, min_classes: int = 1, low: float = 0.0) -> None:
        self.name, self._formula = name, formula
        self.min_classes, self.range = min_classes, (low, 1.0)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return ConfusionCore(part, self._formula)


class OfPositive(Confusion):
    """A metric of two classes that looks at the positive one only; undefined where there is no sample of it."""

    depends_on_positive = True
    min_classes = max_classes = 2

    def __init__(self, name: str, by_class: Formula) -> None:
        super().__init__(name, by_class, min_classes=2)

    def core(self, part: Part, n_threads: int = 1) -> Core:
        assert part.positive is not None  # or the target would have been refused
        return ConfusionCore(part, of_class(self._formula, part.positive))


def _divide(a: Array, b: Array) -> Array:
    """A / b, and 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0)


def _undefined_if(nothing: Array, score: Array) -> Array:
    return np.where(nothing, np.nan, score)


def balanced_accuracy(hits: Array, predicted: Array, true: Array) -> Array:
    """Mean over the classes present of the share found; needs two classes present."""
    present = (true > 0).sum(axis=-1)
    return _undefined_if(present < 2, _divide(_divide(hits, true).sum(axis=-1), present))


def matthews(hits: Array, predicted: Array, true: Array) -> Array:
    """Matthews' correlation for any number of classes; 0 where all predictions are equal."""
    total = true.sum(axis=-1)
    cross = hits.sum(axis=-1) * total - (predicted * true).sum(axis=-1)
    said = total**2 - (predicted**2).sum(axis=-1)
    was = total**2 - (true**2).sum(axis=-1)
    # Sums of weights round; a variance this small is none.
    said, was = (np.where(v > 1e-12 * total**2, v, 0.0) for v in (said, was))
    return _undefined_if(was == 0, _divide(cross, np.sqrt(said * was)))


def precision(hits: Array, predicted: Array, true: Array) -> Array:
    """Share of the predictions of each class that are right."""
    return _divide(hits, predicted)


def recall(hits: Array, predicted: Array, true: Array) -> Array:
    """Share of each class that is found."""
    return _divide(hits, true)


def f1(hits: Array, predicted: Array, true: Array) -> Array:
    """Harmonic mean of precision and recall."""
    return _divide(2.0 * hits, predicted + true)


def of_class(by_class: Formula, k: int) -> Formula:
    """Turn a score for each class into that of one class."""

    def score(hits: Array, predicted: Array, true: Array) -> Array:
        return _undefined_if(true[..., k] <= 0, by_class(hits[..., k], predicted[..., k], true[..., k]))

    return score


def averaged(by_class: Formula, average: Average) -> Formula:
    """Turn a score for each class into one number, as scikit-learn's `average` does."""

    def micro(hits: Array, predicted: Array, true: Array) -> Array:
        sums = [v.sum(axis=-1) for v in (hits, predicted, true)]
        return _undefined_if(sums[2] <= 0, by_class(*sums))

    def macro(hits: Array, predicted: Array, true: Array) -> Array:
        present = (predicted > 0) | (true > 0)
        scores = by_class(hits, predicted, true)
        return _undefined_if(true.sum(axis=-1) <= 0, _divide(scores.sum(axis=-1), present.sum(axis=-1)))

    def weighted(hits: Array, predicted: Array, true: Array) -> Array:
        total = true.sum(axis=-1)
        return _undefined_if(total <= 0, _divide((by_class(hits, predicted, true) * true).sum(axis=-1), total))

    return {"micro": micro, "macro": macro, "weighted": weighted}[average]


def metrics() -> list[Metric]:
    """All metrics of this file."""
    made: list[Metric] = [
        Confusion("balanced_accuracy", balanced_accuracy, min_classes=2),
        Confusion("matthews_corrcoef", matthews, min_classes=2, low=-1.0),
    ]
    for name, formula in (("f1", f1), ("precision", precision), ("recall", recall)):
        made.append(OfPositive(name, formula))
        made.append(Confusion(f"{name}_macro", averaged(formula, "macro")))
        made.append(Confusion(f"{name}_micro", averaged(formula, "micro")))
        made.append(Confusion(f"{name}_weighted", averaged(formula, "weighted")))
    return made
