"""Scans count the same pairs whatever the widths of their sums, and with or without ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sobercv.metrics import ranks


def scans(scores, positive):
    stratum, role = np.zeros((1, len(positive)), int), positive.astype(int)[None]
    return ranks.SortedScans(np.ascontiguousarray(scores, float), stratum, role, 1)


def right(scores, positive, counts, picked=None, weight=None):
    """Twice the pairs that are ranked right [B, C] or [B, 1]."""
    return scans(scores, positive).share_right(counts, picked, weight, np.ones(len(counts)))


def pairs_right_twice(scores, positive, counts):
    """All pairs, one configuration after the other [B, C]."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    out = []
    for values in scores:
        ahead = np.sign(values[up][:, None] - values[down]) + 1  # 2 right, 1 tied, 0 wrong
        out.append(np.einsum("bi,ij,bj->b", counts[:, up].astype(float), ahead, counts[:, down].astype(float)))
    return np.stack(out, axis=1)


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 60),
    n_resamples=st.sampled_from([1, 3, 5, 64, 70]),
    n_values=st.sampled_from([2, 5, 10**6]),
    largest=st.sampled_from([1, 9, 255]),
)
def test_every_width_gives_all_pairs(seed, n, n_resamples, n_values, largest):
    # Few samples with small counts are scanned in 16 bits, the others in 32, a handful of resamples one by one.
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, n_values, (4, n)), rng.random(n) < 0.5
    counts = rng.integers(0, largest + 1, (n_resamples, n)).astype(np.uint8)
    expected = pairs_right_twice(scores, positive, counts)
    np.testing.assert_array_equal(right(scores, positive, counts), expected)
    winners = rng.integers(0, 4, n_resamples)
    found = right(scores, positive, counts, winners)[:, 0]
    np.testing.assert_array_equal(found, expected[np.arange(n_resamples), winners])


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_sums_beyond_16_bits_do_not_overflow(seed):
    rng = np.random.default_rng(seed)
    n = 70_000  # a resample holds more samples than 16 bits can count
    scores, positive = rng.standard_normal((2, n)), rng.random(n) < 0.5
    counts = rng.integers(0, 200, (6, n)).astype(np.uint8)
    found = right(scores, positive, counts)
    weighted = right(scores, positive, counts, weight=np.ones(n))  # in double
    np.testing.assert_allclose(found, weighted, rtol=1e-12)


@pytest.mark.parametrize("n_resamples", [1, 63, 64, 65])
def test_rows_of_a_block_begin_at_whole_vectors(n_resamples):
    counts = np.arange(n_resamples * 10, dtype=np.uint8).reshape(n_resamples, 10)
    turned = ranks.turn(counts)
    assert turned.ctypes.data % 64 == 0
    assert turned.strides[0] % 64 == 0
    np.testing.assert_array_equal(turned[:, :n_resamples], counts.T)
    assert not turned[:, n_resamples:].any()
