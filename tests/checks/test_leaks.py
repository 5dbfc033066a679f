"""Columns that predict the target alone: found for every task, also in wide tables; honest ones are not suspected."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from sobercv.checks.leaks import single_scores

from .tables import TIMED, codes, honest, notes, numeric, timed

RNG = np.random.default_rng(2)


def test_leaks_of_numbers_and_of_times_are_seen():
    frame = numeric()
    assert codes(frame.assign(cents=100 * frame["y"] + 0.01 * RNG.normal(size=300))) == ["W806"]
    frame = timed()
    assert codes(frame.assign(visits=np.round(frame["t"] * 50)), **TIMED) == ["W806"]


def test_leaks_of_several_classes_are_seen():
    y = np.array(["low", "middle", "high"])[np.arange(300) % 3]
    frame = honest().assign(y=y, code=np.arange(300) % 3 * 7.0)
    assert "W806" in codes(frame)
    assert "W806" not in codes(frame.drop(columns="code"))


def test_leaks_in_wide_tables_are_named():
    frame = pd.DataFrame(RNG.normal(size=(100, 2000)), columns=[f"g{i}" for i in range(2000)])
    frame["y"] = np.arange(100) % 2
    frame["leak"] = frame["y"] * 2.0
    (found,) = [note for note in notes(frame) if note.code == "W806"]
    assert found.columns == ("leak",)
    assert "'leak'" in found.text


def test_several_leaks_are_one_note_with_the_best_first():
    frame = honest()
    exact = (frame["y"] == "ill").astype(float)
    nearly = exact.where(np.arange(300) % 149 > 0, 1 - exact)
    (found,) = [n for n in notes(frame.assign(nearly=nearly, exact=exact)) if n.code == "W806"]
    assert found.columns == ("exact", "nearly")


def test_a_strong_but_honest_column_is_no_leak():
    rng = np.random.default_rng(0)
    strong = rng.normal(size=300)
    y = np.where(strong + 0.7 * rng.normal(size=300) > 0, "ill", "well")
    frame = honest().assign(strong=strong, y=y)
    assert 0.88 < single_scores(frame[["strong"]], y, "binary")["strong"] < 0.92
    assert "W806" not in codes(frame)


def test_too_few_rows_are_not_judged():
    frame = honest(18).assign(y=["ill", "well"] * 9)
    assert "W806" not in codes(frame.assign(copy=frame["y"]), cv=3)


def injuries(n=2000):
    """Road accidents: the severity has a code for "killed" that says most of the outcome, fatal or not."""
    rng = np.random.default_rng(4)
    fatal = rng.random(n) < 0.15
    code = np.where(fatal & (rng.random(n) < 0.94), 4, rng.choice([0, 1, 2, 3, 5], n))
    return honest(n).assign(severity=code, y=np.where(fatal, "fatal", "not fatal"))


def test_a_code_that_says_the_outcome_is_named_with_its_score():
    frame = injuries()
    for severity in (frame["severity"], frame["severity"].map(lambda c: "killed" if c == 4 else f"level {c}")):
        (found,) = [note for note in notes(frame.assign(severity=severity)) if note.code == "W806"]
        assert found.columns == ("severity",)
        score = single_scores(frame[["severity"]], frame["y"].to_numpy(), "binary")["severity"]
        assert 0.97 < score < 0.99
        assert f"'severity' {score:.3f}" in found.text


def test_one_of_many_good_measurements_is_no_leak():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    genes = pd.DataFrame(y[:, None] * 2.9 + rng.normal(size=(300, 8))).add_prefix("g")
    scores = single_scores(genes, y, "binary")
    assert max(scores.values()) > 0.97
    assert "W806" not in codes(genes.assign(y=y))
    assert "W806" in codes(genes.assign(y=y, copy=y * 3.0)), "unless it separates perfectly"


def test_single_scores_are_those_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({"a": rng.normal(size=80) + y, "b": np.round(rng.normal(size=80) - y), "c": rng.normal(size=80)})
    X.loc[:5, "c"] = np.nan
    found = single_scores(X, y, "binary")
    assert found["a"] == roc_auc_score(y, X["a"])
    means = X.groupby("b")["b"].transform(lambda part: y[part.index].mean())
    assert found["b"] == roc_auc_score(y, means)
    filled = X["c"].fillna(X["c"].median())
    assert found["c"] == max(s for v in (filled, -filled, X["c"].isna(), ~X["c"].isna()) for s in [roc_auc_score(y, v)])


def planted(auc, n=400, columns=299, seed=0):
    """A leak with this AUC among columns that know little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(0.8 * y[:, None] * rng.random(columns) + rng.normal(size=(n, columns))).add_prefix("x")
    leak = np.sqrt(2) * norm.ppf(auc + 0.005) * y + rng.normal(size=n)
    return X.assign(leak=leak, y=np.where(y, "ill", "well"))


@pytest.mark.parametrize("auc", [0.95, 0.97, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_leak_among_300_columns_is_named(auc, seed):
    (found,) = [note for note in notes(planted(auc, seed=seed)) if note.code == "W806"]
    assert found.columns == ("leak",)
    assert "the next best column: 0." in found.text


def test_an_ignored_leak_is_said_and_what_is_left():
    frame = planted(0.97)
    (found,) = [note for note in notes(frame, ignore=("leak", "x3")) if "gnored" in note.text]
    assert (found.code, found.columns) == ("S801", ("leak",))
    assert "No score uses it" in found.text
    assert not [note for note in notes(frame.drop(columns="leak"), ignore=("x3",)) if "gnored" in note.text]


@pytest.mark.parametrize("auc", [0.95, 0.97])
def test_a_leak_among_measurements_that_are_as_good_is_asked_for(auc):
    rng = np.random.default_rng(1)
    frame = planted(auc)
    is_ill = (frame["y"] == "ill").to_numpy()
    good = pd.DataFrame(is_ill[:, None] * np.linspace(1.5, 2.9, 12) + rng.normal(size=(len(frame), 12)))
    good = good.add_prefix("good")
    found = [note for note in notes(pd.concat([good, frame], axis=1)) if "leak" in note.columns]
    assert [note.code for note in found] == ["S801"]
    assert "are all of them known when the prediction is made?" in found[0].text


def test_two_leaks_of_the_same_kind_far_from_the_rest_are_named():
    frame = planted(0.95)
    again = frame["leak"] + 0.1 * np.random.default_rng(3).normal(size=len(frame))
    frame = frame.drop(columns=[f"x{i}" for i in range(299) if i % 3])
    few = pd.DataFrame(np.random.default_rng(4).normal(size=(len(frame), 40))).add_prefix("n")
    (found,) = [
        note for note in notes(few.assign(leak=frame["leak"], again=again, y=frame["y"])) if note.code == "W806"
    ]
    assert set(found.columns) == {"leak", "again"}


def test_cases_and_controls_in_turns_are_both_looked_at_in_a_long_table(monkeypatch):
    monkeypatch.setattr("sobercv.checks.leaks.MOST_ROWS", 200)
    frame = honest(400).assign(y=["case", "control"] * 200)
    assert "W806" not in codes(frame)
    assert "W806" in codes(frame.assign(leak=np.arange(400) % 2 * 2.0 + 0.1 * RNG.normal(size=400)))
