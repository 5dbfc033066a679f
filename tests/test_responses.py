"""Arrays from any tool become one named response in one form, or are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sobercv
from sobercv.errors import SoberError
from sobercv.responses import OFF, OUTSIDE, read_response, why_impossible, with_axes
from sobercv.targets import Target

TWO = Target.read(["no", "yes", "no", "yes"], "classification")
THREE = Target.read([1, 2, 3, 1], "classification")
NUMBERS = Target.read([0.5, 1.5, 2.5, 3.5], "regression")
SEEN = np.ones((4, 1), bool)
SCORES = ("decision_function", "predict_proba")
SHARES = np.array([[0.2, 0.3, 0.5]] * 4)


def read(array, target=TWO, responses=("predict",), name="", seen=SEEN):
    array, _ = with_axes(np.asarray(array), None, target)
    return read_response(name, array, seen, target, responses)


# ---- axes -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shape", "target", "expected"),
    [
        ((4,), TWO, (4, 1, 1)),
        ((4, 5), TWO, (4, 5, 1)),
        ((4, 5, 6), TWO, (4, 5, 6)),
        ((4, 5, 6, 2), TWO, (4, 5, 6, 2)),
        ((4, 5, 6, 3), THREE, (4, 5, 6, 3)),
    ],
)
def test_axes_are_samples_configurations_repeats_classes(shape, target, expected):
    array, here = with_axes(np.zeros(shape), np.ones(shape, bool), target)
    assert array.shape == expected
    assert here.shape == expected[:3]


def test_three_axes_that_add_up_to_one_are_classes():
    array, _ = with_axes(np.stack([SHARES] * 5, axis=1), None, THREE)
    assert array.shape == (4, 5, 1, 3)
    with pytest.raises(SoberError, match="two classes"):
        with_axes(np.full((4, 5, 2), 0.5), None, TWO)


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        ((), "0 axes"),
        ((4, 1, 1, 2, 1), "5 axes"),
        ((3, 4), "transposed"),
        ((3, 2), "3 rows"),
        ((4, 1, 1, 3), "2 classes"),
    ],
)
def test_other_shapes_are_refused(shape, part):
    with pytest.raises(SoberError, match=part) as error:
        with_axes(np.zeros(shape), None, TWO)
    assert error.value.code == "E101"


# ---- which response it is -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("array", "target", "responses", "name"),
    [
        (["no", "no", "yes", "yes"], TWO, ("predict",), "predict"),
        ([0.1, 0.9, 0.5, 1.0], TWO, ("predict",), "predict_proba"),  # labels are read off
        ([0.1, 0.9, 0.5, 1.0], TWO, SCORES, "predict_proba"),
        ([0.1, 0.9, 0.5, 1.1], TWO, SCORES, "decision_function"),
        ([0.1, 0.9, 0.5, 1.0], TWO, ("decision_function",), "decision_function"),
        ([0, 1, 0, 1], TWO, SCORES, "predict_proba"),
        ([False, True, False, True], TWO, SCORES, "predict_proba"),
        (SHARES[:, None, :], THREE, ("predict",), "predict_proba"),
        ([1, 2, 3, 3], THREE, ("predict",), "predict"),
        ([1, 2, 3, 3], NUMBERS, ("predict",), "predict"),
    ],
)
def test_bare_arrays_are_read_by_what_is_wanted(array, target, responses, name):
    found, tensor = read(array, target, responses)
    assert found == name
    assert tensor.shape[:3] == (4, 1, 1)


def test_a_name_decides():
    assert read([0.1, 0.9, 0.5, 1.0], name="decision_function")[0] == "decision_function"
    assert read([0.1, 0.9, 0.5, 1.0], name="predict_proba")[0] == "predict_proba"


@pytest.mark.parametrize("kind", [np.float16, np.longdouble, ">f8"])
def test_probabilities_from_which_labels_are_read_come_in_types_that_kernels_take(kind):
    tensor = read(np.array([0.1, 0.9, 0.5, 1.0], kind))[1]
    assert tensor.dtype in (np.float32, np.float64)
    assert tensor.dtype.isnative


def test_two_columns_leave_that_of_the_second_class():
    columns = np.array([[0.9, 0.1], [0.2, 0.8]] * 2)[:, None, None, :]
    np.testing.assert_array_equal(read(columns)[1][:, 0, 0], [0.1, 0.8] * 2)
    swapped = Target.read(["no", "yes"] * 2, "classification", pos_label="no")
    np.testing.assert_array_equal(read(columns, swapped)[1][:, 0, 0], [0.9, 0.2] * 2)
    assert read(["no", "yes", "yes", "no"], swapped)[1][:, 0, 0].tolist() == [1, 0, 0, 1]


def test_what_is_not_seen_may_hold_anything():
    seen = SEEN.copy()
    seen[2] = False
    assert read(np.array(["no", "no", None, "yes"], object), seen=seen)[1][:, 0, 0].tolist() == [0, 0, 0, 1]
    assert read([0.1, 0.9, np.nan, 1.0], responses=SCORES, seen=seen)[0] == "predict_proba"
    assert read([1, 2, np.inf, 3], NUMBERS, seen=seen)[0] == "predict"
    columns = np.array([[0.9, 0.1], [0.2, 0.8], [7, 7], [0.5, 0.5]])[:, None, None, :]
    assert read(columns, seen=seen)[0] == "predict_proba"


@pytest.mark.parametrize(
    ("array", "options", "code"),
    [
        (["no", "no", "maybe", "yes"], {}, "E110"),
        ([0.1, 0.9, 0.5, 1.1], {}, "E110"),
        ([0.1, 0.9, 0.5, 1.0], {"name": "predict"}, "E110"),
        ([0.1, 0.9, 0.5, 1.1], {"name": "predict_proba"}, "E102"),
        ([0.1, 0.9, 0.5, 1.1], {"responses": ("predict_proba",)}, "E102"),
        (np.full((4, 1, 1, 2), 0.15), {}, "E102"),
        (np.full((4, 1, 1, 3), 0.1), {"target": THREE}, "E102"),
        ([0.1, np.nan, 0.5, 1.0], {"responses": SCORES}, "E102"),
        ([0.1, np.inf, 0.5, 1.0], {"target": NUMBERS}, "E102"),
        ([True, False, True, False], {"target": NUMBERS}, "E102"),
        ([1j] * 4, {"target": NUMBERS}, "E102"),
    ],
)
def test_what_cannot_be_a_prediction_is_refused(array, options, code):
    with pytest.raises(SoberError) as error:
        read(array, **options)
    assert error.value.code == code


def test_booleans_are_zeros_and_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    labels = rng.random((60, 4)) < 0.2 + 0.6 * y[:, None]
    flags, numbers = (sobercv.bbc(y, each, "roc_auc", n_bootstraps=50) for each in (labels, labels.astype(int)))
    assert (flags.value, flags.interval) == (numbers.value, numbers.interval)
    assert "W206" in [note.code for note in flags.notes]


# ---- probabilities --------------------------------------------------------------------------------------------------
@given(st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda v: sum(v) > 1e-6), st.floats(-1, 3))
def test_probabilities_lie_in_the_unit_interval_and_add_up(weights, stretch):
    shares = np.array([weights]) / sum(weights)
    assert why_impossible(shares, by_class=True) is None
    assert why_impossible(shares, by_class=False) is None
    stretched = shares * stretch
    outside = stretched.min() < -OUTSIDE or stretched.max() > 1 + OUTSIDE
    assert (why_impossible(stretched, by_class=False) is not None) == outside
    if outside or abs(stretched.sum() - 1) > 2 * OFF:
        assert why_impossible(stretched, by_class=True) is not None


def test_rounding_is_forgiven_and_no_more():
    for off, possible in ((0.9 * OFF, True), (1.1 * OFF, False)):
        assert (why_impossible(np.array([[0.5, 0.5 + off]]), by_class=True) is None) == possible
        assert (why_impossible(np.array([[0.5, 0.5 - off]]), by_class=True) is None) == possible
    for outside, possible in ((0.9 * OUTSIDE, True), (1.1 * OUTSIDE, False)):
        assert (why_impossible(np.array([1 + outside]), by_class=False) is None) == possible
        assert (why_impossible(np.array([-outside]), by_class=False) is None) == possible
