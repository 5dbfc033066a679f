"""Slope and intercept of calibration, against a fit by other means and against lines that are known."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import sobercv
from sobercv.predictions import Predictions

SLOPE, INTERCEPT = sobercv.metrics.get("calibration_slope"), sobercv.metrics.get("calibration_intercept")


def table(y, p, **options):
    return Predictions.build(y, {"predict_proba": p}, task="classification", **options)


def data(seed, n=60, c=3):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    y = (rng.random(n) < expit(truth)).astype(int)
    y[:2] = 0, 1
    return y, expit(rng.uniform(0.2, 2, c) * truth[:, None] + rng.normal(size=(n, c)) + 0.5)


def separated(y, p):
    return len(set(y)) < 2 or min(p[y == 1]) >= max(p[y == 0]) or min(p[y == 0]) >= max(p[y == 1])


def intercept_of_rows(y, p, b=1.0):
    """At which as many are expected to be ill as are: the sum falls with the intercept, so that there is just one."""
    x = logit(np.clip(p, 1e-6, 1 - 1e-6))
    return brentq(lambda a: np.sum(expit(a + b * x) - y), -100, 100, xtol=1e-14, rtol=1e-14)


def steepness(y, p, b):
    """Gradient of the likelihood in the slope, which has one zero; as a share of the largest that it can be."""
    x = logit(np.clip(p, 1e-6, 1 - 1e-6))
    return np.sum(x * (expit(intercept_of_rows(y, p, b) + b * x) - y)) / np.sum(np.abs(x))


@settings(max_examples=15)
@given(seed=st.integers(0, 2**20), n=st.integers(6, 40), ties=st.booleans())
def test_every_resample_is_a_regression_of_its_own_rows(seed, n, ties):
    y, p = data(seed, n)
    p = np.round(p * 4) / 4 if ties else p
    counts = np.random.default_rng(seed).integers(0, 3, (4, n))
    slopes, intercepts = (metric.scores(table(y, p), counts) for metric in (SLOPE, INTERCEPT))
    for b, row in enumerate(counts):
        rows = np.repeat(np.arange(n), row)
        for j in range(3):
            one = y[rows], p[rows, j]
            assert np.isnan(slopes[b, j]) == separated(*one)
            assert np.isnan(intercepts[b, j]) == (len(set(one[0])) < 2)
            if not separated(*one):
                assert abs(steepness(*one, slopes[b, j])) < 1e-11
                assert intercepts[b, j] == pytest.approx(intercept_of_rows(*one), rel=1e-9, abs=1e-10)
    winners = np.array([0, 2, 1, 1])
    for metric, scores in ((SLOPE, slopes), (INTERCEPT, intercepts)):
        np.testing.assert_array_equal(metric.bind(table(y, p)).picked(counts, winners), scores[np.arange(4), winners])


def test_scikit_learn_finds_the_same_line():
    y, p = data(1, n=200)
    ours = SLOPE.scores(table(y, p), np.ones((1, 200), int))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [
            LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(logit(p[:, [j]]), y)
            for j in range(3)
        ]
    np.testing.assert_allclose(ours, [model.coef_[0, 0] for model in theirs], rtol=1e-7)


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (0.7, 1.0), (-0.3, 0.5), (0.2, 2.0)])
def test_a_known_line_is_found(a, b):
    """Groups of patients with the same probability, whose share of ill lies exactly on the line."""
    x = np.array([-1.5, -0.5, 0.0, 0.8, 1.6])
    share = expit(a + b * x)
    y, p = np.tile([0, 1], 5), np.repeat(expit(x), 2)
    weight = np.column_stack([1 - share, share]).reshape(-1)
    one = table(y, p, sample_weight=weight)
    np.testing.assert_allclose(SLOPE.scores(one, np.ones((1, 10), int)), [[b]], rtol=1e-10)
    if b == 1:
        np.testing.assert_allclose(INTERCEPT.scores(one, np.ones((1, 10), int)), [[a]], atol=1e-10)


def test_certain_probabilities_do_not_break_it():
    y, p = data(2, n=50)
    p[y == 1, 0], p[y == 0, 0] = 1.0, 0.0  # perfect: as steep as one likes
    p[:, 1] = (p[:, 1] > 0.5).astype(float)  # sure, and sometimes wrong
    p[:, 2] = 0.3  # says nothing
    found = SLOPE.scores(table(y, p), np.ones((1, 50), int))[0]
    assert np.isnan(found[[0, 2]]).all()
    assert 0 < found[1] < 1
    assert np.isfinite(INTERCEPT.scores(table(y, p), np.ones((1, 50), int))).all()


def test_which_class_is_positive_turns_the_intercept_round():
    y, p = data(3)
    ones = np.ones((1, len(y)), int)
    other = Predictions.build(np.where(y == 1, 1, 2), {"predict_proba": 1 - p}, task="classification")  # 1 is positive
    np.testing.assert_allclose(SLOPE.scores(other, ones), SLOPE.scores(table(y, p), ones), rtol=1e-9)
    np.testing.assert_allclose(INTERCEPT.scores(other, ones), INTERCEPT.scores(table(y, p), ones), rtol=1e-9)


def test_nothing_is_selected_by_what_is_best_in_the_middle():
    assert not SLOPE.selects
    assert not INTERCEPT.selects
    y, p = data(4)
    with pytest.raises(sobercv.SoberError, match="so it cannot select") as caught:
        sobercv.bbc(y, p, "calibration_slope")
    assert caught.value.code == "E114"
    found = sobercv.bbc(y, {"predict_proba": p}, ["roc_auc", "calibration_slope"], n_bootstraps=50)
    assert np.isfinite(found["calibration_slope"].value)
    assert all(sobercv.metrics.get(name).selects for name in sobercv.metrics.names() if "calibration" not in name)


def test_few_resamples_that_are_far_off_do_not_make_the_estimate():
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(50) % 2)
    p = np.clip(0.5 + 0.25 * (2 * y[:, None] - 1) + 0.25 * rng.normal(size=(50, 5)), 0.02, 0.98)
    with pytest.warns(sobercv.SoberWarning, match="undefined"):  # others are separated
        found = sobercv.bbc(y, {"predict_proba": p}, ["roc_auc", "calibration_slope"], n_bootstraps=300)
    found = found["calibration_slope"]
    draws = found.draws[~np.isnan(found.draws)]
    assert draws.mean() > 2 * np.median(draws)  # some are nearly separated
    assert found.value == np.median(draws)
    assert found.interval[0] < found.value < found.interval[1]
    assert "W201" in {note.code for note in found.notes}
