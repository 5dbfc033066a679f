"""The `scoring` argument becomes metrics by name, the one that selects first."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, PoissonRegressor, Ridge
from sklearn.metrics import accuracy_score, fbeta_score, get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sobercv
from sobercv.errors import SoberError
from sobercv.metrics import Metric
from sobercv.search.scoring import ModelScorer, ScoringPlan

TIMES = np.array([(True, 1.0), (False, 2.0)], [("event", bool), ("time", float)])
#: By task, what tells it: an estimator or the target.
TELLING = {
    "classification": (DummyClassifier(), None), "regression": (DummyRegressor(), None),
    "survival": (None, TIMES), None: (None, None),
}  # fmt: skip


def planned(scoring, task, refit=True, estimator=None):
    dummy, y = TELLING[task]
    search = SimpleNamespace(scoring=scoring, refit=refit, estimator=dummy if estimator is None else estimator)
    return ScoringPlan.make(search, y)


def metrics_of(*arguments, **options):
    return planned(*arguments, **options).metrics()


def scorers_of(*arguments, **options):
    return planned(*arguments, **options).scorers


@pytest.mark.parametrize(
    ("task", "name"), [("classification", "accuracy"), ("regression", "r2"), ("survival", "concordance_index")]
)
def test_unless_given_it_is_what_the_estimators_score_is(task, name):
    (metric,) = metrics_of(None, task).values()
    assert (metric.name, metric.task) == (name, task)


ONE = {
    "name": ("roc_auc", "roc_auc"),
    "metric": (sobercv.metrics.get("f1"), "f1"),
    "function": (accuracy_score, "accuracy"),
    "scorer": (make_scorer(fbeta_score, beta=2), "fbeta(beta=2)"),
    "another string of scikit-learn": ("jaccard", "jaccard"),
}


@pytest.mark.parametrize("kind", ONE)
def test_one_metric(kind):
    scoring, name = ONE[kind]
    found = metrics_of(scoring, "classification")
    assert list(found) == [name] == [metric.name for metric in found.values()]


def test_functions_take_the_task_of_the_problem():
    for task in ("classification", "regression"):
        for scoring in (mean_absolute_error, "neg_mean_absolute_error"):
            assert metrics_of(scoring, task)["neg_mean_absolute_error"].task == task


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
        ((None, None), "E112", "scoring="),
        (([], "classification"), "E105", "empty"),
        (({}, "classification"), "E105", "empty"),
        ((["f1", "f1"], "classification"), "E105", "two metrics called 'f1'.*own name"),
        (([lambda y, p: 0.0, lambda y, p: 1.0], "classification"), "E105", "two metrics called '<lambda>'"),
        (({1: "accuracy", "1": "roc_auc"}, "classification"), "E105", "two metrics called '1'"),
        ((["f1", "recall"], "classification", "F1"), "E105", "f1, recall.*'F1'"),
        (("f_1", "classification"), "E105", "'f_1'.*f1"),
        ((3, "classification"), "E105", "int"),
    ],
    ids=["nothing", "no list", "no dict", "twice", "two lambdas", "number and text", "refit", "typing error", "number"],
)
def test_bad_scoring_has_a_code(arguments, code, says):
    with pytest.raises(SoberError, match=says) as caught:
        metrics_of(*arguments)
    assert caught.value.code == code


# ---- what needs the model -------------------------------------------------------------------------------------------
def of_the_model(estimator, X, y):
    return -float(np.abs(estimator.coef_).sum()) + estimator.score(X, y)


def several(estimator, X, y):
    return {"a": estimator.score(X, y), "b": np.float32(len(X))}


X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=500).fit(X, Y)


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (of_the_model, "of_the_model"),
        (several, "several"),
        (lambda est, X, y: 1.0, "<lambda>"),
        ({"mine": of_the_model}, "mine"),
    ],
    ids=["function", "dict of numbers", "lambda", "named"],
)
def test_scorers_of_the_model_are_told_from_metrics(scoring, name):
    (scorer,) = scorers_of(scoring, "classification").values()
    assert isinstance(scorer, ModelScorer)
    assert scorer.name == name
    with pytest.raises(SoberError, match="fitted model") as caught:
        metrics_of(scoring, "classification")
    assert caught.value.code == "E116"


def test_metrics_and_scorers_can_stand_side_by_side():
    found = scorers_of({"auc": "roc_auc_ovr", "size": of_the_model}, "classification")
    assert list(found) == ["auc", "size"]
    assert [isinstance(scorer, Metric) for scorer in found.values()] == [True, False]


def test_a_scorer_of_the_model_is_called_with_the_model_and_its_rows():
    assert ModelScorer("mine", of_the_model).by_name(MODEL, X, Y) == {"mine": of_the_model(MODEL, X, Y)}
    assert ModelScorer("mine", several).by_name(MODEL, X, Y) == {"a": MODEL.score(X, Y), "b": 150.0}
    assert ModelScorer("score").by_name(MODEL, X, Y) == {"score": MODEL.score(X, Y)}
    assert ModelScorer("x", lambda est, X, y: np.array([0.5])).by_name(MODEL, X, Y) == {"x": 0.5}
    weight = np.arange(150.0)
    weighted = ModelScorer("score").by_name(MODEL, X, Y, sample_weight=weight)
    assert weighted == {"score": MODEL.score(X, Y, sample_weight=weight)}


@pytest.mark.parametrize("answer", ["good", None, np.array([0.5, 0.6]), {"a": "good"}], ids=str)
def test_a_scorer_must_give_numbers(answer):
    with pytest.raises(SoberError, match="must return a number") as caught:
        ModelScorer("mine", lambda est, X, y: answer).by_name(MODEL, X, Y)
    assert caught.value.code == "E117"


OWN = {
    "accuracy": [MODEL, DummyClassifier(), KNeighborsClassifier(), make_pipeline(StandardScaler(), MODEL), None],
    "r2": [Ridge(), make_pipeline(StandardScaler(), Ridge())],
}


@pytest.mark.parametrize("name", OWN)
def test_the_usual_score_is_a_metric(name):
    for estimator in OWN[name]:
        task = "classification" if name == "accuracy" else "regression"
        assert list(metrics_of(None, task, estimator=estimator)) == [name]


def test_a_score_of_its_own_is_the_models():
    """PoissonRegressor scores by its deviance, a search by its scorer: never R2 or accuracy in their place."""
    X, y = load_diabetes(return_X_y=True)
    for estimator in (PoissonRegressor(), make_pipeline(StandardScaler(), PoissonRegressor())):
        (scorer,) = scorers_of(None, "regression", estimator=estimator).values()
        assert isinstance(scorer, ModelScorer)
        fitted = estimator.fit(X, y)
        assert scorer(fitted, X, y) == fitted.score(X, y)
        with pytest.raises(SoberError, match="own `score`"):
            metrics_of(None, "regression", estimator=estimator)
    (scorer,) = scorers_of(None, "classification", estimator=LogisticRegressionCV(scoring="roc_auc_ovr")).values()
    assert isinstance(scorer, ModelScorer)


def test_a_search_inside_a_search_scores_by_its_scorer():
    for kind in (GridSearchCV, sobercv.BBCSearchCV):
        for scoring, name in (
            ("roc_auc_ovr", "roc_auc_ovr"),
            (None, "accuracy"),
            (["f1_macro", "accuracy"], "accuracy"),
        ):
            inner = kind(
                MODEL, {"C": [0.1, 1.0]}, scoring=scoring, refit="accuracy" if isinstance(scoring, list) else True
            )
            assert list(metrics_of(None, "classification", estimator=make_pipeline(StandardScaler(), inner))) == [name]
        own = kind(PoissonRegressor(), {"alpha": [0.1, 1.0]})
        assert isinstance(scorers_of(None, "regression", estimator=own)["score"], ModelScorer)


def test_a_scorer_that_cannot_be_looked_into_is_called_on_the_model():
    scorer = get_scorer("f1_macro")
    del scorer.__dict__["_score_func"]  # as if a later scikit-learn kept it elsewhere
    (found,) = scorers_of(scorer, "classification").values()
    assert isinstance(found, ModelScorer)
