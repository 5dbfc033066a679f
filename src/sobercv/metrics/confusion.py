"""Metrics of the confusion matrix: how often each class was true and predicted.

A class that is never predicted scores 0, as in scikit-learn; a score that the truth alone makes impossible (no positive
sample, one class only) is NaN. For two classes most are formulas of true and false positives alone, so that one scan
tries all cuts of the scores (`AtCuts`). Such a formula never falls when one more positive is found, and never rises
when one more negative is taken for a positive: the best cut lies between a positive and the negative below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ..containers import Array, is_number
from ..errors import SoberError
from . import blocks
from .blocks import product
from .contract import Core, Metric, Part, Registry

#: (part, matrices [K, K, B, C] of true and predicted classes) -> scores [B, C]
Formula = Callable[[Part, Array], Array]
#: Numbers of a formula at cuts: an array [B] or a number each.
Numbers = tuple[Array | float, ...]

_TOGETHER = 1 << 22  # cells of matrices made at a time


# ---- formulas of true and false positives ---------------------------------------------------------------------------
#: What the kernels evaluate, `tp` and `fp` being true and false positives, P and N the weights of the classes.
LINEAR = 0  # gain * tp - loss * fp + rest
RATIO = 1  # gain * tp / (hits * tp + loss * fp + rest); 0 where nothing is divided by nothing
MATTHEWS = 2  # the correlation of truth and prediction; 0 where nothing is predicted of one class


@dataclass(frozen=True, eq=False)
class AtCuts:
    """A metric as a formula of true and false positives."""

    kind: int  # LINEAR, RATIO or MATTHEWS
    numbers: Callable[[Array, Array], Numbers]  # weights of positives and negatives -> gain, hits, loss, rest
    needs: str = ""  # "p", "n" or "pn": the classes, positive and negative, without which it is undefined
    one_sided: tuple[str, ...] = ()  # the floors of which it needs one: without it the best cut is none at all

    def coefficients(self, positives: Array, negatives: Array) -> Array:
        """Numbers of the formula for each resample [4, B]; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.numbers(positives, negatives)
        out = np.stack([np.broadcast_to(number, len(positives)) for number in found]).astype(np.float64)
        needed = {"p": positives, "n": negatives, "": positives + negatives}
        for side in (*self.needs, ""):
            out[:, needed[side] <= 0] = np.nan
        return out

    def scores(self, found: Array, alarms: Array, positives: float, negatives: float) -> Array:
        """Score at some cuts of one set of samples, by true and false positives [G] and the weights of the classes."""
        from .kernels.cuts import score_at  # numba takes a while to import

        numbers = self.coefficients(np.array([positives]), np.array([negatives]))[:, 0].tolist()
        if np.isnan(numbers[-1]):
            return np.full(len(found), np.nan)
        each = zip(found.tolist(), alarms.tolist(), strict=True)
        return np.array([score_at(self.kind, *numbers, float(tp), float(fp)) for tp, fp in each])


# Plain functions, and `partial` of them, so that a metric can be pickled.
def _of_all(p: Array, n: Array, *, missed: float, alarm: float) -> Numbers:
    return missed / (p + n), 0.0, alarm / (p + n), -missed * p / (p + n)


def _accuracy_at(p: Array, n: Array) -> Numbers:
    return 1.0 / (p + n), 0.0, 1.0 / (p + n), n / (p + n)


def _by_class(p: Array, n: Array, *, gain: float, loss: float, rest: float) -> Numbers:
    return gain / p if gain else 0.0, 0.0, loss / n if loss else 0.0, rest


def _matthews_at(p: Array, n: Array) -> Numbers:
    return p, 1e-12 * (p + n) ** 2, n, 0.0  # sums of weights round; a variance this small is none


ACCURACY = AtCuts(LINEAR, _accuracy_at)
BALANCED = AtCuts(LINEAR, partial(_by_class, gain=0.5, loss=0.5, rest=0.5), "pn")
YOUDEN = AtCuts(LINEAR, partial(_by_class, gain=1.0, loss=1.0, rest=0.0), "pn")
CORRELATION = AtCuts(MATTHEWS, _matthews_at, "pn")
SENSITIVITY = AtCuts(LINEAR, partial(_by_class, gain=1.0, loss=0.0, rest=0.0), "p", ("at_specificity", "min_precision"))
SPECIFICITY = AtCuts(LINEAR, partial(_by_class, gain=0.0, loss=1.0, rest=1.0), "n", ("at_sensitivity",))


def cost(missed: float, alarm: float) -> AtCuts:
    """Minus the mean cost of missed positives and false alarms."""
    return AtCuts(LINEAR, partial(_of_all, missed=missed, alarm=alarm))


# ---- shares of a class ----------------------------------------------------------------------------------------------
def divide(a: Array, b: Array, otherwise: float = 0.0) -> Array:
    """A / b, and something else where there is nothing to divide by."""
    return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, otherwise), where=b > 0)


