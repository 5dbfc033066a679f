"""A configuration that fails is set aside with its reason; the others go on. Methods are chosen by what is needed."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.search.results import report_failures
from sobercv.training.fit.task import Failure
from sobercv.training.race import UNREACHED

from ..training.training_estimators import Troubled

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
DIGITS = tuple(a[::8] for a in load_digits(return_X_y=True))


def search(estimator, grid, **options):
    return sobercv.BBCSearchCV(estimator, grid, **{"cv": 3, "n_bootstraps": 20, "scoring": "accuracy", **options})


TROUBLES = {
    # trouble: scoring, kind of failure, what the reason says
    "raise": ("accuracy", "raised", "no luck today"),
    "predict": ("accuracy", "raised", "the disk is full"),
    "length": ("accuracy", "wrong shape", r"\(48,\) for 47|\(49,\) for 48"),
    "strange": ("accuracy", "unknown label", "99"),
    "nan": ("neg_log_loss", "not finite", "NaN"),
    "columns": ("neg_log_loss", "wrong shape", "2 classes"),
    "thrice": ("neg_log_loss", "impossible probabilities", "to 1.5"),
    "below zero": ("roc_auc", "impossible probabilities", "from -0.5"),
    "a third": ("neg_brier_score", "impossible probabilities", "sums from 0.3333"),
}


@pytest.mark.parametrize("drop", [None, "auto"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_failed_are_set_aside_with_their_reason(trouble, drop):
    scoring, kind, reason = TROUBLES[trouble]
    one = search(Troubled(), {"trouble": ["none", trouble], "size": [0, 1]}, scoring=scoring, drop=drop)
    with pytest.warns(SoberWarning, match=r"2 of 4 configurations failed.*first is configuration \d.*W204") as caught:
        one.fit(X, Y)
    assert caught[0].filename == __file__  # it points at the line of the user
    failed = [params["trouble"] == trouble for params in one.cv_results_["params"]]
    assert (one.race_.status == "failed").tolist() == failed
    assert list(one.race_.failures) == np.flatnonzero(failed).tolist()
    for failure in one.race_.failures.values():
        assert (failure.kind, failure.repeat, failure.fold) == (kind, 0, 0)
        assert re.search(reason, str(failure))
    table = one.cv_results_
    assert np.isnan(table["mean_test_score"][failed]).all()
    assert np.isnan(table["pooled_test_score"][failed]).all()
    assert table["rank_test_score"][failed].tolist() == [3, 3]
    assert sorted(one.predictions_.configurations) == np.flatnonzero(~np.array(failed)).tolist()
    assert one.best_params_["trouble"] == "none"
    assert one.n_fits_ == 3 * 4 + 1 if drop is None else one.n_fits_ == 3 * 2 + 2 + 1  # a race leaves the failed behind


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_on_one_fold_is_a_failure(n_jobs):
    one = search(Troubled(), {"trouble": ["none", "raise late"]}, n_jobs=n_jobs, drop=None)
    rows = np.arange(len(Y), dtype=float)[:, None]  # "raise late" needs row 0 to train on, which is in the first fold
    with pytest.warns(SoberWarning, match="W204"):
        one.fit(rows, Y)
    assert one.race_.status.tolist() == ["finished", "failed"]
    assert str(one.race_.failures[1]) == "fold 1 of repeat 1: RuntimeError: row 0 is missing"
    assert "raise RuntimeError" in one.race_.failures[1].traceback
    assert one.best_index_ == 0


@pytest.mark.parametrize("drop", [None, "auto"])
@pytest.mark.parametrize("n", [1, 3])
def test_all_failing_is_an_error_that_shows_the_first_cause(n, drop):
    with pytest.raises(SoberError, match=r"fold 1 of repeat 1: RuntimeError: no luck today") as caught:
        search(Troubled(), {"trouble": ["raise"], "size": list(range(n))}, drop=drop).fit(X, Y)
    assert caught.value.code == "E315"
    assert ("The only configuration" if n == 1 else "All 3 configurations") in str(caught.value)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_errors_can_be_raised(n_jobs):
    grid = {"trouble": ["none", "raise"]}
    with pytest.raises(RuntimeError, match="no luck today"):
        search(Troubled(), grid, error_score="raise", n_jobs=n_jobs).fit(X, Y)
    with pytest.raises(SoberError, match="E315"):
        search(Troubled(), {"trouble": ["none", "strange"]}, error_score="raise", n_jobs=n_jobs).fit(X, Y)


def test_an_impossible_value_is_a_failure_of_its_configuration():
    grid = {"model__C": [-1.0, 1.0], "scale__with_mean": [True, False]}
    one = search(Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())]), grid)
    with pytest.warns(SoberWarning, match="InvalidParameterError"):
        one.fit(X, Y)
    assert (one.race_.status == "failed").tolist() == [p["model__C"] < 0 for p in one.cv_results_["params"]]


def test_a_failing_final_fit_is_not_hidden():
    class Late(GaussianNB):
        def fit(self, X, y):
            if len(y) == len(Y):
                raise RuntimeError("too much data")
            return super().fit(X, y)

    with pytest.raises(RuntimeError, match="too much data"):
        search(Late(), {"var_smoothing": [1e-9, 0.1]}).fit(X, Y)


# ---- which method is asked -------------------------------------------------------------------------------------------
class Asked(DecisionTreeClassifier):
    """A tree that remembers which of its methods were called, and has a decision function."""

    calls: set = set()  # noqa: RUF012

    def predict(self, X):
        Asked.calls.add("predict")
        return self.classes_[super().predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        Asked.calls.add("predict_proba")
        return super().predict_proba(X)

    def decision_function(self, X):
        Asked.calls.add("decision_function")
        return super().predict_proba(X)[:, 1] - 0.5


@pytest.mark.parametrize(
    ("scoring", "methods"),
    [
        ("accuracy", {"predict"}),
        ("neg_log_loss", {"predict_proba"}),
        ("roc_auc", {"decision_function"}),
        ("average_precision", {"decision_function"}),
        (["roc_auc", "f1"], {"decision_function", "predict"}),
        (["neg_log_loss", "neg_brier_score", "accuracy"], {"predict_proba", "predict"}),
    ],
    ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else str(value),  # sets have no order
)
def test_only_what_the_metrics_need_is_asked_for(scoring, methods):
    Asked.calls.clear()
    one = search(Asked(random_state=0), {"max_depth": [1, 3]}, scoring=scoring).fit(X, Y)
    assert Asked.calls == methods
    assert set(one.predictions_.responses) == methods


def test_ranks_mix_decision_functions_and_probabilities():
    models = [SVC(), RandomForestClassifier(10, random_state=0), LinearSVC(), GaussianNB(), RidgeClassifier()]
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    one = search(pipeline, {"model": models}, scoring="roc_auc", drop=None).fit(X, Y)
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import cross_val_predict

    for index, model in enumerate(models):
        method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        scores = cross_val_predict(pipeline.set_params(model=model), X, Y, cv=3, method=method)
        pooled = roc_auc_score(Y, scores if scores.ndim == 1 else scores[:, 1])
        assert one.cv_results_["pooled_test_score"][index] == pytest.approx(pooled, rel=1e-12)


def test_what_cannot_give_probabilities_is_set_aside():
    one = search(Pipeline([("model", SVC())]), {"model": [SVC(), GaussianNB()]}, scoring="neg_log_loss")
    with pytest.warns(SoberWarning, match=r"predicts no probabilities \(predict_proba\); .*roc_auc\. See"):
        one.fit(X, Y)
    assert one.race_.failures[0].kind == "no method"
    assert isinstance(one.best_estimator_["model"], GaussianNB)


def test_many_classes_are_aligned_by_their_labels():
    labels = np.array([f"digit {9 - d}" for d in range(10)])[DIGITS[1]]
    one = search(GaussianNB(), {"var_smoothing": [1e-9, 0.01]}, scoring="neg_log_loss", drop=None).fit(
        DIGITS[0], labels
    )
    plain = search(GaussianNB(), {"var_smoothing": [1e-9, 0.01]}, scoring="neg_log_loss", drop=None).fit(*DIGITS)
    assert one.predictions_.responses["predict_proba"].shape[-1] == 10
    assert one.classes_.tolist() == sorted(set(labels))
    assert one.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)


def test_what_the_time_did_not_reach_has_not_failed():
    late = Failure("timed out", UNREACHED, "", 0, 0)
    log = SimpleNamespace(failures={2: late, 3: late}, status=np.array(["finished"] * 2 + ["failed"] * 2))
    with pytest.warns(SoberWarning, match="2 of 4 configurations were not reached before the time limit.*W204"):
        report_failures(log, [])
    log.failures[3] = Failure("raised", "No.", "ValueError", 0, 0)
    with pytest.warns(SoberWarning, match="2 of 4 configurations failed.*W204"):
        report_failures(log, [SimpleNamespace(params={})] * 4)
