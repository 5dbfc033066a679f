"""Habits of GridSearchCV that people rely on: arguments, hasattr, scorers, warnings, names, frames."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import sobercv
from sobercv.errors import SoberError, SoberWarning, also

from ..training.training_estimators import Troubled

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
IRIS = load_iris(return_X_y=True)
SMOOTHING = {"var_smoothing": [1e-9, 0.1, 0.5]}


def search(estimator=None, grid=None, **options):
    estimator = GaussianNB() if estimator is None else estimator
    return sobercv.BBCSearchCV(estimator, grid or SMOOTHING, **{"cv": 3, "n_bootstraps": 20, "drop": None, **options})


# ---- arguments -------------------------------------------------------------------------------------------------------
def test_a_callable_picks_what_is_trained():
    one = search(refit=lambda results: int(results["mean_test_score"].argmin())).fit(X, Y)
    assert one.best_index_ == one.cv_results_["mean_test_score"].argmin()
    assert one.best_estimator_.var_smoothing == SMOOTHING["var_smoothing"][one.best_index_]
    assert [note.code for note in one.estimate_.notes] == ["W212"]
    plain = search().fit(X, Y)
    assert one.estimate_.winner == plain.best_index_ != one.best_index_
    assert one.estimate_.value == plain.estimate_.value
    assert not hasattr(one, "best_score_")
    assert hasattr(one.set_params(refit=True).fit(X, Y), "best_score_")
    assert not hasattr(one.set_params(refit=lambda results: 0).fit(X, Y), "best_score_")


def test_failed_configurations_get_the_score_that_was_asked_for():
    grid = {"trouble": ["none", "raise"], "size": [0, 1]}
    with pytest.warns(FitFailedWarning, match="2 of 4 configurations failed.*trouble='raise'"):
        one = search(Troubled(), grid, scoring="accuracy", error_score=2).fit(X, Y)
    failed = one.race_.status == "failed"
    for name in ("split0_test_score", "mean_test_score", "pooled_test_score"):
        assert (one.cv_results_[name] == 2).tolist() == failed.tolist()
    assert one.cv_results_["rank_test_score"][failed].tolist() == [3, 3]  # they never win
    assert one.best_params_["trouble"] == "none"


def test_random_search_has_every_option_with_its_default():
    ours = sobercv.BBCRandomizedSearchCV(GaussianNB(), SMOOTHING).get_params(deep=False)
    other = sobercv.BBCSearchCV(GaussianNB(), SMOOTHING).get_params(deep=False)
    assert ours.keys() - other.keys() == {"n_iter", "param_distributions"}
    assert other.keys() - ours.keys() == {"param_grid"}
    assert [name for name in ours.keys() & other.keys() if repr(ours[name]) != repr(other[name])] == []


def test_random_search_draws_what_scikit_learn_draws():
    space = {"var_smoothing": np.logspace(-9, 0, 50)}
    theirs = RandomizedSearchCV(GaussianNB(), space, n_iter=4, cv=3, random_state=7).fit(X, Y)
    ours = sobercv.BBCRandomizedSearchCV(
        GaussianNB(), space, n_iter=4, cv=3, random_state=7, drop=None, n_bootstraps=20
    )
    assert clone(ours).get_params().keys() >= {"param_distributions", "n_iter"}
    assert ours.fit(X, Y).cv_results_["params"] == theirs.cv_results_["params"]
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)


# ---- targets and containers ------------------------------------------------------------------------------------------
def test_labels_that_no_model_has_seen_count_as_wrong():
    kept = IRIS[1] < 2
    theirs = GridSearchCV(GaussianNB(), SMOOTHING, cv=3).fit(IRIS[0][kept], IRIS[1][kept])
    ours = search().fit(IRIS[0][kept], IRIS[1][kept])
    assert ours.score(*IRIS) == theirs.score(*IRIS) == pytest.approx(2 / 3)


def test_pyarrow_tables():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    plain, arrow = search().fit(frame.to_numpy(), Y), search().fit(pa.Table.from_pandas(frame), pa.array(Y))
    assert arrow.estimate_.to_dict() == plain.estimate_.to_dict()


# ---- manners ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["predict", "predict_proba", "classes_", "n_features_in_", "transform"])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("fitted", [True, False])
def test_has_what_grid_search_has(name, refit, fitted):
    ours, theirs = search(refit=refit), GridSearchCV(GaussianNB(), SMOOTHING, cv=3, refit=refit)
    if fitted:
        ours, theirs = ours.fit(X, Y), theirs.fit(X, Y)
    assert hasattr(ours, name) == hasattr(theirs, name)


def test_scorers_are_callable():
    one = search(scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, Y)
    theirs = GridSearchCV(GaussianNB(), SMOOTHING, cv=3, scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, Y)
    for name, scorer in theirs.scorer_.items():
        assert one.scorer_[name](theirs.best_estimator_, X, Y) == pytest.approx(
            scorer(theirs.best_estimator_, X, Y), rel=1e-12
        )
    assert one.score(X, Y) == one.scorer_["roc_auc"](one.best_estimator_, X, Y)


def test_html_shows_the_winner():
    pipeline = Pipeline([("model", DummyClassifier())])
    grid = {"model": [DummyClassifier(), LogisticRegression(max_iter=5000)]}
    fitted = search(pipeline, grid).fit(X, Y)
    assert "<div>LogisticRegression</div>" in fitted._repr_html_()
    assert "<div>DummyClassifier</div>" not in fitted._repr_html_()
    assert "<div>DummyClassifier</div>" in search(pipeline, grid, refit=False).fit(X, Y)._repr_html_()


@pytest.mark.parametrize("scoring", ["accuracy", lambda model, X, y: model.score(X, y)], ids=["metric", "scorer"])
def test_showing_a_search_draws_nothing(monkeypatch, scoring):
    """scikit-learn looks at every attribute that is listed; families are another bootstrap, or refused by folds."""
    fitted = search(scoring=scoring).fit(X, Y)
    monkeypatch.setattr("sobercv.search.fitted.families", None)  # cannot be called
    assert {"predict", "estimate_", "gain_over", "families"} <= set(dir(fitted))
    assert "honest score" in fitted._repr_html_()


def test_when_all_fail_alike_the_error_is_of_their_type():
    with pytest.raises(RuntimeError, match=r"no luck today.*E315") as caught:
        search(Troubled(), {"trouble": ["raise"], "size": [0, 1]}, scoring="accuracy").fit(X, Y)
    assert isinstance(caught.value, SoberError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, RuntimeError)
    assert (again.code, str(again)) == ("E315", str(caught.value))
    assert also(ValueError) is SoberError


# ---- names and frames ------------------------------------------------------------------------------------------------
def test_winners_go_by_their_parameters():
    one = search().fit(X, Y)
    assert one.estimate_.winner_params == one.best_params_
    shown = f"var_smoothing={one.best_params_['var_smoothing']!r}"
    for text in (repr(one.estimate_), one.estimate_.summary(), repr(one), one._repr_html_()):
        assert shown in text


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("method", [sobercv.bbc, sobercv.naive])
def test_winners_go_by_their_columns(frame, method):
    table = frame({"forest": 1.0 - Y, "svm": Y * 1.0, "net": Y * 0.0})
    estimate = method(Y, table, "roc_auc")
    assert estimate.winner_name == "svm"
    assert "svm" in repr(estimate)
    assert method(Y, table.to_numpy(), "roc_auc").winner_name is None


def test_frames():
    one = search(scoring=["accuracy", "neg_log_loss"]).fit(*IRIS)
    long = one.predictions_.to_frame()
    assert len(long) == 150 * 3
    assert {"sample", "configuration", "repeat", "fold", "y", "predict", "predict_proba_2"} <= set(long.columns)
    hits = np.asarray(long["y"]) == np.asarray(long["predict"])
    pooled = [hits[np.asarray(long["configuration"]) == c].mean() for c in range(3)]
    np.testing.assert_allclose(pooled, one.cv_results_["pooled_test_accuracy"])


@pytest.mark.parametrize(
    ("estimator", "parameter", "classes", "scoring"),
    [
        (GaussianNB(), "var_smoothing", 3, ["neg_log_loss", "accuracy"]),
        (GaussianNB(), "var_smoothing", 2, ["neg_log_loss", "accuracy"]),
        (SVC(), "C", 2, ["roc_auc"]),
        (SVC(), "C", 2, ["accuracy"]),
        (Ridge(), "alpha", 3, ["r2"]),
    ],
)
def test_frames_can_be_corrected_again(estimator, parameter, classes, scoring):
    labels = np.maximum(IRIS[1] + classes - 3, 0)  # of two classes, 0 and 1
    rows, truth = (a[IRIS[1] > 2 - classes] for a in (IRIS[0], labels * 1.5 if parameter == "alpha" else labels))
    one = search(estimator, {parameter: [1e-3, 1.0, 100.0]}, scoring=scoring, drop=None, n_repeats=2).fit(rows, truth)
    again = sobercv.correct(one.predictions_.to_frame(), scoring, n_bootstraps=20)
    for name, estimate in one.estimate_.items():
        assert again[name].value == pytest.approx(estimate.value, abs=1e-12)
        assert again[name].winner == estimate.winner


def test_frames_hold_what_was_dropped():
    one = sobercv.BBCSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-8, 100.0]}, cv=5).fit(*IRIS)
    frame = one.predictions_.to_frame()
    n_folds = frame.groupby("configuration")["fold"].nunique()
    assert (
        n_folds.tolist()
        == np.isfinite([one.cv_results_[f"split{k}_test_score"] for k in range(5)]).sum(axis=0).tolist()
    )
    assert n_folds.min() < 5
    with pytest.warns(SoberWarning, match="configurations? lacks? predictions that others have"):
        sobercv.correct(frame)
