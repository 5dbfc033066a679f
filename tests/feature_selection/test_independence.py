"""The vectorised tests agree with their definitions written as loops, and hold their level."""

import numpy as np
import pytest
from scipy import optimize, stats

from sobercv.feature_selection.independence import (
    ClassesTest,
    Columns,
    NumbersTest,
    SurvivalTest,
    standardised,
)

from ..presets import networks

N = 80


def standard(rng, p):
    return standardised(rng.normal(size=(N, p)) + 0.5 * rng.normal(size=(N, 1)), np.arange(p), np.arange(N)).values


def score_statistic(loglikelihood, q, d):
    """U' [I^-1] U at the null, by numerical differentiation; the first q parameters are the null model's."""
    null = (
        optimize.minimize(lambda b: -loglikelihood(np.r_[b, np.zeros(d)]), np.zeros(q), method="BFGS", tol=1e-9).x
        if q
        else np.zeros(0)
    )
    at, h = np.r_[null, np.zeros(d)], 1e-4
    E = np.eye(q + d) * h
    gradient = np.array([(loglikelihood(at + e) - loglikelihood(at - e)) / (2 * h) for e in E])
    hessian = np.array(
        [
            [
                (
                    loglikelihood(at + a + b)
                    - loglikelihood(at + a - b)
                    - loglikelihood(at - a + b)
                    + loglikelihood(at - a - b)
                )
                / (4 * h * h)
                for a in E
            ]
            for b in E
        ]
    )
    return gradient[q:] @ np.linalg.inv(-hessian)[q:, q:] @ gradient[q:]


@pytest.mark.parametrize("m", [0, 1, 3])
def test_numbers(m):
    rng = np.random.default_rng(m)
    X, y = standard(rng, 5 + m), rng.normal(size=N)
    y += X[0] + X[-1]
    found = NumbersTest(y).statistics(Columns(X[:5], X[:5] ** 2), X[5:])
    Z = np.column_stack([np.ones(N), X[5:].T])
    for x, statistic in zip(X[:5], found, strict=True):
        rest = [v - Z @ np.linalg.lstsq(Z, v, rcond=None)[0] for v in (x, y)]
        r = np.corrcoef(*rest)[0, 1]
        assert statistic == pytest.approx((N - m - 3) * np.arctanh(r) ** 2)


@pytest.mark.parametrize("m", [0, 2])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_classes(K, m):
    rng = np.random.default_rng(10 * K + m)
    X = standard(rng, 3 + m)
    codes = (X[0] + X[-1] + rng.normal(size=N)).argsort().argsort() * K // N
    found = ClassesTest(codes).statistics(Columns(X[:3], X[:3] ** 2), X[3:])
    d = K - 1
    for x, statistic in zip(X[:3], found, strict=True):

        def loglikelihood(b, x=x):
            null, extra = b[: d * (m + 1)].reshape(d, m + 1), b[d * (m + 1) :]
            eta = np.vstack([np.zeros(N), null @ np.vstack([np.ones(N), X[3:]]) + np.outer(extra, x)])
            return (eta[codes, np.arange(N)] - np.log(np.exp(eta).sum(axis=0))).sum()

        assert statistic == pytest.approx(score_statistic(loglikelihood, d * (m + 1), d), rel=2e-3)


@pytest.mark.parametrize("m", [0, 2])
def test_survival(m):
    rng = np.random.default_rng(m)
    X = standard(rng, 3 + m)
    time = np.round(rng.exponential(np.exp(-0.5 * X[0] - 0.5 * X[-1])), 1)
    event = rng.random(N) < 0.7
    test = SurvivalTest(np.column_stack([event, time]))
    found = test.statistics(Columns(X[:3][:, test.order], X[:3][:, test.order] ** 2), X[3:][:, test.order])
    for x, statistic in zip(X[:3], found, strict=True):

        def loglikelihood(b, x=x):
            eta = b[:m] @ X[3:] + b[m] * x
            return sum(eta[i] - np.log(np.exp(eta[time >= time[i]]).sum()) for i in np.flatnonzero(event))

        assert statistic == pytest.approx(score_statistic(loglikelihood, m, 1), rel=2e-3)


@pytest.mark.parametrize("kind", list(networks.ALL))
def test_p_values_are_uniform_under_independence(kind):
    """Given both parents (and the child), 400 noise columns: Kolmogorov-Smirnov, false alarm rate 0.001, fixed seed."""
    X, y, truth = networks.ALL[kind](1, n=500)
    rng = np.random.default_rng(3)
    if kind == "numbers":
        test = NumbersTest(y)
    elif kind == "survival":
        test = SurvivalTest(y)
    else:
        test = ClassesTest(y)
    noise = rng.normal(size=(500, 400)) + X[:, [1]]  # associated with the target, but not given its parent
    columns = standardised(noise, np.arange(400), test.order)
    given = standardised(X, np.array(sorted(truth)), test.order).values
    p = stats.chi2.sf(test.statistics(columns, given), test.df)
    assert stats.kstest(p, "uniform").pvalue > 0.001
    alone = stats.chi2.sf(test.statistics(columns, given[:0]), test.df)
    assert np.median(alone) < 0.01


def test_a_column_of_the_conditioning_set_says_nothing_new():
    rng = np.random.default_rng(0)
    X = standard(rng, 4)
    y = X[0] + rng.normal(size=N)
    time = np.exp(-y)
    cox = SurvivalTest(np.column_stack([np.ones(N), time]))
    for test in (NumbersTest(y), ClassesTest((y > 0).astype(int)), ClassesTest(np.digitize(y, [-1, 1])), cox):
        ordered = X[:, test.order]
        assert test.statistics(Columns(ordered[:2], ordered[:2] ** 2), ordered[:3]) == pytest.approx(0, abs=1e-4)


def test_separated_classes_leave_nothing_to_explain():
    rng = np.random.default_rng(0)
    X = standard(rng, 6)
    codes = (X[0] > 0).astype(int)
    assert (ClassesTest(codes).statistics(Columns(X[1:], X[1:] ** 2), X[:1]) < 0.1).all()
