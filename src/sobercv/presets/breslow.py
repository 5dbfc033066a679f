"""Survival curves of models that give log-risks: Breslow's cumulative hazard of the training rows.

Takes log-risks and (event, time), gives curves in scikit-survival's form: functions of time, one a row. Never fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The probability to survive beyond a time: 1 before the first of `x`, `y` from each of them on.

    Attributes
    ----------
    x : float array [U]
        Ascending times.
    y : float array [U]
    """

    x: Array
    y: Array

    def __call__(self, time: Any) -> Any:
        """Give the probability at one or several times."""
        return np.append(1.0, self.y)[np.searchsorted(self.x, time, side="right")]


class Breslow:
    """The cumulative hazard of whoever has a log-risk of 0.

    Parameters
    ----------
    log_risk : float array [N]
        Of the training rows.
    event, time : arrays [N]
    """

    def __init__(self, log_risk: Array, event: Array, time: Array) -> None:
        self.times, code = np.unique(time, return_inverse=True)
        self._shift = float(log_risk.max())  # so that no risk overflows
        risk = np.bincount(code.reshape(-1), np.exp(log_risk - self._shift))
        at_risk = np.cumsum(risk[::-1])[::-1]
        deaths = np.bincount(code.reshape(-1), event.astype(np.float64))
        self.hazard = np.cumsum(np.divide(deaths, at_risk, out=np.zeros_like(deaths), where=deaths > 0))

    def curves(self, log_risk: Array) -> Array:
        """Give the curve of each row [n].

        Parameters
        ----------
        log_risk : float array [n]
        """
        found = np.empty(len(log_risk), dtype=object)
        for i, one in enumerate(np.exp(log_risk - self._shift)):
            found[i] = SurvivalCurve(self.times, np.exp(-self.hazard * one))
        return found
