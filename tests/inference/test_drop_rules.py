"""Drop rules beside the paper's: their formulas against literal twins, their guarantees, what they refuse."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question
from sobercv.inference.units import Units
from sobercv.predictions import Predictions
from sobercv.testing import simulate


def table_of(n=100, c=8, seed=0, seen=0.5, **options):
    data = simulate.beta_accuracy(n=n, c=c, a=6, b=4, seed=seed)
    table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds, **options)
    return replace(table, seen=(np.arange(n) < seen * n)[:, None]), data


def test_predictive_is_the_formula():
    """z = lead / (sd of the lead over resamples * sqrt(1 - n / N)), written out."""
    table, data = table_of()
    question = Question.ask("accuracy", random_state=3)
    found = sobercv.PredictiveDrop(chance=0.01, zone=0.2)(table, question, 4)
    right = (data.predictions == data.y[:, None])[:50].astype(float)
    counts = Units(50, 3, "drop", (4,)).counts(0, 200)
    scores = np.array([[np.repeat(right[:, c], row).mean() for c in range(8)] for row in counts])
    mean = right.mean(axis=0)
    best = int(mean.argmax())
    for c in range(8):
        if mean[c] == mean[best]:
            assert found.keep[c]
            continue
        error = np.std(scores[:, best] - scores[:, c], ddof=1) * np.sqrt(1 - 50 / 100)
        zone = 0.2 * np.std(scores[:, best], ddof=1) * np.sqrt(50 / 100)
        p = NormalDist().cdf((mean[best] - mean[c] + zone) / error)
        assert found.p[c] == pytest.approx(p, abs=1e-12)
        assert found.keep[c] == (1 - p >= 0.01)


@pytest.mark.parametrize("seen", [0.1, 1.0])
def test_predictive_waits_for_some_predictions_and_ends_with_the_last(seen):
    table, _ = table_of(seen=seen)
    assert sobercv.PredictiveDrop()(table, Question.ask("accuracy"), 0).keep.all()


def test_less_can_happen_when_less_is_left():
    data = simulate.beta_accuracy(n=200, c=30, a=9, b=6, seed=2)
    table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    question, rule, kept = Question.ask("accuracy"), sobercv.PredictiveDrop(), []
    for n in (100, 190):
        # The same predictions, of which more or fewer are still to come.
        cut = table.take_rows(np.arange(n)) if n == 190 else table
        some = replace(cut, seen=(np.arange(cut.n_samples) < 95)[:, None])
        kept.append(int(rule(some, question, 0).keep.sum()))
    assert kept[0] >= kept[1] > 0


def literal_bets(losses, order, n):
    """REFERENCES: the betting e-process of a finite population, one configuration at a time."""
    c = losses.shape[1]
    peak = np.zeros(c)
    for j in range(c):
        log = 0.0
        differences: list[float] = []
        for t, u in enumerate(order):
            past = losses[order[:t]].sum(axis=0)
            leader = int(np.argmin(past))
            behind = past[j] - past[leader]
            fair = -behind / (n - t)
            if fair < -1:
                log = np.inf
            else:
                edge = behind / max(t, 1) - fair
                spread = (sum(d * d for d in differences) + 0.25) / (t + 1) - (sum(differences) / (t + 1)) ** 2
                most = 0.5 / (1 + fair) if fair > -1 else 0.0
                stake = min(max(edge / (spread + edge**2), 0.0), most)
                log += np.log1p(stake * (losses[u, j] - losses[u, leader] - fair))
            differences.append(losses[u, j] - losses[u, leader])
            peak[j] = max(peak[j], log)
    return peak


def test_betting_is_the_literal_loop():
    table, data = table_of(n=60, c=6, seed=3, seen=0.5)
    question = Question.ask("accuracy", random_state=5)
    found = sobercv.BettingDrop()(table, question, 2)
    from sobercv.seeds import generator

    order = generator(5, "bets", 2).permutation(np.arange(30))
    peak = literal_bets((data.predictions != data.y[:, None]).astype(float), order, 60)
    np.testing.assert_allclose(found.p, 1 - np.exp(-peak), atol=1e-12)


def test_betting_in_rounds_remembers():
    """A leader that is gone has still been bet on."""
    data = simulate.beta_accuracy(n=100, c=10, a=6, b=4, seed=1)
    table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    question, rule = Question.ask("accuracy"), sobercv.BettingDrop().for_race()
    alive = np.arange(10)
    for k in range(10):
        some = replace(table.take_configurations(alive), seen=table.fold_of <= k)
        alive = alive[rule(some, question, k).keep]
    scores = (data.predictions == data.y[:, None]).mean(axis=0)
    assert scores.argmax() in alive


def test_betting_keeps_the_winner_as_promised():
    """P(the winner of the whole cross-validation is dropped) is at most the chance; samples in random order."""
    lost, races = 0, 150
    for seed in range(races):
        data = simulate.correlated_accuracy(n=100, c=12, a=9, b=6, seed=seed, rho=0.5)
        table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
        question, rule, alive = Question.ask("accuracy", random_state=seed), sobercv.BettingDrop(0.1).for_race(), None
        alive = np.arange(12)
        for k in range(10):
            some = replace(table.take_configurations(alive), seen=table.fold_of <= k)
            alive = alive[rule(some, question, k).keep]
        scores = (data.predictions == data.y[:, None]).mean(axis=0)
        lost += not (scores[alive] == scores.max()).any()
    assert lost / races <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / races)


def test_groups_are_bet_on_as_wholes():
    data = simulate.beta_accuracy(n=90, c=5, a=6, b=4, seed=1)
    table = Predictions.build(
        data.y, data.predictions, task="classification", folds=data.folds, groups=np.arange(90) // 3
    )
    table = replace(table, seen=np.arange(90)[:, None] < 44)
    rule = sobercv.BettingDrop().for_race()
    rule(table, Question.ask("accuracy"), 0)
    assert rule._memory["done"].sum() == 14  # two of three samples of the fifteenth group are not enough


@pytest.mark.parametrize(
    "rule", [sobercv.BettingDrop(), sobercv.ConfidenceDrop(), sobercv.HoeffdingDrop(), sobercv.BernsteinDrop()]
)
@pytest.mark.parametrize("metric", ["roc_auc", "f1", "neg_log_loss"])
def test_what_cannot_be_served_is_refused_before_training(rule, metric):
    table = table_of()[0]
    with pytest.raises(sobercv.SoberError, match="E114"):
        rule.check(table, Question.ask(metric))


@pytest.mark.parametrize("rule", [sobercv.BettingDrop(), sobercv.ConfidenceDrop(), sobercv.HoeffdingDrop()])
@pytest.mark.parametrize("what", ["repeats", "weights", "groups"])
def test_samples_that_do_not_count_once_each_are_refused_before_training(rule, what):
    """A search asks with a table in which nothing is predicted; groups can be bet on as wholes."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(60, random_state=0)

    class Trains(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("trained")

    repeats = {"n_repeats": 2} if what == "repeats" else {}
    given = {"weights": {"sample_weight": np.ones(60)}, "groups": {"groups": np.arange(60) // 2}}.get(what, {})
    search = sobercv.BBCSearchCV(Trains(), {"C": [1, 2]}, scoring="accuracy", drop=rule, error_score="raise", **repeats)
    expected = AssertionError if what == "groups" and isinstance(rule, sobercv.BettingDrop) else sobercv.SoberError
    with pytest.raises(expected, match="trained" if expected is AssertionError else f"E114|{what}"):
        search.fit(X, y, **given)


def test_a_search_asks_before_it_trains():
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(60, random_state=0)

    class Trains(LogisticRegression):
        def fit(self, X, y):
            raise AssertionError("trained")

    search = sobercv.BBCSearchCV(Trains(), {"C": [1, 2]}, scoring="roc_auc", drop=sobercv.BettingDrop())
    with pytest.raises(sobercv.SoberError, match="PredictiveDrop"):
        search.fit(X, y)


def test_hoeffding_and_bernstein_are_their_formulas():
    table, data = table_of(n=400, c=6, seed=4, seen=0.5)
    loss = (data.predictions != data.y[:, None])[:200].astype(float)
    mean, sd = loss.mean(axis=0), loss.std(axis=0)
    h = np.sqrt(np.log(2 * 6 * 10 / 0.05) / (2 * 200))
    log = np.log(3 * 6 * 10 / 0.05)
    b = sd * np.sqrt(2 * log / 200) + 3 * log / 200
    best = mean.argmin()
    question = Question.ask("accuracy")
    assert sobercv.HoeffdingDrop()(table, question, 0).keep.tolist() == (mean - h <= mean[best] + h).tolist()
    assert sobercv.BernsteinDrop()(table, question, 0).keep.tolist() == (mean - b <= mean[best] + b[best]).tolist()


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (sobercv.PredictiveDrop, {"chance": 0.7}), (sobercv.PredictiveDrop, {"zone": -1}),
        (sobercv.PredictiveDrop, {"min_predictions": -1}), (sobercv.BettingDrop, {"chance": 0}),
        (sobercv.ConfidenceDrop, {"level": 2}), (sobercv.HoeffdingDrop, {"rounds": 0}),
    ],
)  # fmt: skip
def test_options_that_mean_nothing(make, value):
    with pytest.raises(sobercv.SoberError, match="E108"):
        make(**value)
