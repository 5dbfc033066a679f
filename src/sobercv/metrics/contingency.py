"""Metrics of the whole confusion matrix: how often each class was taken for each other one.

Takes one part of labels, gives a table `[true, predicted]` for each resample and configuration: weighted kappa, and the
scores that compare two ways to sort samples into groups (Rand, mutual information). NaN where the truth is one class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks
from .base import Metric
from .confusion import Confusion, divide, kappa
from .margins import sums
from .part import Core, Part

#: Tables [..., K, K] of true and predicted classes -> scores [...]
Formula = Callable[[Part, Array], Array]
AverageMethod = Literal["min", "geometric", "arithmetic", "max"]

_TOGETHER = 1 << 22  # cells of tables made at a time


class TableCore(Core):
    """Labels bound to their truth; tables are made for a few configurations at a time."""

    def __init__(self, part: Part, formula: Formula) -> None:
        self._labels = np.ascontiguousarray(part.values.T)  # [C, N]
        self._part, self._formula = part, formula

    def scores(self, counts: Array) -> Array:
        k = self._part.n_classes
        step = max(1, _TOGETHER // max(1, len(counts) * k * k))
        done = []
        for first, last in blocks.cut(len(self._labels), step):
            labels = self._labels[first:last]
            tables = np.empty((len(counts), len(labels), k, k))
            for true, said, rows in self._cells():
                tables[:, :, true, said] = sums(self._part, counts[:, rows], labels[:, rows] == said, rows)
            done.append(self._formula(self._part, tables))
        return np.concatenate(done, axis=1)

    def picked(self, counts: Array, winners: Array) -> Array:
        k = self._part.n_classes
        which, position = np.unique(winners, return_inverse=True)
        tables = np.empty((len(counts), k, k))
        for true, said, rows in self._cells():
            flags = self._labels[np.ix_(which, rows)] == said
            tables[:, true, said] = sums(self._part, counts[:, rows], flags, rows, position)
        return self._formula(self._part, tables)

    def _cells(self) -> list[tuple[int, int, Array]]:
        k = self._part.n_classes
        rows = [np.flatnonzero(self._part.y == true) for true in range(k)]
        return [(true, said, rows[true]) for true in range(k) for said in range(k)]


class Contingency(Metric):
    """A metric that is a formula of the confusion matrix.

    Parameters
    ----------
    formula : callable
    range : (float, float)
    takes_weights : bool
    """

    task: TaskName = "classification"
    min_classes = 2

    def __init__(
        self, formula: Formula, *, range: tuple[float, float] = (0.0, 1.0), takes_weights: bool = True
    ) -> None:
        self._formula, self.range, self.takes_weights = formula, range, takes_weights

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return TableCore(part, partial(_where_truth_varies, self._formula))


def _where_truth_varies(formula: Formula, part: Part, tables: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = formula(part, tables)
    return np.where((tables.sum(axis=-1) > 0).sum(axis=-1) < 2, np.nan, scores)


# ---- kappa with distances -------------------------------------------------------------------------------------------
def _weighted_kappa(part: Part, tables: Array, *, power: int, labels: Sequence[Any] | None) -> Array:
    true, said = tables.sum(axis=-1), tables.sum(axis=-2)
    if labels is None:
        # The distance of two classes counts the classes between them that occur in the resample, as in scikit-learn.
        place = np.cumsum((true > 0) | (said > 0), axis=-1)
    else:
        known = part.classes.tolist() if part.classes is not None else []
        if sorted(known, key=str) != sorted(labels, key=str):
            raise SoberError("E108", f"`labels` must list all classes {known}, in their order of rank; got {labels}.")
        place = np.broadcast_to([list(labels).index(label) for label in known], true.shape)
    distance = np.abs(place[..., :, None] - place[..., None, :]).astype(np.float64) ** power
    by_chance = true[..., :, None] * said[..., None, :] / tables.sum(axis=(-2, -1))[..., None, None]
    return 1.0 - divide((distance * tables).sum(axis=(-2, -1)), (distance * by_chance).sum(axis=(-2, -1)))


def cohen_kappa(
    *, weights: Literal["linear", "quadratic"] | None = None, labels: Sequence[Any] | None = None
) -> Metric:
    """Agreement beyond chance.

    Parameters
    ----------
    weights : {None, "linear", "quadratic"}
        How the cost of a confusion grows with the distance of the classes.
    labels : sequence, optional
        All classes in order of rank, for the distances; sorted unless given.
    """
    if weights is None:
        if labels is not None:
            raise SoberError("E108", "`labels` of cohen_kappa order the classes for `weights`; leave them out here.")
        return Confusion(kappa, range=(-1.0, 1.0), classes=(2, None))
    if weights not in ("linear", "quadratic"):
        raise SoberError("E108", f'`weights` must be None, "linear" or "quadratic"; got {weights!r}.')
    power = 1 if weights == "linear" else 2
    return Contingency(partial(_weighted_kappa, power=power, labels=labels), range=(-1.0, 1.0))


# ---- pairs of samples: in the same group by both, by one, by none ---------------------------------------------------
def _pairs(tables: Array) -> tuple[Array, Array, Array, Array]:
    """Ordered pairs of different samples that are together in both, in truth only, in prediction only, in all."""
    n = tables.sum(axis=(-2, -1))
    both = (tables**2).sum(axis=(-2, -1)) - n
    in_truth = (tables.sum(axis=-1) ** 2).sum(axis=-1) - n
    in_said = (tables.sum(axis=-2) ** 2).sum(axis=-1) - n
    return both, in_truth, in_said, n * (n - 1.0)


def _rand(part: Part, tables: Array) -> Array:
    both, in_truth, in_said, every = _pairs(tables)
    return 1.0 - (in_truth + in_said - 2.0 * both) / every


def _adjusted_rand(part: Part, tables: Array) -> Array:
    both, in_truth, in_said, every = _pairs(tables)
    true_only, said_only = in_truth - both, in_said - both
    none = every - both - true_only - said_only
    below = in_truth * (true_only + none) + in_said * (said_only + none)
    score = 2.0 * (both * none - true_only * said_only) / below
    return np.where((true_only == 0) & (said_only == 0), 1.0, score)


def _fowlkes_mallows(part: Part, tables: Array) -> Array:
    both, in_truth, in_said, _ = _pairs(tables)
    return np.where(both == 0, 0.0, np.sqrt(both / in_truth) * np.sqrt(both / in_said))


# ---- information ----------------------------------------------------------------------------------------------------
def _entropy(mass: Array) -> Array:
    share = mass / mass.sum(axis=-1, keepdims=True)
    return -(share * np.log(np.where(mass > 0, share, 1.0))).sum(axis=-1)


def _information(part: Part, tables: Array) -> Array:
    n = tables.sum(axis=(-2, -1), keepdims=True)
    expected = tables.sum(axis=-1, keepdims=True) * tables.sum(axis=-2, keepdims=True)
    terms = tables / n * np.log(np.where(tables > 0, tables * n / expected, 1.0))
    # Independence is exact: what is left of it by rounding is nothing.
    terms = np.where(np.abs(terms) < np.finfo(np.float64).eps, 0.0, terms)
    return np.maximum(terms.sum(axis=(-2, -1)), 0.0)


def _entropies(tables: Array) -> tuple[Array, Array]:
    return _entropy(tables.sum(axis=-1)), _entropy(tables.sum(axis=-2))


def _homogeneity(part: Part, tables: Array) -> Array:
    return _information(part, tables) / _entropies(tables)[0]


def _completeness(part: Part, tables: Array) -> Array:
    said = _entropies(tables)[1]
    return np.where(said > 0, divide(_information(part, tables), said), 1.0)  # everybody in one group is complete


def _v_measure(part: Part, tables: Array, *, beta: float) -> Array:
    one, other = _homogeneity(part, tables), _completeness(part, tables)
    return np.where(one + other > 0, (1.0 + beta) * one * other / (beta * one + other), 0.0)


def _generalised(tables: Array, method: AverageMethod) -> Array:
    one, other = _entropies(tables)
    if method == "arithmetic":
        return 0.5 * (one + other)
    if method == "geometric":
        return np.sqrt(one * other)
    return np.minimum(one, other) if method == "min" else np.maximum(one, other)


def _normalised(part: Part, tables: Array, *, method: AverageMethod) -> Array:
    information = _information(part, tables)
    return np.where(information > 0, information / _generalised(tables, method), 0.0)


def _adjusted(part: Part, tables: Array, *, method: AverageMethod) -> Array:
    from .kernels import expected_information  # numba takes a while to import

    k = tables.shape[-1]
    true = np.ascontiguousarray(tables.sum(axis=-1).reshape(-1, k)).astype(np.int64)
    said = np.ascontiguousarray(tables.sum(axis=-2).reshape(-1, k)).astype(np.int64)
    each = np.empty(len(true))
    expected_information(true, said, each)
    expected = each.reshape(tables.shape[:-2])
    least = np.finfo(np.float64).eps
    above, below = _information(part, tables) - expected, _generalised(tables, method) - expected
    above, below = (np.where(v < 0, np.minimum(v, -least), np.maximum(v, least)) for v in (above, below))
    alone = ((tables.sum(axis=-2) > 0).sum(axis=-1)) == 1
    return np.where(alone, 0.0, above / below)


def _by_entropies(formula: Callable[..., Array], low: float, takes_weights: bool) -> Callable[..., Contingency]:
    def maker(*, average_method: AverageMethod = "arithmetic") -> Contingency:
        if average_method not in ("min", "geometric", "arithmetic", "max"):
            raise SoberError(
                "E108", f"`average_method` must be min, geometric, arithmetic or max; got {average_method!r}."
            )
        made = partial(formula, method=average_method)
        return Contingency(made, range=(low, 1.0), takes_weights=takes_weights)

    return maker


def v_measure(*, beta: float = 1.0) -> Contingency:
    """Harmonic mean of homogeneity and completeness.

    Parameters
    ----------
    beta : float, default=1
        How many times as much completeness counts.
    """
    if isinstance(beta, bool) or not isinstance(beta, (int, float, np.number)) or not beta >= 0:
        raise SoberError("E108", f"`beta` must be a number of 0 or more; got {beta!r}.")
    return Contingency(partial(_v_measure, beta=float(beta)))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    pairs = partial(Contingency, takes_weights=False)
    return {
        "cohen_kappa": cohen_kappa,
        "rand_score": partial(pairs, _rand),
        "adjusted_rand_score": partial(pairs, _adjusted_rand, range=(-0.5, 1.0)),
        "fowlkes_mallows_score": partial(pairs, _fowlkes_mallows),
        "mutual_info_score": partial(Contingency, _information, range=(0.0, np.inf)),
        "normalized_mutual_info_score": _by_entropies(_normalised, 0.0, True),
        "adjusted_mutual_info_score": _by_entropies(_adjusted, -np.inf, False),
        "homogeneity_score": partial(Contingency, _homogeneity),
        "completeness_score": partial(Contingency, _completeness),
        "v_measure_score": v_measure,
    }
