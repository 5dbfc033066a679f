"""Metrics of the clinic: what a decision at a threshold is worth, and whether probabilities mean what they say.

Sensitivity, specificity, predictive values, net benefit, costs, and the slope and intercept of calibration, for two
classes. A patient is positive from the threshold on, that included.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array, check_level, is_number
from ..errors import SoberError
from . import confusion
from .confusion import PRECISION, RECALL, SENSITIVITY, SPECIFICITY, AtCuts, Share
from .contract import Core, Metric, Part, Registry
from .means import D2_BRIER, pointwise

_SURE = 1e-6  # probabilities are kept this far from 0 and 1, where a logit is infinite
_PROBABILITY = ("predict_proba",)
_TWO: dict[str, Any] = {"min_classes": 2, "max_classes": 2, "depends_on_positive": True}


def _of_positive(part: Part, values: Array) -> Array:
    """Probability of the positive class; the table holds that of the second."""
    return values if part.positive == 1 else 1.0 - values


def share_at(
    share: Share, other: bool, at_cuts: AtCuts | None, *, threshold: float | None = None, pos_label: Any = None
) -> Metric:
    """A share of the positive class or of the other, of the labels, or of probabilities at a threshold."""
    metric = confusion.of_positive(share, other=other, pos_label=pos_label, at_cuts=at_cuts)
    if threshold is None:
        return metric
    core = partial(_labelled, core=metric.core, threshold=check_level(threshold, "threshold", usual=0.5))
    return replace(metric, core=core, responses=_PROBABILITY, at_cuts=None)  # the cut is given


def _labelled(part: Part, *, core: Any, threshold: float) -> Core:
    said = _of_positive(part, part.values) >= threshold
    labels = np.where(said, part.positive, 1 - part.positive).astype(np.int8)
    return core(replace(part, values=labels))


def _benefit(part: Part, values: Array, *, threshold: float) -> Array:
    said = _of_positive(part, values) >= threshold
    return np.where(said, np.where(part.y == part.positive, 1.0, -threshold / (1.0 - threshold)), 0.0)


def net_benefit(*, threshold: float, pos_label: Any = None) -> Metric:
    """True positives minus false positives, the latter at the odds of the threshold, for each patient.

    From the threshold on one would treat: it says how many unnecessary treatments one needed is worth.
    """
    at = check_level(threshold, "threshold", usual=0.2)
    loss, range_ = partial(_benefit, threshold=at), (-at / (1.0 - at), 1.0)
    declared: dict[str, Any] = {"responses": _PROBABILITY, "greater_is_better": True, "pos_label": pos_label}
    return pointwise("classification", loss, range=range_, **declared, **_TWO)


def _cost(part: Part, values: Array, *, missed: float, alarm: float) -> Array:
    return np.where(values == part.y, 0.0, np.where(part.y == part.positive, missed, alarm))


def neg_cost(*, missed: float, alarm: float = 1.0, pos_label: Any = None) -> Metric:
    """Mean cost of wrong labels: of positives taken for negatives (missed), and the other way round (alarm)."""
    for name, value in (("missed", missed), ("alarm", alarm)):
        if not is_number(value) or not 0 < value < np.inf:
            raise SoberError("E108", f"`{name}` must be a cost above 0; got {value!r}. Write missed=5, alarm=1.")
    costs: dict[str, Any] = {"missed": float(missed), "alarm": float(alarm)}
    declared: dict[str, Any] = {"range": (-max(costs.values()), 0.0), "at_cuts": confusion.cost(**costs)}
    return pointwise("classification", partial(_cost, **costs), pos_label=pos_label, **declared, **_TWO)


def calibration(part: Part, *, slope: bool) -> Core:
    """A logistic regression of the truth on the logit of the probabilities, in every resample.

    Its slope (best at 1), or calibration in the large (best at 0, the slope being held at 1). NaN where the truth is
    one class, or where no finite line exists: probabilities that separate the classes perfectly, or, for the slope,
    that are all alike.
    """
    p = np.clip(_of_positive(part, part.values).T.astype(np.float64), _SURE, 1.0 - _SURE)
    logits = np.ascontiguousarray(np.log(p) - np.log1p(-p))  # [C, N]
    true, weight = (part.y == part.positive).astype(np.float64), part.weights

    def scores(counts: Array, picked: Array | None = None) -> Array:
        from .kernels.fits import logistic_lines  # numba takes a while to import

        b, c = np.indices((len(counts), len(logits) if picked is None else 1), np.int64)
        which = c if picked is None else picked.astype(np.int64)[:, None]
        out = np.empty((b.size, 2))
        logistic_lines(logits, true, weight, counts, which.reshape(-1), b.reshape(-1), slope, out)
        return out[:, 1 if slope else 0].reshape(b.shape)

    return scores


def _calibration(slope: bool) -> Metric:
    core, declared = partial(calibration, slope=slope), {**_TWO, "depends_on_positive": not slope}
    range_ = (-np.inf, np.inf)
    return Metric(task="classification", core=core, responses=_PROBABILITY, range=range_, selects=False, **declared)


#: Every metric of this file.
METRICS: Registry = {
    "sensitivity": partial(share_at, RECALL, False, SENSITIVITY),
    "specificity": partial(share_at, RECALL, True, SPECIFICITY),
    "ppv": partial(share_at, PRECISION, False, PRECISION.at_cuts),
    "npv": partial(share_at, PRECISION, True, None),
    "net_benefit": net_benefit,
    "neg_cost": neg_cost,
    "brier_scaled": D2_BRIER,
    "calibration_slope": _calibration(slope=True),
    "calibration_intercept": _calibration(slope=False),
}
