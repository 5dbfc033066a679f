"""CVT (naive) and TT against algorithms 2 and 4; NCV on predictions as a yardstick for BBC."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberWarning
from tests.cases import SETTINGS, TARGETS, make
from tests.oracles import paper

quiet = pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("target", TARGETS)
def test_naive_is_the_score_of_the_winner_on_all_rows(target, setting):
    case = make(target, setting, seed=31)
    winner, value = paper.cvt(case.table())
    estimate = sobercv.naive(**case.arguments())
    assert estimate.winner == winner
    assert estimate.value == estimate.naive == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert estimate.optimism == 0
    np.testing.assert_allclose(estimate.scores, paper.all_scores(case.table(), case.table().rows), atol=1e-12)


@quiet
@pytest.mark.parametrize("setting", ["plain", "repeats", "ties", "weights", "incomplete", "folds"])
@pytest.mark.parametrize("target", TARGETS)
def test_tibshirani_is_algorithm_4(target, setting):
    case = make(target, setting, seed=32, n=36)
    rng = np.random.default_rng(0)
    case.options["folds"] = np.stack([rng.permutation(np.arange(36) % 4) for _ in range(case.p.shape[2])], axis=1)
    estimate = sobercv.tibshirani(**case.arguments())
    table = case.table()
    assert estimate.value == pytest.approx(paper.tt(table), rel=1e-12, abs=1e-12)
    assert (estimate.winner, estimate.naive) == (paper.cvt(table)[0], pytest.approx(paper.cvt(table)[1], rel=1e-12))
    assert estimate.optimism == pytest.approx(estimate.naive - estimate.value, abs=1e-15)
    assert estimate.value <= estimate.naive


def test_tibshirani_leaves_a_dominant_configuration_alone():
    y = np.arange(30) % 2
    p = np.column_stack([1 - y, y, np.zeros(30, int)])
    estimate = sobercv.tibshirani(y, p, "accuracy", folds=np.arange(30) % 5)
    assert estimate.value == estimate.naive == 1.0
    assert estimate.winner == 1


def test_tibshirani_doubles_the_loss_in_leave_one_out():
    """Section 2.4 of the paper: with one sample a fold, and someone right on each, L_TT = 2 L_CVT."""
    y = np.zeros(10, int)
    y[:5] = 1
    p = np.column_stack([y, 1 - y])
    p[:3, 0], p[:3, 1] = 1 - y[:3], y[:3]  # the first errs on three rows, on which the second is right
    estimate = sobercv.tibshirani(y, p, "accuracy", folds=np.arange(10))
    assert estimate.naive == pytest.approx(0.7)
    assert estimate.value == pytest.approx(0.4)


def test_a_fold_without_a_class_is_left_out_of_tibshirani():
    rng = np.random.default_rng(1)
    y, folds = np.repeat([0, 1], 12), np.arange(24) % 4
    folds[:4] = 9  # a fold of one class
    p = rng.random((24, 5))
    table = paper.Table(y, p[:, :, None], np.ones((24, 1), bool), folds[:, None], "roc_auc")
    estimate = sobercv.tibshirani(y, p, "roc_auc", folds=folds)
    assert estimate.value == pytest.approx(paper.tt(table), abs=1e-12)


@quiet
@pytest.mark.parametrize("target", TARGETS)
def test_nested_is_algorithm_3_on_the_same_predictions(target):
    case = make(target, "plain", seed=34, n=36)
    case.options["folds"] = np.random.default_rng(0).permutation(np.arange(36) % 3)
    estimate = sobercv.nested(**case.arguments())
    assert estimate.value == pytest.approx(paper.ncv(case.table()), rel=1e-12, abs=1e-12)
    assert estimate.winner == paper.cvt(case.table())[0]


def test_bbc_sees_what_nested_cross_validation_sees():
    """No skill anywhere: the naive score is optimistic; NCV on the same table and BBC both find the coin."""
    naive, ncv, bbc = [], [], []
    for seed in range(100):
        rng = np.random.default_rng([33, seed])
        y, p, folds = np.arange(40) % 2, rng.integers(0, 2, (40, 20)), rng.permutation(np.arange(40) % 5)
        ncv.append(sobercv.nested(y, p, "accuracy", folds=folds).value)
        estimate = sobercv.bbc(y, p, "accuracy", n_bootstraps=200, random_state=seed)
        naive.append(estimate.naive)
        bbc.append(estimate.value)
    error = np.std(bbc, ddof=1) / np.sqrt(100)
    assert abs(np.mean(bbc) - 0.5) < 5 * error + 0.005
    assert abs(np.mean(bbc) - np.mean(ncv)) < 5 * np.hypot(error, np.std(ncv, ddof=1) / np.sqrt(100))
    assert np.mean(naive) > 0.6


def test_tibshirani_selects_in_folds_by_the_rule_that_selects_the_winner():
    """A rule that always takes the first configuration selects nothing, so there is nothing to take off."""
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    p = rng.random((60, 30))

    def first(scores):
        return np.zeros(len(scores), int)

    found = sobercv.tibshirani(y, p, "roc_auc", folds=np.arange(60) // 2 % 5, select=first)
    assert found.winner == 0
    assert found.value == found.naive


def test_a_second_metric_judges_what_the_first_selects_in_each_fold():
    rng = np.random.default_rng(4)
    y, folds = np.arange(80) % 2, np.arange(80) // 2 % 4
    p = rng.random((80, 12))
    found = sobercv.tibshirani(y, p, ["roc_auc", "neg_brier_score"], folds=folds)
    brier = -((p - y[:, None]) ** 2)
    winner = int(np.argmax([roc_auc_score(y, column) for column in p.T]))
    lead = []
    for k in range(4):
        here = folds == k
        own = int(np.argmax([roc_auc_score(y[here], column) for column in p[here].T]))
        lead.append(brier[here, own].mean() - brier[here, winner].mean())
    assert found["neg_brier_score"].value == pytest.approx(brier[:, winner].mean() - np.mean(lead), rel=1e-12)


@pytest.mark.parametrize("rival", [sobercv.naive, sobercv.tibshirani, sobercv.nested])
def test_what_a_rival_cannot_follow_is_no_option_of_it(rival):
    with pytest.raises(TypeError, match="no option 'n_bootstraps'"):
        rival([0, 1] * 6, np.eye(12), "accuracy", folds=np.arange(12) % 3, n_bootstraps=10)


def test_configurations_that_a_race_dropped_are_said_to_take_no_part():
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"max_depth": [1, 2, 3, 5], "max_features": [1, 30]}
    search = sobercv.BBCSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring="accuracy", cv=5).fit(X, y)
    n_dropped = sum(len(part.configurations) for part in search.predictions_.dropped)
    assert n_dropped
    for protocol in (sobercv.tibshirani, sobercv.nested):
        with pytest.warns(SoberWarning, match=f"^{n_dropped} configurations were dropped early"):
            protocol(y, search.predictions_, "accuracy")
    sobercv.naive(y, search.predictions_, "accuracy")
