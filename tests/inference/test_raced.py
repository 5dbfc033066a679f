"""Those who left a race stay in the bootstrap: the literal loop, and what must hold whatever was dropped."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.raced import race_table
from sobercv.inference.tables import Table
from sobercv.inference.units import Units
from sobercv.predictions import Predictions
from sobercv.testing import simulate
from tests.oracles import paper, race

RESPONSES = {"accuracy": "predict", "roc_auc": "decision_function", "neg_brier_score": "predict_proba"}


def made(metric, n=40, c=6, repeats=1, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    scores = np.clip(0.5 + 0.15 * (2 * y - 1)[:, None, None] + rng.normal(0, 0.3, (n, c, repeats)), 0.01, 0.99)
    values = (scores > 0.5).astype(int) if metric == "accuracy" else scores
    folds = np.stack([rng.permutation(n) % 4 for _ in range(repeats)], axis=1)
    table = Predictions.build(
        y, {RESPONSES[metric]: values}, task="classification", responses=(RESPONSES[metric],), folds=folds
    )
    return table, paper.Table(y, values, np.ones((n, repeats), bool), folds, metric)


def left_after(table, last):
    """Finishers and dropped; last[c] is the last fold of the first repeat that c ran, None for all."""
    fold = table.fold_of
    cells = []
    for k in last:
        here = np.ones_like(table.seen) if k is None else np.zeros_like(table.seen)
        if k is not None:
            here[:, 0] = fold[:, 0] <= k
        cells.append(here)
    finishers = table.take_configurations(np.array([k is None for k in last]))
    dropped = [
        replace(table.take_configurations(np.array([other == k for other in last])), seen=cells[last.index(k)])
        for k in sorted({k for k in last if k is not None})
    ]
    return finishers, dropped, cells


@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("metric", sorted(RESPONSES))
def test_is_the_literal_loop(metric, repeats, aggregate):
    table, literal = made(metric, repeats=repeats)
    finishers, dropped, cells = left_after(table, [1, None, 0, None, 1, 2])
    question = Question.ask(metric, n_bootstraps=30, random_state=3, aggregate=aggregate)
    (found,) = corrected(race_table(finishers, dropped, question)).values()
    counts = Units(table.n_samples, 3).counts(0, 30)
    literal.aggregate = aggregate
    ref, draws, winners = race.bbc_of_race(literal, cells, counts)
    assert found.winner == ref
    np.testing.assert_allclose(found.draws, np.clip(draws, *question.first.range), rtol=0, atol=1e-12)
    assert found.win_counts.tolist() == [winners.count(c) for c in range(6)]


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_an_early_end_is_the_literal_loop(metric):
    """The race was stopped after three of four folds: who left before takes part as after a whole race."""
    table, literal = made(metric)
    finishers, dropped, cells = left_after(table, [1, None, 0, None, 1, 0])
    stopped = table.fold_of <= 2
    finishers = replace(finishers, seen=stopped)
    question = Question.ask(metric, n_bootstraps=30, random_state=3)
    (found,) = corrected(race_table(finishers, dropped, question)).values()
    literal.seen = stopped
    rows = np.flatnonzero(stopped[:, 0])
    counts = np.zeros((30, table.n_samples), int)
    counts[:, rows] = Units(len(rows), 3).counts(0, 30)
    ref, draws, winners = race.bbc_of_race(literal, [here & stopped for here in cells], counts)
    assert found.winner == ref
    np.testing.assert_allclose(found.draws, np.clip(draws, *question.first.range), rtol=0, atol=1e-12)
    assert found.win_counts.tolist() == [winners.count(c) for c in range(6)]


@pytest.mark.parametrize("metric", sorted(RESPONSES))
def test_by_folds_is_the_literal_loop(metric):
    table, literal = made(metric, n=60)
    finishers, dropped, cells = left_after(table, [1, None, 0, None, 2, 2])
    question = Question.ask(metric, n_bootstraps=40, random_state=3, by="fold")
    (found,) = corrected(race_table(finishers, dropped, question)).values()
    ref, draws, winners = race.bbc_f_of_race(literal, cells, Units.of_folds(4, 40, 3).drawn)
    assert found.winner == ref
    np.testing.assert_allclose(found.draws, np.clip(draws, *question.first.range), rtol=0, atol=1e-12)
    assert found.win_counts.tolist() == [winners.count(c) for c in range(6)]
    assert "W217" in {note.code for note in found.notes}


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ([None, None, 0], "1 of 3 configurations was dropped early. It took part in the correction"),
        ([None, 0, 0], "2 of 3 configurations were dropped early. They took part in the correction"),
    ],
)
def test_the_note_counts_the_dropped_in_the_singular_too(left, said):
    table, _ = made("roc_auc", n=60, c=3)
    finishers, dropped, _ = left_after(table, left)
    found = corrected(race_table(finishers, dropped, Question.ask("roc_auc", n_bootstraps=20, random_state=3)))
    assert any(note.text.startswith(said) for note in found["roc_auc"].notes)


def test_nobody_left_is_bbc():
    table, _ = made("roc_auc")
    question = Question.ask("roc_auc", n_bootstraps=50)
    (raced,) = corrected(race_table(table, [], question)).values()
    (plain,) = corrected(Table(table, question)).values()
    assert np.array_equal(raced.draws, plain.draws)
    assert raced.winner == plain.winner


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 2, None]), min_size=5, max_size=5), st.integers(0, 5), st.sampled_from([1, 2]))
def test_order_of_configurations_and_jobs_do_not_matter(last, seed, jobs):
    last = [None, *last]
    table, _ = made("neg_brier_score", seed=seed)  # a score without ties, whose order would matter
    question = Question.ask("neg_brier_score", n_bootstraps=40)
    found = []
    for order in (np.arange(6), np.arange(6)[::-1]):
        turned = replace(table.take_configurations(order), configurations=np.arange(6))
        finishers, dropped, _ = left_after(turned, [last[c] for c in order])
        (one,) = corrected(race_table(finishers, dropped, replace(question, n_jobs=jobs))).values()
        found.append(one)
    np.testing.assert_allclose(found[0].draws, found[1].draws, atol=1e-12)
    assert found[0].win_counts.tolist() == found[1].win_counts[::-1].tolist()


def test_who_leaves_after_the_last_split_counts_in_full():
    """A drop after the last fold saved nothing: the estimate is that of the whole table."""
    table, _ = made("accuracy")
    question = Question.ask("accuracy", n_bootstraps=50)
    (plain,) = corrected(Table(table, question)).values()
    stay = np.arange(6) == plain.winner
    (raced,) = corrected(
        race_table(table.take_configurations(stay), [table.take_configurations(~stay)], question)
    ).values()
    np.testing.assert_allclose(raced.draws, plain.draws, atol=1e-12)


def test_groups_are_the_units_of_the_share():
    table, _ = made("accuracy", n=48)
    table = replace(table, groups=np.arange(48) // 3, fold_of=(np.arange(48) // 12)[:, None])
    finishers, dropped, _ = left_after(table, [0, None, None, None, None, None])
    raced = race_table(finishers, dropped, Question.ask("accuracy", n_bootstraps=20))
    assert raced.scorers[0].dropped[0].share == pytest.approx(0.5)  # 4 of 16 groups


def test_survivors_alone_are_optimistic():
    """What the correction is for: simulated accuracy, where the truth of each configuration is known."""
    bias = {False: [], True: []}
    for seed in range(40):
        data = simulate.beta_accuracy(n=100, c=60, a=9, b=6, seed=seed)
        table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
        question, rule = Question.ask("accuracy", n_bootstraps=200), sobercv.PredictiveDrop()
        last: list = [None] * 60
        for k in range(int(table.fold_of.max()) + 1):
            alive = np.array([c for c in range(60) if last[c] is None])
            so_far = replace(table.take_configurations(alive), seen=table.fold_of <= k)
            for c, keep in zip(alive, rule(so_far, question, k).keep, strict=True):
                last[c] = None if keep else k
        finishers, dropped, _ = left_after(table, last)
        for counted in bias:
            alone = Table(replace(finishers, n_dropped=len(dropped)), question)
            opened = race_table(finishers, dropped, question) if counted else alone
            (found,) = corrected(opened).values()
            bias[counted].append(found.value - data.truth[found.winner])
    assert np.mean(bias[True]) < np.mean(bias[False]) - 0.01
    assert abs(np.mean(bias[True])) < 0.03


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_predictions_of_a_search_carry_their_leavers(metric):
    """`bbc` on what a search kept gives what the search says; a part of the table is on its own."""
    X, y = make_classification(150, 8, n_informative=3, flip_y=0.2, random_state=1)
    search = sobercv.BBCSearchCV(
        LogisticRegression(), {"C": np.logspace(-5, 2, 8)}, scoring=metric, n_bootstraps=100, random_state=0
    ).fit(X, y)
    table = search.predictions_
    assert table.dropped
    again = sobercv.bbc(None, table, metric, n_bootstraps=100, random_state=0)
    assert again.draws.tolist() == search.estimate_.draws.tolist()
    assert "W217" in {note.code for note in again.notes}
    alone = sobercv.bbc(None, table.take_configurations(np.arange(table.n_configurations)), metric, random_state=0)
    assert alone.n_configurations == table.n_configurations
    by_fold = sobercv.bbc(None, table, metric, by="fold", random_state=0)
    assert by_fold.n_configurations == 8  # the dropped take part


def test_leavers_may_lack_what_finishers_have():
    """Models that give probabilities are kept with them; one that does not may have left the race."""
    rng = np.random.default_rng(0)
    y, folds = rng.integers(0, 2, 80), np.arange(80) % 4
    values = rng.random((80, 3, 1)) * 0.4 + 0.6 * y[:, None, None]
    both = {"decision_function": values, "predict_proba": np.clip(values, 0, 1)}
    table = Predictions.build(y, both, task="classification", folds=folds)
    leaver = replace(
        table.take_configurations(np.array([2])),
        responses={"decision_function": values[:, [2]]}, seen=table.fold_of < 2,
    )  # fmt: skip
    finishers = replace(table.take_configurations(np.array([0, 1])), dropped=(leaver,))
    found = sobercv.bbc(None, finishers, "roc_auc", n_bootstraps=50, random_state=0)
    assert found.configurations.tolist() == [0, 1, 2]
