"""Tallies of bits against the product they stand for: equal to the last bit, however the counts are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sobercv.metrics import bits

TYPES = [(np.uint8, 3), (np.uint8, 255), (np.int32, 5000)]


def problem(seed, n_resamples, n, c, kind=np.uint8, largest=5):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, largest + 1, (n_resamples, n)).astype(kind)
    return counts, rng.random((c, n)) < rng.random(), rng.integers(0, c, n_resamples)


@given(
    seed=st.integers(0, 2**32),
    n_resamples=st.integers(1, 70),
    n=st.integers(1, 300),
    c=st.integers(1, 9),
    kind=st.sampled_from(TYPES),
    together=st.sampled_from([1, 4096, 1 << 20]),
)
def test_a_tally_is_a_product(seed, n_resamples, n, c, kind, together):
    counts, flags, winners = problem(seed, n_resamples, n, c, *kind)
    expected = counts.astype(np.int64) @ flags.T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "_TOGETHER", together)
        np.testing.assert_array_equal(bits.tallies(counts, bits.pack(flags)), expected)
        picked = bits.picked_tallies(counts, bits.pack(flags), winners)
    np.testing.assert_array_equal(picked, expected[np.arange(n_resamples), winners])


def test_nothing_drawn_is_nothing_met():
    flags = np.ones((3, 100), bool)
    counts = np.zeros((4, 100), np.uint8)
    assert not bits.tallies(counts, bits.pack(flags)).any()
    assert not bits.picked_tallies(counts, bits.pack(flags), np.zeros(4, int)).any()


def test_a_bit_takes_the_room_of_a_bit():
    assert bits.pack(np.ones((5, 6400), bool)).nbytes == 5 * 6400 // 8
