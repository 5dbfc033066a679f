import numpy as np
import pytest

from sobercv.training import Problem
from sobercv.training.fit.response import Unusable, responses_of

X = np.zeros((4, 1))
TWO = Problem.build(X, ["no", "yes"] * 2, task="classification")
THREE = Problem.build(X, [10, 20, 30, 10], task="classification")
NUMBERS = Problem.build(X, np.arange(4.0), task="regression")


class Canned:
    """Answers what it was told to answer."""

    def __init__(self, classes=None, **answers):
        if classes is not None:
            self.classes_ = np.asarray(classes)
        self.calls = 0
        for name, values in answers.items():
            setattr(self, name, lambda X, values=values: self._count(values))

    def _count(self, values):
        self.calls += 1
        return values


def ask(problem, canned, *wanted):
    return responses_of(problem, canned, X, 4, wanted)


def test_labels_become_indices():
    got = ask(TWO, Canned(predict=np.array(["yes", "no", "no", "yes"])), ("predict",))["predict"]
    assert got.tolist() == [1, 0, 0, 1]
    assert got.dtype == np.int8
    assert ask(THREE, Canned(predict=[[30], [10], [20], [10]]), ("predict",))["predict"].tolist() == [2, 0, 1, 0]


def test_two_classes_have_one_column():
    shares = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5], [1, 0]])
    for classes, expected in [(["no", "yes"], shares[:, 1]), (["yes", "no"], shares[:, 0]), (None, shares[:, 1])]:
        got = ask(TWO, Canned(classes, predict_proba=shares), ("predict_proba",))["predict_proba"]
        np.testing.assert_array_equal(got, expected)
    sure = Canned(["yes"], predict_proba=np.ones((4, 1)))
    assert ask(TWO, sure, ("predict_proba",))["predict_proba"].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("classes", [["no", "yes"], ["yes", "no"], None, [0, 1]])  # the last has names of its own
def test_scores_are_those_of_the_class_that_was_named_positive(classes):
    problem = Problem.build(X, ["no", "yes"] * 2, task="classification", pos_label="no")
    assert problem.classes.tolist() == ["yes", "no"]
    shares, decisions = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5], [1, 0]]), np.array([-1.0, 2.0, 0.0, 3.0])
    canned = Canned(classes, predict=["no", "no", "yes", "yes"], predict_proba=shares, decision_function=decisions)
    got = ask(problem, canned, ("predict",), ("predict_proba",), ("decision_function",))
    assert got["predict"].tolist() == [1, 1, 0, 0]
    swapped = classes == ["yes", "no"]
    np.testing.assert_array_equal(got["predict_proba"], shares[:, 1 if swapped else 0])
    np.testing.assert_array_equal(got["decision_function"], decisions if swapped else -decisions)


def test_rounding_is_no_impossible_probability():
    shares = np.array([[-1e-7, 1 + 1e-7], [0.3334, 0.6664]] * 2)
    got = ask(TWO, Canned(predict_proba=shares), ("predict_proba",))["predict_proba"]
    np.testing.assert_array_equal(got, shares[:, 1])


def test_columns_are_aligned_and_an_absent_class_has_no_share():
    shares = np.array([[0.1, 0.9]] * 4)
    got = ask(THREE, Canned([30, 10], predict_proba=shares), ("predict_proba",))["predict_proba"]
    np.testing.assert_array_equal(got, [[0.9, 0.0, 0.1]] * 4)
    decisions = np.arange(12.0).reshape(4, 3)
    got = ask(THREE, Canned([30, 10, 20], decision_function=decisions), ("decision_function",))["decision_function"]
    np.testing.assert_array_equal(got, decisions[:, [1, 2, 0]])


def test_decisions_of_two_classes_point_to_the_second():
    values = np.array([-1.0, 2.0, 0.0, 3.0])
    wanted = ("decision_function",)
    np.testing.assert_array_equal(ask(TWO, Canned(["no", "yes"], decision_function=values), wanted)[wanted[0]], values)
    np.testing.assert_array_equal(ask(TWO, Canned(["yes", "no"], decision_function=values), wanted)[wanted[0]], -values)


