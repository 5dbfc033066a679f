"""The drop test of section 4: who is dropped, who is kept, and that p is what the paper's loop gives."""

from dataclasses import replace

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question
from sobercv.predictions import Predictions
from tests.cases import make
from tests.oracles import paper

ACCURACY = "accuracy"


def labels(y, p, **options):
    return Predictions.build(y, p, task="classification", responses=("predict",), **options)


def verdict(y, p, rule=None, seed=0, round_index=0, metric=ACCURACY, n_seen=None, **options):
    rule = rule or sobercv.BootstrapDrop()
    table = labels(y, p, **options)
    if n_seen is not None:
        table = replace(table, seen=np.arange(len(y))[:, None] < n_seen)
    return rule(table, Question.ask(metric, random_state=seed), round_index)


def columns(*right, n=100):
    """One configuration for each number of rows to be right on; rows counted from the top."""
    y = np.arange(n) % 2
    return y, np.column_stack([np.where(np.arange(n) < k, y, 1 - y) for k in right])


@pytest.mark.parametrize(
    ("right", "keep", "best"),
    [
        ((90, 20, 90), [True, False, True], 0),  # far below is dropped; equals are kept
        ((20, 90, 89), [False, True, True], 1),  # nearly as good is kept: worse only when that one row is drawn
        ((50, 50, 50), [True, True, True], 0),
        ((0, 100), [False, True], 1),
    ],
)
def test_who_is_dropped(right, keep, best):
    result = verdict(*columns(*right))
    assert result.keep.tolist() == keep
    assert result.best == best
    assert result.p[best] == 0


def test_the_only_one_is_kept():
    assert verdict(*columns(70)).keep.tolist() == [True]


def test_p_is_a_strict_comparison():
    y, p = columns(90, 90, 30)
    result = verdict(y, p)
    assert result.p.tolist() == [0.0, 0.0, 1.0]


def test_one_row_apart_has_the_probability_of_that_row_being_drawn():
    result = verdict(*columns(90, 89))
    expected = 1 - (1 - 1 / 100) ** 100
    assert abs(result.p[1] - expected) < 5 * np.sqrt(expected * (1 - expected) / 1000)


@pytest.mark.parametrize("n", [49, 50])
def test_nothing_is_dropped_before_enough_predictions(n):
    result = verdict(*columns(n, 0, n=n))
    assert result.keep.tolist() == ([True, True] if n == 49 else [True, False])


def test_what_counts_is_what_has_been_predicted():
    y, p = columns(100, 0)
    for seen_rows, dropped in ((49, False), (50, True)):
        result = verdict(y, p, n_seen=seen_rows)
        assert result.keep.tolist() == [True, not dropped]


def test_rows_not_seen_have_no_say():
    y, p = columns(60, 100)
    result = verdict(y, p, n_seen=60)  # both are right on all that has been predicted
    assert result.keep.tolist() == [True, True]
    assert result.p.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("threshold", "kept"), [(0.5, False), (0.7, True), (0.99, True)])
def test_the_threshold_decides(threshold, kept):
    y, p = columns(90, 89)  # p is about 0.634
    assert verdict(y, p, sobercv.BootstrapDrop(threshold=threshold)).keep[1] == kept


def test_dropped_exactly_when_p_exceeds_the_threshold():
    rng = np.random.default_rng(61)
    y = np.arange(80) % 2
    p = np.where(rng.random((80, 60)) < np.linspace(0.5, 0.9, 60), y[:, None], 1 - y[:, None])
    for threshold in (0.9, 0.95, 0.99):
        result = verdict(y, p, sobercv.BootstrapDrop(threshold=threshold))
        np.testing.assert_array_equal(result.keep, result.p <= threshold)
        assert 5 < result.keep.sum() < 60
        assert result.keep[result.best]


def test_seed_and_round_decide_the_draws():
    y, p = columns(90, 89, 88, 87, 86, 85, 84, 80)
    same = [verdict(y, p, seed=3, round_index=4).p for _ in range(2)]
    np.testing.assert_array_equal(*same)
    others = [verdict(y, p, seed=s, round_index=r).p for s, r in ((3, 5), (4, 4))]
    for other in others:
        assert not np.array_equal(same[0], other)


def test_a_loss_is_dropped_for_being_high_not_low():
    rng = np.random.default_rng(62)
    y = rng.normal(size=80)
    p = y[:, None] + rng.normal(size=(80, 3)) * [3.0, 0.1, 3.0]
    table = Predictions.build(y, p, task="regression")
    result = sobercv.BootstrapDrop()(table, Question.ask("neg_mean_squared_error"), 0)
    assert result.keep.tolist() == [False, True, False]


def test_whole_groups_are_drawn():
    """Ten patients of ten rows: one patient apart is present in 1 - .9^10 of the draws, whatever its rows."""
    y = np.arange(100) % 2
    p = np.column_stack([y, np.where(np.arange(100) < 90, y, 1 - y)])
    result = verdict(y, p, groups=np.arange(100) // 10)
    expected = 1 - 0.9**10
    assert abs(result.p[1] - expected) < 5 * np.sqrt(expected * (1 - expected) / 1000)


@pytest.mark.parametrize(
    "options", [{"threshold": 99}, {"threshold": 1.0}, {"threshold": 0}, {"n_bootstraps": 0}, {"min_predictions": -1}]
)
def test_impossible_settings(options):
    with pytest.raises(sobercv.SoberError) as caught:
        sobercv.BootstrapDrop(**options)(labels(*columns(90, 20)), Question.ask(ACCURACY), 0)
    assert caught.value.code == "E108"


def test_paper_oracle_on_the_table():
    """The Monte Carlo p of the rule and of the oracle's own draws agree within 5 standard errors."""
    case = make("roc_auc-proba2", "repeats", seed=63, n=60, c=3, b=100)
    best, p = paper.drop_probabilities(case.table(), case.counts)
    result = sobercv.BootstrapDrop(n_bootstraps=5000)(case.predictions(), Question.ask("roc_auc"), 0)
    assert result.best == best
    np.testing.assert_array_less(np.abs(result.p - p), 5 * np.sqrt(0.25 * (1 / 100 + 1 / 5000)))


def share_of_hits(y_true, y_pred):
    share_of_hits.calls += 1
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("threshold", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_a_function_decides_as_the_metric_does_with_fewer_scores(threshold, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(80) % 2
    p = np.where(rng.random((80, 12)) < np.linspace(0.5, 0.9, 12), y[:, None], 1 - y[:, None])
    rule = sobercv.BootstrapDrop(threshold=threshold, n_bootstraps=300)
    fast = verdict(y, p, rule, seed=seed)
    share_of_hits.calls = 0
    slow = verdict(y, p, rule, seed=seed, metric=sobercv.make_metric(share_of_hits, task="classification"))
    assert slow.keep.tolist() == fast.keep.tolist()
    assert slow.best == fast.best
    np.testing.assert_allclose(slow.p[~slow.keep], fast.p[~fast.keep], rtol=0, atol=1e-12)
    assert share_of_hits.calls < 300 * 12 // 2 + 300 * (~slow.keep).sum()
