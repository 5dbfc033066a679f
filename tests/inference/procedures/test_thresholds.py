"""`best_with_threshold` against its slow twin, and what it promises of ties, classes, draws and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question
from sobercv.inference.procedures import best_with_threshold
from sobercv.inference.tables import open_table
from tests.oracles import thresholds as oracle

FLOORS = {
    "sensitivity": {"at_specificity": 0.7},
    "specificity": {"at_sensitivity": 0.8},
    "precision": {"at_sensitivity": 0.5},
}


def table(seed, n=24, c=4, decimals=None, rare=False):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < (0.15 if rare else 0.45)).astype(int)
    y[:2] = 0, 1
    scores = rng.random((n, c)) * 0.6 + 0.3 * y[:, None] * rng.random(c)
    scores = scores if decimals is None else np.round(scores, decimals)
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(8)])
    return y, scores, counts.astype(np.uint8), rng


def both(y, scores, counts, metric, floors=None, weight=None):
    """What the library decides and draws, and what its twin does."""
    select = best_with_threshold(**(floors or {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = sobercv.bbc(y, scores, metric, select=select, counts=counts, sample_weight=weight)
    question = Question.ask(metric, select=select)
    table = open_table(scores, question, y=y, sample_weight=weight)
    decisions = select.bind(table.predictions, question).decide(counts)
    # A sample that was drawn twice is decided on once; what judges is the same.
    once = oracle.bbc(y, scores, np.minimum(counts, 1), metric, floors, weight)
    together = all_together(y, scores, counts, metric, once, weight)
    return estimate, decisions, oracle.bbc(y, scores, counts, metric, floors, weight), (once[-1], together)


def all_together(y, scores, counts, metric, decided, weight=None):
    """Write down what every resample says of every absent sample, and score the list."""
    _, winners, thresholds, _ = decided
    rows, said = [], []
    for row, winner, cut in zip(counts, winners, thresholds, strict=True):
        if winner >= 0:
            out = np.flatnonzero(row == 0)
            rows += out.tolist()
            said += (scores[out, winner] >= cut).astype(int).tolist()
    return oracle.score(metric, y[rows], np.array(said), None if weight is None else weight[rows])


def agree(estimate, decisions, twin, judged):
    scores, winners, thresholds, _ = twin
    np.testing.assert_allclose(decisions.scores, scores, atol=1e-12)
    np.testing.assert_array_equal(decisions.winners, winners)
    ends = np.clip(thresholds, 0.0, np.nextafter(1.0, 2.0))  # finite ends stand for the infinite ones
    np.testing.assert_allclose(decisions.tuned, ends, atol=1e-15)
    draws, together = judged
    np.testing.assert_allclose(estimate.draws, draws, atol=1e-12)
    assert estimate.value == pytest.approx(0.9 * together + 0.1 * estimate.naive, abs=1e-12)


@pytest.mark.parametrize("metric", oracle.SCORES)
@pytest.mark.parametrize("decimals", [None, 1], ids=["distinct", "ties"])
def test_agrees_with_its_twin(metric, decimals):
    y, scores, counts, _ = table(1, decimals=decimals)
    agree(*both(y, scores, counts, metric, FLOORS.get(metric)))


@pytest.mark.parametrize("metric", ["f1", "matthews_corrcoef", "neg_cost(missed=5)", "sensitivity"])
def test_agrees_with_its_twin_with_weights(metric):
    y, scores, counts, rng = table(2, decimals=1)
    agree(*both(y, scores, counts, metric, FLOORS.get(metric), rng.integers(1, 5, len(y)) / 4))


@pytest.mark.parametrize("floors", [{"min_precision": 0.8}, {"min_precision": 0.7, "at_sensitivity": 0.5}])
def test_floors_agree_with_the_twin(floors):
    y, scores, counts, _ = table(3, rare=True)
    agree(*both(y, scores, counts, "f1", floors))


@pytest.mark.parametrize("seed", range(3))
def test_rare_classes_and_absent_ones(seed):
    y, scores, counts, _ = table(10 + seed, n=10, rare=True, decimals=1)
    for metric in ("f1", "balanced_accuracy", "accuracy"):
        agree(*both(y, scores, counts, metric))


def test_draws_do_not_depend_on_blocks_or_threads():
    y, scores, _, _ = table(4, n=120, c=9)
    one, two = (
        sobercv.bbc(y, scores, "f1", select=best_with_threshold(), n_bootstraps=700, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.draws, two.draws)
    assert one.interval == two.interval
    alone = sobercv.bbc(y, scores, "f1", select=best_with_threshold(), n_bootstraps=64)
    np.testing.assert_array_equal(alone.draws, one.draws[:64])


def test_naive_is_the_tuned_score_of_the_winner():
    y, scores, _, _ = table(5, n=80, c=6)
    estimate = sobercv.bbc(y, scores, "f1", select=best_with_threshold())
    top, cut = oracle.tune(y, scores[:, estimate.winner], None, "f1", {})
    assert estimate.naive == pytest.approx(top, abs=1e-12)
    assert estimate.decision.value == pytest.approx(cut, abs=1e-15)
    assert estimate.scores[estimate.winner] == pytest.approx(top, abs=1e-12)
    assert f"{cut:.4g}" in str(estimate)
    assert "W218" in [note.code for note in estimate.notes]
    assert estimate.to_dict()["decision"]["threshold"] == estimate.decision.value


def test_the_positive_class_may_be_the_first():
    y, scores, counts, _ = table(6)
    plain = sobercv.bbc(y, scores, "f1", select=best_with_threshold(), counts=counts)
    # `pos_label` of the table: scores are those of it. `pos_label` of the metric: scores stay those of the greater.
    told = sobercv.bbc(1 - y, scores, "f1", select=best_with_threshold(), counts=counts, pos_label=0)
    asked = sobercv.bbc(1 - y, 1 - scores, "f1(pos_label=0)", select=best_with_threshold(), counts=counts)
    turned = {"decision_function": -scores}
    valued = sobercv.bbc(1 - y, turned, "f1(pos_label=0)", select=best_with_threshold(), counts=counts)
    for other in (told, asked, valued):
        np.testing.assert_allclose(other.draws, plain.draws, atol=1e-12)
        assert other.decision.positive == 0
        assert other.decision.value == pytest.approx(plain.decision.value)


def test_classes_that_do_not_tell_which_is_positive_are_refused():
    y, scores, _, _ = table(6)
    with pytest.raises(sobercv.SoberError) as caught:
        sobercv.bbc(np.array(["a", "b"])[y], scores, "f1", select=best_with_threshold())
    assert caught.value.code == "E120"


def test_other_metrics_are_judged_at_the_same_decision():
    y, scores, counts, _ = table(7, n=40)
    found = sobercv.bbc(y, scores, ["f1", "specificity", "roc_auc"], select=best_with_threshold(), counts=counts)
    decided = oracle.bbc(y, scores, np.minimum(counts, 1), "f1")
    _, winners, thresholds, _ = decided
    together = all_together(y, scores, counts, "specificity", decided)
    assert found["specificity"].value == pytest.approx(0.9 * together + 0.1 * found["specificity"].naive)
    for row, winner, cut, drawn in zip(counts, winners, thresholds, found["specificity"].draws, strict=True):
        out = row == 0
        said = (scores[out, winner] >= cut).astype(int)
        np.testing.assert_allclose(drawn, oracle.score("specificity", y[out], said, None), atol=1e-12)
    ranked = found["roc_auc"]  # has no labels to be judged together
    assert ranked.value == pytest.approx(0.9 * np.nanmean(ranked.draws) + 0.1 * ranked.naive)


def test_decision_values_of_any_size():
    y, scores, counts, _ = table(8)
    far = sobercv.bbc(y, {"decision_function": 1e6 * (scores - 0.5)}, "f1", select=best_with_threshold(), counts=counts)
    near = sobercv.bbc(y, scores, "f1", select=best_with_threshold(), counts=counts)
    np.testing.assert_allclose(far.draws, near.draws, atol=1e-12)
    assert far.decision.response == "decision_function"


def test_a_threshold_between_neighbouring_numbers_parts_them():
    low, high = 0.5, float(np.nextafter(0.5, 1.0))
    y = np.arange(40) % 2
    estimate = sobercv.bbc(y, np.where(y, high, low)[:, None].repeat(2, axis=1), "f1", select=best_with_threshold())
    assert estimate.decision.value == high
    assert estimate.naive == 1.0


def test_groups_and_strata_are_drawn_as_ever():
    y, scores, _, rng = table(9, n=60)
    groups = rng.integers(0, 40, 60)
    grouped = sobercv.bbc(y, scores, "f1", groups=groups, select=best_with_threshold())
    assert grouped.n_groups == len(set(groups))
    assert sobercv.bbc(y, scores, "f1", stratify=True, select=best_with_threshold()).n_undefined == 0


@pytest.mark.parametrize(
    ("metric", "options", "select", "code"),
    [
        ("roc_auc", {}, {}, "E114"),
        ("net_benefit(threshold=0.2)", {}, {}, "E114"),
        ("f1_macro", {}, {}, "E114"),
        ("sensitivity", {}, {}, "E114"),
        ("f1", {"aggregate": "fold", "folds": np.arange(24) % 3}, {}, "E114"),
        ("f1", {"by": "fold", "folds": np.arange(24) % 3}, {}, "E114"),
    ],
)
def test_what_is_not_possible_is_refused(metric, options, select, code):
    y, scores, _, _ = table(1)
    with pytest.raises(sobercv.SoberError) as caught:
        sobercv.bbc(y, scores, metric, select=best_with_threshold(**select), **options)
    assert caught.value.code == code


def test_repeats_are_scores_of_the_same_samples():
    y, scores, counts, rng = table(9, decimals=1)
    repeats = np.stack([scores, np.round(np.clip(scores + 0.2 * rng.normal(size=scores.shape), 0, 1), 1)], axis=2)
    question = Question.ask("f1", select=best_with_threshold())
    decisions = question.procedure.bind(open_table(repeats, question, y=y).predictions, question).decide(counts)
    stacked = np.moveaxis(repeats, 2, 1).reshape(-1, scores.shape[1])
    _, winners, thresholds, _ = oracle.bbc(np.repeat(y, 2), stacked, np.repeat(counts, 2, axis=1), "f1")
    np.testing.assert_array_equal(decisions.winners, winners)
    np.testing.assert_allclose(decisions.tuned, np.clip(thresholds, 0.0, np.nextafter(1.0, 2.0)), atol=1e-15)
    once = sobercv.bbc(y, scores, "f1", select=best_with_threshold(), counts=counts)
    twice = sobercv.bbc(y, np.stack([scores, scores], axis=2), "f1", select=best_with_threshold(), counts=counts)
    np.testing.assert_allclose(twice.draws, once.draws, atol=1e-12)
    assert (twice.value, *twice.interval) == pytest.approx((once.value, *once.interval))
    assert twice.decision == once.decision


def test_labels_and_several_classes_are_refused():
    y, scores, _, _ = table(1)
    for predictions, truth, code in (
        ({"predict": (scores > 0.5).astype(int)}, y, "E116"),
        ({"predict_proba": np.full((24, 2, 1, 3), 1 / 3)}, np.arange(24) % 3, "E114"),
    ):
        with pytest.raises(sobercv.SoberError) as caught:
            sobercv.bbc(truth, predictions, "accuracy", select=best_with_threshold())
        assert caught.value.code == code


def test_rivals_refuse_what_they_cannot_select():
    y, scores, _, _ = table(1)
    for rival in (sobercv.naive, sobercv.tibshirani):
        with pytest.raises(sobercv.SoberError) as caught:
            rival(y, scores, "f1", select=best_with_threshold(), folds=np.arange(24) % 3)
        assert caught.value.code == "E114"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"min_precision": 90}, "E108"), ({"at_sensitivity": 0}, "E108")],
)
def test_wrong_arguments(wrong, code):
    with pytest.raises(sobercv.SoberError) as caught:
        best_with_threshold(**wrong)
    assert caught.value.code == code
