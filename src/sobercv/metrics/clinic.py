"""Metrics of the clinic: what a decision at a threshold is worth, and whether probabilities mean what they say.

Sensitivity, specificity, predictive values, net benefit, costs, and the slope and intercept of calibration, for two
classes. A patient is positive from the threshold on, that included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from . import cuts
from .confusion import Averaged, Share, of_predicted, of_true
from .contract import Core, Metric, Part, is_number
from .means import Pointwise, d2_brier

_SURE = 1e-6  # probabilities are kept this far from 0 and 1, where a logit is infinite


def _of_positive(part: Part, values: Array, pos_label: Any) -> Array:
    """Probability of the positive class; the table holds that of the second."""
    return values if part.index_of_positive(pos_label) == 1 else 1.0 - values


# ---- shares at a threshold ------------------------------------------------------------------------------------------
class AtThreshold(Averaged):
    """A share of a class, of labels that are made from probabilities at a threshold.

    Parameters
    ----------
    share : callable
    other : bool
        Of the class that is not positive.
    threshold : float, optional
        None takes the labels that were predicted.
    pos_label : label, optional
    """

    def __init__(self, share: Share, other: bool, threshold: float | None, pos_label: Any) -> None:
        super().__init__(share, pos_label=pos_label, other=other)
        self._threshold = None if threshold is None else _threshold(threshold)
        self.responses = ("predict",) if threshold is None else ("predict_proba",)
        self.at_cuts = self.at_cuts if threshold is None else None  # the cut is given

    def core(self, part: Part, n_threads: int = 1) -> Core:
        if self._threshold is None:
            return super().core(part, n_threads)
        k = part.index_of_positive(self.pos_label)
        said = _of_positive(part, part.values, self.pos_label) >= self._threshold
        return super().core(replace(part, values=np.where(said, k, 1 - k).astype(np.int8)), n_threads)


def _shares(share: Share, other: bool) -> Callable[..., Metric]:
    def maker(*, threshold: float | None = None, pos_label: Any = None) -> AtThreshold:
        return AtThreshold(share, other, threshold, pos_label)

    return maker


def _threshold(value: Any) -> float:
    if not is_number(value) or not 0 < value < 1:
        hint = f" Write {value / 100:g} for {value:g} %." if isinstance(value, (int, float)) and 1 < value < 100 else ""
        raise SoberError("E108", f"`threshold` must lie strictly between 0 and 1; got {value!r}.{hint}")
    return float(value)


# ---- net benefit ----------------------------------------------------------------------------------------------------
def _benefit(part: Part, values: Array, *, threshold: float, pos_label: Any) -> Array:
    said = _of_positive(part, values, pos_label) >= threshold
    ill = part.y == part.index_of_positive(pos_label)
    return np.where(said, np.where(ill, 1.0, -threshold / (1.0 - threshold)), 0.0)


def net_benefit(*, threshold: float, pos_label: Any = None) -> Pointwise:
    """True positives minus false positives, the latter at the odds of the threshold, for each patient.

    Parameters
    ----------
    threshold : float
        The probability from which on one would treat: it says how many unnecessary treatments one needed is worth.
    pos_label : label, optional
    """
    at = _threshold(threshold)
    loss = partial(_benefit, threshold=at, pos_label=pos_label)
    ends = (-at / (1.0 - at), 1.0)
    made = Pointwise("classification", loss, responses=("predict_proba",), greater_is_better=True, range=ends)
    made.max_classes, made.depends_on_positive, made.pos_label = 2, True, pos_label
    return made


# ---- costs ----------------------------------------------------------------------------------------------------------
def _cost(part: Part, values: Array, *, missed: float, alarm: float, pos_label: Any) -> Array:
    ill = part.y == part.index_of_positive(pos_label)
    return np.where(values == part.y, 0.0, np.where(ill, missed, alarm))


def neg_cost(*, missed: float, alarm: float = 1.0, pos_label: Any = None) -> Pointwise:
    """Mean cost of wrong labels.

    Parameters
    ----------
    missed : float
        What it costs to take a positive for a negative.
    alarm : float, default=1
        What it costs to take a negative for a positive.
    pos_label : label, optional
    """
    for name, value in (("missed", missed), ("alarm", alarm)):
        if not is_number(value) or not 0 < value < np.inf:
            raise SoberError("E108", f"`{name}` must be a cost above 0; got {value!r}. Write missed=5, alarm=1.")
    loss = partial(_cost, missed=float(missed), alarm=float(alarm), pos_label=pos_label)
    made = Pointwise("classification", loss, range=(-float(max(missed, alarm)), 0.0))
    made.min_classes, made.max_classes, made.depends_on_positive, made.pos_label = 2, 2, True, pos_label
    made.at_cuts = cuts.cost(missed=float(missed), alarm=float(alarm))
    return made


# ---- calibration ----------------------------------------------------------------------------------------------------
class CalibrationCore(Core):
    """A logistic regression of the truth on the logit of the probabilities, in every resample."""

    def __init__(self, part: Part, slope: bool) -> None:
        p = np.clip(_of_positive(part, part.values, None).T.astype(np.float64), _SURE, 1.0 - _SURE)
        self._logits = np.ascontiguousarray(np.log(p) - np.log1p(-p))  # [C, N]
        self._true = (part.y == part.index_of_positive()).astype(np.float64)
        self._weight, self._slope = part.weights, slope

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        from .kernels.lines import logistic_lines

        b, c = np.indices((len(counts), len(self._logits) if picked is None else 1), np.int64)
        which = c if picked is None else picked.astype(np.int64)[:, None]
        out = np.empty((b.size, 2))
        lines = which.reshape(-1), b.reshape(-1), self._slope
        logistic_lines(self._logits, self._true, self._weight, counts, *lines, out)
        return out[:, 1 if self._slope else 0].reshape(b.shape)


class Calibration(Metric):
    """Slope of calibration (best at 1), or calibration in the large (best at 0, the slope being held at 1).

    NaN where the truth is one class, or where no finite line exists: probabilities that separate the classes perfectly,
    or, for the slope, that are all alike.

    Parameters
    ----------
    slope : bool
    """

    task: TaskName = "classification"
    responses = ("predict_proba",)
    range = (-np.inf, np.inf)
    selects = False
    min_classes = max_classes = 2

    def __init__(self, slope: bool) -> None:
        self._slope, self.depends_on_positive = slope, not slope

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return CalibrationCore(part, self._slope)


def makers() -> dict[str, Callable[..., Metric]]:
    """Everything that makes a metric of this file, by name."""
    return {
        "sensitivity": _shares(of_true, other=False),
        "specificity": _shares(of_true, other=True),
        "ppv": _shares(of_predicted, other=False),
        "npv": _shares(of_predicted, other=True),
        "net_benefit": net_benefit,
        "neg_cost": neg_cost,
        "brier_scaled": d2_brier,
        "calibration_slope": partial(Calibration, slope=True),
        "calibration_intercept": partial(Calibration, slope=False),
    }
