"""`proposer="tpe"`: the same search as over a list of the same configurations, which Optuna has proposed by scores."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.search.proposals import _reader

X, y = make_classification(90, 6, flip_y=0.3, random_state=0)
SPACE = {"max_depth": [1, 2, 4], "criterion": ["gini", "entropy"], "ccp_alpha": loguniform(1e-4, 0.1)}
OPTIONS = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 50, "refit": False}


def search(space=SPACE, model=None, **options):
    model = DecisionTreeClassifier(random_state=0) if model is None else model
    return sobercv.BBCSearchCV(model, space, proposer="tpe", **{"n_iter": 14, **OPTIONS, **options})


def test_it_is_a_search_over_what_was_proposed():
    one = search().fit(X, y)
    proposals = one.cv_results_["params"]
    assert len(proposals) == 14
    assert one.n_fits_ == 14 * 3
    listed = [{name: [value] for name, value in params.items()} for params in proposals]
    plain = sobercv.BBCSearchCV(DecisionTreeClassifier(random_state=0), listed, drop=None, **OPTIONS).fit(X, y)
    assert one.estimate_.value == plain.estimate_.value
    assert one.best_params_ == plain.best_params_
    assert {note.code for note in one.estimate_.notes} - {note.code for note in plain.estimate_.notes} == {"W811"}
    again = search(n_jobs=2).fit(X, y)
    assert again.cv_results_["params"] == proposals
    assert search(random_state=1).fit(X, y).cv_results_["params"] != proposals


def test_the_proposer_learns_from_scores():
    space = {"C": loguniform(1e-6, 1e3)}
    found = search(space, LogisticRegression(), scoring="neg_log_loss", n_iter=40).fit(X, y)
    scores = found.cv_results_["mean_test_score"]
    assert np.mean(scores[-15:]) > np.mean(scores[:10])  # the first ten are by chance


def test_configurations_that_fail_are_set_aside():
    found = search({"max_depth": [1, 2, -3]}, n_iter=12)
    with pytest.warns(sobercv.SoberWarning):
        found.fit(X, y)
    failed = np.array([params["max_depth"] == -3 for params in found.cv_results_["params"]])
    assert failed.any()
    np.testing.assert_array_equal(found.race_.status == "failed", failed)
    assert found.estimate_.n_configurations == (~failed).sum()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"proposer": "chance"}, "E108"),
        ({"n_iter": None}, "E114"),
        ({"n_iter": 0}, "E303"),
        ({"store": "fits.sqlite"}, "E114"),
        ({"max_seconds": 10}, "E114"),
        ({"param_grid": [SPACE, SPACE]}, "E114"),
        ({"param_grid": {"max_depth": 3}}, "E108"),
        ({"param_grid": {"depth": [1, 2]}}, "E306"),
        ({"scoring": lambda model, X, y: 1.0}, "E114"),
    ],
)
def test_refused_before_training(options, code, monkeypatch):
    def fit(self, X, y):
        raise AssertionError("trained")

    monkeypatch.setattr(DecisionTreeClassifier, "fit", fit)
    with pytest.raises(sobercv.SoberError) as caught:
        search().set_params(**options).fit(X, y)
    assert caught.value.code == code


def test_values_keep_their_kind():
    _, whole = _reader("depth", randint(1, 4))
    assert {whole(share) for share in (0.0, 0.5, 1.0)} == {1, 2, 3}
    _, listed = _reader("weights", ["uniform", None])
    assert (listed(0), listed(1)) == ("uniform", None)
