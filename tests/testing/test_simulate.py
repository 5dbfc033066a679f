"""Simulated tables have the truth that they say they have. Means are judged within 5 standard errors."""

import numpy as np
import pytest
from scipy.stats import binom

import sobercv
from sobercv.testing import simulate


def hits(data):
    return (data.predictions == data.y[:, None]).mean(axis=0)


@pytest.mark.parametrize("shared", [False, True])
def test_beta_configurations_are_as_good_as_their_truth(shared):
    data = simulate.beta_accuracy(20_000, 30, seed=4, shared=shared)
    error = np.sqrt(data.truth * (1 - data.truth) / 20_000)
    assert (np.abs(hits(data) - data.truth) < 5 * error).all()


def test_shared_draws_make_the_better_configuration_right_wherever_the_worse_is():
    data = simulate.beta_accuracy(200, 10, seed=1, shared=True)
    right = data.predictions == data.y[:, None]
    order = np.argsort(data.truth)
    assert (np.diff(right[:, order].astype(int), axis=1) >= 0).all()


def test_correlation_lies_between_the_two():
    def agreement(data):
        return float(np.corrcoef((data.predictions == data.y[:, None]).T).mean())

    free, some, much = (agreement(simulate.correlated_accuracy(3000, 20, rho=r, seed=2)) for r in (0.0, 0.5, 0.95))
    assert free < some < much


def test_binormal_areas_are_as_large_as_their_truth():
    data = simulate.binormal_auc(20_000, 20, low=0.55, high=0.95, prevalence=0.3, rho=0.4, seed=3)
    areas = sobercv.naive(data.y, data.predictions, "roc_auc").scores
    assert np.abs(areas - data.truth).max() < 5 * 0.5 / np.sqrt(20_000 * 0.3)
    assert data.y.mean() == pytest.approx(0.3, abs=1e-4)


def test_folds_are_equal_and_stratified():
    data = simulate.binormal_auc(200, 2, prevalence=0.5, k=10)
    assert np.bincount(data.folds).tolist() == [20] * 10
    assert {int(data.y[data.folds == f].sum()) for f in range(10)} == {10}


def test_truths_follow_their_distribution():
    truth = simulate.beta_accuracy(2, 5000, 24, 6, seed=9).truth
    assert truth.mean() == pytest.approx(0.8, abs=5 * np.sqrt(0.0052 / 5000))
    inside = int((truth < 0.8072).sum())  # the median of Beta(24, 6), so that half lies below
    assert binom.cdf(inside, 5000, 0.5) == pytest.approx(0.5, abs=0.4999)


def test_seeds_decide():
    one, same, other = (simulate.beta_accuracy(30, 5, seed=s).predictions for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
