"""The `scoring` argument becomes metrics by name, the one that selects first."""

import pytest
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error

import sobercv
from sobercv.errors import SoberError
from sobercv.search.scoring import metrics_of


@pytest.mark.parametrize(
    ("task", "name"), [("classification", "accuracy"), ("regression", "r2"), ("survival", "concordance_index")]
)
def test_unless_given_it_is_what_the_estimators_score_is(task, name):
    (metric,) = metrics_of(None, task).values()
    assert (metric.name, metric.task) == (name, task)


ONE = {
    "name": ("roc_auc", "roc_auc"),
    "metric": (sobercv.metrics.get("f1"), "f1"),
    "function": (accuracy_score, "accuracy_score"),
    "another string of scikit-learn": ("jaccard", "jaccard"),
}


@pytest.mark.parametrize("kind", ONE)
def test_one_metric(kind):
    scoring, name = ONE[kind]
    found = metrics_of(scoring, "classification")
    assert list(found) == [name] == [metric.name for metric in found.values()]


def test_functions_take_the_task_of_the_problem():
    for task in ("classification", "regression"):
        assert metrics_of(mean_absolute_error, task)["mean_absolute_error"].task == task


@pytest.mark.parametrize(
    ("scoring", "refit", "order"),
    [
        (["roc_auc", "accuracy"], True, ["roc_auc", "accuracy"]),
        (["roc_auc", "accuracy"], "accuracy", ["accuracy", "roc_auc"]),
        (("f1", "recall", "precision"), "precision", ["precision", "f1", "recall"]),
        ({"b": "roc_auc", "a": make_scorer(accuracy_score)}, "a", ["a", "b"]),
        ({"roc_auc", "accuracy"}, True, ["accuracy", "roc_auc"]),  # a set has no order but its names'
    ],
    ids=lambda value: repr(sorted(value)) if isinstance(value, set) else repr(value),
)
def test_several_metrics_come_with_the_selecting_one_first(scoring, refit, order):
    found = metrics_of(scoring, "classification", refit)
    assert list(found) == order
    assert [metric.name for metric in found.values()] == order


def test_a_name_of_ones_own_leaves_the_registered_metric_alone():
    found = metrics_of({"mine": "roc_auc"}, "classification")
    assert found["mine"].name == "mine"
    assert sobercv.metrics.get("roc_auc").name == "roc_auc"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((None, None), "E301", "scoring="),
        (([], "classification"), "E105", "empty"),
        (({}, "classification"), "E105", "empty"),
        ((["f1", "f1"], "classification"), "E105", "twice"),
        ((["f1", "recall"], "classification", "F1"), "E105", "f1, recall.*'F1'"),
        (("f_1", "classification"), "E105", "'f_1'.*f1"),
        ((3, "classification"), "E105", "int"),
    ],
    ids=["nothing", "no list", "no dict", "twice", "refit", "typing error", "number"],
)
def test_bad_scoring_has_a_code(arguments, code, says):
    with pytest.raises(SoberError, match=says) as caught:
        metrics_of(*arguments)
    assert caught.value.code == code
