"""Conditional independence tests of many columns at once, for numbers, classes and survival times.

From a target, standardised columns [P, N] and conditioning columns [m, N] to one chi-square statistic per column,
always with the same degrees of freedom.

Every test is a score test: the model of the target given the conditioning columns is fitted once, and then all P
columns are tested against it by matrix products. A likelihood-ratio or Wald test would fit P models instead. Because
the degrees of freedom are the same for all tests of a target, the largest p-value is the smallest statistic: nothing
underflows, and p-values are computed only to be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..containers import Array

RIDGE = 1e-6  # keeps separated or collinear null models finite; far below the information in one sample
_TINY = 1e-9  # a column of which less than this part is new, given the others, has nothing to say


@dataclass(frozen=True, eq=False)
class StandardisedColumns:
    """Standardised columns, one in each row of `values` [P, N] (mean 0, mean square 1, or all 0 where constant)."""

    values: Array

    @cached_property
    def squares(self) -> Array:
        """The squared values, kept because every conditioning set needs them."""
        return self.values * self.values

    def take(self, rows: Array) -> StandardisedColumns:
        """Return some of the columns; squares already made are taken along."""
        taken = StandardisedColumns(self.values[rows])
        if "squares" in self.__dict__:
            taken.__dict__["squares"] = self.squares[rows]
        return taken


def standardised(X: Any, columns: Array, order: Array) -> Array:
    """Return columns of X, dense or CSC, as rows [P, N] with mean 0 and mean square 1; constant ones become 0.

    The samples stand in the given order.
    """
    taken = X[:, columns]
    values = (taken.toarray() if sparse.issparse(taken) else taken).T.astype(np.float64)[:, order]
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    values /= np.where(largest > 0, largest, 1.0)  # so that no square of a huge or tiny number over- or underflows
    values -= values.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(values**2, axis=1, keepdims=True))
    constant = scale <= 1e-12
    return np.where(constant, 0.0, values / np.where(constant, 1.0, scale))


class IndependenceTest(Protocol):
    """A test of the independence of a target and many columns given a few others."""

    df: int  #: degrees of freedom of every statistic
    order: Array  #: the order in which the samples must stand in all columns
    size: int  #: how many samples carry information: all, or those with an event

    def statistics(self, columns: StandardisedColumns, given: Array) -> Array:
        """Return the statistic [P] of each column given the columns `given` [m, N]; 0 where nothing is to be tested."""


def efficient_score(U: Array, V: Array, cross: Array, information: Array) -> Array:
    """Return U' (V - C I^-1 C')^-1 U for each column.

    U [P, d] are the scores, V [P, d, d] their information as if the null model were known, `cross` [P, d, q] what they
    share with the q parameters of the null model, whose information is [q, q].
    """
    p, d, q = cross.shape
    if q:
        taken = np.linalg.solve(information, cross.reshape(p * d, q).T).T.reshape(p, d, q)
        S = V - taken @ cross.transpose(0, 2, 1)
    else:
        S = V.copy()
    diagonal = np.arange(d)
    # A floor relative to V: where a column adds nothing new, U and S are rounding noise, and the statistic must be 0.
    S[:, diagonal, diagonal] += _TINY * V[:, diagonal, diagonal] + np.finfo(float).tiny ** 0.5
    if d == 1:
        return np.maximum(U[:, 0] ** 2 / np.maximum(S[:, 0, 0], np.finfo(float).tiny ** 0.5), 0.0)
    return np.maximum(np.einsum("pd,pd->p", U, np.linalg.solve(S, U[..., None])[..., 0]), 0.0)


def newton(
    start: Array,
    at: Callable[[Array], tuple[Array, float]],
    derivatives: Callable[[Array, Array], tuple[Array, Array]],
) -> tuple[Array, Array]:
    """Fit a null model by Newton's method, with steps that are halved until the likelihood does not fall.

    `at` returns what the model predicts and its likelihood for coefficients of any shape, `derivatives` gradient and
    information for coefficients and predictions. Returns what the fitted model predicts, and the information.
    """
    beta = start
    predicted, value = at(beta)
    for _ in range(50):
        gradient, information = derivatives(beta, predicted)
        step = np.linalg.solve(information, gradient.ravel()).reshape(beta.shape)
        if float(gradient.ravel() @ step.ravel()) < 1e-10:
            break
        size = 1.0
        while size > 1e-4:
            new, new_value = at(beta + size * step)
            if new_value >= value:
                break
            size /= 2
        else:
            break
        beta, predicted, value = beta + size * step, new, new_value
    return predicted, information


class NumbersTest:
    """Partial correlation with Fisher's z, for numeric targets."""

    df = 1

    def __init__(self, y: Array) -> None:
        self.order = np.arange(len(y))
        self.size = len(y)
        self._y = y - y.mean()
        self._total = float(self._y @ self._y)

    def statistics(self, columns: StandardisedColumns, given: Array) -> Array:
        """Return (N - m - 3) atanh(r)^2, where r is the partial correlation."""
        n, m = self.size, len(given)
        basis = np.linalg.qr(given.T)[0] if m else np.empty((n, 0))
        rest = self._y - basis @ (basis.T @ self._y)
        left = float(rest @ rest)
        if left <= _TINY * self._total or n - m <= 3:
            return np.zeros(len(columns.values))  # the target is explained, or nothing can be tested
        product = columns.values @ np.column_stack([rest, basis])  # [P, 1 + m]
        new = n - np.einsum("pm,pm->p", product[:, 1:], product[:, 1:])
        r = np.where(new > _TINY * n, product[:, 0] / np.sqrt(left * np.maximum(new, _TINY * n)), 0.0)
        return (n - m - 3) * np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15)) ** 2


