"""Metrics of the confusion matrix: how often each class was true and predicted.

A class that is never predicted scores 0, as in scikit-learn, unless `zero_division` says otherwise; a score that the
truth alone makes impossible (no positive sample, one class only) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import blocks, cuts
from .blocks import product
from .contract import Core, Metric, Part, is_number

Average = Literal["binary", "macro", "micro", "weighted"]
#: (hits, predicted, true) of one class -> what is divided, and by what
Share = Callable[[Array, Array, Array], tuple[Array, Array]]
#: Matrices [K, K, B, C] of true and predicted classes -> scores [B, C]
Formula = Callable[[Part, Array], Array]

_TOGETHER = 1 << 22  # cells of matrices made at a time


class MatrixCore(Core):
    """A formula of confusion matrices, which are made for some configurations at a time."""

    def __init__(self, part: Part, formula: Formula) -> None:
        self._part, self._formula = part, formula
        self._labels = np.ascontiguousarray(part.values.T)  # [C, N]
        self._rows = [np.flatnonzero(part.y == k) for k in range(part.n_classes)]

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        if picked is not None:
            which, position = np.unique(picked, return_inverse=True)
            return self._of(counts, self._labels[which], position)
        step = _TOGETHER // max(1, len(counts) * len(self._rows) ** 2)
        some = blocks.cut(len(self._labels), step)
        return np.concatenate([self._of(counts, self._labels[a:b], None) for a, b in some], axis=1)

    def _of(self, counts: Array, labels: Array, position: Array | None) -> Array:
        k, weight = len(self._rows), self._part.weight
        matrices = np.empty((k, k, len(counts), len(labels) if position is None else 1))
        for true, rows in enumerate(self._rows):
            present, said = counts[:, rows], labels[:, rows]
            for c in range(k):
                flags = said == c
                matrices[true, c] = product(present, flags if weight is None else flags * weight[rows], position)
        return self._formula(self._part, matrices)


def margins(matrices: Array) -> tuple[Array, Array, Array]:
    """How often each class was hit, predicted and true: [K, K, B, C] -> [K, B, C] each."""
    return np.stack([m[k] for k, m in enumerate(matrices)]), matrices.sum(axis=0), matrices.sum(axis=1)


class Confusion(Metric):
    """A metric that is one formula of confusion matrices.

    Parameters
    ----------
    formula : callable
        (part, matrices [K, K, B, C]) -> scores [B, C].
    range : (float, float)
    greater_is_better : bool
    classes : (int, int or None)
        The fewest and the most classes it is defined for.
    of_positive : bool
        Whether the formula asks which class is the positive one.
    at_cuts : AtCuts, optional
    """

    task: TaskName = "classification"

    def __init__(
        self,
        formula: Formula,
        *,
        range: tuple[float, float] = (0.0, 1.0),
        greater_is_better: bool = True,
        classes: tuple[int, int | None] = (1, None),
        of_positive: bool = False,
        at_cuts: cuts.AtCuts | None = None,
    ) -> None:
        self._formula, self.range, self.greater_is_better = formula, range, greater_is_better
        self.min_classes, self.max_classes = classes
        self.depends_on_positive, self.at_cuts = of_positive, at_cuts

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return MatrixCore(part, self._formula)


def divide(a: Array, b: Array, otherwise: float = 0.0) -> Array:
    """A / b, and something else where there is nothing to divide by."""
    return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, otherwise), where=b > 0)


def undefined_if(nothing: Array, score: Array) -> Array:
    """NaN where the truth allows no score."""
    return np.where(nothing, np.nan, score)


# ---- one number for all classes -------------------------------------------------------------------------------------
def _balanced(part: Part, matrices: Array, *, adjusted: bool) -> Array:
    hits, _, true = margins(matrices)
    present = (true > 0).sum(axis=0)
    score = undefined_if(present < 2, divide(divide(hits, true).sum(axis=0), present))
    if not adjusted:
        return score
    with np.errstate(divide="ignore", invalid="ignore"):
        return (score - 1.0 / present) / (1.0 - 1.0 / present)


def _matthews(part: Part, matrices: Array) -> Array:
    hits, predicted, true = margins(matrices)
    total = true.sum(axis=0)
    cross = hits.sum(axis=0) * total - (predicted * true).sum(axis=0)
    # Sums of weights round; a variance this small is none.
    said, was = (total**2 - (side**2).sum(axis=0) for side in (predicted, true))
    said, was = (np.where(v > 1e-12 * total**2, v, 0.0) for v in (said, was))
    return undefined_if(was == 0, divide(cross, np.sqrt(said * was)))


def _kappa(part: Part, matrices: Array) -> Array:
    """Agreement beyond chance, all confusions costing the same."""
    hits, predicted, true = margins(matrices)
    total = true.sum(axis=0)
    by_chance = divide((predicted * true).sum(axis=0), total)
    score = 1.0 - divide(total - hits.sum(axis=0), total - by_chance)
    return undefined_if((true > 0).sum(axis=0) < 2, score)


def _weighted_kappa(part: Part, matrices: Array, *, power: int, labels: Sequence[Any] | None) -> Array:
    """The same, where a confusion costs more the farther apart the classes are."""
    true, said = matrices.sum(axis=1), matrices.sum(axis=0)
    if labels is None:
        # The distance of two classes counts those between them that occur in the resample, as in scikit-learn.
        place = np.cumsum((true > 0) | (said > 0), axis=0)
    else:
        known = [] if part.classes is None else part.classes.tolist()
        if sorted(known, key=str) != sorted(labels, key=str):
            raise SoberError("E110", f"`labels` must list all classes {known}, in their order of rank; got {labels}.")
        place = np.array([list(labels).index(label) for label in known]).reshape(-1, 1, 1)
    distance = np.abs(place[:, None] - place[None]).astype(np.float64) ** power
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = true[:, None] * said[None] / matrices.sum(axis=(0, 1))
        score = 1.0 - divide((distance * matrices).sum(axis=(0, 1)), (distance * by_chance).sum(axis=(0, 1)))
    return undefined_if((true > 0).sum(axis=0) < 2, score)


def _likelihood_ratio(part: Part, matrices: Array, *, sign: Literal["+", "-"]) -> Array:
    """How much more often the positive class is predicted where it is true; 1 where it never is elsewhere."""
    k = part.index_of_positive()
    found, missed, right, wrong = matrices[k, k], matrices[k, 1 - k], matrices[1 - k, 1 - k], matrices[1 - k, k]
    positives, negatives = found + missed, right + wrong
    of, by = (found, wrong) if sign == "+" else (missed, right)
    return undefined_if(np.minimum(positives, negatives) <= 0, divide(of * negatives, by * positives, 1.0))


# ---- one number for each class, averaged ----------------------------------------------------------------------------
def of_predicted(hits: Array, predicted: Array, true: Array) -> tuple[Array, Array]:
    """Precision: share of the predictions of a class that are right."""
    return hits, predicted


def of_true(hits: Array, predicted: Array, true: Array) -> tuple[Array, Array]:
    """Recall: share of a class that is found."""
    return hits, true


def of_either(hits: Array, predicted: Array, true: Array) -> tuple[Array, Array]:
    """Jaccard: share of what was a class or said to be that was both."""
    return hits, predicted + true - hits


def of_both(hits: Array, predicted: Array, true: Array, *, beta: float) -> tuple[Array, Array]:
    """F: harmonic mean of precision and recall, recall counting beta times as much."""
    if np.isinf(beta):
        return hits, true
    return (1.0 + beta**2) * hits, beta**2 * true + predicted


class Averaged(Metric):
    """A share for each class, turned into one number as scikit-learn's `average` does.

    Parameters
    ----------
    share : callable
    average : {"binary", "macro", "micro", "weighted"}
        "binary" is the share of the positive class alone.
    labels : sequence, optional
        Average over these classes only (default: those that were true or predicted).
    pos_label : label, optional
        The positive class; see `Part.positive`.
    zero_division : {"warn"} or float
        The share of a class that has nothing to divide by; NaN leaves it out of the average.
    other : bool
        With "binary", take the class that is not positive.
    """

    task: TaskName = "classification"

    def __init__(
        self,
        share: Share,
        *,
        average: Average = "binary",
        labels: Sequence[Any] | None = None,
        pos_label: Any = None,
        zero_division: float | str = "warn",
        other: bool = False,
    ) -> None:
        if average not in ("binary", "macro", "micro", "weighted"):
            raise SoberError("E122", f"`average` must be binary, macro, micro or weighted; got {average!r}.")
        if zero_division not in ("warn", 0, 1) and not np.isnan(zero_division):
            raise SoberError("E122", f'`zero_division` must be "warn", 0, 1 or NaN; got {zero_division!r}.')
        self.depends_on_positive = average == "binary"
        self.min_classes, self.max_classes = (2, 2) if self.depends_on_positive else (1, None)
        self._share, self._average, self._labels = share, average, labels
        self.pos_label, self._other = pos_label, other
        self._zero = 0.0 if zero_division == "warn" else float(zero_division)
        self.at_cuts = _at_cuts(share, other) if self.depends_on_positive and self._zero == 0.0 else None

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return MatrixCore(part, self._score)

    def _score(self, part: Part, matrices: Array) -> Array:
        if self._average == "binary":
            k = part.index_of_positive(self.pos_label)
            k = 1 - k if self._other else k
            hits, predicted, true = matrices[k, k], matrices[0, k] + matrices[1, k], matrices[k, 0] + matrices[k, 1]
            return undefined_if(true <= 0, divide(*self._share(hits, predicted, true), self._zero))
        hits, predicted, true = margins(matrices)
        if self._labels is not None:
            at = self._positions(part)
            hits, predicted, true = (v[at] for v in (hits, predicted, true))
        nothing = true.sum(axis=0) <= 0
        if self._average == "micro":
            parts = self._share(*(v.sum(axis=0) for v in (hits, predicted, true)))
            return undefined_if(nothing, divide(*parts, self._zero))
        scores = divide(*self._share(hits, predicted, true), self._zero)
        weight = true
        if self._average == "macro":
            listed = self._labels is not None
            weight = np.ones_like(true) if listed else ((predicted > 0) | (true > 0)).astype(np.float64)
        weight = np.where(np.isnan(scores), 0.0, weight)
        return undefined_if(nothing, divide((np.nan_to_num(scores) * weight).sum(axis=0), weight.sum(axis=0), np.nan))

    def _positions(self, part: Part) -> list[int]:
        known = [] if part.classes is None else part.classes.tolist()
        unknown = [label for label in self._labels or () if label not in known]
        if unknown:
            raise SoberError("E110", f"`labels` of {self.name} must be among the classes {known}; got {unknown[0]!r}.")
        return [known.index(label) for label in self._labels or ()]


def _at_cuts(share: Share, other: bool) -> cuts.AtCuts | None:
    """What a share of the positive class (or of the other) is of true and false positives."""
    if other:
        return cuts.SPECIFICITY if share is of_true else None
    if isinstance(share, partial):
        return cuts.f_score(share.keywords["beta"])
    known: dict[Share, cuts.AtCuts] = {of_predicted: cuts.PRECISION, of_true: cuts.SENSITIVITY, of_either: cuts.JACCARD}
    return known.get(share)


# ---- all of them ----------------------------------------------------------------------------------------------------
def balanced_accuracy(*, adjusted: bool = False) -> Confusion:
    """Mean over the classes present of the share found; needs two classes present.

    Parameters
    ----------
    adjusted : bool, default=False
        Let guessing score 0.
    """
    low, at_cuts = (-1.0, cuts.YOUDEN) if adjusted else (0.0, cuts.BALANCED)
    return Confusion(partial(_balanced, adjusted=bool(adjusted)), range=(low, 1.0), classes=(2, None), at_cuts=at_cuts)


def youden() -> Confusion:
    """Youden's index: sensitivity plus specificity less 1, for two classes."""
    formula = partial(_balanced, adjusted=True)
    return Confusion(formula, range=(-1.0, 1.0), classes=(2, 2), at_cuts=cuts.YOUDEN)


