"""The numbers that must come out: the bias table of DESIGN section 6 (the paper's simulation).

Each mean has a standard error s and is asserted within 5 s plus half the last printed digit: a false alarm once in a
million. `SOBER_SOAK=1` repeats more often; then the table's own Monte Carlo error is added to ours.
"""

import os

import numpy as np
import pytest

import sobercv
from sobercv.testing import simulate

SOAK = 5 if os.environ.get("SOBER_SOAK") == "1" else 1
HALF_DIGIT = 0.0005
TABLE_REPETITIONS = 300  # "means over a few hundred repetitions"

#: N, C, repetitions, then the bias of CVT, TT, BBC, BBC-F.
BIAS = [
    (20, 500, 800, 0.166, 0.153, -0.034, -0.032),
    pytest.param(100, 50, 800, 0.035, -0.070, -0.013, -0.011, marks=pytest.mark.soak),
    pytest.param(100, 500, 400, 0.044, -0.029, -0.010, -0.010, marks=pytest.mark.soak),
    (500, 500, 200, 0.009, -0.027, -0.005, -0.004),
]


@pytest.mark.parametrize(("n", "c", "repetitions", "cvt", "tt", "bbc", "bbc_f"), BIAS)
def test_bias_table(n, c, repetitions, cvt, tt, bbc, bbc_f):
    errors = []
    for seed in range(repetitions * SOAK):
        data = simulate.beta_accuracy(n, c, a=9, b=6, seed=seed)
        run = {"metric": data.metric, "folds": data.folds, "n_jobs": 1}
        draws = {"n_bootstraps": 100, "random_state": seed, "interval": "percentile"}
        by_sample = sobercv.bbc(data.y, data.predictions, **run, **draws)
        by_fold = sobercv.bbc(data.y, data.predictions, **run, **draws, by="fold")
        corrected = sobercv.tibshirani(data.y, data.predictions, **run)
        errors.append(
            [
                by_sample.naive - data.truth[by_sample.winner],
                corrected.value - data.truth[corrected.winner],
                by_sample.value - data.truth[by_sample.winner],
                by_fold.value - data.truth[by_fold.winner],
            ]
        )
    spread = np.std(errors, axis=0, ddof=1)
    error = np.hypot(spread / np.sqrt(len(errors)), spread / np.sqrt(TABLE_REPETITIONS) if SOAK > 1 else 0)
    gap = np.abs(np.mean(errors, axis=0) - [cvt, tt, bbc, bbc_f])
    assert (gap < 5 * error + HALF_DIGIT).all(), {"mean": np.mean(errors, axis=0), "error": error}
    assert (error < 0.004).all()  # a sharp check, not a lenient one


@pytest.mark.parametrize("n", [20, pytest.param(40, marks=pytest.mark.soak), pytest.param(100, marks=pytest.mark.soak)])
def test_632_plus_is_less_biased_than_bbc(n):
    """Mean |bias| over Beta designs, numbers of configurations and correlations, as in REFERENCES."""
    bias = {"bbc": [], "632+": []}
    for a, b in ((9, 6), (24, 6), (54, 6)):
        for c in (10, 50):
            for rho in (0.0, 0.5):
                errors = {"bbc": [], "632+": []}
                for seed in range(150 * SOAK):
                    data = simulate.correlated_accuracy(n, c, a=a, b=b, seed=seed, rho=rho)
                    run = {"n_bootstraps": 100, "random_state": seed, "n_jobs": 1, "interval": "percentile"}
                    estimate = sobercv.bbc(data.y, data.predictions, data.metric, **run)
                    truth = data.truth[estimate.winner]
                    errors["bbc"].append(estimate.value - truth)
                    errors["632+"].append(estimate.as_632plus().value - truth)
                for method, values in errors.items():
                    bias[method].append(abs(np.mean(values)))
    assert np.mean(bias["632+"]) < np.mean(bias["bbc"])
    assert np.mean(bias["632+"]) < {20: 0.012, 40: 0.009, 100: 0.006}[n]


def test_a_shared_draw_has_hardly_any_optimism():
    """The text of section 6.1 writes one r_i for all configurations; then CVT is off by about 0.01, not 0.17."""
    off = []
    for seed in range(200):
        data = simulate.beta_accuracy(20, 500, seed=seed, shared=True)
        estimate = sobercv.naive(data.y, data.predictions, data.metric)
        off.append(estimate.value - data.truth[estimate.winner])
    assert abs(np.mean(off) - 0.01) < 5 * np.std(off) / np.sqrt(200) + 0.005
    assert np.mean(off) < 0.05


def test_binormal_auc_has_the_truth_it_says():
    """Many rows: the AUC is the truth. Few rows, many configurations: the winner's is too high, BBC's is not."""
    data = simulate.binormal_auc(20000, 3, seed=1)
    np.testing.assert_allclose(sobercv.naive(data.y, data.predictions, data.metric).scores, data.truth, atol=0.02)
    naive, corrected = [], []
    for seed in range(150):
        data = simulate.binormal_auc(60, 50, seed=seed)
        estimate = sobercv.bbc(data.y, data.predictions, data.metric, n_bootstraps=150, random_state=seed)
        naive.append(estimate.naive - data.truth[estimate.winner])
        corrected.append(estimate.value - data.truth[estimate.winner])
    error = np.std(corrected, ddof=1) / np.sqrt(150)
    assert np.mean(naive) > 5 * error
    assert abs(np.mean(corrected)) < abs(np.mean(naive)) / 2


@pytest.mark.parametrize("interval", ["percentile", "calibrated"])
def test_the_interval_covers(interval):
    """Section 3.1: conservative, so at least 95 % of truths lie inside, by a binomial bound of 5 standard errors."""
    inside = []
    for seed in range(200):
        data = simulate.beta_accuracy(100, 50, seed=1000 + seed)
        estimate = sobercv.bbc(
            data.y, data.predictions, data.metric, n_bootstraps=400, random_state=seed, interval=interval
        )
        low, high = estimate.interval
        inside.append(low <= data.truth[estimate.winner] <= high)
    assert np.mean(inside) > 0.95 - 5 * np.sqrt(0.95 * 0.05 / 200)
