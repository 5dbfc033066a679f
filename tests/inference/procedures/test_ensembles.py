"""Ensembles against their slow twins, and what stands beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

import sobercv
from sobercv.inference import Question
from sobercv.inference.tables import open_table
from sobercv.testing import simulate
from tests.oracles import ensembles as oracle


def numbers(seed, n=40, c=5):
    rng = np.random.default_rng(seed)
    y = 100 + rng.normal(size=n)
    predictions = y[:, None] + rng.normal(size=(n, c)) * np.linspace(0.6, 1.4, c)
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(6)]).astype(np.uint8)
    return y, predictions, counts, rng


def classes(seed, n=60, c=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = 1 / (1 + np.exp(-(1.5 * (y[:, None] - 0.5) + rng.normal(size=(n, c)))))
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(6)]).astype(np.uint8)
    return y, p, counts, rng


def decisions(y, predictions, metric, select, counts, weight=None):
    question = Question.ask(metric, select=select)
    table = open_table(predictions, question, y=y, sample_weight=weight).predictions
    return select.bind(table, question).decide(counts)


@pytest.mark.parametrize("weighted", [False, True])
def test_greedy_agrees_with_its_twin(weighted):
    for make, metric in ((numbers, "r2"), (classes, "roc_auc")):
        y, predictions, counts, rng = make(1)
        weight = rng.integers(1, 4, len(y)) / 2 if weighted else None
        found = decisions(y, predictions, metric, sobercv.greedy_ensemble(size=8), counts, weight)
        for row, mix in zip(counts, found.tuned, strict=True):
            bag = np.repeat(np.arange(len(y)), row)
            w = None if weight is None else weight[bag]
            np.testing.assert_allclose(mix, oracle.greedy(y[bag], predictions[bag], w, 8), atol=1e-12)


def test_stacking_finds_what_a_solver_finds():
    y, predictions, counts, _ = numbers(2)
    found = decisions(y, predictions, "r2", sobercv.stacked_ensemble(), counts)
    for row, mix in zip(counts, found.tuned, strict=True):
        bag = np.repeat(np.arange(len(y)), row)
        ours, theirs = (
            oracle.squared_error(y[bag], predictions[bag], weights, None)
            for weights in (mix, oracle.stacked(y[bag], predictions[bag], None))
        )
        assert ours <= theirs + 1e-9
        assert mix.min() >= 0
        assert mix.sum() == pytest.approx(1)


def test_the_best_are_averaged():
    y, p, counts, _ = classes(3)
    found = decisions(y, p, "roc_auc", sobercv.average_of_best(k=2), counts)
    for row, mix in zip(counts, found.tuned, strict=True):
        bag = np.repeat(np.arange(len(y)), row)
        np.testing.assert_array_equal(mix, oracle.best_k([roc_auc_score(y[bag], p[bag, c]) for c in range(5)], 2))


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "accuracy"])
def test_draws_are_those_of_the_mix_on_what_is_absent(metric):
    y, p, counts, _ = classes(4)
    select = sobercv.greedy_ensemble(size=5)
    estimate = sobercv.bbc(y, p, metric, select=select, counts=counts)
    mixes = decisions(y, p, metric, select, np.minimum(counts, 1)).tuned  # a sample drawn twice counts once
    for row, mix, drawn in zip(counts, mixes, estimate.draws, strict=True):
        out = row == 0
        alone = sobercv.metrics.get(metric).scores(
            sobercv.Predictions.build(y[out], {"predict_proba": p[out] @ mix[:, None]}, task="classification"),
            np.ones((1, int(out.sum())), np.uint8),
        )
        assert drawn == pytest.approx(alone[0, 0], abs=1e-12)
    assert estimate.value == pytest.approx(0.9 * np.mean(estimate.draws) + 0.1 * estimate.naive, abs=1e-12)


def test_naive_and_what_stands_beside():
    y, predictions, counts, _ = numbers(5)
    estimate = sobercv.bbc(y, predictions, "r2", select=sobercv.greedy_ensemble(), counts=counts)
    mix = oracle.greedy(y, predictions, None, 25)
    assert estimate.naive == pytest.approx(r2_score(y, predictions @ mix))
    weights = dict(zip(estimate.decision.configurations, estimate.decision.weights, strict=True))
    assert weights == pytest.approx({c: w for c, w in enumerate(mix) if w > 0})
    plain = sobercv.bbc(y, predictions, "r2", counts=counts)
    assert estimate.single.value == plain.value  # the bits of an ordinary call
    assert estimate.winner == plain.winner
    np.testing.assert_array_equal(estimate.scores, plain.scores)
    assert estimate.gain == estimate.value - plain.value
    low, high = estimate.gain_interval
    assert low <= estimate.gain <= high
    assert "winner alone" in str(estimate)
    assert estimate.to_dict()["single"]["value"] == plain.value


def test_neither_threads_nor_blocks_change_a_bit():
    y, p, _, _ = classes(6)
    one, two = (
        sobercv.bbc(y, p, "roc_auc", select=sobercv.stacked_ensemble(), n_bootstraps=200, n_jobs=jobs)
        for jobs in (1, 2)
    )
    few = sobercv.bbc(y, p, "roc_auc", select=sobercv.stacked_ensemble(), n_bootstraps=64)
    np.testing.assert_array_equal(one.draws, two.draws)
    np.testing.assert_array_equal(one.draws[:64], few.draws)
    assert one.interval == two.interval


def test_several_classes_and_repeats():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 60)
    p = rng.dirichlet(np.ones(3), size=(60, 4, 2)) + 0.7 * (y[:, None, None, None] == np.arange(3))
    p /= p.sum(axis=-1, keepdims=True)
    estimate = sobercv.bbc(y, p, "accuracy", select=sobercv.greedy_ensemble(), n_bootstraps=64)
    mix = np.zeros(4)
    mix[list(estimate.decision.configurations)] = estimate.decision.weights
    mixed = np.einsum("ncrk,c->nrk", p, mix)
    assert estimate.naive == pytest.approx(np.mean(mixed.argmax(axis=-1) == y[:, None]))


def test_twins_share_nothing_of_the_weight_by_chance():
    """A column that is there twice: the first one is taken."""
    y, predictions, counts, _ = numbers(8, c=3)
    doubled = np.repeat(predictions, 2, axis=1)
    found = decisions(y, doubled, "r2", sobercv.greedy_ensemble(size=6), counts)
    assert (found.tuned[:, 1::2] == 0).all()


def test_what_is_not_possible_is_refused():
    y, p, _, _ = classes(9)
    for predictions, metric, code in (
        ({"decision_function": p}, "roc_auc", "E116"),
        (p * 5, "roc_auc", "E102"),
        (p, "concordance_index", "E114"),
    ):
        with pytest.raises(sobercv.SoberError) as caught:
            sobercv.bbc(y, predictions, metric, select=sobercv.greedy_ensemble())
        assert caught.value.code == code
    with pytest.raises(sobercv.SoberError, match="whole number"):
        sobercv.greedy_ensemble(size=0)


def test_members_are_called_by_their_columns():
    data = simulate.binormal_auc(n=80, c=4, seed=1)
    frame = pd.DataFrame(1 / (1 + np.exp(-data.predictions)), columns=["ridge", "tree", "knn", "bayes"])
    mix = sobercv.bbc(data.y, frame, "roc_auc", select=sobercv.average_of_best(2), n_bootstraps=50).decision
    assert list(mix.names) == [frame.columns[c] for c in mix.configurations]
    assert mix.names[0] in mix.shown()
    assert mix.to_dict()["names"] == list(mix.names)
