"""Selection rules: tables of scores with the winners they must give, and the rule inside the bootstrap."""

import numpy as np
import pytest

import sobercv
from sobercv.inference.selection import best
from tests.cases import make
from tests.oracles import paper

quiet = pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")


def answers(*accuracies, n=20):
    """A truth and one column for each wanted accuracy."""
    y = np.arange(n) % 2
    return y, np.column_stack([np.where(np.arange(n) < round(a * n), y, 1 - y) for a in accuracies])


@pytest.mark.parametrize(
    ("accuracies", "winner"),
    [((0.5, 0.9, 0.8), 1), ((0.9, 0.9, 0.8), 0), ((0.1, 0.9, 0.9), 1), ((0.5, 0.5, 0.5), 0), ((0.0, 0.0), 0)],
)
def test_best_takes_the_first_of_equals(accuracies, winner):
    assert sobercv.naive(*answers(*accuracies), "accuracy").winner == winner


@quiet
def test_equal_up_to_rounding_is_equal():
    """A sum in another order differs in the last bit; that is no reason to win."""
    y = np.linspace(0.1, 0.9, 9)
    error = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.15, 0.05])
    p = np.column_stack([y + error, y - error, y + error * (1 + 1e-14), y + error / (1 + 1e-14)])
    assert sobercv.naive(y, p, "neg_mean_squared_error").winner == 0
    estimate = sobercv.bbc(y, p, "neg_mean_squared_error", n_bootstraps=100, random_state=0)
    assert estimate.win_counts.tolist() == [100, 0, 0, 0]


@pytest.mark.parametrize("rule", ["best", sobercv.simplest_within(tolerance=0.0)])
@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0, 1e9])
def test_the_winner_does_not_depend_on_the_unit_of_the_target(unit, rule):
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    worse, better = y + rng.normal(size=60), y + 0.1 * rng.normal(size=60)
    predictions = unit * np.column_stack([worse, better, better])
    found = sobercv.bbc(unit * y, predictions, metric="neg_mean_squared_error", select=rule, random_state=0)
    assert found.winner == 1
    assert found.value == pytest.approx(-0.01 * unit**2, rel=0.5)


def mean_of_squares(y_true, y_pred):
    return float(np.mean((y_true - y_pred) ** 2))


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e9])
def test_nor_does_it_by_a_function_of_the_users_own(unit):
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    columns = np.column_stack([y + rng.normal(size=60), y + 0.1 * rng.normal(size=60)])
    mine = sobercv.make_metric(mean_of_squares, greater_is_better=False, task="regression")
    found = sobercv.bbc(unit * y, unit * columns, mine, n_bootstraps=100, random_state=0)
    assert found.winner == 1
    assert found.win_counts.tolist() == [0, 100]


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_infinite_score_is_the_best(order):
    scores = np.array([[1.0, np.inf, 2.0], [np.inf, 3.0, np.inf], [-np.inf, -np.inf, -np.inf]], order=order)
    assert best(scores).tolist() == [1, 0, -1]


def test_a_real_difference_is_not_rounding():
    y = np.zeros(20)
    p = np.column_stack([np.full(20, 1.0), np.full(20, 1 - 1e-9)])
    assert sobercv.naive(y, p, "neg_mean_absolute_error").winner == 1


@pytest.mark.parametrize(
    ("tolerance", "complexity", "winner"),
    [
        (0.0, None, 2),
        (0.05, None, 1),
        (0.15, None, 0),
        (0.05, [3, 2, 1, 0], 3),
        (0.15, [5, 1, 1, 9], 2),  # equally complex: the better of them
        (0.15, [5, 1, 9, 1], 1),  # and equally good: the first
        (1.0, [5, 4, 3, 9], 2),
    ],
)
def test_simplest_within_a_tolerance(tolerance, complexity, winner):
    y, p = answers(0.8, 0.9, 0.95, 0.9)
    rule = sobercv.simplest_within(tolerance=tolerance, complexity=complexity)
    assert sobercv.naive(y, p, "accuracy", select=rule).winner == winner


def test_simplest_within_a_tolerance_is_rerun_in_every_bootstrap():
    case = make("accuracy-labels2", seed=41, n=40, c=6, b=60)
    complexity = [3, 1, 2, 0, 5, 4]
    rule = sobercv.simplest_within(tolerance=0.05, complexity=complexity)
    estimate = sobercv.bbc(**case.arguments(), counts=case.counts, select=rule)
    draws, winners = paper.bbc(case.table(), case.counts, paper.simplest_within(0.05, complexity))
    np.testing.assert_allclose(estimate.draws, draws, atol=1e-12)
    assert estimate.win_counts.tolist() == np.bincount(winners, minlength=6).tolist()
    assert estimate.win_counts.tolist() != sobercv.bbc(**case.arguments(), counts=case.counts).win_counts.tolist()


@pytest.mark.parametrize(("factor", "winner"), [(0.2, 3), (1, 2), (2.5, 1), (5, 0)])
def test_one_standard_error_is_the_spread_of_the_best_over_bootstraps(factor, winner):
    """The best is right on 90 of 100 rows, so its standard error is 0.03: steps far from it leave no doubt."""
    y, p = answers(0.80, 0.84, 0.88, 0.90, n=100)
    rule = sobercv.simplest_within(standard_errors=factor)
    assert sobercv.bbc(y, p, "accuracy", select=rule, n_bootstraps=20, random_state=0).winner == winner
    assert sobercv.naive(y, p, "accuracy", select=rule).winner == winner


def test_a_callable_sees_scores_and_decides():
    case = make("neg_mean_absolute_error-number", seed=43, n=30, c=4, b=25)
    seen = []

    def second_best(scores):
        seen.append(scores.shape)
        return np.argsort(scores, axis=1)[:, -2]

    estimate = sobercv.bbc(**case.arguments(), counts=case.counts, select=second_best)
    draws, winners = paper.bbc(case.table(), case.counts, lambda scores: int(np.argsort(scores)[-2]))
    np.testing.assert_allclose(estimate.draws, draws, atol=1e-12)
    assert estimate.win_counts.tolist() == np.bincount(winners, minlength=4).tolist()
    assert estimate.winner == int(np.argsort(estimate.scores)[-2])
    assert all(c == 4 for _, c in seen)


@pytest.mark.parametrize(
    "rule",
    [
        lambda scores: np.full(len(scores), 99),
        lambda scores: np.full(len(scores), -1),  # Python's last, but nobody here was undefined
        lambda scores: np.zeros(len(scores) + 1, int),
        lambda scores: np.full(len(scores), 0.5),
        lambda scores: None,
    ],
    ids=["too high", "negative", "wrong length", "not whole", "nothing"],
)
def test_a_rule_without_a_valid_winner_is_named(rule):
    with pytest.raises(sobercv.SoberError) as caught:
        sobercv.bbc(*answers(0.5, 0.6), "accuracy", select=rule, n_bootstraps=20, random_state=0)
    assert caught.value.code == "E117"


@quiet
def test_nan_never_wins():
    """In a bag of one class nobody has an AUC, so nobody is selected: the draw is undefined, not configuration 0's."""
    y = np.array([0] * 6 + [1] * 6)
    p = np.random.default_rng(0).random((12, 3))
    counts = np.array([[2] * 6 + [0] * 6, [1, 1, 2, 2, 0, 0] * 2])
    estimate = sobercv.bbc(y, p, "roc_auc", counts=counts)
    assert np.isnan(estimate.draws).tolist() == [True, False]
    assert estimate.win_counts.sum() == 1
