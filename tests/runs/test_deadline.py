"""Deadline: what is left, and what each phase may take of it."""

import math
from time import monotonic

import pytest

from sobercv.runs.deadline import Deadline


def test_without_an_end_everything_may_take_for_ever():
    deadline = Deadline()
    assert deadline.left == deadline.share(0.1) == math.inf
    assert deadline.for_training() is None


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(10, 5, 6), (60, 35, 36), (600, 509, 511), (36000, 34139, 34141)]
)
def test_training_leaves_time_for_what_follows(seconds, least, most):
    assert least <= Deadline(seconds).for_training() <= most


def test_the_time_counts_from_the_start_of_the_command():
    deadline = Deadline(60, began=monotonic() - 50)
    assert 9 < deadline.left <= 10
    assert deadline.for_training() <= 6
    late = Deadline(60, began=monotonic() - 70)
    assert late.left < 0
    assert late.share(0.5) == 0
    assert 0 < late.for_training() < 0.01


@pytest.mark.parametrize(("gone", "seconds"), [(29, 5), (31, 4), (34, 1), (36, 0)])
def test_half_of_the_tolerance_goes_to_the_first_fits_where_no_time_is_left(gone, seconds):
    assert Deadline(30, began=monotonic() - gone).for_training() == pytest.approx(seconds, abs=0.1)


def test_how_late_it_may_be():
    assert Deadline(60).tolerance == 10
    assert Deadline(3600).tolerance == 360
