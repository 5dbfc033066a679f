"""Metrics of the confusion matrix: how often each class was true and predicted.

A class that is never predicted scores 0, as in scikit-learn, unless `zero_division` says otherwise; a score that the
truth alone makes impossible (no positive sample, one class only) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..containers import Array
from ..errors import SoberError
from . import blocks, cuts
from .blocks import product
from .contract import Core, Metric, Part, is_number

#: (part, matrices [K, K, B, C] of true and predicted classes) -> scores [B, C]
Formula = Callable[[Part, Array], Array]

_TOGETHER = 1 << 22  # cells of matrices made at a time


def confusion(part: Part, *, formula: Formula) -> Core:
    """A formula of confusion matrices, which are made for some configurations at a time."""
    labels = np.ascontiguousarray(part.values.T)  # [C, N]
    rows_of = [np.flatnonzero(part.y == k) for k in range(part.n_classes)]

    def some(counts: Array, labels: Array, position: Array | None) -> Array:
        k = part.n_classes
        matrices = np.empty((k, k, len(counts), len(labels) if position is None else 1))
        for true, rows in enumerate(rows_of):
            present, said = counts[:, rows], labels[:, rows]
            for c in range(k):
                flags = said == c
                columns = flags if part.weight is None else flags * part.weight[rows]
                matrices[true, c] = product(present, columns, position)
        return formula(part, matrices)

    def scores(counts: Array, picked: Array | None = None) -> Array:
        if picked is not None:
            which, position = np.unique(picked, return_inverse=True)
            return some(counts, labels[which], position)
        cut = blocks.cut(len(labels), _TOGETHER // max(1, len(counts) * part.n_classes**2))
        return np.concatenate([some(counts, labels[a:b], None) for a, b in cut], axis=1)

    return scores


def of_matrices(formula: Formula, *, classes: tuple[int, int | None] = (2, None), **declared: Any) -> Metric:
    """Declare a metric that is one formula of confusion matrices, for so few to so many classes."""
    core, (least, most) = partial(confusion, formula=formula), classes
    return Metric(task="classification", core=core, min_classes=least, max_classes=most, **declared)


def margins(matrices: Array) -> tuple[Array, Array, Array]:
    """How often each class was hit, predicted and true: [K, K, B, C] -> [K, B, C] each."""
    return np.stack([m[k] for k, m in enumerate(matrices)]), matrices.sum(axis=0), matrices.sum(axis=1)


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
        known = part.labels
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
    k = part.positive
    found, missed, right, wrong = matrices[k, k], matrices[k, 1 - k], matrices[1 - k, 1 - k], matrices[1 - k, k]
    positives, negatives = found + missed, right + wrong
    of, by = (found, wrong) if sign == "+" else (missed, right)
    return undefined_if(np.minimum(positives, negatives) <= 0, divide(of * negatives, by * positives, 1.0))


# ---- one number for each class, averaged ----------------------------------------------------------------------------
class Share(NamedTuple):
    """A share of a class: gain * hits / (predicted + ... true - ... hits), by how often it was hit, predicted, true."""

    gain: float = 1.0
    predicted: float = 0.0
    true: float = 0.0
    hits: float = 0.0

    def of(self, hits: Array, predicted: Array, true: Array, zero: float) -> Array:
        """The share, or `zero` where there is nothing to divide by."""
        return divide(self.gain * hits, self.predicted * predicted + self.true * true + self.hits * hits, zero)


PRECISION = Share(predicted=1.0)  # of the predictions of a class, those that are right
RECALL = Share(true=1.0)  # of a class, what is found
JACCARD = Share(predicted=1.0, true=1.0, hits=-1.0)  # of what was a class or said to be, what was both


def f_share(beta: float) -> Share:
    """Harmonic mean of precision and recall, recall counting beta times as much."""
    return RECALL if np.isinf(beta) else Share(1.0 + beta**2, predicted=1.0, true=beta**2)


def of_one(part: Part, matrices: Array, *, share: Share, zero: float = 0.0, other: bool = False) -> Array:
    """A share of the positive class alone, or of the other one of two."""
    k = 1 - part.positive if other else part.positive
    hits, predicted, true = matrices[k, k], matrices[0, k] + matrices[1, k], matrices[k, 0] + matrices[k, 1]
    return undefined_if(true <= 0, share.of(hits, predicted, true, zero))


def _over_classes(
    part: Part, matrices: Array, *, share: Share, zero: float, average: str, labels: Sequence[Any] | None
) -> Array:
    """A share for each class, turned into one number as scikit-learn's `average` does."""
    hits, predicted, true = margins(matrices)
    if labels is not None:
        known = part.labels
        for label in labels:
            if label not in known:
                raise SoberError("E110", f"`labels` of {part.metric} must be among the classes {known}; got {label!r}.")
        at = [known.index(label) for label in labels]
        hits, predicted, true = (v[at] for v in (hits, predicted, true))
    nothing = true.sum(axis=0) <= 0
    if average == "micro":
        hits, predicted, true = (v.sum(axis=0) for v in (hits, predicted, true))
        return undefined_if(nothing, share.of(hits, predicted, true, zero))
    scores = share.of(hits, predicted, true, zero)
    weight = true
    if average == "macro":
        weight = np.ones_like(true) if labels is not None else ((predicted > 0) | (true > 0)).astype(np.float64)
    weight = np.where(np.isnan(scores), 0.0, weight)
    return undefined_if(nothing, divide((np.nan_to_num(scores) * weight).sum(axis=0), weight.sum(axis=0), np.nan))


