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


@dataclass(frozen=True, eq=False)
class AtCuts:
    """A metric as a formula of true and false positives."""

    kind: int  # LINEAR, RATIO or MATTHEWS
    #: Weights of positives [B] and negatives [B] -> gain, hits, loss, rest: a number or an array [B] each.
    numbers: Callable[[Array, Array], tuple[Array | float, ...]]
    needs_positives: bool = True  # undefined without that class
    needs_negatives: bool = False
    one_sided: tuple[str, ...] = ()  # the floors of which it needs one: without it the best cut is none at all

    def coefficients(self, positives: Array, negatives: Array) -> Array:
        """Numbers of the formula for each resample [4, B]; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.numbers(positives, negatives)
        out = np.stack([np.broadcast_to(number, len(positives)) for number in found]).astype(np.float64)
        undefined = positives + negatives <= 0
        if self.needs_positives:
            undefined |= positives <= 0
        if self.needs_negatives:
            undefined |= negatives <= 0
        out[:, undefined] = np.nan
        return out

    def scores(self, found: Array, alarms: Array, positives: float, negatives: float) -> Array:
        """Score at some cuts of one set of samples, by true and false positives [G] and the weights of the classes."""
        from .kernels.cuts import score_at  # numba takes a while to import

        numbers = self.coefficients(np.array([positives]), np.array([negatives]))[:, 0].tolist()
        if np.isnan(numbers[-1]):
            return np.full(len(found), np.nan)
        each = zip(found.tolist(), alarms.tolist(), strict=True)
        return np.array([score_at(self.kind, *numbers, float(tp), float(fp)) for tp, fp in each])


# Plain functions, and `partial` of them, so that a metric can be sent to other machines.
Numbers = tuple[Array | float, ...]


def _of_all(p: Array, n: Array, *, missed: float, alarm: float) -> Numbers:
    return missed / (p + n), 0.0, alarm / (p + n), -missed * p / (p + n)


def _accuracy(p: Array, n: Array) -> Numbers:
    return 1.0 / (p + n), 0.0, 1.0 / (p + n), n / (p + n)


def _balanced(p: Array, n: Array, *, gain: float, rest: float) -> Numbers:
    return gain / p, 0.0, gain / n, rest


def _matthews(p: Array, n: Array) -> Numbers:
    return p, 1e-12 * (p + n) ** 2, n, 0.0  # sums of weights round; a variance this small is none


def _sensitivity(p: Array, n: Array) -> Numbers:
    return 1.0 / p, 0.0, 0.0, 0.0


def _specificity(p: Array, n: Array) -> Numbers:
    return 0.0, 0.0, 1.0 / n, 1.0


def _ratio(p: Array, n: Array, *, gain: float, hits: float, rest: float) -> Numbers:
    return gain, hits, 1.0, rest * p


ACCURACY = AtCuts(LINEAR, _accuracy, needs_positives=False)
BALANCED = AtCuts(LINEAR, partial(_balanced, gain=0.5, rest=0.5), needs_negatives=True)
YOUDEN = AtCuts(LINEAR, partial(_balanced, gain=1.0, rest=0.0), needs_negatives=True)  # and balanced, adjusted
CORRELATION = AtCuts(MATTHEWS, _matthews, needs_negatives=True)
SENSITIVITY = AtCuts(LINEAR, _sensitivity, one_sided=("at_specificity", "min_precision"))
SPECIFICITY = AtCuts(LINEAR, _specificity, needs_positives=False, needs_negatives=True, one_sided=("at_sensitivity",))
PRECISION = AtCuts(RATIO, partial(_ratio, gain=1.0, hits=1.0, rest=0.0), one_sided=("at_sensitivity",))
JACCARD = AtCuts(RATIO, partial(_ratio, gain=1.0, hits=0.0, rest=1.0))


def f_score(beta: float) -> AtCuts:
    """Harmonic mean of precision and recall."""
    if np.isinf(beta):
        return SENSITIVITY
    return AtCuts(RATIO, partial(_ratio, gain=1.0 + beta**2, hits=1.0, rest=beta**2))


def cost(missed: float, alarm: float) -> AtCuts:
    """Minus the mean cost of missed positives and false alarms."""
    return AtCuts(LINEAR, partial(_of_all, missed=missed, alarm=alarm), needs_positives=False)
