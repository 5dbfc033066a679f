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
    times: tuple[float, ...]
    hazard: tuple[float, ...]  # cumulative, at the center, after each of these times
    last: float  # the longest time seen

    def __post_init__(self) -> None:
        if len(self.times) != len(self.hazard) or not self.scale > 0:
            raise ValueError("times and hazard must have one length, and the scale be above 0")

    @classmethod
    def fit(cls, risk: Array, y: Array, weight: Array | None = None) -> SurvivalCurve:
        """Fit the curve to risks [N], the greater the earlier the event, and records of (event, time) [N]."""
        center, scale = float(risk.mean()), float(risk.std()) or 1.0
        order = np.argsort(-y["time"], kind="stable")  # the first is at risk for longest
        z, time = (risk[order] - center) / scale, y["time"][order]
        event, w = y["event"][order], np.ones(len(z)) if weight is None else weight[order]
        # With ties, all of one time are at risk together.
        last = len(time) - 1 - np.searchsorted(time[::-1], time, side="left")
        slope = _slope(z, event, w, last)
        at_risk = np.cumsum(w * np.exp(slope * z))[last]
        steps = np.divide(w, at_risk, out=np.zeros(len(z)), where=event & (w > 0))[::-1]
        times, first = np.unique(time[::-1], return_index=True)
        hazard = np.add.reduceat(steps, first).cumsum()
        kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_STEPS)).astype(int))
        return cls(center, scale, slope, tuple(times[kept].tolist()), tuple(hazard[kept].tolist()), float(time[0]))

    def survival(self, risk: Any, time: float) -> Array:
        """Return the probability of no event until a time."""
        step = int(np.searchsorted(self.times, time, side="right"))
        hazard = self.hazard[step - 1] if step else 0.0
        return np.exp(-hazard * np.exp(self.slope * (np.asarray(risk, float) - self.center) / self.scale))


def _slope(z: Array, event: Array, w: Array, last: Array) -> float:
    """Maximise the partial likelihood by Newton's steps, each cut to 1."""
    slope = 0.0
    for _ in range(100):
        risk = w * np.exp(slope * z)
        total, first, second = (np.cumsum(risk * z**k)[last] for k in (0, 1, 2))
        mean = first / total
        gradient = float((w * (z - mean))[event].sum())
        curvature = float((w * (second / total - mean**2))[event].sum())
        if curvature <= 1e-12:
            break
        step = float(np.clip(gradient / curvature, -1.0, 1.0))
        slope = float(np.clip(slope + step, -STEEPEST, STEEPEST))
        if abs(step) < 1e-10:
            break
    return slope