def averaged(
    share: Share,
    at_cuts: cuts.AtCuts,
    *,
    average: str = "binary",
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    zero_division: float | str = "warn",
) -> Metric:
    """A share of the positive class ("binary"), or an average over these classes (default: all true or predicted).

    `zero_division` is the share of a class that has nothing to divide by; NaN leaves it out of the average.
    """
    if average not in ("binary", "macro", "micro", "weighted"):
        raise SoberError("E122", f"`average` must be binary, macro, micro or weighted; got {average!r}.")
    if zero_division not in ("warn", 0, 1) and not np.isnan(zero_division):
        raise SoberError("E122", f'`zero_division` must be "warn", 0, 1 or NaN; got {zero_division!r}.')
    zero = 0.0 if zero_division == "warn" else float(zero_division)
    if average == "binary":
        formula: Formula = partial(of_one, share=share, zero=zero)
        cut = at_cuts if zero == 0.0 else None
        return of_matrices(formula, classes=(2, 2), depends_on_positive=True, pos_label=pos_label, at_cuts=cut)
    formula = partial(_over_classes, share=share, zero=zero, average=average, labels=labels)
    return of_matrices(formula, classes=(1, None), pos_label=pos_label)


# ---- all of them ----------------------------------------------------------------------------------------------------
def balanced_accuracy(*, adjusted: bool = False) -> Metric:
    """Mean over the classes present, two or more, of the share found; adjusted so that guessing scores 0."""
    low, at_cuts = (-1.0, cuts.YOUDEN) if adjusted else (0.0, cuts.BALANCED)
    return of_matrices(partial(_balanced, adjusted=bool(adjusted)), range=(low, 1.0), at_cuts=at_cuts)


def fbeta(
    *,
    beta: float,
    average: str = "binary",
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    zero_division: float | str = "warn",
) -> Metric:
    """Harmonic mean of precision and recall, recall counting `beta` times as much; see `averaged`."""
    if not is_number(beta) or not beta >= 0:
        raise SoberError("E108", f"`beta` must be a number of 0 or more; got {beta!r}.")
    share, at_cuts = f_share(float(beta)), cuts.f_score(float(beta))
    return averaged(share, at_cuts, average=average, labels=labels, pos_label=pos_label, zero_division=zero_division)


def cohen_kappa(
    *, weights: Literal["linear", "quadratic"] | None = None, labels: Sequence[Any] | None = None
) -> Metric:
    """Agreement beyond chance; `weights` says how the cost of a confusion grows with the distance of the classes.

    `labels` are all classes in order of rank, for the distances (default: sorted).
    """
    if weights not in (None, "linear", "quadratic"):
        raise SoberError("E122", f'`weights` must be None, "linear" or "quadratic"; got {weights!r}.')
    if weights is None and labels is not None:
        raise SoberError("E114", "`labels` of cohen_kappa order the classes for `weights`; leave them out here.")
    weighted = partial(_weighted_kappa, power=1 if weights == "linear" else 2, labels=labels)
    return of_matrices(_kappa if weights is None else weighted, range=(-1.0, 1.0))


_SHARES: dict[str, tuple[Share, cuts.AtCuts]] = {
    "f1": (f_share(1.0), cuts.f_score(1.0)),
    "precision": (PRECISION, cuts.PRECISION),
    "recall": (RECALL, cuts.SENSITIVITY),
    "jaccard": (JACCARD, cuts.JACCARD),
}
_RATIO: dict[str, Any] = {"classes": (2, 2), "depends_on_positive": True}

#: Every metric of this file by name, or what makes it of arguments.
METRICS: dict[str, Metric | Callable[..., Metric]] = {
    "balanced_accuracy": balanced_accuracy,
    "youden": of_matrices(
        partial(_balanced, adjusted=True), range=(-1.0, 1.0), classes=(2, 2), at_cuts=cuts.YOUDEN
    ),  # sensitivity plus specificity less 1
    "matthews_corrcoef": of_matrices(_matthews, range=(-1.0, 1.0), at_cuts=cuts.CORRELATION),
    "cohen_kappa": cohen_kappa,
    "positive_likelihood_ratio": of_matrices(partial(_likelihood_ratio, sign="+"), range=(0.0, np.inf), **_RATIO),
    "neg_negative_likelihood_ratio": of_matrices(
        partial(_likelihood_ratio, sign="-"), range=(-np.inf, 0.0), greater_is_better=False, **_RATIO
    ),
    "fbeta": fbeta,
    **{name: partial(averaged, *share) for name, share in _SHARES.items()},
    **{
        f"{name}_{average}": averaged(*share, average=average)
        for name, share in _SHARES.items()
        for average in ("macro", "micro", "weighted")
    },
}
