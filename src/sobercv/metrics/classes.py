"""Several classes as problems of two: one after the other, or all thrown together.

Takes cores of two classes, gives a core of several; knows no metric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..containers import Array
from .part import Core, Part
from .pointwise import product


class SpreadOut(Core):
    """Several classes as one problem of two: each sample counts once for each class, as being of it or not."""

    def __init__(self, part: Part, core_of: Callable[[Part], Core]) -> None:
        n, c, self._k = part.values.shape
        one = Part(
            y=(part.y == np.arange(self._k)[:, None]).reshape(-1).astype(np.int64),
            values=np.moveaxis(part.values, 2, 0).reshape(self._k * n, c),
            weight=None if part.weight is None else np.tile(part.weight, self._k),
            fold=np.tile(part.fold, self._k),
            classes=np.array([0, 1]),
        )
        self._core = core_of(one)

    def scores(self, counts: Array) -> Array:
        return self._core.scores(np.tile(counts, self._k))

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._core.picked(np.tile(counts, self._k), winners)


class ClassMean(Core):
    """Mean over classes of a score of each against the rest; undefined where a class is absent."""

    def __init__(self, classes: list[tuple[Part, Core]], average: str) -> None:
        self._classes, self._average = classes, average

    def scores(self, counts: Array) -> Array:
        return self._mean(counts, lambda core: core.scores(counts))

    def picked(self, counts: Array, winners: Array) -> Array:
        return self._mean(counts, lambda core: core.picked(counts, winners))

    def _mean(self, counts: Array, score: Callable[[Core], Array]) -> Array:
        total: Any = 0.0
        carried: Any = 0.0
        for part, core in self._classes:
            found = score(core)
            size = np.ones(len(counts))
            if self._average == "weighted":
                size = product(counts, (part.y * (1.0 if part.weight is None else part.weight))[None])[:, 0]
            size = size.reshape((-1,) + (1,) * (found.ndim - 1))
            total, carried = total + size * found, carried + size
        return np.asarray(total / carried)
