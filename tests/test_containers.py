"""Containers of any kind become plain arrays, and what is no number is no number."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import sobercv
from sobercv.containers import as_array, as_numbers, bounds, codes_of, has_missing, weights_of
from sobercv.errors import SoberError

GRID = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    "make",
    [np.array, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, sparse.csr_matrix, np.ma.masked_array],
    ids=["numpy", "list", "pandas", "polars", "sparse", "nothing masked"],
)
def test_every_container_becomes_the_same_array(make):
    array, present = as_array(make(GRID), "x")
    np.testing.assert_array_equal(array, GRID)
    assert type(array) is np.ndarray
    assert present is None


def test_a_mask_says_what_is_there():
    mask = np.zeros((3, 2), bool)
    mask[1, 1] = True
    array, present = as_array(np.ma.masked_array(GRID, mask), "x")
    np.testing.assert_array_equal(array, GRID)
    np.testing.assert_array_equal(present, ~mask)


def test_ragged_rows_are_refused_by_name():
    with pytest.raises(SoberError, match="`x` must be a rectangular array") as error:
        as_array([[1, 2], [3]], "x")
    assert error.value.code == "E101"


@pytest.mark.parametrize(
    ("given_type", "expected"),
    [
        ("f2", np.float32),
        ("f4", np.float32),
        (">f4", np.float32),
        ("f8", np.float64),
        (">f8", np.float64),
        (np.longdouble, np.float64),
        ("i1", np.float64),
        ("u8", np.float64),
        (object, np.float64),
        ("U3", np.float64),
    ],
)
def test_numbers_come_in_types_that_kernels_take(given_type, expected):
    values = np.array([0, 1, 2]).astype(given_type)
    numbers = as_numbers(values, "x")
    assert numbers.dtype == expected
    assert numbers.dtype.isnative
    assert numbers.tolist() == [0, 1, 2]


def test_floats_are_not_copied():
    for kind in (np.float32, np.float64):
        values = np.zeros(3, kind)
        assert as_numbers(values, "x") is values


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array([True, False]), "True"),
        (np.array([1 + 2j]), "2j"),
        (np.array(["2020-01-01"], "M8[D]"), "2020-01-01"),
        (np.array([3], "m8[s]"), "3 seconds"),
        (np.array([1.5, True], object), "True"),
        (np.array([1.5, np.datetime64("2020")], object), "2020"),
        (np.array([1.5, 2j], object), "2j"),
        (np.array(["1.5", "high"]), "'high'"),
        (np.array([1.5, pd.Timestamp("2020-01-01")], object), "Timestamp"),
        (np.array([], bool), "bool"),
    ],
)
def test_what_is_no_number_is_named(values, shown):
    with pytest.raises(SoberError) as error:
        as_numbers(values, "x", "E107")
    assert error.value.code == "E107"
    assert shown in error.value.message


def test_decimals_are_numbers():
    assert as_numbers(np.array([decimal.Decimal("1.5"), 2], object), "x").tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, np.nan], True),
        (np.array(["2020", "NaT"], "M8[Y]"), True),
        (np.array(["a", None], object), True),
        (np.array(["a", np.nan], object), True),
        (np.array(["a", pd.NA], object), True),
        (np.array([pd.NaT, "a"], object), True),
        ([1.0, np.inf], False),
        ([1, 2], False),
        (["a", "nan"], False),
        (np.array(["a", 1], object), False),
        ([True, False], False),
    ],
)
def test_missing_entries_are_found_whatever_they_are_called(values, expected):
    assert has_missing(np.asarray(values)) is expected


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=7), elements=st.floats(width=64)))
def test_bounds_show_what_is_not_finite(array):
    low, high = bounds(array)
    assert np.isfinite([low, high]).all() == np.isfinite(array).all()
    assert (low >= -1 and high <= 1) == bool(((array >= -1) & (array <= 1)).all())
    assert has_missing(array) == np.isnan(array).any()


@given(st.lists(st.one_of(st.integers(-5, 5), st.just(7)), min_size=1, max_size=30))
def test_codes_number_distinct_values_in_order(values):
    codes = codes_of(values, len(values), "groups")
    distinct = sorted(set(values))
    assert [distinct[c] for c in codes] == values
    assert codes.dtype == np.int64


def test_groups_may_be_text_or_dates():
    assert codes_of(["b", "a", "b"], 3, "groups").tolist() == [1, 0, 1]
    assert codes_of(np.array(["2021", "2020"], "M8[Y]"), 2, "groups").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([1, 2], "3 samples"),
        ([1.0, np.nan, 2.0], "missing"),
        (np.array([1.0, np.nan, 2.0], object), "missing"),
        (np.array(["a", None, "b"], object), "missing"),
        (np.ma.masked_array([1, 2, 3], [0, 1, 0]), "missing"),
        (np.array(["a", 1, "b"], object), "mixes"),
    ],
)
def test_unusable_groups_are_refused(values, part):
    with pytest.raises(SoberError, match=part) as error:
        codes_of(values, 3, "groups")
    assert error.value.code == "E107"


def test_weights_are_float64_or_nothing():
    weights = weights_of(np.array([1, 2, 0], np.int8), 3)
    assert weights.dtype == np.float64
    assert weights.tolist() == [1, 2, 0]
    assert weights_of(None, 3) is None


@pytest.mark.parametrize(
    "values",
    [[1, 2], [1, -1, 1], [0, 0, 0], [1, np.inf, 1], [True, False, True], np.ma.masked_array([1, 2, 3], [0, 1, 0])],
)
def test_unusable_weights_are_refused(values):
    with pytest.raises(SoberError, match="sample_weight") as error:
        weights_of(values, 3)
    assert error.value.code == "E107"


def test_rows_in_another_order_are_refused_where_indexes_say_so():
    rng = np.random.default_rng(0)
    y = pd.Series(rng.integers(0, 2, 60), index=[f"p{i}" for i in range(60)])
    p = pd.DataFrame(rng.random((60, 3)), index=y.index)
    plain = sobercv.bbc(y, p, "roc_auc", n_bootstraps=64)
    for options in ({"predictions": p.iloc[::-1]}, {"groups": pd.Series(range(60), index=y.index[::-1])}):
        with pytest.raises(sobercv.SoberError, match=r"a different order.*\.loc\[y.index\]") as caught:
            sobercv.bbc(y, **{"predictions": p, "metric": "roc_auc", "n_bootstraps": 64} | options)
        assert caught.value.code == "E101"
    # Indexes that tell nothing: one was made anew, or values repeat.
    for other in (p.reset_index(drop=True), p.set_axis(["same"] * 60), p.to_numpy()):
        assert sobercv.bbc(y, other, "roc_auc", n_bootstraps=64).value == plain.value
