"""The calibrated interval: the same as its literal twin, within the range, wider at higher levels, never without width."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import sobercv
from sobercv.inference.intervals import CROSS_VALIDATED, Calibrated, Evidence
from tests.oracles import calibrated as oracle

ENDS = ((0.0, 1.0), (-1.0, 1.0), (-math.inf, 0.0), (-math.inf, 1.0), (0.0, math.inf), (-math.inf, math.inf))


def calibrate(*args, **named):
    return Calibrated.of(Evidence(*args, **named))


LEVELS = st.floats(0.01, 0.999)
SHARES = st.floats(0.0, 1.0)


@st.composite
def evidence(draw, ends=ENDS):
    low, high = draw(st.sampled_from(ends))
    c = draw(st.integers(1, 8))
    shares = np.array(draw(st.lists(SHARES, min_size=c, max_size=c)))
    if math.isfinite(low) and math.isfinite(high):
        scores = low + (high - low) * shares
    elif math.isfinite(high):
        scores = high - 5 * shares - 1e-3
    else:
        scores = (low if math.isfinite(low) else 0.0) + 5 * shares + 1e-3
    variances = np.array(draw(st.lists(st.sampled_from((0.0, 1e-4, 3e-3, 0.02)), min_size=c, max_size=c)))
    winner = int(scores.argmax())
    room = min(1.0, scores[winner] - low) if math.isfinite(low) else 1.0
    value = scores[winner] - 0.9 * room * draw(SHARES)
    own = scores[winner] + draw(st.floats(-0.01, 0.01))
    kurtosis = draw(st.floats(1.0, 50.0))
    units, trained = draw(st.integers(3, 500)), draw(st.sampled_from((0.5, 0.9, 1.0)))
    names = ("scores", "variances", "winner", "value", "own", "range", "units", "assumed", "kurtosis", "trained")
    given = (scores, variances, winner, value, own, (low, high), units, units, kurtosis, trained)
    return SimpleNamespace(**dict(zip(names, given, strict=True)))


def weighed(seen):
    found = calibrate(**vars(seen))
    assume(found is not None)
    return found


@given(evidence(), LEVELS)
def test_the_same_as_its_literal_twin(seen, level):
    found = calibrate(**vars(seen))
    expected = oracle.parts(
        seen.scores, seen.variances, seen.winner, seen.value, seen.own, seen.range, seen.assumed, CROSS_VALIDATED
    )
    assert (found is None) == (expected[1] is None)
    assume(found is not None)
    assert (found.centre, found.size, found.doubt) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assume(1e-9 < found.size < 1e12)
    inside = (found.centre, found.size, found.doubt, seen.range, found.freedom, seen.trained)
    low, high = (oracle.bound(*inside, (1 + level) / 2, side) for side in (-1, 1))
    assume(abs(low) < 1e6 and abs(high) < 1e6)  # the twin looks no further
    assert found.bounds((1 + level) / 2) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


@given(evidence(), LEVELS, LEVELS)
def test_wider_at_higher_levels_and_within_the_range(seen, one, other):
    found = weighed(seen)
    less, more = sorted((one, other))
    (a, b), (c, d) = found.bounds((1 + less) / 2), found.bounds((1 + more) / 2)
    tiny = 1e-9 * (1 + abs(found.centre))
    assert c <= a + tiny <= found.centre + 2 * tiny
    assert found.centre - 2 * tiny <= b - tiny <= d
    assert found.bounds(more)[0] <= found.bounds(less)[0] + tiny
    assert found.bounds(less)[1] <= found.bounds(more)[1] + tiny
    low, high = seen.range
    assert low <= c
    assert d <= high


@given(evidence(), st.floats(0.5, 0.999))
def test_two_bounds_make_an_interval(seen, level):
    found = weighed(seen)
    low, high = found.bounds((1 + level) / 2)
    assert found.bounds((1 + level) / 2)[0] == low
    assert found.bounds((1 + level) / 2)[1] == high
    # A bound that is wrong more often than right lies on the other side.
    assert found.bounds(1 - level)[0] >= found.bounds(level)[0]
    assert found.bounds(1 - level)[1] <= found.bounds(level)[1]


@pytest.mark.parametrize(("right", "n"), [(14, 20), (37, 40), (20, 20), (0, 20)])
def test_one_configuration_of_fixed_models_gets_wilsons_own(right, n):
    p = right / n
    found = calibrate(
        np.array([p]), np.array([p * (1 - p) / n]), winner=0, value=p, own=p, range=(0, 1), units=n, assumed=n, excess=1
    )
    expected = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert found.bounds((1 + 0.95) / 2) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_cross_validated_predictions_are_trusted_less():
    scores, variances = np.array([0.8, 0.7]), np.array([0.002, 0.002])
    seen = {"winner": 0, "value": 0.78, "own": 0.8, "range": (0, 1), "units": 80, "assumed": 80}
    fixed = calibrate(scores, variances, **seen, excess=1)
    crossed = calibrate(scores, variances, **seen)
    assert crossed.size == pytest.approx(fixed.size / CROSS_VALIDATED)
    assert (
        crossed.bounds((1 + 0.95) / 2)[0]
        < fixed.bounds((1 + 0.95) / 2)[0]
        < fixed.bounds((1 + 0.95) / 2)[1]
        < crossed.bounds((1 + 0.95) / 2)[1]
    )


def test_a_winner_that_will_be_trained_on_more_rows_may_be_better():
    seen = (np.array([0.8]), np.array([0.002]), 0, 0.8, 0.8, (0, 1), 80, 80)
    now, later = (calibrate(*seen, trained=t) for t in (1.0, 0.81))
    assert later.bounds(0.95)[0] == now.bounds(0.95)[0]
    assert 1 - later.bounds(0.95)[1] == pytest.approx(0.9 * (1 - now.bounds(0.95)[1]))


def test_a_perfect_winner_is_not_certain():
    """All of 20 rows right, and so in every resample: the percentile interval is [1, 1]."""
    scores, variances = np.array([1.0, 0.9]), np.array([0.0, 0.0045])
    low, high = calibrate(scores, variances, 0, 1.0, 1.0, (0, 1), 20, 20).bounds(0.975)
    assert high == 1
    assert 0.7 < low < 0.86


def test_a_winner_that_looks_steady_by_luck_is_as_steady_as_its_neighbours():
    scores, variances = np.array([-0.50, -0.51, -0.52]), np.array([1e-6, 0.01, 0.01])
    found = calibrate(scores, variances, 0, -0.5, -0.5, (-np.inf, 0), 50, 50, excess=1)
    assert found.size < 0.26 / 0.005


def test_heavy_tails_leave_few_degrees_of_freedom():
    options = (np.array([-1.0]), np.array([0.02]), 0, -1.0, -1.0, (-np.inf, 0))
    light, heavy = (calibrate(*options, units=100, assumed=100, kurtosis=k) for k in (3.0, 41.0))
    assert light.freedom == 99
    assert heavy.freedom == 5
    assert heavy.bounds((1 + 0.95) / 2)[0] < light.bounds((1 + 0.95) / 2)[0]


def test_configurations_without_a_score_do_not_count():
    scores, variances = np.array([0.8, np.nan, 0.7]), np.array([0.002, np.nan, 0.002])
    given = (0, 0.78, 0.8, (0, 1), 80, 80)
    some = calibrate(scores, variances, *given)
    assert some == calibrate(scores[[0, 2]], variances[[0, 2]], *given)


def test_few_groups_show_too_little():
    options = (np.array([0.8]), np.array([0.002]), 0, 0.8, 0.8, (0, 1))
    rows, groups = (calibrate(*options, units=10, assumed=10, clustered=c) for c in (False, True))
    assert groups.size == pytest.approx(0.9 * rows.size)
    assert (rows.freedom, groups.freedom) == (math.inf, 9)


@pytest.mark.parametrize("ends", [(-np.inf, 0.0), (-np.inf, np.inf)])
def test_nothing_is_claimed_where_nothing_varies_and_no_range_helps(ends):
    assert calibrate(np.array([-1.0]), np.array([0.0]), 0, -1.0, -1.0, ends, 50, 50) is None
    assert calibrate(np.array([-1.0]), np.array([np.nan]), 0, -1.0, -1.0, ends, 50, 50) is None


@pytest.mark.parametrize(("metric", "per_fold"), [("accuracy", 2), ("r2", 1)])
def test_degrees_of_freedom_of_folds(metric, per_fold):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60) if metric == "accuracy" else rng.normal(size=60)
    p = (
        np.where(rng.random((60, 5)) < 0.7, y[:, None], 1 - y[:, None])
        if metric == "accuracy"
        else y[:, None] + rng.normal(size=(60, 5))
    )
    for k in (3, 5):
        found = sobercv.bbc(y, p, metric, folds=np.arange(60) % k, by="fold")
        assert found.bounds.freedom == per_fold * (k - 1)
