"""Metrics of two classes as formulas of true and false positives alone, so that one scan tries all cuts.

A formula never falls when one more positive is found, and never rises when one more negative is taken for a positive:
so the best cut lies between a positive and the negative below it. Kernels evaluate the formulas at those cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..containers import Array

#: What the kernels evaluate, `tp` and `fp` being true and false positives, P and N the weights of the classes.
LINEAR = 0  # gain * tp - loss * fp + rest
RATIO = 1  # gain * tp / (hits * tp + loss * fp + rest); 0 where nothing is divided by nothing
MATTHEWS = 2  # the correlation of truth and prediction; 0 where nothing is predicted of one class
#: Weights of positives [B] and negatives [B] -> gain, hits, loss, rest: a number or an array [B] each.
Numbers = Callable[[Array, Array], tuple[Array | float, ...]]


@dataclass(frozen=True, eq=False)
class AtCuts:
    """A metric as a formula of true and false positives."""

    kind: int  # LINEAR, RATIO or MATTHEWS
    numbers: Numbers
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
def _of_all(p: Array, n: Array, *, missed: float, alarm: float) -> tuple[Array | float, ...]:
    return missed / (p + n), 0.0, alarm / (p + n), -missed * p / (p + n)


def _accuracy(p: Array, n: Array) -> tuple[Array | float, ...]:
    return 1.0 / (p + n), 0.0, 1.0 / (p + n), n / (p + n)


def _by_class(p: Array, n: Array, *, gain: float, loss: float, rest: float) -> tuple[Array | float, ...]:
    return gain / p if gain else 0.0, 0.0, loss / n if loss else 0.0, rest


def _matthews(p: Array, n: Array) -> tuple[Array | float, ...]:
    return p, 1e-12 * (p + n) ** 2, n, 0.0  # sums of weights round; a variance this small is none


ACCURACY = AtCuts(LINEAR, _accuracy)
BALANCED = AtCuts(LINEAR, partial(_by_class, gain=0.5, loss=0.5, rest=0.5), "pn")
YOUDEN = AtCuts(LINEAR, partial(_by_class, gain=1.0, loss=1.0, rest=0.0), "pn")
CORRELATION = AtCuts(MATTHEWS, _matthews, "pn")
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

    def _numbers(self, p: Array, n: Array) -> tuple[Array | float, ...]:
        return self.gain, self.predicted + self.hits, self.predicted, self.true * p


PRECISION = Share(predicted=1.0, one_sided=("at_sensitivity",))  # of the predictions of a class, those that are right
RECALL = Share(true=1.0)  # of a class, what is found
JACCARD = Share(predicted=1.0, true=1.0, hits=-1.0)  # of what was a class or said to be, what was both


def f_share(beta: float) -> Share:
    """Harmonic mean of precision and recall, recall counting beta times as much."""
    return Share(1.0 + beta**2, predicted=1.0, true=beta**2)
