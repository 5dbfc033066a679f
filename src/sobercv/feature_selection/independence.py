"""Conditional independence tests of many columns at once, for numbers, classes and survival times.

Each test is made from a target and has `statistics(columns, given)`: from standardised columns [P, N] and conditioning
columns [m, N] to one chi-square statistic per column [P], always with `df` degrees of freedom; 0 where nothing can be
tested. Samples are in the `order` of the test, and `size` is how many of them carry information: all, or those with an
event.

Every test is a score test: the model of the target given the conditioning columns is fitted once, and then all P
columns are tested against it by matrix products. A likelihood-ratio or Wald test would fit P models instead. Because
the degrees of freedom are the same for all tests of a target, the largest p-value is the smallest statistic: nothing
underflows, and p-values are computed only to be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from ..containers import Array
from ..errors import SoberError
from ..targets import classes_of, numbers_of, survival_of

RIDGE = 1e-6  # keeps separated or collinear null models finite; far below the information in one sample
_TINY = 1e-9  # a column of which less than this part is new, given the others, has nothing to say


class Columns(NamedTuple):
    """Standardised columns, one per row [P, N] (mean 0, mean square 1, or all 0 where constant), and their squares."""

    values: Array
    squares: Array


def standardised(X: Any, columns: Array, order: Array) -> Columns:
    """Standardise columns of X, dense or CSC, with the samples in the given order."""
    taken = X[:, columns]
    values = (taken.toarray() if sparse.issparse(taken) else taken).T.astype(np.float64)[:, order]
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    values /= np.where(largest > 0, largest, 1.0)  # so that no square of a huge or tiny number over- or underflows
    values -= values.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(values**2, axis=1, keepdims=True))
    constant = scale <= 1e-12
    values = np.where(constant, 0.0, values / np.where(constant, 1.0, scale))
    return Columns(values, values * values)


def efficient_score(U: Array, V: Array, cross: Array, information: Array) -> Array:
    """Return U' (V - C I^-1 C')^-1 U for each column.

    U [P, d] are the scores, V [P, d, d] their information as if the null model were known, `cross` [P, d, q] what they
    share with the q parameters of the null model, whose information is [q, q].
    """
    p, d, q = cross.shape
    taken = np.linalg.solve(information, cross.reshape(p * d, q).T).T.reshape(p, d, q)
    S = V - taken @ cross.transpose(0, 2, 1)
    diagonal = np.arange(d)
    # A floor relative to V: where a column adds nothing new, U and S are rounding noise, and the statistic must be 0.
    S[:, diagonal, diagonal] += _TINY * V[:, diagonal, diagonal] + np.finfo(float).tiny ** 0.5
    if d == 1:
        return np.maximum(U[:, 0] ** 2 / np.maximum(S[:, 0, 0], np.finfo(float).tiny ** 0.5), 0.0)
    return np.maximum(np.einsum("pd,pd->p", U, np.linalg.solve(S, U[..., None])[..., 0]), 0.0)


#: A null model at some coefficients: penalised likelihood, its gradient, the information, and what is predicted.
Fitted = tuple[float, Array, Array, Any]


def newton(beta: Array, at: Callable[[Array], Fitted]) -> tuple[Array, Any]:
    """Fit a null model by Newton's method, with steps that are halved until the likelihood does not fall.

    `at` takes coefficients of any shape. Returns the information and what the fitted model predicts.
    """
    value, gradient, information, predicted = at(beta)
    for _ in range(50):
        step = np.linalg.solve(information, gradient.ravel()).reshape(beta.shape)
        if float(gradient.ravel() @ step.ravel()) < 1e-10:
            break
        for size in 0.5 ** np.arange(14):
            new = at(beta + size * step)
            if new[0] >= value:  # a likelihood that is NaN counts as lower
                break
        else:
            break
        beta = beta + size * step
        value, gradient, information, predicted = new
    return information, predicted


class NumbersTest:
    """Partial correlation with Fisher's z, for numeric targets."""

    df = 1

    def __init__(self, y: Any) -> None:
        y = numbers_of(y)
        y = y / (np.abs(y).max() or 1.0)
        self.order, self.size = np.arange(len(y)), len(y)
        self._y = y - y.mean()
        self._total = float(self._y @ self._y)

    def statistics(self, columns: Columns, given: Array) -> Array:
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

    def __init__(self, y: Any) -> None:
        codes, classes = classes_of(column_or_1d(y, warn=True))
        if len(classes) < 2:
            raise SoberError("E112", f"SES needs at least two classes; all samples are of class {classes[0]!r}.")
        self.order, self.size = np.arange(len(codes)), len(codes)
        self._y = (codes == np.arange(1, len(classes))[:, None]).astype(float)  # [K - 1, N], the first is reference
        self.df = len(self._y)
        self._pairs = np.triu_indices(self.df)
        self._square = np.empty((self.df, self.df), int)  # where each entry of a matrix stands in its upper triangle
        self._square[self._pairs] = self._square.T[self._pairs] = np.arange(len(self._pairs[0]))

    def statistics(self, columns: Columns, given: Array) -> Array:
        """Return the score statistic with K - 1 degrees of freedom."""
        z = np.vstack([np.ones(self.size), given])  # [m + 1, N]
        d, q = self.df, len(z)
        a, b = self._pairs
        ridge = RIDGE * np.eye(d * q)

        def at(beta: Array) -> Fitted:
            eta = beta @ z  # [d, N]
            top = np.maximum(eta.max(axis=0), 0.0)
            powers = np.exp(eta - top)
            total = np.exp(-top) + powers.sum(axis=0)
            mu = powers / total
            value = np.vdot(self._y, eta) - (top + np.log(total)).sum() - 0.5 * RIDGE * (beta**2).sum()
            # The covariance of the class indicators, upper triangle [d (d + 1) / 2, N], and times each column of z.
            weights = mu[a] * ((a == b)[:, None] - mu[b])
            mixed = (weights[:, None, :] * z).reshape(-1, self.size)
            information = (mixed @ z.T).reshape(-1, q, q).take(self._square, axis=0)  # [d, d, q, q]
            information = information.transpose(0, 2, 1, 3).reshape(d * q, d * q) + ridge
            return float(value), (self._y - mu) @ z.T - RIDGE * beta, information, (mu, weights, mixed)

        information, (mu, weights, mixed) = newton(np.zeros((d, q)), at)
        U = columns.values @ (self._y - mu).T
        V = (columns.squares @ weights.T).take(self._square, axis=1)
        cross = (columns.values @ mixed.T).reshape(-1, len(weights), q).take(self._square, axis=1)  # [P, d, d, q]
        return efficient_score(U, V, cross.reshape(-1, d, d * q), information)