@dataclass(frozen=True)
class Share:
    """A share of a class: gain * hits / (predicted + ... true - ... hits), by how often it was hit, predicted, true."""

    gain: float = 1.0
    predicted: float = 0.0
    true: float = 0.0
    hits: float = 0.0
    one_sided: tuple[str, ...] = ()

    def of(self, hits: Array, predicted: Array, true: Array) -> Array:
        """The share by how often a class was hit, predicted and true; 0 where there is nothing to divide by."""
        return divide(self.gain * hits, self.predicted * predicted + self.true * true + self.hits * hits)

    @property
    def at_cuts(self) -> AtCuts:
        """The share of the positive class."""
        return AtCuts(RATIO, self._numbers, "p", self.one_sided) if self.predicted else SENSITIVITY

    def _numbers(self, p: Array, n: Array) -> Numbers:
        return self.gain, self.predicted + self.hits, self.predicted, self.true * p


PRECISION = Share(predicted=1.0, one_sided=("at_sensitivity",))  # of the predictions of a class, those that are right
RECALL = Share(true=1.0)  # of a class, what is found
JACCARD = Share(predicted=1.0, true=1.0, hits=-1.0)  # of what was a class or said to be, what was both


def f_share(beta: float) -> Share:
    """Harmonic mean of precision and recall, recall counting beta times as much."""
    return Share(1.0 + beta**2, predicted=1.0, true=beta**2)


# ---- matrices -------------------------------------------------------------------------------------------------------
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


# ---- one number for all classes -------------------------------------------------------------------------------------
def _balanced(part: Part, matrices: Array) -> Array:
    hits, _, true = margins(matrices)
    present = (true > 0).sum(axis=0)
    return np.where(present < 2, np.nan, divide(divide(hits, true).sum(axis=0), present))


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
    return np.where(was == 0, np.nan, divide(cross, np.sqrt(said * was)))


def _kappa(part: Part, matrices: Array) -> Array:
    """Agreement beyond chance."""
    hits, predicted, true = margins(matrices)
    total = true.sum(axis=0)
    by_chance = divide((predicted * true).sum(axis=0), total)
    score = 1.0 - divide(total - hits.sum(axis=0), total - by_chance)
    return np.where((true > 0).sum(axis=0) < 2, np.nan, score)


def _likelihood_ratio(part: Part, matrices: Array, *, sign: Literal["+", "-"]) -> Array:
    """How much more often the positive class is predicted where it is true; 1 where it never is elsewhere."""
    k = part.positive
    (right, wrong), (missed, found) = matrices if k == 1 else matrices[::-1, ::-1]
    positives, negatives = found + missed, right + wrong
    of, by = (found, wrong) if sign == "+" else (missed, right)
    ratio = divide(of * negatives, by * positives, 1.0)
    return np.where(np.minimum(positives, negatives) <= 0, np.nan, ratio)


# ---- one number for each class, averaged ----------------------------------------------------------------------------
def of_one(part: Part, matrices: Array, *, share: Share, other: bool = False) -> Array:
    """A share of the positive class alone, or of the other one of two."""
    k = 1 - part.positive if other else part.positive
    hits, predicted, true = matrices[k, k], matrices[0, k] + matrices[1, k], matrices[k, 0] + matrices[k, 1]
    return np.where(true <= 0, np.nan, share.of(hits, predicted, true))


def _over_classes(part: Part, matrices: Array, *, share: Share, average: str) -> Array:
    """A share for each class, turned into one number as scikit-learn's `average` does."""
    hits, predicted, true = margins(matrices)
    if average == "micro":
        hits, predicted, true = (side.sum(axis=0)[None] for side in (hits, predicted, true))
    weight = true if average == "weighted" else ((predicted > 0) | (true > 0)).astype(np.float64)
    score = divide((share.of(hits, predicted, true) * weight).sum(axis=0), weight.sum(axis=0), np.nan)
    return np.where(true.sum(axis=0) <= 0, np.nan, score)


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

#: Every metric of this file.
METRICS: Registry = {
    "balanced_accuracy": of_matrices(_balanced, at_cuts=BALANCED),
    "youden": of_matrices(_youden, range=(-1.0, 1.0), classes=(2, 2), at_cuts=YOUDEN),
    "matthews_corrcoef": of_matrices(_matthews, range=(-1.0, 1.0), at_cuts=CORRELATION),
    "cohen_kappa": of_matrices(_kappa, range=(-1.0, 1.0)),
    "positive_likelihood_ratio": of_matrices(partial(_likelihood_ratio, sign="+"), range=(0.0, np.inf), **_BINARY),
    "neg_negative_likelihood_ratio": of_matrices(
        partial(_likelihood_ratio, sign="-"), range=(-np.inf, 0.0), greater_is_better=False, **_BINARY
    ),
    "fbeta": fbeta,
    **{name: partial(averaged, share) for name, share in _SHARES.items()},
    **{f"{name}_{average}": f"{name}(average={average!r})" for name in _SHARES for average in _AVERAGES},
}
