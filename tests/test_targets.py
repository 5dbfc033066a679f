"""A target is read once: its task, its values, its classes and the positive one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sobercv import targets
from sobercv.errors import SoberError
from sobercv.targets import SURVIVAL, Target, codes_among, guess_task, obvious_positive, task_name

LABELS = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.lists(
        st.text(st.characters(exclude_characters="\x00"), max_size=2), min_size=1, max_size=40
    ),  # numpy cuts off NULs
    st.lists(st.booleans(), min_size=1, max_size=40),
)


# ---- classes --------------------------------------------------------------------------------------------------------
def test_events_and_times_are_no_labels():
    y = np.array([(True, 1.5), (False, 2.0)] * 20, SURVIVAL)
    with pytest.raises(SoberError, match=r"records of event and time.*survival"):
        Target.read(y, "classification")


@given(LABELS)
def test_labels_become_indices_of_sorted_classes(labels):
    target = Target.read(labels, "classification")
    assert target.classes.tolist() == sorted(set(labels))
    assert [target.classes.tolist()[k] for k in target.values] == labels
    assert target.n_classes == len(set(labels))
    assert len(target.values) == len(labels)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pd.Categorical, lambda v: np.array(v)[:, None]])
def test_every_container_is_read_alike(make):
    target = Target.read(make(["b", "a", "c", "b"]), "classification")
    assert target.values.tolist() == [1, 0, 2, 1]
    assert target.classes.tolist() == ["a", "b", "c"]


@given(LABELS, st.data())
def test_labels_are_found_among_classes_or_not_at_all(labels, data):
    classes = Target.read(labels, "classification").classes
    some = np.array(data.draw(st.lists(st.sampled_from(labels), min_size=1)))
    for values in (some, some.astype(object), some[:, None]):
        codes = codes_among(values, classes)
        assert codes.shape == values.shape
        assert classes[codes].tolist() == values.tolist()
    assert codes_among(np.array([object()], object), classes) is None
    assert codes_among(np.array([None, labels[0]], object), classes) is None


@pytest.mark.parametrize("n", [3, 40, 200])  # few comparisons, a search, more than fit in a byte
def test_numbers_that_are_no_class_are_found_out(n):
    classes = np.arange(n) * 2.0
    assert codes_among(classes[::-1], classes).tolist() == list(range(n))[::-1]
    assert codes_among(classes, classes[::-1]).tolist() == list(range(n))[::-1]  # in any order
    for strange in (1.0, -1.0, 2.0 * n, np.nan):
        assert codes_among(np.append(classes, strange), classes) is None


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", None, "b"], object),
        np.array(["a", np.nan, "b"], object),
        np.array(["a", pd.NA, "b"], object),
        pd.array([1, None, 2]),
        [0.0, np.nan, 1.0],
        np.ma.masked_array([0, 1, 1], [0, 1, 0]),
        np.array(["2020", "NaT"], "M8[Y]"),
    ],
)
def test_missing_labels_are_one_sentence(labels):
    with pytest.raises(SoberError, match="missing") as error:
        Target.read(labels, "classification")
    assert error.value.code == "E112"


# ---- the positive class ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([-1, 1], 1), ([1, 2], 1), ([False, True], True), ([0.0, 1.0], 1.0)],
)
def test_the_label_1_is_positive_as_in_scikit_learn(labels, positive):
    target = Target.read(labels, "classification")
    assert target.positive_label == positive
    assert target.classes.tolist() == sorted(labels)


@pytest.mark.parametrize("labels", [["ja", "nein"], [0, 5], [2, 3], ["0", "1"], [0, 1, 2], [1]])
def test_nothing_else_tells(labels):
    assert Target.read(labels, "classification").positive is None


@given(st.lists(st.sampled_from(["ja", "nein"]), min_size=1).map(lambda v: [*v, "ja", "nein"]))
def test_a_named_class_is_the_positive_and_comes_second(labels):
    for label in ("ja", "nein"):
        target = Target.read(labels, "classification", pos_label=label)
        assert target.positive == 1
        assert target.positive_label == label
        assert target.classes[target.values].tolist() == labels


@pytest.mark.parametrize(
    ("y", "task", "label", "code", "part"),
    [
        (["a", "b"], "classification", "c", "E110", "'a' or 'b'; got 'c'"),
        ([0, 1], "classification", "1", "E110", "got '1'"),
        (["a", "b", "c"], "classification", "a", "E114", "`y` has 3"),
        ([1.0, 2.5], "regression", 1.0, "E114", "regression"),
        (np.zeros(2, SURVIVAL), "survival", True, "E114", "survival"),
    ],
)
def test_a_positive_class_must_be_one_of_two(y, task, label, code, part):
    with pytest.raises(SoberError) as error:
        Target.read(y, task, pos_label=label)
    assert error.value.code == code
    assert part in error.value.message


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        (0, 1),
        (-1, 1),
        ("0", "1"),
        (False, True),
        ("no", "yes"),
        ("n", "Y"),
        ("nein", "ja"),
        ("NON", "OUI"),
        ("no", "sí"),
        ("não", "sim"),
        ("nee", "ja"),
        ("нет", "да"),
        ("否", "是"),
        ("HAYIR", "EVET"),
        ("false", "true"),
        ("negative", "positive"),
        ("-", "+"),
        ("control", "case"),
        ("témoin", "cas"),
        ("healthy", "disease"),
        ("gesund", "krank"),
        ("alive", "dead"),
        ("überlebt", "gestorben"),
        ("lebt", "verstorben"),
        ("vivant", "décédé"),
        ("benign", "malignant"),
        ("B", "M"),
        ("no relapse", "Relapse"),
        ("non-responder", "responder"),
        ("kein Ereignis", "Ereignis"),
        ("survivor", "non-survivor"),
        ("unaffected", "affected"),
    ],
)
def test_obvious_positives(negative, positive):
    assert obvious_positive([negative, positive]) == positive
    assert obvious_positive([positive, negative]) == positive


@pytest.mark.parametrize(
    "classes",
    [["A", "B"], ["F", "M"], [1, 2], [0, 2], ["1", "2"], ["healthy", "not healthy"], ["", "no"], ["yes"], list("abc")],
)
def test_what_is_not_obvious_is_not_guessed(classes):
    assert obvious_positive(classes) is None


# ---- numbers and survival -------------------------------------------------------------------------------------------
@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=20))
def test_numbers_are_float64(values):
    for y in (values, np.array(values)[:, None], pd.Series(values)):
        target = Target.read(y, "regression")
        assert target.values.dtype == np.float64
        assert target.values.tolist() == values
        assert target.classes is None


@pytest.mark.parametrize("largest", [1e151, 1e160, -1e300])
def test_numbers_whose_squares_overflow_are_refused(largest):
    with pytest.raises(SoberError, match="overflow") as error:
        Target.read([0.0, largest], "regression")
    assert error.value.code == "E112"


@pytest.mark.parametrize(
    "y",
    [
        np.array([(True, 1.0), (False, 2.0)], [("status", bool), ("months", float)]),
        np.array([(1, 1.0), (0, 2.0)], [("a", int), ("b", np.float32)]),
        [[1, 1.0], [0, 2.0]],
        [[1.0, 1], [2.0, 0]],
        pd.DataFrame({"event": [True, False], "time": [1.0, 2.0]}),
        pl.DataFrame({"time": [1.0, 2.0], "event": [True, False]}),
    ],
)
def test_survival_in_any_form(y):
    target = Target.read(y, "survival")
    assert target.values.dtype == SURVIVAL
    assert target.values["event"].tolist() == [True, False]
    assert target.values["time"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("y", "part"),
    [
        ([1.0, 2.0], "event and a time"),
        ([[2, 5.0], [0, 3.0]], "event"),
        ([[1, -5.0], [0, 3.0]], "negative"),
        ([[1, np.nan], [0, 3.0]], "finite"),
        (np.array([["yes", "5"], ["no", "3"]]), "event"),
    ],
)
def test_unusable_survival(y, part):
    with pytest.raises(SoberError, match=part) as error:
        Target.read(y, "survival")
    assert error.value.code == "E112"


# ---- parts, and more of the same ------------------------------------------------------------------------------------
def test_rows_are_taken_and_classes_stay():
    target = Target.read(["a", "b", "c"], "classification")
    part = target.take([0, 0])
    assert part.values.tolist() == [0, 0]
    assert part.n_classes == 3


def test_new_samples_are_read_with_the_classes_that_are_known():
    target = Target.read(["a", "b", "c"], "classification")
    assert target.read_new(["c", "c", "a"]).values.tolist() == [2, 2, 0]
    swapped = Target.read(["a", "b"], "classification", pos_label="a").read_new(["b", "a", "a"])
    assert swapped.values.tolist() == [0, 1, 1]
    assert swapped.positive_label == "a"
    wider = target.read_new(["d", "b"])  # no model has seen it, so none gets it right
    assert (wider.values.tolist(), wider.classes.tolist()) == ([3, 1], ["a", "b", "c", "d"])


@pytest.mark.parametrize("labels", [["a", "b"], [0, 1]])
def test_dates_are_not_among_other_labels(labels):
    dates = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    for known, new in ((labels, dates), (dates, labels)):
        with pytest.raises(SoberError, match="E110"):
            Target.read(known, "classification").read_new(new)


@pytest.mark.parametrize("n", [3, 40])
def test_a_label_that_was_never_seen_is_a_class_of_its_own(n):
    new = Target.read(np.arange(n) + 5, "classification").read_new([5, 0, 6])
    assert new.classes.tolist() == [*range(5, n + 5), 0]
    assert new.values.tolist() == [0, n, 1]


# ---- the task -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("y", "task", "is_sure"),
    [
        (["a", "b"] * 9, "classification", True),
        (list("abcdefghijklmnop"), "classification", True),
        ([True, False], "classification", True),
        ([3, 9], "classification", True),
        ([3.0, 9.0], "classification", True),
        ([0.5, 1.5], "regression", True),
        (np.arange(50) % 10, "classification", False),
        (np.arange(50) % 10.0, "classification", False),
        (np.arange(49) % 10, "regression", False),
        (np.arange(100) % 11, "regression", False),
        (np.arange(100) % 31, "regression", True),
        (np.linspace(0, 1, 9), "regression", True),
        (np.zeros(3, SURVIVAL), "survival", True),
        (np.ones((3, 2)), "survival", True),
    ],
)
def test_one_rule_tells_the_task(y, task, is_sure):
    assert guess_task(y) == (task, is_sure)


def test_two_classes_are_a_task_of_their_own_only_for_people():
    assert [task_name(t) for t in targets.TABLE_TASKS] == ["classification", "classification", "regression", "survival"]
