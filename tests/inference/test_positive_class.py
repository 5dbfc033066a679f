"""The positive class from the question to the answer: named once, and named wherever a score depends on it."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, make_scorer, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import sobercv
from sobercv.errors import SoberError

N, C = 90, 7
RNG = np.random.default_rng(8)
CODES = RNG.integers(0, 2, N)
Y = np.array(["ja", "nein"])[CODES]
P = np.clip(CODES[:, None] * 0.25 + RNG.random((N, C)) * 0.75, 0, 1)  # of "nein"
LABELS = np.array(["ja", "nein"])[(P > 0.6).astype(int)]
FOLDS = np.arange(N) % 5
OPTIONS = {"n_bootstraps": 40, "random_state": 1}

X, TARGET = load_breast_cancer(return_X_y=True)
X, ILL = X[::3], np.array(["ill", "well"])[TARGET[::3]]
MODEL = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": [0.001, 0.01, 1.0]}


@pytest.mark.parametrize("label", ["ja", "nein"])
def test_the_score_is_that_of_the_named_class(label):
    estimate = sobercv.bbc(Y, LABELS, "recall", pos_label=label, **OPTIONS)
    expected = [recall_score(Y, said, pos_label=label) for said in LABELS.T]
    np.testing.assert_allclose(estimate.scores, expected, rtol=1e-12)
    assert estimate.positive == label
    assert f'recall of "{label}"' in str(estimate)
    assert json.loads(json.dumps(estimate.to_dict()))["positive"] == label


def test_scores_are_those_of_the_named_class():
    for label, mine in (("nein", P), ("ja", 1 - P)):
        estimate = sobercv.bbc(Y, mine, "average_precision", pos_label=label, **OPTIONS)
        expected = [average_precision_score(Y, p, pos_label=label) for p in mine.T]
        np.testing.assert_allclose(estimate.scores, expected, rtol=1e-12)
    plain, swapped = sobercv.bbc(Y, P, **OPTIONS), sobercv.bbc(Y, 1 - P, pos_label="ja", **OPTIONS)
    np.testing.assert_allclose(plain.draws, swapped.draws, rtol=1e-12)
    assert plain.positive is swapped.positive is None  # the area is the same for both classes


@pytest.mark.parametrize("rival", [sobercv.naive, sobercv.tibshirani, sobercv.nested])
def test_rivals_are_asked_the_same(rival):
    of_yes, of_no = (rival(Y, LABELS, "recall", pos_label=label, folds=FOLDS) for label in ("ja", "nein"))
    assert (of_yes.positive, of_no.positive) == ("ja", "nein")
    assert of_yes.value != of_no.value
    with pytest.raises(SoberError, match="pos_label='ja'") as error:
        rival(Y, LABELS, "recall", folds=FOLDS)
    assert error.value.code == "E120"


@pytest.mark.parametrize(
    "model", [MODEL, LinearSVC(random_state=0, max_iter=20), GaussianNB()], ids=["LR", "SVC", "NB"]
)
@pytest.mark.parametrize("label", ["ill", "well"])
@pytest.mark.filterwarnings("ignore")
def test_a_search_scores_as_scikit_learn_does_with_that_class(model, label):
    options = {"cv": 3, "refit": False}
    for name, function, response in (
        ("f1", f1_score, "predict"),
        ("average_precision", average_precision_score, ("decision_function", "predict_proba")),
    ):
        scorer = make_scorer(function, pos_label=label, response_method=response)
        theirs = GridSearchCV(model, {}, scoring=scorer, **options).fit(X, ILL)
        ours = sobercv.BBCSearchCV(
            model, {}, scoring=name, pos_label=label, aggregate="fold", n_bootstraps=20, **options
        )
        ours.fit(X, ILL)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
        )
        assert ours.estimate_.positive == label
        assert ours.predictions_.target.positive_label == label


def test_new_data_are_scored_with_the_same_class():
    search = sobercv.BBCSearchCV(MODEL, GRID, scoring="recall", pos_label="ill", cv=3, n_bootstraps=20).fit(X, ILL)
    expected = recall_score(ILL, search.predict(X), pos_label="ill")
    assert search.score(X, ILL) == pytest.approx(expected)


def test_a_store_knows_whose_scores_it_holds(tmp_path):
    def run(label):
        options = {"scoring": "average_precision", "store": tmp_path / "run.sober", "cv": 3, "n_bootstraps": 20}
        return sobercv.BBCSearchCV(MODEL, GRID, pos_label=label, **options).fit(X, ILL)

    first, again = run("ill"), run("ill")
    np.testing.assert_array_equal(first.estimate_.draws, again.estimate_.draws)
    with pytest.raises(SoberError, match="pos_label") as error:
        run("well")
    assert error.value.code == "E502"


def test_protocols_side_by_side_name_the_class():
    found = sobercv.compare(MODEL, GRID, X, ILL, scoring="recall", pos_label="ill", cv=3, n_bootstraps=20)
    assert found.positive == "ill"
    assert 'recall of "ill"' in str(found)
    with pytest.raises(SoberError) as error:
        sobercv.compare(MODEL, GRID, X, ILL, scoring="recall", cv=3)
    assert error.value.code == "E120"


def test_a_report_names_the_class(tmp_path):
    search = sobercv.BBCSearchCV(MODEL, GRID, scoring="recall", pos_label="ill", cv=3, n_bootstraps=20).fit(X, ILL)
    assert "Recall of ill" in search.report(tmp_path / "report.html").read_text().replace("&#34;", "")