class ClassesTest:
    """Score test of multinomial logistic regression, for two or more classes."""

    def __init__(self, codes: Array) -> None:  # class indices 0 to K - 1, each present
        self.order = np.arange(len(codes))
        self.size = len(codes)
        self._y = (codes == np.arange(1, codes.max() + 1)[:, None]).astype(float)  # [K - 1, N], the first is reference
        self.df = len(self._y)
        self._pairs = np.triu_indices(self.df)

    def statistics(self, columns: StandardisedColumns, given: Array) -> Array:
        """Return the score statistic with K - 1 degrees of freedom."""
        z = np.vstack([np.ones(self.size), given])  # [m + 1, N]
        mu, information = self._fit(z)
        d, q = self.df, len(z)
        weights = self._weights(mu)  # [d (d + 1) / 2, N]
        U = columns.values @ (self._y - mu).T
        V = self._square(columns.squares @ weights.T)
        mixed = (weights[:, None, :] * z).reshape(-1, self.size)
        cross = self._square((columns.values @ mixed.T).reshape(-1, len(weights), q))  # [P, d, d, q]
        return efficient_score(U, V, cross.reshape(-1, d, d * q), information)

    def _fit(self, z: Array) -> tuple[Array, Array]:
        """Fit the null model; return the probabilities [d, N] and the information."""
        d, q = self.df, len(z)
        ridge = RIDGE * np.eye(d * q)

        def derivatives(beta: Array, mu: Array) -> tuple[Array, Array]:
            mixed = (self._weights(mu)[:, None, :] * z).reshape(-1, self.size)
            information = self._square((mixed @ z.T).reshape(1, -1, q, q))[0]  # [d, d, q, q]
            information = information.transpose(0, 2, 1, 3).reshape(d * q, d * q) + ridge
            return (self._y - mu) @ z.T - RIDGE * beta, information

        return newton(np.zeros((d, q)), lambda beta: self._at(beta, z), derivatives)

    def _at(self, beta: Array, z: Array) -> tuple[Array, float]:
        eta = beta @ z  # [d, N]
        top = np.maximum(eta.max(axis=0), 0.0)
        powers = np.exp(eta - top)
        total = np.exp(-top) + powers.sum(axis=0)
        likelihood = np.vdot(self._y, eta) - (top + np.log(total)).sum()
        return powers / total, float(likelihood - 0.5 * RIDGE * (beta**2).sum())

    def _weights(self, mu: Array) -> Array:
        """Return the covariance of the class indicators, upper triangle, [d (d + 1) / 2, N]."""
        a, b = self._pairs
        return mu[a] * ((a == b)[:, None] - mu[b])

    def _square(self, upper: Array) -> Array:
        """Turn upper triangles [P, d (d + 1) / 2, ...] into matrices [P, d, d, ...]."""
        a, b = self._pairs
        full = np.empty((len(upper), self.df, self.df, *upper.shape[2:]))
        full[:, a, b] = upper
        full[:, b, a] = upper
        return full


class SurvivalTest:
    """Score test of Cox regression (Breslow's ties), for survival times."""

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
        """Return the score statistic with 1 degree of freedom."""
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
        """Return the expected events [N] and the size of each risk set [D]."""
        at_risk = self._risk_sums(risk)
        after = np.r_[np.cumsum((self._deaths / at_risk)[::-1])[::-1], 0.0]
        return risk * after[self._first], at_risk

    def _fit(self, given: Array) -> tuple[Array, Array, Array]:
        """Fit the null model; return risks [N], the means of `given` over risk sets, and the information."""
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
