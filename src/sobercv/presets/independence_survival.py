"""The conditional independence test for survival times; see `independence`, whose contract it fulfils.

Takes events and times, and columns as `independence` does; gives one chi-square statistic a column. Never selects.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .independence import RIDGE, StandardisedColumns, efficient_score, newton


class SurvivalTest:
    """Score test of Cox regression (Breslow's ties), for survival times.

    Parameters
    ----------
    event : bool array [N]
    time : float array [N]
    """

    df = 1

    def __init__(self, event: Array, time: Array) -> None:
        self.order = np.argsort(-time, kind="stable")  # latest first, so that a risk set is a beginning
        self._event = event[self.order].astype(float)
        self.size = int(event.sum())
        time = time[self.order]
        starts = np.flatnonzero(np.r_[True, time[1:] != time[:-1]])
        deaths = np.add.reduceat(self._event, starts)
        self._starts, self._with_deaths = starts, deaths > 0
        self._deaths = deaths[deaths > 0]  # [D]
        group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(time)]))
        self._first = np.searchsorted(np.flatnonzero(deaths > 0), group)  # first death time not after one's own

    def statistics(self, columns: StandardisedColumns, given: Array) -> Array:
        """Give the score statistic with 1 degree of freedom."""
        risk, mean_given, information = self._fit(given)
        weights, at_risk = self._hazard(risk)
        U = columns.values @ (self._event - weights)
        mean = self._risk_sums(columns.values * risk) / at_risk  # [P, D]
        V = columns.squares @ weights - mean**2 @ self._deaths
        cross = columns.values @ (weights * given).T - mean @ (self._deaths * mean_given).T
        return efficient_score(U[:, None], V[:, None, None], cross[:, None, :], information)

    def _risk_sums(self, values: Array) -> Array:
        """Sum over the risk set of each death time, [..., N] to [..., D]."""
        grouped = np.add.reduceat(values, self._starts, axis=-1)
        return np.cumsum(grouped, axis=-1)[..., self._with_deaths]

    def _hazard(self, risk: Array) -> tuple[Array, Array]:
        """Give the expected events [N] and the size of each risk set [D]."""
        at_risk = self._risk_sums(risk)
        after = np.r_[np.cumsum((self._deaths / at_risk)[::-1])[::-1], 0.0]
        return risk * after[self._first], at_risk

    def _fit(self, given: Array) -> tuple[Array, Array, Array]:
        """Fit the null model; give risks [N], the means of `given` over risk sets, and the information."""
        m = len(given)

        def derivatives(beta: Array, risk: Array) -> tuple[Array, Array]:
            weights, at_risk = self._hazard(risk)
            mean = self._risk_sums(given * risk) / at_risk  # [m, D]
            information = (given * weights) @ given.T - (mean * self._deaths) @ mean.T + RIDGE * np.eye(m)
            return given @ (self._event - weights) - RIDGE * beta, information

        risk, information = newton(np.zeros(m), lambda beta: self._at(beta, given), derivatives)
        return risk, self._risk_sums(given * risk) / self._hazard(risk)[1], information

    def _at(self, beta: Array, given: Array) -> tuple[Array, float]:
        eta = beta @ given if len(beta) else np.zeros(len(self._event))
        eta = eta - eta.max()
        risk = np.exp(eta)
        value = self._event @ eta - self._deaths @ np.log(np.maximum(self._risk_sums(risk), np.finfo(float).tiny))
        return np.maximum(risk, np.finfo(float).tiny), float(value - 0.5 * RIDGE * (beta**2).sum())
