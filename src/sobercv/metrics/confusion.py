"""Metrics of the confusion matrix: how often each class was true and predicted.

A class that is never predicted scores 0, as in scikit-learn; a score that the truth alone makes impossible (no positive
sample, one class only) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from ..containers import Array
from ..errors import SoberError
from . import blocks, cuts
from .blocks import product
from .contract import Core, Metric, Part, is_number
from .cuts import JACCARD, PRECISION, RECALL, Share, divide, f_share

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


def undefined_if(nothing: Array, score: Array) -> Array:
    """NaN where the truth allows no score."""
    return np.where(nothing, np.nan, score)


# ---- one number for all classes -------------------------------------------------------------------------------------
def _balanced(part: Part, matrices: Array) -> Array:
    hits, _, true = margins(matrices)
    present = (true > 0).sum(axis=0)
    return undefined_if(present < 2, divide(divide(hits, true).sum(axis=0), present))


def _youden(part: Part, matrices: Array) -> Array:
    """Sensitivity plus specificity less 1."""
    return (_balanced(part, matrices) - 0.5) / 0.5


def _matthews(part: Part, matrices: Array) -> Array:
    hits, predicted, true = margins(matrices)
    total = true.sum(axis=0)
    cross = hits.sum(axis=0) * total - (predicted * true).sum(axis=0)
    # Sums of weights round; a variance this small is none.
    said, was = (total**2 - (side**2).sum(axis=0) for side in (predicted, true))
    said, was = (np.where(v > 1e-12 * total**2, v, 0.0) for v in (said, was))
    return undefined_if(was == 0, divide(cross, np.sqrt(said * was)))


def _kappa(part: Part, matrices: Array) -> Array:
    """Agreement beyond chance."""
    hits, predicted, true = margins(matrices)
    total = true.sum(axis=0)
    by_chance = divide((predicted * true).sum(axis=0), total)
    score = 1.0 - divide(total - hits.sum(axis=0), total - by_chance)
    return undefined_if((true > 0).sum(axis=0) < 2, score)


def _likelihood_ratio(part: Part, matrices: Array, *, sign: Literal["+", "-"]) -> Array:
    """How much more often the positive class is predicted where it is true; 1 where it never is elsewhere."""
    k = part.positive
    found, missed, right, wrong = matrices[k, k], matrices[k, 1 - k], matrices[1 - k, 1 - k], matrices[1 - k, k]
    positives, negatives = found + missed, right + wrong
    of, by = (found, wrong) if sign == "+" else (missed, right)
    return undefined_if(np.minimum(positives, negatives) <= 0, divide(of * negatives, by * positives, 1.0))


# ---- one number for each class, averaged ----------------------------------------------------------------------------
def of_one(part: Part, matrices: Array, *, share: Share, other: bool = False) -> Array:
    """A share of the positive class alone, or of the other one of two."""
    k = 1 - part.positive if other else part.positive
    hits, predicted, true = matrices[k, k], matrices[0, k] + matrices[1, k], matrices[k, 0] + matrices[k, 1]
    return undefined_if(true <= 0, share.of(hits, predicted, true))


def _over_classes(part: Part, matrices: Array, *, share: Share, average: str) -> Array:
    """A share for each class, turned into one number as scikit-learn's `average` does."""
    hits, predicted, true = margins(matrices)
    nothing = true.sum(axis=0) <= 0
    if average == "micro":
        return undefined_if(nothing, share.of(hits.sum(axis=0), predicted.sum(axis=0), true.sum(axis=0)))
    weight = true if average == "weighted" else ((predicted > 0) | (true > 0)).astype(np.float64)
    scores = share.of(hits, predicted, true)
    return undefined_if(nothing, divide((scores * weight).sum(axis=0), weight.sum(axis=0), np.nan))


_AVERAGES = ("macro", "micro", "weighted")


def averaged(share: Share, *, average: str = "binary", pos_label: Any = None) -> Metric:
    """A share of the positive class ("binary"), or an average over the classes that are true or predicted."""
    if average == "binary":
        return of_positive(share, pos_label=pos_label, at_cuts=share.at_cuts)
    if average not in _AVERAGES:
        raise SoberError("E122", f"`average` must be binary, macro, micro or weighted; got {average!r}.")
    return of_matrices(partial(_over_classes, share=share, average=average), classes=(1, None))


def of_positive(share: Share, *, other: bool = False, **declared: Any) -> Metric:
    """Declare a share of the positive class, or of the other one of two."""
    return of_matrices(partial(of_one, share=share, other=other), **_BINARY, **declared)


# ---- all of them ----------------------------------------------------------------------------------------------------
def fbeta(*, beta: float, average: str = "binary", pos_label: Any = None) -> Metric:
    """Harmonic mean of precision and recall, recall counting `beta` times as much; see `averaged`."""
    if not is_number(beta) or not 0 <= beta < np.inf:
        raise SoberError("E108", f"`beta` must be a number of 0 or more; got {beta!r}.")
    return averaged(f_share(float(beta)), average=average, pos_label=pos_label)


_SHARES = {"f1": f_share(1.0), "precision": PRECISION, "recall": RECALL, "jaccard": JACCARD}
_BINARY: dict[str, Any] = {"classes": (2, 2), "depends_on_positive": True}

#: Every metric of this file by name, or what makes it of arguments.
METRICS: dict[str, Metric | Callable[..., Metric]] = {
    "balanced_accuracy": of_matrices(_balanced, at_cuts=cuts.BALANCED),
    "youden": of_matrices(_youden, range=(-1.0, 1.0), classes=(2, 2), at_cuts=cuts.YOUDEN),
    "matthews_corrcoef": of_matrices(_matthews, range=(-1.0, 1.0), at_cuts=cuts.CORRELATION),
    "cohen_kappa": of_matrices(_kappa, range=(-1.0, 1.0)),
    "positive_likelihood_ratio": of_matrices(partial(_likelihood_ratio, sign="+"), range=(0.0, np.inf), **_BINARY),
    "neg_negative_likelihood_ratio": of_matrices(
        partial(_likelihood_ratio, sign="-"), range=(-np.inf, 0.0), greater_is_better=False, **_BINARY
    ),
    "fbeta": fbeta,
    **{name: partial(averaged, share) for name, share in _SHARES.items()},
    **{
        f"{name}_{average}": averaged(share, average=average)
        for name, share in _SHARES.items()
        for average in _AVERAGES
    },
}
