"""What numpy does instead of compiled loops has the bits of the loops, and ends where the allowance ends."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sobercv
from sobercv.compiled import Allowance
from sobercv.inference import selection
from sobercv.metrics import first_calls, kernels, ranking, survival
from sobercv.testing import simulate


def new_allowance():
    return Allowance(first_calls.LOADING, first_calls.COMPILING, kernels.__file__, "walks.walk_int")


def numpy_may(monkeypatch, seconds):
    allowance = new_allowance()
    allowance.seconds = seconds
    monkeypatch.setattr(first_calls, "allowance", allowance)
    return allowance


def bits(estimate):
    return estimate.value, estimate.interval, estimate.naive, estimate.draws.tobytes()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 40),
    n_values=st.sampled_from([2, 5, 10**6]),
    n_folds=st.sampled_from([1, 3]),
    largest=st.sampled_from([1, 9]),
    censored=st.booleans(),
)
def test_pairs_are_those_of_the_walks(seed, n, n_values, n_folds, largest, censored):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_values, (4, n)).astype(float)
    positive, fold = rng.random(n) < 0.5, rng.integers(0, n_folds, n)
    counts = rng.integers(0, largest + 1, (6, n)).astype(np.uint8)
    contests = ranking.Contests(np.unique(fold, return_inverse=True)[1].reshape(1, -1), positive.astype(int)[None])
    if censored:
        contests = survival.outlived(positive, rng.integers(1, 9, n).astype(float), fold)
    winners, block = rng.integers(0, 4, 6), ranking.Block(counts, None)
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for seconds in (0.0, 1.0):
            allowance = numpy_may(patch, seconds)
            walks = ranking.Walks(scores, contests, 1)
            found.append((walks.wins(block), walks.picked(block, winners)))
            assert (allowance.used > 0) == (seconds > 0 and positive.any() and len(walks._matrix._down) > 0)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@settings(max_examples=40)
@given(key=st.integers(0, 2**64 - 1), first=st.integers(0, 10**6), n=st.integers(1, 300), data=st.data())
def test_draws_are_those_of_the_loop(key, first, n, data):
    n_draws = np.array(data.draw(st.lists(st.integers(0, 700), min_size=1, max_size=5)))
    ours, theirs = (np.zeros((len(n_draws), n), np.uint8) for _ in range(2))
    first_calls.draw(np.uint64(key), first, n_draws, ours)
    kernels.draw(np.uint64(key), first, n_draws, theirs)
    np.testing.assert_array_equal(ours, theirs)


@given(
    st.lists(
        st.lists(st.sampled_from([0.5, 0.5 + 1e-13, 0.7, -0.2, np.nan, np.inf, -np.inf]), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_the_best_is_that_of_the_loops(rows):
    scores = np.array(rows)
    winners = np.empty((2, len(scores)), np.int64)
    kernels.first_best(scores, selection.TIE, 1.0, winners[0])
    kernels.first_best_of_columns(np.ascontiguousarray(scores.T), selection.TIE, 1.0, winners[1])
    for theirs in winners:
        np.testing.assert_array_equal(first_calls.first_best(scores, selection.TIE, 1.0), theirs)


@pytest.mark.parametrize("metric", ["roc_auc", "concordance_index"])
def test_an_estimate_has_the_same_bits(metric, monkeypatch):
    data = simulate.binormal_auc(60, 7, seed=3)
    y = data.y
    if metric == "concordance_index":
        y = np.array([(bool(v), 1.0 + i % 13) for i, v in enumerate(data.y)], [("event", bool), ("time", float)])
    numpy_may(monkeypatch, 60.0)
    plainly = sobercv.bbc(y, data.predictions, metric, n_bootstraps=200)
    numpy_may(monkeypatch, 0.0)
    assert bits(sobercv.bbc(y, data.predictions, metric, n_bootstraps=200)) == bits(plainly)


def test_numpy_stops_in_the_middle_without_a_trace(monkeypatch):
    data = simulate.binormal_auc(60, 7, seed=3)
    numpy_may(monkeypatch, 0.0)
    compiled = sobercv.bbc(data.y, data.predictions, "roc_auc", n_bootstraps=300)
    allowance = numpy_may(monkeypatch, 0.0005)  # some blocks of resamples, not all
    assert bits(sobercv.bbc(data.y, data.predictions, "roc_auc", n_bootstraps=300)) == bits(compiled)
    assert 0 < allowance.used <= 0.0005


def test_pairs_beyond_single_precision_are_not_multiplied():
    few, many = (np.full((2, n), 200, np.uint8) for n in (20, 40))
    assert ranking.Block(few, None).fits_single
    assert not ranking.Block(many, None).fits_single
    assert not ranking.Block(few, np.ones(20)).fits_single


def test_an_empty_cache_allows_more(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert new_allowance().seconds == first_calls.COMPILING
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "walks.walk_int-116.py311.nbi").touch()
    assert new_allowance().seconds == first_calls.LOADING


def test_a_first_small_call_loads_no_compiler():
    code = """
import json, sys
import sobercv
from sobercv.testing import simulate
data = simulate.binormal_auc(80, 20, seed=1)
sobercv.bbc(data.y, data.predictions, "roc_auc")
print(json.dumps("numba" in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False
