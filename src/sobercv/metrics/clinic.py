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
from . import cuts
from .confusion import confusion, of_one, of_positive
from .contract import Core, Metric, Part, is_number
from .cuts import PRECISION, RECALL, Share
from .means import D2_BRIER, pointwise

_SURE = 1e-6  # probabilities are kept this far from 0 and 1, where a logit is infinite
_PROBABILITY = ("predict_proba",)


def _of_positive(part: Part, values: Array) -> Array:
    """Probability of the positive class; the table holds that of the second."""
    return values if part.positive == 1 else 1.0 - values


# ---- shares at a threshold ------------------------------------------------------------------------------------------
def share_at(
    share: Share, other: bool, at_cuts: cuts.AtCuts | None, *, threshold: float | None = None, pos_label: Any = None
) -> Metric:
    """A share of the positive class or of the other, of the labels, or of probabilities at a threshold."""
    metric = of_positive(share, other=other, pos_label=pos_label, at_cuts=at_cuts)
    if threshold is None:
        return metric
    core = partial(_labelled, formula=partial(of_one, share=share, other=other), threshold=_threshold(threshold))
    return replace(metric, core=core, responses=_PROBABILITY, at_cuts=None)  # the cut is given


def _labelled(part: Part, *, formula: Callable[..., Array], threshold: float) -> Core:
    said = _of_positive(part, part.values) >= threshold
    labels = np.where(said, part.positive, 1 - part.positive).astype(np.int8)
    return confusion(replace(part, values=labels), formula=formula)


def _threshold(value: Any) -> float:
    if not is_number(value) or not 0 < value < 1:
        hint = f" Write {value / 100:g} for {value:g} %." if isinstance(value, (int, float)) and 1 < value < 100 else ""
        raise SoberError("E108", f"`threshold` must lie strictly between 0 and 1; got {value!r}.{hint}")
    return float(value)


# ---- net benefit and costs ------------------------------------------------------------------------------------------
def _benefit(part: Part, values: Array, *, threshold: float) -> Array:
    said = _of_positive(part, values) >= threshold
    return np.where(said, np.where(part.y == part.positive, 1.0, -threshold / (1.0 - threshold)), 0.0)


def net_benefit(*, threshold: float, pos_label: Any = None) -> Metric:
    """True positives minus false positives, the latter at the odds of the threshold, for each patient.

    From the threshold on one would treat: it says how many unnecessary treatments one needed is worth.
    """
    at = _threshold(threshold)
    return pointwise(
        "classification",
        partial(_benefit, threshold=at),
        responses=_PROBABILITY,
        greater_is_better=True,
        range=(-at / (1.0 - at), 1.0),
        max_classes=2,
        depends_on_positive=True,
        pos_label=pos_label,
    )


def _cost(part: Part, values: Array, *, missed: float, alarm: float) -> Array:
    return np.where(values == part.y, 0.0, np.where(part.y == part.positive, missed, alarm))


def neg_cost(*, missed: float, alarm: float = 1.0, pos_label: Any = None) -> Metric:
    """Mean cost of wrong labels: of positives taken for negatives (missed), and the other way round (alarm)."""
    for name, value in (("missed", missed), ("alarm", alarm)):
        if not is_number(value) or not 0 < value < np.inf:
            raise SoberError("E108", f"`{name}` must be a cost above 0; got {value!r}. Write missed=5, alarm=1.")
    costs: dict[str, Any] = {"missed": float(missed), "alarm": float(alarm)}
    return pointwise(
        "classification",
        partial(_cost, **costs),
        range=(-max(costs.values()), 0.0),
        min_classes=2,
        max_classes=2,
        depends_on_positive=True,
        pos_label=pos_label,
        at_cuts=cuts.cost(**costs),
    )


# ---- calibration ----------------------------------------------------------------------------------------------------
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
        from .kernels.lines import logistic_lines  # numba takes a while to import

        b, c = np.indices((len(counts), len(logits) if picked is None else 1), np.int64)
        which = c if picked is None else picked.astype(np.int64)[:, None]
        out = np.empty((b.size, 2))
        logistic_lines(logits, true, weight, counts, which.reshape(-1), b.reshape(-1), slope, out)
        return out[:, 1 if slope else 0].reshape(b.shape)

    return scores


def _calibration(slope: bool) -> Metric:
    return Metric(
        task="classification",
        core=partial(calibration, slope=slope),
        responses=_PROBABILITY,
        range=(-np.inf, np.inf),
        selects=False,
        min_classes=2,
        max_classes=2,
        depends_on_positive=not slope,
    )


#: Every metric of this file by name, or what makes it of arguments.
METRICS: dict[str, Metric | Callable[..., Metric]] = {
    "sensitivity": partial(share_at, RECALL, False, cuts.SENSITIVITY),
    "specificity": partial(share_at, RECALL, True, cuts.SPECIFICITY),
    "ppv": partial(share_at, PRECISION, False, PRECISION.at_cuts),
    "npv": partial(share_at, PRECISION, True, None),
    "net_benefit": net_benefit,
    "neg_cost": neg_cost,
    "brier_scaled": D2_BRIER,
    "calibration_slope": _calibration(slope=True),
    "calibration_intercept": _calibration(slope=False),
}
