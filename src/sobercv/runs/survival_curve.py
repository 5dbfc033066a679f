"""SurvivalCurve: from a risk to the probability of no event until a time.

Cox's model with the out-of-sample risk of the winner as its only covariate, and Breslow's baseline: for models that
only rank, too, and with weights, which scikit-survival's curves do not take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array

#: Steps of the curve that are kept, at the most.
MOST_STEPS = 1000
#: A slope beyond this, in standard deviations of the risk, means that the order of times is known; it has no end.
STEEPEST = 10.0


@dataclass(frozen=True)
class SurvivalCurve:
    """Cox's model of one risk."""

    center: float  # mean of the risks
    scale: float  # their standard deviation
    slope: float  # logarithm of the hazard ratio for one `scale`
    times: tuple[float, ...]  # the last is the longest time seen
    hazard: tuple[float, ...]  # cumulative, at the center, after each of these times

    def __post_init__(self) -> None:
        if not 0 < len(self.times) == len(self.hazard) or not self.scale > 0:
            raise ValueError("times and hazard must have one length, and the scale be above 0")

    @classmethod
    def fit(cls, risk: Array, y: Array, weight: Array | None = None) -> SurvivalCurve:
        """Fit the curve to risks [N], the greater the earlier the event, and records of (event, time) [N]."""
        w = np.ones(len(risk)) if weight is None else weight
        risk, y, w = risk[w > 0], y[w > 0], w[w > 0]
        center, scale = float(risk.mean()), float(risk.std()) or 1.0
        z, events = (risk - center) / scale, w * y["event"]
        times, step = np.unique(y["time"], return_inverse=True)
        slope = _slope(z, w, events, step)
        hazard = (np.bincount(step, events) / _at_risk(w * np.exp(slope * z), step)).cumsum()
        kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_STEPS)).astype(int))
        return cls(center, scale, slope, tuple(times[kept].tolist()), tuple(hazard[kept].tolist()))

    def survival(self, risk: Any, time: float) -> Array:
        """Return the probability of no event until a time."""
        step = int(np.searchsorted(self.times, time, side="right"))
        hazard = self.hazard[step - 1] if step else 0.0
        return np.exp(-hazard * np.exp(self.slope * (np.asarray(risk, float) - self.center) / self.scale))


def _at_risk(values: Array, step: Array) -> Array:
    """Sum over all rows that are at risk at each time, the ties of that time included."""
    return np.asarray(np.bincount(step, values)[::-1].cumsum()[::-1])


def _slope(z: Array, w: Array, events: Array, step: Array) -> float:
    """Maximise the partial likelihood by Newton's steps, each cut to 1."""
    slope = 0.0
    for _ in range(100):
        total, first, second = (_at_risk(w * np.exp(slope * z) * z**k, step) for k in (0, 1, 2))
        mean = first / total
        gradient = float(events @ (z - mean[step]))
        curvature = float(events @ (second / total - mean**2)[step])
        if curvature <= 1e-12:
            break
        change = float(np.clip(gradient / curvature, -1.0, 1.0))
        slope = float(np.clip(slope + change, -STEEPEST, STEEPEST))
        if abs(change) < 1e-10:
            break
    return slope
