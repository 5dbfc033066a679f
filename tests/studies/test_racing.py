"""The study of races: the races of others against their formulas, CVST, and what is measured."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from studies.harness import Absent, Options
from studies.races import (
    LEAVES,
    STEPS,
    among_the_best,
    anova_race,
    cochran,
    cvst,
    f_race,
    fold_scores,
    in_turn,
    paired_with_power,
    replay,
)
from studies.racing import measure

import sobercv
from sobercv.inference import Question
from sobercv.testing import contracts, simulate
from studies import racing

QUESTION = Question.ask("accuracy", random_state=0)


def made(n=200, c=12, seed=5, **options):
    data = simulate.beta_accuracy(n=n, c=c, seed=seed, **{"a": 3, "b": 3, **options})
    return sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds), data.truth


class TestAnova(contracts.DropRuleContract):
    def rule(self):
        return anova_race


class TestFRace(contracts.DropRuleContract):
    def rule(self):
        return f_race


class TestPairedPower(contracts.DropRuleContract):
    def rule(self):
        return paired_with_power


def test_the_anova_is_that_of_folds_as_blocks():
    table, _ = made(c=5, a=30, b=30)
    scores = fold_scores(table, QUESTION)
    design = np.column_stack([np.kron(np.ones(10), np.eye(5)[:, [i]].T).T for i in range(1, 5)])
    design = np.column_stack([design, np.kron(np.eye(10), np.ones((5, 1)))])
    fitted, residual, *_ = np.linalg.lstsq(design, scores.ravel(), rcond=None)
    error = np.sqrt(float(residual[0]) / (50 - 14) * 2 / 10)
    effects = np.array([0.0, *fitted[:4]])
    expected = effects.max() - effects <= stats.norm.ppf(0.975) * error
    assert np.array_equal(anova_race(table, QUESTION, 9).keep, expected)
    assert anova_race(table, QUESTION, 1).keep.all()  # burns in


def test_friedmans_test_decides_whether_ranks_are_compared():
    verdicts_of = {}
    for seed in range(8):
        table, _ = made(c=4, a=300, b=300, seed=seed, n=100)
        p = stats.friedmanchisquare(*fold_scores(table, QUESTION).T).pvalue
        verdicts_of[seed] = (p, f_race(table, QUESTION, 9).keep)
    assert all(keep.all() for p, keep in verdicts_of.values() if p >= 0.05)
    table, truth = made(c=4)
    assert stats.friedmanchisquare(*fold_scores(table, QUESTION).T).pvalue < 0.05
    keep = f_race(table, QUESTION, 9).keep
    assert not keep.all()
    assert keep[truth.argmax()]


def test_a_paired_test_with_power_lets_equals_go():
    """Two that differ on no sample are kept; one that errs a little more often leaves when power is enough."""
    y, at = np.arange(400) % 2, np.arange(400)
    first = np.where(at < 2, 1 - y, y)
    worse = np.where((at > 2) & (at < 7), 1 - y, y)  # wrong on four others: behind by .005, far from significant
    table = sobercv.Predictions.build(
        y, np.column_stack([first, first, worse]), task="classification", folds=np.arange(400) % 10
    )
    assert paired_with_power(table, QUESTION, 9).keep.tolist() == [True, True, False]
    assert paired_with_power(table, QUESTION, 9, matters=0.001).keep.all()


@pytest.mark.parametrize("forgiving", [True, False])
def test_in_turn_is_the_literal_loop(forgiving):
    table, _ = made(c=15, a=9, b=6)
    found = in_turn(table, QUESTION, forgiving=forgiving)
    scores, ran = fold_scores(table, QUESTION), {}
    best = limit = -1.0
    for c in np.random.default_rng([QUESTION.seed, 16]).permutation(15):
        for k in range(1, 11):
            ran[c] = k
            mean = np.mean(scores[:k, c])
            if mean < limit:
                break
        if ran[c] == 10 and mean > best:
            best = mean
            limit = min(scores[:, c]) if forgiving else best
    assert found.models == pytest.approx(sum(ran.values()) / 150)
    assert found.survivors.configurations.tolist() == sorted(c for c in ran if ran[c] == 10)
    assert sorted(c for group in found.counted.dropped for c in group.configurations) == sorted(
        c for c in ran if ran[c] < 10
    )


def test_cochrans_test_of_two_columns_is_mcnemars():
    good = np.array([[1, 0]] * 9 + [[0, 1]] * 3 + [[1, 1]] * 5 + [[0, 0]] * 2, bool)
    assert cochran(good) == pytest.approx(stats.chi2.sf((9 - 3) ** 2 / 12, 1))
    assert cochran(good[:, [0, 0]]) == 1.0


def test_cvst_finds_who_is_better_and_trains_less():
    rng = np.random.default_rng(0)
    truth = np.array([0.5] * 10 + [0.95])
    right = rng.random((300, 11)) < truth
    found = cvst(300, 11, lambda train, test: right[test])
    assert found.winner == 10
    assert found.models < 11 * STEPS
    assert found.rows < found.models * 300
    assert among_the_best(right)[10]
    assert among_the_best(right).sum() == 1


def test_the_limits_of_cvst_are_walds():
    """pi1 = .5 (.9 / .01)^(1 / 10); who leaves crosses the lower line of the sequential test."""
    alpha, beta, pi0 = 0.01, 0.1, 0.5
    pi1 = pi0 * ((1 - beta) / alpha) ** (1 / STEPS)
    up, down = np.log(pi1 / pi0), np.log((1 - pi1) / (1 - pi0))
    for step, ones in LEAVES.items():
        line = [k * up + (step - k) * down for k in (ones, ones + 1)]
        assert line[0] <= np.log(beta / (1 - alpha)) < line[1]


def test_repeats_are_raced_one_after_the_other():
    table, _ = racing.dropped_table("two repeats", 100, 0.5, 0)
    seen = []

    def rule(predictions, question, index):
        seen.append(predictions.seen.sum(axis=0).tolist())

    replay(table, rule, QUESTION)
    assert seen[:10] == [[10 * k, 0] for k in range(1, 11)]
    assert seen[10:] == [[100, 10 * k] for k in range(1, 11)]


def test_rules_of_all_kinds_are_measured():
    table, truth = made(n=100, c=8)
    rules = {"none": None, "ours": sobercv.PredictiveDrop(), "anova": anova_race, "forgiving": in_turn}
    rows = {row["rule"]: row for row in measure(table, truth, "accuracy", rules)}
    assert rows["none"]["models"] == 1
    assert all(row["models"] < 1 for name, row in rows.items() if name != "none")
    assert all(np.isfinite(row["counted"]) for row in rows.values())


def test_cheap_tables_hold_predictions_of_other_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    np.savez(tmp_path / "diabetes.npz", X=X, y=X[:, 0] + rng.normal(size=400))
    options = Options([tmp_path], tmp_path / "work")
    table = racing.cheap_table(options, "diabetes", 100, 0)
    assert table.predictions.shape[0] == 100
    assert table.judged.shape == (300, table.predictions.shape[1])
    assert np.bincount(table.folds[:, 0]).tolist() == [10] * 10
    linear = np.corrcoef(table.predictions[:, 3, 0], table.y)[0, 1]
    assert 0.5 < linear < 0.9
    assert len(list((tmp_path / "work").rglob("*.npz"))) == 1
    with pytest.raises(Absent, match="rott2"):
        racing.cheap_table(options, "rott2", 100, 0)


def test_races_of_a_place_are_put_together():
    rules = {"none": None, "ours": sobercv.PredictiveDrop()}
    found = []
    for seed in (0, 1):
        place = {"data": "cells", "n": 100, "sample": seed, "metric": "accuracy"}
        found.append([place | row for row in measure(*made(n=100, c=8, seed=seed), "accuracy", rules, seed)])
    none, ours = racing.by_place(pd.DataFrame(found[0] + found[1])).to_dict("records")
    assert (none["data"], none["n"], none["tables"], none["models"], none["bias added"]) == ("cells", 100, 2, 1.0, 0.0)
    each = [rows[1] for rows in found]
    assert ours["models"] == np.mean([row["models"] for row in each]) < 1
    assert ours["squares with the dropped"] == pytest.approx(np.mean([row["counted"] ** 2 for row in each]))
