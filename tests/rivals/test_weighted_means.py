"""WMC, WMCS and the power law: against literal loops, closed forms, and the truth of a simulation."""

import warnings

import numpy as np
import pytest
from scipy import stats

import sobercv
from sobercv.errors import SoberError
from sobercv.inference import Question
from sobercv.inference.tables import open_table
from sobercv.rivals.from_predictions import judged
from sobercv.rivals.power_law import power_law, read_at
from sobercv.rivals.weighted_means import averaged, covariance, weighted_means
from sobercv.testing import simulate
from tests.oracles import weighted_means as literal


@pytest.mark.parametrize("seed", range(4))
def test_is_the_literal_loop(seed):
    rng = np.random.default_rng(seed)
    by_fold = rng.integers(5, 10, (6, 9)) / 10
    by_fold[:, 3] = by_fold[:, 2]  # right and wrong together
    by_fold[:, 4] = 0.7  # never varies
    np.testing.assert_allclose(covariance(by_fold, 0.2), literal.covariance(by_fold, 0.2), atol=1e-15)
    mean, noise = by_fold.mean(axis=0) + rng.normal(0, 1e-3, 9), rng.normal(0, 0.05, (300, 9))
    np.testing.assert_allclose(averaged(mean, noise), literal.weighted_means(mean, noise)[::2], atol=1e-12)


def test_two_configurations_have_a_closed_form():
    rng = np.random.default_rng(0)
    by_fold = 0.7 + rng.normal(0, 0.1, (10, 2))
    mean, sigma = by_fold.mean(axis=0), covariance(by_fold, 0.1)
    sd = np.sqrt(sigma[0, 0] + sigma[1, 1] - 2 * sigma[0, 1])
    chance = stats.norm.cdf((mean[0] - mean[1]) / sd)
    found = averaged(mean, rng.multivariate_normal([0, 0], sigma, 40_000))
    error = abs(mean[0] - mean[1]) * np.sqrt(chance * (1 - chance) / 40_000)
    assert found[0] == pytest.approx(chance * mean[0] + (1 - chance) * mean[1], abs=5 * error)


def test_a_power_law_is_read_where_it_leads():
    sizes = np.array([20, 30, 40, 50, 60, 70, 80])
    assert read_at(sizes, 0.8 - 0.9 * sizes**-0.5, 100) == pytest.approx(0.8 - 0.09, abs=1e-9)
    assert read_at(sizes, 0.6 + 0.001 * (80 - sizes), 100) == pytest.approx(0.63)  # it falls: the mean
    with warnings.catch_warnings(action="error"):
        assert read_at(np.full(3, 3), np.array([0.5, 0.6, 0.7]), 4) == pytest.approx(0.6)  # one size: the mean


def opened(data, metric="accuracy", **given):
    return open_table(data.predictions, Question.ask(metric, random_state=0), y=data.y, **given)


def test_all_of_them_correct():
    """Mean bias over 12 simulated tables: plain CV is optimistic by .025, WMC -.009, WMCS the most strict."""
    methods = ("naive", "wmc", "wmcs", "ipl")
    bias = {method: [] for method in methods}
    for seed in range(12):
        data = simulate.beta_accuracy(n=100, c=60, seed=seed)
        table = opened(data, folds=data.folds)
        for method in methods:
            found = judged(table, method)["accuracy"]
            bias[method].append(found.value - data.truth[found.winner])
    mean = {method: np.mean(values) for method, values in bias.items()}
    assert mean["naive"] > 0.02
    assert all(mean[method] < mean["naive"] - 0.01 for method in methods[1:]), mean
    assert abs(mean["wmc"]) < 0.02
    assert mean["wmcs"] < mean["wmc"]


def test_groups_stay_together_in_the_power_law():
    """Where each sample is there twice, as a group, the estimate is that of the samples once."""
    data = simulate.beta_accuracy(n=60, c=10, seed=1)
    once = power_law(opened(data))
    twice, groups = np.repeat(data.predictions, 2, axis=0), np.arange(120) // 2
    question = Question.ask("accuracy", random_state=0)
    table = open_table(twice, question, y=np.repeat(data.y, 2), groups=groups)
    assert power_law(table) == once


def test_folds_are_needed():
    data = simulate.beta_accuracy(n=60, c=10, seed=1)
    with pytest.raises(SoberError, match="E113"):
        weighted_means(opened(data))


def test_seeds_repeat():
    data = simulate.beta_accuracy(n=60, c=10, seed=1)
    first, second = (weighted_means(opened(data, folds=data.folds))[1][0] for _ in range(2))
    assert first == second
    assert sobercv.naive(data.y, data.predictions, "accuracy").value > first
