"""Searches that select a threshold or an ensemble: what they train, say and refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import sobercv

PIPELINE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
GRID = [{"model": [LogisticRegression()], "model__C": [0.01, 1.0]}, {"model": [GaussianNB()]}]


@pytest.fixture(scope="module")
def rare():
    return make_classification(120, 5, weights=[0.8], flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def tuned(rare):
    return sobercv.BBCSearchCV(
        PIPELINE, GRID, scoring="f1", cv=4, select=sobercv.best_with_threshold(), n_bootstraps=100
    ).fit(*rare)


def test_the_final_model_predicts_with_the_tuned_threshold(rare, tuned):
    X, _ = rare
    model, threshold = tuned.best_estimator_, tuned.estimate_.decision.value
    assert isinstance(model, FixedThresholdClassifier)
    assert model.threshold == threshold
    chances = tuned.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(tuned.predict(X), (chances >= threshold).astype(int))
    plain = clone(PIPELINE).set_params(**tuned.best_params_).fit(*rare)
    np.testing.assert_allclose(chances, plain.predict_proba(X)[:, 1])
    assert pickle.loads(pickle.dumps(tuned)).estimate_.decision == tuned.estimate_.decision


def test_the_estimate_is_that_of_bbc_on_the_same_predictions(rare, tuned):
    table = tuned.predictions_
    again = sobercv.bbc(
        rare[1],
        table.responses["predict_proba"][:, :, 0],
        "f1",
        select=sobercv.best_with_threshold(),
        n_bootstraps=100,
        folds=table.fold_of[:, 0],
    )
    np.testing.assert_array_equal(tuned.estimate_.draws, again.draws)
    assert tuned.estimate_.naive > tuned.estimate_.value
    assert tuned.n_fits_ == 3 * 4 + 1


def test_ranks_go_by_the_tuned_score(tuned):
    results = tuned.cv_results_
    assert results["rank_test_score"][tuned.best_index_] == 1
    assert np.nanargmax(results["tuned_test_score"]) == tuned.best_index_
    assert (results["tuned_test_score"] >= results["pooled_test_score"] - 1e-12).all()


def test_labels_of_any_kind_and_weights(rare):
    X, y = rare
    named = np.array(["no", "yes"])[y]
    search = sobercv.BBCSearchCV(
        PIPELINE, {"model__C": [0.1, 1.0]}, scoring=["f1", "roc_auc"], cv=4, select=sobercv.best_with_threshold(), n_bootstraps=64,
        pos_label="no",
    )  # fmt: skip
    search.fit(X, named)
    decision = search.estimate_["f1"].decision
    assert decision.positive == "no"
    said = search.predict_proba(X)[:, 0] >= decision.value
    np.testing.assert_array_equal(search.predict(X) == "no", said)


def test_decision_values_where_there_are_no_probabilities(rare):
    X, y = rare
    search = sobercv.BBCSearchCV(
        LinearSVC(),
        {"C": [0.1, 1.0]},
        scoring="balanced_accuracy",
        cv=4,
        select=sobercv.best_with_threshold(),
        n_bootstraps=64,
    ).fit(X, y)
    assert search.estimate_.decision.response == "decision_function"
    np.testing.assert_array_equal(
        search.predict(X), (search.decision_function(X) >= search.estimate_.decision.value).astype(int)
    )


def test_an_ensemble_is_a_vote_of_its_members(rare):
    X, y = rare
    search = sobercv.BBCSearchCV(
        PIPELINE, GRID, scoring="roc_auc", cv=4, select=sobercv.stacked_ensemble(), n_bootstraps=64
    ).fit(X, y)
    mix = search.estimate_.decision
    assert isinstance(search.best_estimator_, VotingClassifier)
    each = [
        clone(PIPELINE).set_params(**search.cv_results_["params"][c]).fit(X, y).predict_proba(X)
        for c in mix.configurations
    ]
    np.testing.assert_allclose(search.predict_proba(X), np.tensordot(mix.weights, each, axes=1))
    assert search.n_fits_ == 3 * 4 + len(mix.configurations)
    assert search.estimate_.single.winner == search.best_index_
    assert set(search.predict(X)) <= set(y)


def test_an_ensemble_of_regressors():
    X, y = make_regression(80, 5, noise=20, random_state=0)
    search = sobercv.BBCSearchCV(
        Ridge(), {"alpha": [0.1, 10.0, 100.0]}, scoring="r2", cv=4, select=sobercv.average_of_best(k=2), n_bootstraps=64
    ).fit(X, y)
    assert isinstance(search.best_estimator_, VotingRegressor)
    alphas = [search.cv_results_["params"][c]["alpha"] for c in search.estimate_.decision.configurations]
    np.testing.assert_allclose(
        search.predict(X), np.mean([Ridge(alpha=alpha).fit(X, y).predict(X) for alpha in alphas], axis=0)
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"scoring": "roc_auc"}, "E114"),
        ({"drop": "bced"}, "E114"),
        ({"aggregate": "fold"}, "E114"),
        ({"refit": lambda results: 0}, "E114"),
        ({"scoring": lambda model, X, y: 1.0}, "E114"),
    ],
)
def test_refused_before_training(rare, options, code):
    class Untouched(LogisticRegression):
        def fit(self, X, y):
            raise AssertionError("trained")

    options = {"scoring": "f1", "select": sobercv.best_with_threshold(), "error_score": "raise", **options}
    with pytest.raises(sobercv.SoberError) as caught:
        sobercv.BBCSearchCV(Untouched(), {"C": [0.1, 1.0]}, cv=4, **options).fit(*rare)
    assert caught.value.code == code


@pytest.mark.parametrize("select", ["best", sobercv.best_with_threshold(), sobercv.average_of_best(2)], ids=repr)
def test_the_final_model_can_be_trained_later(rare, select):
    X, y = rare
    options = {"scoring": "f1" if select != "best" else "roc_auc", "cv": 4, "select": select, "n_bootstraps": 50}
    if isinstance(select, type(sobercv.average_of_best(2))):
        options["scoring"] = "neg_log_loss"
    at_once = sobercv.BBCSearchCV(PIPELINE, GRID, **options).fit(X, y)
    later = sobercv.BBCSearchCV(PIPELINE, GRID, refit=False, **options).fit(X, y)
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        later.predict(X)
    assert later.train_final_model(X, y) is later
    assert (later.predict_proba(X) == at_once.predict_proba(X)).all()
    assert later.n_fits_ == at_once.n_fits_
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        later.fit(X, y).predict(X)  # the model of an earlier fit is not that of this one


def test_the_final_model_can_be_trained_elsewhere_and_with_weights(rare):
    X, y = rare
    weight = np.linspace(0.5, 2, len(y))
    search = sobercv.BBCSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, refit=False, cv=4, n_bootstraps=50)
    search.fit(X, y, sample_weight=weight)
    calls = []

    def train(model, X, y, **fit_params):
        calls.append(fit_params.keys())
        return model.fit(X, y, **fit_params)

    search.train_final_model(X, y, train=train, sample_weight=weight)
    expected = GaussianNB(**search.best_params_).fit(X, y, sample_weight=weight)
    assert calls == [{"sample_weight"}]
    assert (search.predict_proba(X) == expected.predict_proba(X)).all()
