"""Numbers that were once wrong: each test failed before its fix."""

import tracemalloc

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.selection import best, simplest_within
from sobercv.inference.tables import Table
from sobercv.inference.units import Units
from sobercv.metrics import Metric
from sobercv.predictions import Predictions
from sobercv.testing import simulate

DATA = simulate.binormal_auc(n=80, c=12, seed=4)


def test_two_metrics_of_one_name_are_refused():
    """Estimates are kept by name: of two lambdas one was lost, perhaps the one that selected."""
    with pytest.raises(sobercv.SoberError, match=r"make_metric\(function, name="):
        sobercv.bbc(DATA.y, DATA.predictions, [lambda y, p: p[y == 1].mean(), lambda y, p: -p[y == 0].mean()])
    named = [
        sobercv.make_metric(f, name=name, response="decision_function", task="classification")
        for name, f in (("up", lambda y, p: p[y == 1].mean()), ("down", lambda y, p: -p[y == 0].mean()))
    ]
    assert list(sobercv.bbc(DATA.y, DATA.predictions, named, n_bootstraps=20)) == ["up", "down"]


@pytest.mark.parametrize("second", ["best", [3]])
def test_a_difference_is_that_of_the_corrected_scores(second):
    found = sobercv.difference(
        DATA.y, DATA.predictions, "f1", first=sobercv.best_with_threshold(), second=sobercv.best_with_threshold()
    )
    assert found.value == 0.0
    options = {"first": sobercv.greedy_ensemble(), "second": second, "n_bootstraps": 200}
    probabilities = 1 / (1 + np.exp(-DATA.predictions))
    found = sobercv.difference(DATA.y, probabilities, "neg_brier_score", **options)
    assert found.value == found.first.value - found.second.value
    assert found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_infinite_score_can_win(order):
    scores = np.array([[1.0, np.inf, 2.0], [1.0, 2.0, np.nan], [-np.inf, -1.0, np.inf]], order=order)
    assert best(scores).tolist() == [1, 1, 2]
    assert simplest_within(tolerance=0.5)(scores).tolist() == [1, 1, 2]


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("interval", ["percentile", None])
def test_an_interval_at_any_level_holds_the_value(level, interval):
    rng = np.random.default_rng(0)
    for seed in range(5):
        y = rng.normal(size=40)
        p = y[:, None] + rng.standard_t(2, size=(40, 5))  # skewed errors: the mean is not the median
        options = {} if interval is None else {"interval": interval}
        found = sobercv.bbc(y, p, "neg_mean_squared_error", n_bootstraps=200, random_state=seed, **options)
        low, high = found.interval_at(level)
        assert low <= found.value <= high


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_632plus_does_not_depend_on_the_unit(unit):
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    p = y[:, None] + rng.normal(size=(60, 8))
    found = sobercv.bbc(y * unit, p * unit, "neg_mean_squared_error", n_bootstraps=100).as_632plus()
    same = sobercv.bbc(y, p, "neg_mean_squared_error", n_bootstraps=100).as_632plus()
    assert found.value / unit**2 == pytest.approx(same.value, rel=1e-9)


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_scores_of_models_have_the_interval_of_folds_minus_one(n_folds):
    """The 95 % interval of fold scores holds the truth about as often as it says."""
    rng, held = np.random.default_rng(n_folds), 0
    n, c, studies = 60, 10, 150
    for seed in range(studies):
        truth = 0.7 + 0.03 * rng.normal(size=c)
        y = rng.integers(0, 2, n)
        right = rng.random((n, c)) < truth
        folds = np.arange(n) % n_folds
        scores = np.stack([right[folds == k].mean(axis=0) for k in range(n_folds)])
        table = Predictions.build(y, np.where(right, y[:, None], 1 - y[:, None]), task="classification", folds=folds)
        question = Question.ask(
            Metric.given("own", "classification"), by="fold", n_bootstraps=200, random_state=seed, confidence_level=0.95
        )
        (found,) = corrected(Table(table, question, scores=[scores])).values()
        held += found.interval[0] <= truth[found.winner] <= found.interval[1]
        freedom = f"Student's t with {n_folds - 1} degrees"
        assert any(freedom in note.text for note in found.notes)
    assert held / studies > 0.92


@pytest.mark.filterwarnings("ignore::sobercv.SoberWarning")
def test_two_folds_have_one_degree_of_freedom():
    scores = np.array([[0.70, 0.68], [0.74, 0.73]])
    table = Predictions.build(np.arange(20) % 2, np.zeros((20, 2), int), task="classification", folds=np.arange(20) % 2)
    question = Question.ask(Metric.given("own", "classification"), by="fold")
    (found,) = corrected(Table(table, question, scores=[scores])).values()
    error = np.sqrt(1.2 * scores[:, 0].var(ddof=1) / 2)  # of the mean of two folds
    assert found.interval[1] - found.interval[0] > 2 * 12.7 * error * 0.99


def test_counting_every_group_twice_takes_little_memory():
    """The kurtosis of what units add was computed of counts [groups, N] in eight bytes each."""
    rng = np.random.default_rng(0)
    n = 20_000
    y = rng.normal(size=n)
    table = Predictions.build(y, y[:, None] + rng.normal(size=(n, 2)), task="regression", groups=np.arange(n) % 900)
    memory = Table(table, Question.ask("neg_mean_squared_error", n_bootstraps=10))
    memory.kurtosis(0, 0)  # loops are compiled
    tracemalloc.start()
    memory.kurtosis(0, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * n


def test_drawing_folds_takes_little_memory():
    """[B, K, K] for leave-one-out on thousands of samples is too much."""
    tracemalloc.start()
    counts = Units.of_folds(300, 200, 0).drawn
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * counts.size
    assert (counts.sum(axis=1) == 300).all()
