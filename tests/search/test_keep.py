"""What is kept beside what is scored: from whoever gives it, also through a store; results keep their bits."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import sobercv
from sobercv.report import summarize

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 3))
Y = np.where(X[:, 0] + RNG.normal(size=90) > 0, "yes", "no")
GRID = {
    "model": [LogisticRegression(), LinearSVC(C=1e-9, fit_intercept=False)]
}  # the second cannot win, and gives no probabilities


def searched(**options):
    pipeline = Pipeline([("model", LogisticRegression())])
    search = sobercv.BBCSearchCV(pipeline, GRID, scoring="accuracy", cv=3, n_bootstraps=50, drop=None, **options)
    return search.fit(X, Y)


def test_the_winner_has_all_that_it_gives_and_others_may_lack_it(tmp_path):
    plain, kept = searched(), searched(keep="all", store=tmp_path / "store")
    assert kept.estimate_.to_dict() == plain.estimate_.to_dict()
    assert set(plain.winner_predictions_.responses) == {"predict"}
    assert set(kept.predictions_.responses) == {"predict"}, "one of them gives no probabilities"
    own = kept.winner_predictions_
    assert kept.best_index_ == 0
    assert set(own.responses) == {"predict", "predict_proba"}
    assert ((own.responses["predict_proba"] > 0.5) == own.responses["predict"]).all()
    again = searched(keep="all", store=tmp_path / "store")
    assert (kept.n_fits_, again.n_fits_) == (2 * 3 + 1, 1), "what was remembered was not trained"
    assert (again.race_.n_fits, again.race_.n_recalled) == (6, 6)
    for name, values in own.responses.items():
        np.testing.assert_array_equal(again.winner_predictions_.responses[name], values)


def test_other_words_are_refused():
    with pytest.raises(sobercv.SoberError, match='"scored" or "all"'):
        searched(keep="everything")


def test_models_without_probabilities_keep_their_decisions():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    x = rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]
    grid = {"model": [LinearSVC(), LogisticRegression(C=1e-9)]}
    pipeline = Pipeline([("model", LinearSVC())])
    search = sobercv.BBCSearchCV(pipeline, grid, scoring="accuracy", cv=3, n_bootstraps=50, drop=None, keep="all")
    search.fit(x, y)
    own = search.winner_predictions_.responses
    assert set(own) == {"predict", "decision_function"}
    assert own["decision_function"].shape[-1] == 3
    assert (own["decision_function"].argmax(axis=-1) == own["predict"]).all()
    charts = [chart.name for chart in summarize(search).charts]
    assert charts == ["draws", "roc", "confusion"], "no chart is left out"
