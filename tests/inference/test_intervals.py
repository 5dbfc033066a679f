"""Percentile intervals and bounds are order statistics of the defined draws; an Estimate says what it holds."""

import json

import numpy as np
import pytest

import sobercv
from tests.oracles import paper


def estimate_with(n_bootstraps, level=0.95, seed=0):
    rng = np.random.default_rng(51)
    y = rng.normal(size=40)
    p = y[:, None] + rng.normal(size=(40, 6))
    options = {"n_bootstraps": n_bootstraps, "confidence_level": level, "random_state": seed, "interval": "percentile"}
    return sobercv.bbc(y, p, "neg_mean_squared_error", **options)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("n_bootstraps", [1, 7, 40, 200, 999, 1000, 2000])
def test_interval_is_the_papers_order_statistic(n_bootstraps, level):
    estimate = estimate_with(n_bootstraps, level)
    assert len(set(estimate.draws)) == n_bootstraps  # no ties, so a neighbour would be noticed
    assert estimate.interval == paper.interval(estimate.draws, level)
    assert estimate.interval_at(level) == estimate.interval


def test_of_1000_draws_the_25th_and_the_975th():
    estimate = estimate_with(1000)
    ordered = np.sort(estimate.draws)
    assert estimate.interval == (ordered[24], ordered[974])
    assert estimate.lower_bound(0.95) == ordered[49]
    assert estimate.upper_bound(0.95) == ordered[949]
    assert estimate.interval_at(0.9) == (estimate.lower_bound(0.95), estimate.upper_bound(0.95))


def test_numpy_calls_it_inverted_cdf():
    estimate = estimate_with(333)
    for level in (0.9, 0.95, 0.99):
        low, high = np.quantile(estimate.draws, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
        assert estimate.interval_at(level) == (low, high)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_undefined_draws_are_counted_and_left_out():
    y = np.array([1] * 3 + [0] * 17)
    p = np.random.default_rng(2).random((20, 4))
    estimate = sobercv.bbc(y, p, "roc_auc", n_bootstraps=500, random_state=0, interval="percentile")
    defined = estimate.draws[~np.isnan(estimate.draws)]
    assert 0 < estimate.n_undefined == 500 - len(defined)
    assert estimate.value == pytest.approx(defined.mean(), abs=1e-14)
    assert estimate.interval == paper.interval(estimate.draws, 0.95)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_stratify_is_the_remedy():
    """Seven positives are all in the bag in 7!/7^7 = 0.6 % of stratified draws, in about 4 % of the others."""
    y = np.array([1] * 7 + [0] * 63)
    p = np.random.default_rng(3).random((70, 4))
    plain, stratified = (
        sobercv.bbc(y, p, "roc_auc", n_bootstraps=2000, random_state=0, stratify=s).n_undefined for s in (False, True)
    )
    assert abs(stratified - 2000 * 5040 / 7**7) < 5 * np.sqrt(12.3)
    assert plain > 50


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_bounds_refuse_impossible_levels(level):
    estimate = estimate_with(40)
    for ask in (estimate.interval_at, estimate.lower_bound, estimate.upper_bound):
        with pytest.raises(sobercv.SoberError) as caught:
            ask(level)
        assert caught.value.code == "E108"


def test_naive_and_tibshirani_promise_no_interval_they_do_not_have():
    rng = np.random.default_rng(4)
    y, p = rng.normal(size=30), rng.normal(size=(30, 3))
    for estimate in (sobercv.naive(y, p, "r2"), sobercv.tibshirani(y, p, "r2", folds=np.arange(30) % 3)):
        assert estimate.interval is None
        assert "None" not in str(estimate) + estimate.summary()


def test_an_estimate_speaks_plainly_and_travels_as_json():
    estimate = estimate_with(200)
    shown = f"{estimate.value:.4f}"
    for text in (str(estimate), estimate.summary(), estimate._repr_html_()):
        assert shown in text
        assert f"{estimate.naive:.4f}" in text
        assert f"{estimate.interval[0]:.4f}" in text
        assert f"{estimate.interval[1]:.4f}" in text
    plain = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert plain["value"] == estimate.value
    assert plain["interval"] == list(estimate.interval)
    assert plain["naive"] == estimate.naive
    assert plain["optimism"] == estimate.optimism == pytest.approx(estimate.naive - estimate.value, abs=1e-15)
    assert plain["winner"] == estimate.winner
    assert plain["metric"] == "neg_mean_squared_error"
    assert plain["method"] == estimate.method


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_undefined_draws_survive_json_too():
    y = np.array([1] * 2 + [0] * 18)
    estimate = sobercv.bbc(y, np.random.default_rng(2).random((20, 4)), "roc_auc", n_bootstraps=50, random_state=0)
    assert json.loads(json.dumps(estimate.to_dict(), allow_nan=False))["n_undefined"] == estimate.n_undefined > 0


def test_the_html_is_escaped():
    y = np.arange(20) % 2
    metric = sobercv.make_metric(lambda a, b: float(np.mean(a == b)), name="<script>")
    estimate = sobercv.bbc(y, np.column_stack([y, 1 - y]), metric, n_bootstraps=20, random_state=0)
    assert "<script>" not in estimate._repr_html_()
