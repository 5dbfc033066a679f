"""The elastic nets reach the optimum that defines them, and the path begins where nothing is left."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sobercv.presets.elastic import ElasticNetCox, ElasticNetLogistic, penalty_path
from sobercv.targets import SURVIVAL

from . import networks


@parametrize_with_checks([ElasticNetLogistic()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("l1_ratio", [0.001, 0.5, 1.0])
def test_logistic_is_at_the_optimum(l1_ratio):
    X, y = cancer()
    alpha = penalty_path(X, y, "binary", l1_ratio)[5]
    net = ElasticNetLogistic(alpha, l1_ratio, tol=1e-9).fit(X, y)
    gradient = X.T @ (y - net.predict_proba(X)[:, 1]) / len(y) - alpha * (1 - l1_ratio) * net.coef_[0]
    used = net.coef_[0] != 0
    scale = alpha * l1_ratio
    assert (np.abs(gradient[~used]) <= scale + 1e-4).all()
    np.testing.assert_allclose(gradient[used], scale * np.sign(net.coef_[0][used]), atol=1e-4)


def test_logistic_agrees_with_scikit_learn():
    X, y = cancer()
    ours = ElasticNetLogistic(0.05, 0.5, tol=1e-9).fit(X, y)
    C = 1 / (len(y) * 0.05)
    old = {} if LogisticRegression().penalty == "deprecated" else {"penalty": "elasticnet"}
    theirs = LogisticRegression(C=C, l1_ratio=0.5, solver="saga", max_iter=5000, tol=1e-8, **old).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert np.array_equal(
        ElasticNetLogistic(0.05, 0.5, tol=1e-9).fit(sparse.csr_array(X), y).predict(X), ours.predict(X)
    )


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    net = ElasticNetLogistic(0.01, 0.5).fit(X, y)
    assert net.score(X, y) > 0.85
    np.testing.assert_allclose(net.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("task", ["binary", "multiclass", "survival"])
def test_the_path_begins_where_nothing_is_left(task):
    make = {"binary": networks.binary, "multiclass": networks.several, "survival": networks.survival}[task]
    X, y, _ = make(0, n=200)
    X = StandardScaler().fit_transform(X)
    path = penalty_path(X, y, task, 1.0)
    assert len(path) == 10
    assert path[-1] == pytest.approx(path[0] * 1e-4, rel=1e-4)
    net = ElasticNetCox if task == "survival" else ElasticNetLogistic
    assert not net(path[0] * 1.01).fit(X, y).coef_.any()
    assert net(path[0] * 0.9).fit(X, y).coef_.any()
    assert penalty_path(X[:10], y[:10], task, 1.0)[-1] == pytest.approx(
        penalty_path(X[:10], y[:10], task, 1.0)[0] / 100, rel=1e-4
    )


def test_cox_agrees_with_scikit_survival():
    sksurv = pytest.importorskip("sksurv.linear_model")
    X, y, _ = networks.survival(0, n=300)
    X = StandardScaler().fit_transform(X)
    theirs = sksurv.CoxnetSurvivalAnalysis(alphas=[0.03], l1_ratio=0.5).fit(X, y)
    np.testing.assert_allclose(ElasticNetCox(0.03, 0.5, tol=1e-10).fit(X, y).coef_, theirs.coef_[:, 0], atol=1e-3)


def test_separated_classes_end_quietly():
    X = np.random.default_rng(0).normal(size=(40, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (X[:, 0] > 0, np.arange(40) % 2):
            net = ElasticNetLogistic(1e-6, 0.5).fit(X, y)
            assert np.isfinite(net.coef_).all()
        survival = np.array([(True, t) for t in np.exp(5 * X[:, 0])], dtype=[("event", bool), ("time", float)])
        assert np.isfinite(ElasticNetCox(1e-6, 0.5).fit(X, survival).coef_).all()


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 0.1])
def test_small_weights_mean_what_large_ones_mean(unit):
    for kind, net in (("binary", ElasticNetLogistic), ("survival", ElasticNetCox)):
        X, y, _ = networks.ALL[kind](0, n=200)
        weight = np.random.default_rng(0).integers(1, 4, 200).astype(float)
        once, again = (net(0.01, 0.5).fit(X, y, each) for each in (weight, unit * weight))
        np.testing.assert_allclose(again.coef_, once.coef_, atol=1e-3)


def test_a_weight_is_a_repeated_row_and_a_weight_of_zero_an_absent_one():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(80, 5)), rng.integers(0, 4, 80)
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    times = np.array(list(zip(y == 1, rng.exponential(size=80).round(1), strict=True)), SURVIVAL)
    for net, target in ((ElasticNetLogistic, y), (ElasticNetCox, times)):
        weighted = net(0.02, 0.5, tol=1e-9).fit(X, target, weight)
        repeated = net(0.02, 0.5, tol=1e-9).fit(np.repeat(X, weight, axis=0), np.repeat(target, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.baseline_.hazard, repeated.baseline_.hazard, atol=1e-8)