class RiskSets:
    """The samples at risk at each time: a beginning of those in `order`, latest first; ties are Breslow's."""

    def __init__(self, event: Array, time: Array) -> None:
        self.order = np.argsort(-time, kind="stable")
        time, self.event = time[self.order], event[self.order].astype(float)
        self._starts = np.flatnonzero(np.r_[True, time[1:] != time[:-1]])
        self._sizes = np.diff(np.r_[self._starts, len(time)])
        self.deaths = np.add.reduceat(self.event, self._starts)  # at each time [U]

    def at_risk(self, values: Array) -> Array:
        """Sum over the risk set of each time, [..., N] to [..., U]."""
        return np.cumsum(np.add.reduceat(values, self._starts, axis=-1), axis=-1)

    def until(self, steps: Array) -> Array:
        """Sum over the times not after each sample's own, [U] to [N]."""
        return np.repeat(np.cumsum(steps[::-1])[::-1], self._sizes)


class SurvivalTest:
    """Score test of Cox regression, for survival times."""

    df = 1

    def __init__(self, y: Any) -> None:
        records = survival_of(y)
        if not records["event"].any():
            raise SoberError("E112", "SES needs at least one event; all survival times are censored.")
        self._sets = RiskSets(records["event"], records["time"])
        self.order, self.size = self._sets.order, int(records["event"].sum())
        self._with_deaths = self._sets.deaths > 0
        self._deaths = self._sets.deaths[self._with_deaths]  # [D]

    def statistics(self, columns: Columns, given: Array) -> Array:
        """Return the score statistic with 1 degree of freedom."""
        event = self._sets.event

        def at(beta: Array) -> Fitted:
            eta = beta @ given
            eta -= eta.max()
            risk = np.exp(eta)
            value = event @ eta - self._deaths @ np.log(np.maximum(self._risk_sums(risk), np.finfo(float).tiny))
            risk = np.maximum(risk, np.finfo(float).tiny)
            at_risk = self._sets.at_risk(risk)
            weights = risk * self._sets.until(self._sets.deaths / at_risk)  # expected events [N]
            at_risk = at_risk[self._with_deaths]
            mean = self._risk_sums(given * risk) / at_risk  # [m, D]
            information = (given * weights) @ given.T - (mean * self._deaths) @ mean.T + RIDGE * np.eye(len(given))
            gradient = given @ (event - weights) - RIDGE * beta
            value -= 0.5 * RIDGE * (beta**2).sum()
            return float(value), gradient, information, (risk, weights, at_risk, mean)

        information, (risk, weights, at_risk, mean_given) = newton(np.zeros(len(given)), at)
        U = columns.values @ (event - weights)
        mean = self._risk_sums(columns.values * risk) / at_risk  # [P, D]
        V = columns.squares @ weights - mean**2 @ self._deaths
        cross = columns.values @ (weights * given).T - mean @ (self._deaths * mean_given).T
        return efficient_score(U[:, None], V[:, None, None], cross[:, None, :], information)

    def _risk_sums(self, values: Array) -> Array:
        """Sum over the risk set of each death time, [..., N] to [..., D]."""
        return self._sets.at_risk(values)[..., self._with_deaths]


IndependenceTest = NumbersTest | ClassesTest | SurvivalTest
TESTS: dict[str, type[IndependenceTest]] = {
    "classification": ClassesTest, "regression": NumbersTest, "survival": SurvivalTest,
}  # fmt: skip
