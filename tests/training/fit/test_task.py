import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

from sobercv.errors import SoberError
from sobercv.training import Configuration, Experiment, Plan, Problem
from sobercv.training.fit.steps import fit_predict
from sobercv.training.fit.task import Task

from ..training_estimators import LABELS, PROBABILITIES, RANKS, Troubled, WritingRegressor

X2, Y2 = (a[::4] for a in load_breast_cancer(return_X_y=True))
X3, Y3 = load_iris(return_X_y=True)
XN, YN = (a[::4] for a in load_diabetes(return_X_y=True))


def collect(problem, estimator, cv, wanted, params=None):
    """Predict every row out of sample."""
    name = wanted[0][0]
    out = None
    for split in Plan.build(problem, cv).splits:
        task = Task(split, Configuration(0, params or {}))
        (outcome,) = fit_predict(Experiment(problem, estimator, wanted), [task])
        assert outcome.failure is None, outcome.failure
        values = outcome.responses[name]
        out = np.zeros((problem.n_samples, *values.shape[1:])) if out is None else out
        out[split.test] = values
    return out


@pytest.mark.parametrize(
    ("estimator", "X", "y", "wanted", "method"),
    [
        (LogisticRegression(solver="liblinear", tol=0.1), X2, Y2, LABELS, "predict"),
        (SVC(), X2, Y2, RANKS, "decision_function"),
        (RandomForestClassifier(5, random_state=0), X3, Y3, PROBABILITIES, "predict_proba"),
        (SVC(), X3, Y3, RANKS, "decision_function"),
        (Ridge(), XN, YN, LABELS, "predict"),
    ],
)
def test_predictions_are_those_of_cross_val_predict(estimator, X, y, wanted, method):
    problem = Problem.build(X, y, task="regression" if is_regressor(estimator) else "classification")
    expected = cross_val_predict(estimator, X, y, cv=3, method=method)
    np.testing.assert_array_equal(collect(problem, estimator, 3, wanted), expected)


def test_text_labels_and_parameters():
    y = np.array(["setosa", "versi", "virg"])[Y3]
    problem = Problem.build(X3, y, task="classification")
    expected = cross_val_predict(SVC(C=0.01), X3, y, cv=3)
    got = collect(problem, SVC(), 3, LABELS, {"C": 0.01})
    assert problem.classes[got.astype(int)].tolist() == expected.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, lambda a: pl.DataFrame(a, schema=list("abcd")), sparse.csr_array])
def test_containers_reach_the_estimator_as_they_are(make):
    estimator = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))
    y = pd.Series(Y3) if make is pd.DataFrame else Y3
    got = collect(Problem.build(make(X3), y, task="classification"), estimator, 3, PROBABILITIES)
    np.testing.assert_array_equal(got, cross_val_predict(estimator, make(X3), y, cv=3, method="predict_proba"))


def test_lists_of_rows():
    rows = [["red", "s"], ["blue", "m"], ["red", "m"], ["blue", "s"]] * 5
    y = [1, 0, 1, 0] * 5
    estimator = make_pipeline(OrdinalEncoder(), LogisticRegression())
    assert collect(Problem.build(rows, y, task="classification"), estimator, 2, LABELS).tolist() == y


def test_precomputed_kernels():
    K = rbf_kernel(X3)
    estimator = SVC(kernel="precomputed")
    expected = cross_val_predict(estimator, K, Y3, cv=3)
    np.testing.assert_array_equal(collect(Problem.build(K, Y3, task="classification"), estimator, 3, LABELS), expected)
    by_grid = collect(Problem.build(K, Y3, task="classification"), SVC(), 3, LABELS, {"kernel": "precomputed"})
    np.testing.assert_array_equal(by_grid, expected)


def test_survival():
    linear = pytest.importorskip("sksurv.linear_model")
    datasets = pytest.importorskip("sksurv.datasets")
    X, y = datasets.load_gbsg2()
    X, y = X.select_dtypes("number")[:120], y[:120]
    estimator = linear.CoxPHSurvivalAnalysis(alpha=0.1)
    got = collect(Problem.build(X, y, task="survival"), estimator, KFold(3), LABELS)
    expected = np.empty(120)
    for train, test in KFold(3).split(X):
        expected[test] = linear.CoxPHSurvivalAnalysis(alpha=0.1).fit(X.iloc[train], y[train]).predict(X.iloc[test])
    np.testing.assert_array_equal(got, expected)


