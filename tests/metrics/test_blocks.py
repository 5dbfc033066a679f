"""Blocks of work: in order whatever the threads, errors of any thread reach the caller; flags are counted exactly."""

import queue
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sobercv.metrics import blocks

PLACES = [(place,) for place in range(12)]


@pytest.mark.parametrize("n_threads", [1, 2, 5, 40])
def test_results_are_in_order_whoever_is_first(n_threads):
    def slow_at_first(place):
        time.sleep(0.002 * (12 - place))
        return place, threading.get_ident()

    found = blocks.run(slow_at_first, PLACES, n_threads)
    assert [place for place, _ in found] == list(range(12))
    assert len({thread for _, thread in found}) <= n_threads


def test_whoever_calls_works_too():
    found = blocks.run(lambda place: (time.sleep(0.01), threading.get_ident())[1], PLACES, 2)
    assert threading.get_ident() in found
    assert len(set(found)) == 2


@pytest.mark.parametrize("own", [True, False])
def test_an_error_of_any_thread_is_raised_and_ends_the_others(own):
    caller, begun = threading.get_ident(), []

    def fails(place):
        begun.append(place)
        time.sleep(0.01)
        if (threading.get_ident() == caller) == own:
            raise KeyError(place)

    before = threading.active_count()
    with pytest.raises(KeyError):
        blocks.run(fails, PLACES, 2)
    assert len(begun) < len(PLACES)
    assert threading.active_count() == before


def test_an_error_that_the_queue_knows_too_is_not_swallowed():
    def empty(place):
        raise queue.Empty

    with pytest.raises(queue.Empty):
        blocks.run(empty, PLACES, 2)


@given(
    seed=st.integers(0, 2**32),
    n_resamples=st.integers(0, 70),
    n=st.integers(1, 300),
    kind=st.sampled_from([(np.uint8, 3), (np.uint8, 255), (np.int32, 5000)]),
    rows=st.sampled_from([7, 64, blocks.ROWS]),
)
def test_flags_are_counted_exactly(seed, n_resamples, n, kind, rows):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, kind[1] + 1, (n_resamples, n)).astype(kind[0])
    flags, winners = rng.random((4, n)) < rng.random(), rng.integers(0, 4, n_resamples)
    expected = counts.astype(np.int64) @ flags.T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS", rows)
        np.testing.assert_array_equal(blocks.product(counts, flags), expected)
        picked = blocks.product(counts, flags, winners)
    np.testing.assert_array_equal(picked[:, 0], expected[np.arange(n_resamples), winners])


def test_flags_are_counted_exactly_up_to_the_largest_sum():
    n = 2 * blocks.ROWS + 3
    counts = np.full((2, n), 255, np.uint8)
    assert blocks.product(counts, np.ones((1, n), bool)).tolist() == [[255.0 * n]] * 2
