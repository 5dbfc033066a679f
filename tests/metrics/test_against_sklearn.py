"""The same number as scikit-learn's own scorer of that name, for estimators that answer from a table."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

import sobercv
from tests.cases import TARGETS, Case, make
from tests.oracles import rows


class Answers(BaseEstimator):
    """An estimator whose prediction for row i is row i of a table."""

    def __init__(self, response=None, table=None, classes=None):
        self.response, self.table, self.classes = response, table, classes
        self.is_fitted_ = True
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict(self, X):
        if self.response == "predict":
            return self.table[X[:, 0]]
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        p = self.table[X[:, 0]]
        return p if p.ndim == 2 else np.column_stack([1 - p, p])


class Classifier(ClassifierMixin, Answers):
    pass


class Regressor(RegressorMixin, Answers):
    pass


def scorer_value(case, j, **options):
    classes = np.unique(case.y) if case.kind[-1] in "23" else None
    model = (Regressor if classes is None else Classifier)(case.response, case.p[:, j, 0], classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_scorer(case.metric)(model, np.arange(len(case.y))[:, None], case.y, **options)


SKLEARN_TARGETS = [t for t in TARGETS if t != "concordance_index-survival"]


@pytest.mark.parametrize("setting", ["plain", "ties"])
@pytest.mark.parametrize("target", SKLEARN_TARGETS)
def test_scores_on_all_rows(target, setting):
    case = make(target, setting, seed=11, n=60)
    expected = [scorer_value(case, j) for j in range(4)]
    np.testing.assert_allclose(case.scores(np.ones((1, 60), int))[0], expected, rtol=1e-12, atol=1e-12)
    estimate = sobercv.naive(**case.arguments())
    np.testing.assert_allclose(estimate.scores, expected, rtol=1e-12, atol=1e-12)
    assert estimate.winner == int(np.argmax(expected))
    assert estimate.value == estimate.naive == pytest.approx(max(expected), abs=1e-12)


@pytest.mark.parametrize("target", [t for t in SKLEARN_TARGETS if "ovo" not in t])
def test_sample_weights(target):
    case = make(target, "weights", seed=12, n=40)
    weight = case.options["sample_weight"]
    expected = [scorer_value(case, j, sample_weight=weight) for j in range(4)]
    np.testing.assert_allclose(case.scores(np.ones((1, 40), int))[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"])
def test_with_two_classes_the_multiclass_aucs_are_the_plain_one(metric):
    case = make("roc_auc-proba2", seed=13, n=40)
    plain = sobercv.naive(case.y, case.p, "roc_auc").scores
    np.testing.assert_allclose(sobercv.naive(case.y, case.p, metric).scores, plain, rtol=1e-12)


@pytest.mark.parametrize("name", ["jaccard", "neg_max_error", "d2_absolute_error_score", "top_k_accuracy"])
def test_any_scoring_string_works_by_the_general_path(name):
    kind = "number" if "error" in name else "labels2" if name == "jaccard" else "proba3"
    stand_in = {"number": "r2-number", "labels2": "f1-labels2", "proba3": "neg_log_loss-proba3"}[kind]
    case = make(stand_in, seed=14, n=40)
    case.metric = name
    ours = sobercv.naive(case.y, {case.response: case.p}, name)
    np.testing.assert_allclose(ours.scores, [scorer_value(case, j) for j in range(4)], rtol=1e-12)


@pytest.mark.parametrize("setting", ["plain", "ties"])
def test_concordance_is_scikit_survivals(setting):
    from sksurv.metrics import concordance_index_censored

    for seed in range(5):
        case = make("concordance_index-survival", setting, seed=seed, n=50)
        y = case.y
        expected = [concordance_index_censored(y["event"], y["time"], case.p[:, j, 0])[0] for j in range(4)]
        np.testing.assert_allclose(case.scores(np.ones((1, 50), int))[0], expected, rtol=1e-12)
        np.testing.assert_allclose([rows.concordance_index(y, case.p[:, j, 0]) for j in range(4)], expected, rtol=1e-12)


@pytest.mark.parametrize("target", SKLEARN_TARGETS)
def test_the_oracle_itself_is_scikit_learns(target):
    """The oracles are judged too: on all rows, and on bags from which classes may be missing."""
    case = make(target, "ties", seed=15, n=30)
    for j in range(4):
        oracle = rows.ORACLES[case.metric](case.y, case.p[:, j, 0])
        assert oracle == pytest.approx(scorer_value(case, j), rel=1e-12, abs=1e-12)
    if case.response == "predict":  # the others want to be told the classes
        rng = np.random.default_rng(16)
        for _ in range(10):
            bag = rng.integers(0, 30, rng.integers(2, 8))
            part = Case(case.metric, case.kind, case.y[bag], case.p[bag], case.counts)
            oracle = rows.ORACLES[case.metric](part.y, part.p[:, 0, 0])
            assert np.isnan(oracle) or oracle == pytest.approx(scorer_value(part, 0), rel=1e-12, abs=1e-12)