def _averages(share: Share) -> Callable[..., Metric]:
    def maker(
        *,
        average: Average = "binary",
        labels: Sequence[Any] | None = None,
        pos_label: Any = None,
        zero_division: float | str = "warn",
    ) -> Averaged:
        return Averaged(share, average=average, labels=labels, pos_label=pos_label, zero_division=zero_division)

    return maker


def fbeta(
    *,
    beta: float,
    average: Average = "binary",
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    zero_division: float | str = "warn",
) -> Averaged:
    """Harmonic mean of precision and recall.

    Parameters
    ----------
    beta : float
        How many times as much recall counts as precision.
    average, labels, pos_label, zero_division
        See `Averaged`.
    """
    if not is_number(beta) or not beta >= 0:
        raise SoberError("E108", f"`beta` must be a number of 0 or more; got {beta!r}.")
    share = partial(of_both, beta=float(beta))
    return Averaged(share, average=average, labels=labels, pos_label=pos_label, zero_division=zero_division)


def cohen_kappa(
    *, weights: Literal["linear", "quadratic"] | None = None, labels: Sequence[Any] | None = None
) -> Metric:
    """Agreement beyond chance.

    Parameters
    ----------
    weights : {None, "linear", "quadratic"}
        How the cost of a confusion grows with the distance of the classes.
    labels : sequence, optional
        All classes in order of rank, for the distances (default: sorted).
    """
    if weights is None:
        if labels is not None:
            raise SoberError("E114", "`labels` of cohen_kappa order the classes for `weights`; leave them out here.")
        return Confusion(_kappa, range=(-1.0, 1.0), classes=(2, None))
    if weights not in ("linear", "quadratic"):
        raise SoberError("E122", f'`weights` must be None, "linear" or "quadratic"; got {weights!r}.')
    formula = partial(_weighted_kappa, power=1 if weights == "linear" else 2, labels=labels)
    return Confusion(formula, range=(-1.0, 1.0), classes=(2, None))


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    found: dict[str, Callable[..., Metric]] = {
        "balanced_accuracy": balanced_accuracy,
        "youden": youden,
        "matthews_corrcoef": partial(
            Confusion, _matthews, range=(-1.0, 1.0), classes=(2, None), at_cuts=cuts.CORRELATION
        ),
        "cohen_kappa": cohen_kappa,
        "positive_likelihood_ratio": partial(
            Confusion, partial(_likelihood_ratio, sign="+"), range=(0.0, np.inf), classes=(2, 2), of_positive=True
        ),
        "neg_negative_likelihood_ratio": partial(
            Confusion,
            partial(_likelihood_ratio, sign="-"),
            range=(-np.inf, 0.0),
            greater_is_better=False,
            classes=(2, 2),
            of_positive=True,
        ),
        "fbeta": fbeta,
    }
    shares: dict[str, Share] = {
        "f1": partial(of_both, beta=1.0),
        "precision": of_predicted,
        "recall": of_true,
        "jaccard": of_either,
    }
    for name, share in shares.items():
        found[name] = _averages(share)
        for average in ("macro", "micro", "weighted"):
            found[f"{name}_{average}"] = partial(Averaged, share, average=average)
    return found
