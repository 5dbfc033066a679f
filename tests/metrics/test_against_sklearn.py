"""The same number as scikit-learn's own scorer of that name, for estimators that answer from a table."""

import warnings
from inspect import signature

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.utils.metaestimators import available_if

import sobercv
from tests.cases import ALL_TARGETS, Case, make
from tests.oracles.paper import ORACLES


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

    @available_if(lambda self: self.response == "decision_function")
    def decision_function(self, X):
        return self.table[X[:, 0]]


class Classifier(ClassifierMixin, Answers):
    pass


class Regressor(RegressorMixin, Answers):
    pass


def scorer_of(name):
    """scikit-learn's scorer of a metric: by its name there, else made of the function."""
    if name in get_scorer_names():
        return get_scorer(name)
    base, _, arguments = name.partition("(")
    function, response, greater = FUNCTIONS[base]
    options = eval(f"dict({arguments}", {"nan": np.nan, "dict": dict}) if arguments else {}
    if options.get("average") and "zero_division" in signature(function).parameters:
        options["pos_label"] = None  # as in scikit-learn's own scorers of averages
    return make_scorer(function, response_method=response, greater_is_better=greater, **options)


ANY = ("decision_function", "predict_proba")
FUNCTIONS = {
    "balanced_accuracy": (sk.balanced_accuracy_score, "predict", True),
    "cohen_kappa": (sk.cohen_kappa_score, "predict", True),
    "fbeta": (sk.fbeta_score, "predict", True),
    "precision": (sk.precision_score, "predict", True),
    "recall": (sk.recall_score, "predict", True),
    "jaccard": (sk.jaccard_score, "predict", True),
    "top_k_accuracy": (sk.top_k_accuracy_score, ANY, True),
    "neg_brier_score": (sk.brier_score_loss, "predict_proba", False),
    "d2_log_loss_score": (sk.d2_log_loss_score, "predict_proba", True),  # its scorer has a name since 1.8
    "d2_brier_score": (getattr(sk, "d2_brier_score", None), "predict_proba", True),  # since 1.8
    "roc_auc": (sk.roc_auc_score, ANY, True),
    "average_precision": (sk.average_precision_score, ANY, True),
}
NO_WEIGHTS = ["ovo", "max_error", "likelihood_ratio"]
ELSEWHERE = (
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "net_benefit",
    "brier_scaled",
    "youden",
    "neg_cost",
)  # not scikit-learn's
IS_NEW = hasattr(sk, "d2_brier_score")  # scikit-learn 1.8
MISSING = ELSEWHERE if IS_NEW else (*ELSEWHERE, "d2_brier_score")
SKLEARN_TARGETS = [
    t for t in ALL_TARGETS if not t.endswith(("-survival", "-chances", "-courses")) and not t.startswith(MISSING)
]


def scorer_value(case, j, **options):
    classes = np.unique(case.y) if case.kind[-1] in "23" else None
    model = (Regressor if classes is None else Classifier)(case.response, case.p[:, j, 0], classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scorer_of(case.metric)(model, np.arange(len(case.y))[:, None], case.y, **options)


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


@pytest.mark.parametrize("target", [t for t in SKLEARN_TARGETS if not any(name in t for name in NO_WEIGHTS)])
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


@pytest.mark.parametrize("target", SKLEARN_TARGETS)
def test_the_oracle_itself_is_scikit_learns(target):
    """The oracles are judged too: on all rows, and on bags from which classes may be missing."""
    case = make(target, "ties", seed=15, n=30)
    for j in range(4):
        oracle = ORACLES[case.metric](case.y, case.p[:, j, 0])
        assert oracle == pytest.approx(scorer_value(case, j), rel=1e-12, abs=1e-12)
    if case.response == "predict":  # the others want to be told the classes
        rng = np.random.default_rng(16)
        for _ in range(10):
            bag = rng.integers(0, 30, rng.integers(2, 8))
            part = Case(case.metric, case.kind, case.y[bag], case.p[bag], case.counts)
            oracle = ORACLES[case.metric](part.y, part.p[:, 0, 0])
            assert np.isnan(oracle) or oracle == pytest.approx(scorer_value(part, 0), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_range_of_the_brier_score_is_what_can_be_reached(n_classes):
    """scikit-learn halves it for two classes, where the worst forecast scores 1, and not for more."""
    y = np.arange(30) % n_classes
    certain = np.eye(n_classes)
    worst, ideal = certain[(y + 1) % n_classes], certain[y]
    both = np.stack([worst, ideal], axis=1)[:, :, None]  # [N, C, R, K]
    predictions = both[..., 1] if n_classes == 2 else both
    metric = sobercv.metrics.get("neg_brier_score")
    found = sobercv.bbc(y, predictions, metric, n_bootstraps=100)
    low, high = found._bounds.range
    assert found.scores.tolist() == [low, high]
    labels = {"labels": range(n_classes)}
    assert [-sk.brier_score_loss(y, p, **labels) for p in (worst, ideal)] == [low, high]
