"""Pair models: the winner trained again without each two folds, and an interval that is wider for unstable models."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

import sobercv
from sobercv import SoberError
from sobercv.inference.intervals import CROSS_VALIDATED
from sobercv.report import summarize
from sobercv.search.pairs import pairs_pay, tournament
from sobercv.training import Plan, Problem

X, Y = make_classification(80, 40, n_informative=4, random_state=0)
GRID = {"C": [0.1, 1.0]}


def searched(estimator=None, grid=None, X=X, y=Y, **options):
    options = {"cv": 5, "scoring": "accuracy", "n_bootstraps": 100, "drop": None, **options}
    return sobercv.BBCSearchCV(estimator or LogisticRegression(), grid or GRID, **options).fit(X, y)


@pytest.mark.parametrize("k", [4, 5, 10, 11])
def test_every_two_folds_meet_once(k):
    problem = Problem.build(np.arange(60.0)[:, None], np.arange(60.0), task="regression")
    plan, partner = tournament(Plan.build(problem, k))
    tests = {tuple(split.test) for split in plan.splits}
    assert len(tests) == plan.n_splits == k * (k - 1) // 2
    for i, row in enumerate(partner):
        assert sorted(row[row >= 0]) == [j for j in range(k) if j != i]
    for games in plan.rounds:
        rows = np.concatenate([split.test for split in games])
        assert len(set(rows)) == len(rows)
    for split in plan.splits:
        assert not set(split.train) & set(split.test)
        assert len(split.train) + len(split.test) == 60


def test_repeats_and_few_folds_have_no_pairs():
    assert searched(pair_models=True, cv=3).pair_models_ is None
    assert searched(pair_models=True, n_repeats=2).pair_models_ is None
    assert searched(pair_models=np.False_).pair_models_ is None  # numpy's flags are flags


def slow(model, X, y, score, splits):
    """What a bootstrap misses, straight from its definition."""
    own, k = np.empty(len(y)), len(splits)
    fold = np.empty(len(y), int)
    for i, (train, test) in enumerate(splits):
        own[test] = clone(model).fit(X[train], y[train]).predict(X[test])
        fold[test] = i
    E, without = np.full((k, k), np.nan), np.tile(own, (k, 1))
    for j in range(k):
        for i in range(k):
            if i != j:
                train, test = np.intersect1d(splits[i][0], splits[j][0]), splits[i][1]
                without[j, test] = clone(model).fit(X[train], y[train]).predict(X[test])
                changed = np.where(fold == i, without[j], own)
                E[j, i] = score(y, changed) - score(y, own)
    for _ in range(200):
        E -= np.nanmean(E, axis=1, keepdims=True)
        E -= np.nanmean(E, axis=0, keepdims=True)
    shared = []
    for start in range(4):
        half = np.isin(fold, [(start + i) % k for i in range(k // 2)])
        moved = []
        for side in (half, ~half):
            rows = [side & (fold != j) for j in range(k)]
            moved.append([score(y[r], without[j, r]) - score(y[r], own[r]) for j, r in enumerate(rows)])
        shared.append((k - 1) / k * np.cov(*moved, ddof=0)[0, 1] * k)
    return np.nansum(E * E.T) + np.mean(shared) / 2


def test_the_factor_is_what_its_definition_says():
    search = searched(pair_models=True)
    missed = slow(LogisticRegression(**search.best_params_), X, Y, accuracy_score, list(StratifiedKFold(5).split(X, Y)))
    bounds = searched(pair_models=False).estimate_.bounds
    seen = bounds.centre * (1 - bounds.centre) / (bounds.size * CROSS_VALIDATED)
    factor = search.pair_models_.factors["accuracy"]
    assert factor == pytest.approx(1.2 + 0.75 * (1 + missed / seen - 1.2), rel=1e-6)
    assert 1.2 < factor < 5
    assert search.estimate_.bounds.size == pytest.approx(bounds.size * 1.2 / factor)


def test_numbers_are_predicted_too():
    X, y = make_regression(60, 30, n_informative=5, noise=30.0, random_state=0)
    grid = {"alpha": [1.0, 100.0]}
    search = searched(Ridge(), grid, X, y, scoring="r2", pair_models=True)
    bounds = searched(Ridge(), grid, X, y, scoring="r2", pair_models=False).estimate_.bounds
    missed = slow(Ridge(**search.best_params_), X, y, r2_score, list(KFold(5).split(X)))
    seen = (1 - bounds.centre) ** 2 / (bounds.size * CROSS_VALIDATED)
    assert search.pair_models_.factors["r2"] == pytest.approx(
        min(max(1.2 + 0.75 * (1 + missed / seen - 1.2), 1.0), 5.0), rel=1e-6
    )


def test_only_the_interval_changes():
    one, other = searched(pair_models=True), searched(pair_models=False)
    assert (one.estimate_.value, one.estimate_.naive) == (other.estimate_.value, other.estimate_.naive)
    assert np.ptp(one.estimate_.interval) > np.ptp(other.estimate_.interval)
    assert one.n_fits_ == other.n_fits_ + 10
    assert one.pair_models_.n_fits == 10
    assert other.pair_models_ is None


def test_they_are_trained_where_they_are_a_small_share():
    few, many = {"C": [0.01, 1.0]}, {"C": np.geomspace(1e-3, 1, 20)}
    assert searched(grid=few).pair_models_ is None  # 10 fits beside 10
    assert searched(grid=many).pair_models_.n_fits == 10  # beside 100
    assert searched(grid=many, interval="percentile").pair_models_ is None
    assert searched(grid=many, n_repeats=2).pair_models_ is None


def test_every_metric_has_its_factor():
    search = searched(scoring=["accuracy", "roc_auc"], pair_models=True)
    assert set(search.pair_models_.factors) == {"accuracy", "roc_auc"}
    assert len(set(search.pair_models_.factors.values())) == 2


def test_a_metric_of_several_times_has_its_factor():
    linear_model = pytest.importorskip("sksurv.linear_model")
    times = np.random.default_rng(0).exponential(np.exp(-X[:, 0]))
    y = np.array([(True, time) for time in times], [("event", bool), ("time", float)])
    search = searched(
        linear_model.CoxPHSurvivalAnalysis(), {"alpha": [1.0, 10.0]}, X[:, :5], y,
        scoring="neg_integrated_brier_score(times=[0.2, 0.5, 0.9])", pair_models=True,
    )  # fmt: skip
    (factor,) = search.pair_models_.factors.values()
    assert 1 <= factor <= 5


def test_a_store_remembers_them(tmp_path):
    first = searched(pair_models=True, store=tmp_path / "run.sqlite")
    again = searched(pair_models=True, store=tmp_path / "run.sqlite")
    assert again.estimate_.interval == first.estimate_.interval
    assert again.n_fits_ == 1  # the final model


class Demanding(LogisticRegression):
    """Cannot be trained on as few rows as pair models are."""

    def fit(self, X, y):
        if len(X) < 60:
            raise ValueError("too few rows")
        return super().fit(X, y)


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_where_they_cannot_be_trained_the_search_stands(error_score):
    search = searched(Demanding(), pair_models=True, error_score=error_score)
    assert search.pair_models_ is None
    assert search.estimate_.interval == searched(pair_models=False).estimate_.interval
    assert search.predict(X).shape == Y.shape


def test_what_means_nothing_is_refused():
    with pytest.raises(SoberError, match='`pair_models` must be "auto", True or False; got 3'):
        searched(pair_models=3)


def test_a_report_knows_the_factor_and_whether_tuning_was_worth_it():
    search = searched(pair_models=True)
    made = summarize(search)
    assert made.excess == search.pair_models_.factors["accuracy"]
    assert made.tuning == search.gain_over(0).sentence("the first configuration (C=0.1)")
    assert made.about_winner.endswith(made.tuning)


def test_no_time_is_left_for_them():
    """The search is done, but what is left of its time is too little for ten more fits."""
    search = searched(pair_models=True, max_seconds=60)
    assert search.pair_models_ is not None
    store = SimpleNamespace(done=np.ones((1, 5), bool), plan=SimpleNamespace(n_repeats=1))
    store.fit_seconds = store.predict_seconds = np.full((1, 5), 0.5)
    asked = (search.pair_models, search.question_, store, 0)
    assert pairs_pay(*asked, seconds_left=None)
    assert pairs_pay(*asked, seconds_left=10.0)
    assert not pairs_pay(*asked, seconds_left=9.0)