def test_weights_and_fit_params_are_cut_to_the_training_rows():
    weights = np.random.default_rng(0).uniform(size=len(YN))
    expected = np.empty(len(YN))
    for train, test in KFold(3).split(XN):
        expected[test] = Ridge().fit(XN[train], YN[train], weights[train]).predict(XN[test])
    for given in ({"sample_weight": weights}, {"fit_params": {"sample_weight": list(weights)}}):
        problem = Problem.build(XN, YN, task="regression", **given)
        np.testing.assert_array_equal(collect(problem, Ridge(), 3, LABELS), expected)


def test_parameters_that_are_estimators_are_not_fitted_themselves():
    model = LogisticRegression()
    problem = Problem.build(X3, Y3, task="classification")
    pipe = make_pipeline(StandardScaler(), SVC())
    collect(problem, pipe, 3, LABELS, {"svc": model})
    assert not hasattr(model, "classes_")
    assert not hasattr(pipe[0], "mean_")


def test_rows_written_to_do_not_reach_the_next_fit():
    problem = Problem.build(XN, YN, task="regression")
    split = Plan.build(problem, 3).splits[0]
    tasks = [Task(split, Configuration(0)), Task(split, Configuration(1))]
    twice = list(fit_predict(Experiment(problem, WritingRegressor(), LABELS), tasks))
    np.testing.assert_array_equal(twice[0].responses["predict"], twice[1].responses["predict"])
    assert twice[0].responses["predict"].std() > 0


SMALL = Problem.build(np.arange(40.0).reshape(20, 2), np.arange(20) % 2, task="classification")


def outcome_of(params, wanted=LABELS, **options):
    split = Plan.build(SMALL, StratifiedKFold(4)).splits[2]
    (outcome,) = fit_predict(Experiment(SMALL, Troubled(), wanted, **options), [Task(split, Configuration(7, params))])
    return outcome


@pytest.mark.parametrize(
    ("params", "wanted", "kind", "text"),
    [
        ({"trouble": "raise"}, LABELS, "raised", "fold 3 of repeat 1: RuntimeError: no luck today"),
        ({"trouble": "predict"}, LABELS, "raised", "fold 3 of repeat 1: OSError: the disk is full"),
        ({"trouble": "length"}, LABELS, "wrong shape", "fold 3 of repeat 1: predict gave shape (6,) for 5 samples."),
        ({"trouble": "strange"}, LABELS, "unknown label", "99"),
        ({"trouble": "nan"}, PROBABILITIES, "not finite", "1 values that are NaN"),
        ({"trouble": "columns"}, PROBABILITIES, "wrong shape", "(5, 1)"),
        ({}, (("decision_function",),), "no method", "Troubled has none of decision_function."),
        ({"nonsense": 1}, LABELS, "raised", "Invalid parameter 'nonsense'"),
    ],
)
def test_failures_are_values(params, wanted, kind, text):
    outcome = outcome_of(params, wanted)
    assert outcome.failure.kind == kind
    assert text in str(outcome.failure)
    assert (outcome.failure.repeat, outcome.failure.fold, outcome.configuration) == (0, 2, 7)
    assert outcome.responses == {}
    assert ("Traceback" in outcome.failure.traceback) == (kind == "raised")
    with pytest.raises((RuntimeError, OSError, ValueError)):
        outcome_of(params, wanted, raise_errors=True)


def test_errors_can_be_let_out():
    with pytest.raises(RuntimeError, match="no luck"):
        outcome_of({"trouble": "raise"}, raise_errors=True)
    with pytest.raises(SoberError) as error:
        outcome_of({"trouble": "nan"}, PROBABILITIES, raise_errors=True)
    assert error.value.code == "E315"


def test_interrupts_are_not_swallowed():
    with pytest.raises(KeyboardInterrupt):
        outcome_of({"trouble": "interrupt"})


def test_tasks_and_outcomes_travel():
    split = Plan.build(SMALL, 2).splits[0]
    task = pickle.loads(pickle.dumps(Task(split, Configuration(0, {"size": 3}))))
    (outcome,) = pickle.loads(pickle.dumps(list(fit_predict(Experiment(SMALL, Troubled(), LABELS), [task]))))
    assert outcome.responses["predict"].shape == (10,)
    assert outcome.fit_seconds > 0
    assert outcome.predict_seconds > 0
    failed = outcome_of({"trouble": "raise"})
    assert pickle.loads(pickle.dumps(failed)).failure == failed.failure
