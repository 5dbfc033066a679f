"""Deadline: what is left, and what each phase may take of it."""

import math
from time import monotonic

import pytest

from sobercv.runs.fit import Deadline


def test_without_an_end_everything_may_take_for_ever():
    deadline = Deadline()
    assert deadline.left() == deadline.left(0.1) == math.inf
    assert deadline.for_training() is None


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(10, 5, 6), (60, 35, 36), (600, 509, 511), (36000, 34139, 34141)]
)
def test_training_leaves_time_for_what_follows(seconds, least, most):
    assert least <= Deadline(seconds).for_training() <= most


def test_the_time_counts_from_the_start_of_the_command():
    deadline = Deadline(60, began=monotonic() - 50)
    assert 9 < deadline.left() <= 10
    assert deadline.for_training() <= 6
    late = Deadline(60, began=monotonic() - 70)
    assert late.left() == late.left(0.5) == 0
    assert 0 < late.for_training() < 0.01


@pytest.mark.parametrize(
    ("limit", "gone", "seconds"), [(30, 29, 5), (30, 31, 4), (30, 34, 1), (30, 36, 0), (3600, 3778, 2)]
)
def test_half_of_the_tolerance_goes_to_the_first_fits_where_no_time_is_left(limit, gone, seconds):
    assert Deadline(limit, began=monotonic() - gone).for_training() == pytest.approx(seconds, abs=0.1)