def test_first_method_there_is_names_nothing_but_is_called_once():
    shares = np.array([[0.1, 0.9]] * 4)
    canned = Canned(["no", "yes"], predict_proba=shares)
    got = ask(TWO, canned, ("decision_function", "predict_proba"), ("predict_proba",))
    assert sorted(got) == ["decision_function", "predict_proba"]
    np.testing.assert_array_equal(got["decision_function"], shares[:, 1])
    assert canned.calls == 1


def test_numbers_are_float64():
    got = ask(NUMBERS, Canned(predict=np.arange(4, dtype=np.float32)[:, None]), ("predict",))["predict"]
    assert got.dtype == np.float64
    assert got.shape == (4,)


@pytest.mark.parametrize(
    ("problem", "canned", "method", "kind", "part"),
    [
        (TWO, Canned(predict=["no"] * 3), "predict", "wrong shape", "(3,) for 4 samples"),
        (TWO, Canned(predict=np.array([["no", "no"]] * 4)), "predict", "wrong shape", "not one label"),
        (TWO, Canned(predict="no"), "predict", "wrong shape", "()"),
        (TWO, Canned(predict=np.array(["no", "no", "no", "maybe"])), "predict", "unknown label", "'maybe'"),
        (THREE, Canned(predict=np.array([10.0, np.nan, 20, 30])), "predict", "not finite", "NaN"),
        (TWO, Canned(predict_proba=np.ones((4, 3))), "predict_proba", "wrong shape", "2 classes"),
        (TWO, Canned(predict_proba=np.ones(4)), "predict_proba", "wrong shape", "(4,)"),
        (TWO, Canned(["yes"], predict_proba=np.ones((4, 2))), "predict_proba", "wrong shape", "(4, 2)"),
        (TWO, Canned(predict_proba=np.full((4, 2), np.nan)), "predict_proba", "not finite", "8 values"),
        (TWO, Canned(decision_function=np.ones((4, 2))), "decision_function", "wrong shape", "(4, 2)"),
        (THREE, Canned(decision_function=np.ones((4, 6))), "decision_function", "wrong shape", "3 classes"),
        (THREE, Canned([10, 20], decision_function=np.ones(4)), "decision_function", "wrong shape", "3 classes"),
        (THREE, Canned(decision_function=np.ones((4, 3, 1))), "decision_function", "wrong shape", "(4, 3, 1)"),
        (NUMBERS, Canned(predict=np.ones((4, 2))), "predict", "wrong shape", "(4, 2)"),
        (NUMBERS, Canned(predict=np.array([1, np.inf, 0, 0])), "predict", "not finite", "1 values"),
        (NUMBERS, Canned(predict=np.array(list("abcd"))), "predict", "not finite", "not numbers"),
        (TWO, Canned(predict=np.array(["no", None, "no", "no"])), "predict", "unknown label", "None"),
        (TWO, Canned(predict_proba=np.full((4, 2), 1.5)), "predict_proba", "impossible probabilities", "to 1.5"),
        (TWO, Canned(predict_proba=np.array([[-0.5, 1.5]] * 4)), "predict_proba", "impossible probabilities", "-0.5"),
        (TWO, Canned(predict_proba=np.full((4, 2), 0.15)), "predict_proba", "impossible probabilities", "0.3"),
        (TWO, Canned(["yes"], predict_proba=np.full((4, 1), 0.3)), "predict_proba", "impossible probabilities", "0.3"),
        (THREE, Canned(predict_proba=np.full((4, 3), 0.1)), "predict_proba", "impossible probabilities", "add up to 1"),
        (NUMBERS, Canned(predict=np.array([True, False] * 2)), "predict", "not finite", "bool"),
        (NUMBERS, Canned(predict=np.array([1j] * 4)), "predict", "not finite", "complex"),
        (NUMBERS, Canned(predict=np.full(4, 1e200)), "predict", "not finite", "beyond 1e+150 overflow"),
        (NUMBERS, Canned(), "predict", "no method", "Canned has none of predict"),
    ],
)
def test_unusable_answers_have_a_name(problem, canned, method, kind, part):
    with pytest.raises(Unusable) as error:
        ask(problem, canned, (method,))
    assert error.value.args[0] == kind
    assert part in error.value.args[1]
