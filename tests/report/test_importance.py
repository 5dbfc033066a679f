"""Importance of columns: which are shuffled of many, on which rows, and what is left when the time is over."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from sobercv import seeds
from sobercv.report.model_charts import MOST_COLUMNS, MOST_ROWS, closest, effects, importance

from . import cases

OVER = "Permutation importance was left out: the time limit was reached."
RNG = np.random.default_rng(11)


def wide(n=80, p=300):
    X = pd.DataFrame(RNG.normal(size=(n, p)), columns=[f"g{i}" for i in range(p)])
    y = (X["g7"] + X["g270"] > 0).astype(int)
    return X, y


def test_of_many_columns_those_that_the_model_leans_on_are_shuffled():
    X, y = wide()
    search = cases.fitted(LogisticRegression(C=10), {"C": [1.0, 10.0]}, X, y)
    found, said = importance(search, X, y, n_permutations=2)
    assert "of 300 columns were shuffled" in said
    assert {"g7", "g270"} <= {bar.label for bar in found[:4]}
    assert f"{MOST_COLUMNS} of 300 columns were shuffled, those that correlate most" in said


def test_an_array_with_many_columns_works_too():
    X, y = wide()
    search = cases.fitted(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, X.to_numpy(), y)
    found, _ = importance(search, X.to_numpy(), y, n_permutations=1)
    assert {"7", "270"} <= {bar.label for bar in found[:4]}


def test_of_many_rows_a_sample_is_scored():
    n = MOST_ROWS + 500
    X = pd.DataFrame(RNG.normal(size=(n, 3)), columns=list("abc"))
    y = X["a"] * 2 + RNG.normal(size=n)
    search = cases.fitted(Ridge(), {"alpha": [1.0, 2.0]}, X, y)
    found, said = importance(search, X, y, n_permutations=2)
    assert found[0].label == "a"
    assert f"{MOST_ROWS:,} of {n:,} rows" in said
    assert found == importance(search, X, y, n_permutations=2)[0]


def test_when_the_time_is_over_it_says_so():
    search, X, y = cases.regression()
    assert importance(search, X, y, max_seconds=0.0) == ((), OVER)


def test_the_falls_are_those_of_scikit_learn():
    search, X, y = cases.regression()
    found, _ = importance(search, X, y, n_permutations=4)
    seed = seeds.integer(search.seed_, "permutation")
    theirs = permutation_importance(search, X, y, n_repeats=4, random_state=seed)
    expected = dict(zip(X.columns, theirs.importances_mean, strict=True))
    assert {bar.label: bar.value for bar in found} == pytest.approx(expected, rel=1e-5)
    spread = dict(zip(X.columns, theirs.importances_std, strict=True))
    assert {bar.label: bar.spread for bar in found} == pytest.approx(spread, rel=1e-5)


def test_little_time_means_fewer_shuffles_and_then_fewer_columns(monkeypatch):
    search, X, y = cases.regression()
    clock = iter([0.0, 1.0] * 10)  # a scoring takes a second
    monkeypatch.setattr("sobercv.report.model_charts.perf_counter", lambda: next(clock))
    two, said = importance(search, X, y, n_permutations=9, max_seconds=2 * X.shape[1] + 1)
    assert "mean of 2 shuffles" in said
    assert len(two) == X.shape[1]
    few, said = importance(search, X, y, n_permutations=9, max_seconds=3.5)
    assert "(one shuffle)" in said
    assert len(few) == 3
    assert f"3 of {X.shape[1]} columns were shuffled" in said


@pytest.mark.parametrize("as_text", [False, True])
def test_the_screen_finds_what_goes_with_the_predictions(as_text):
    X = pd.DataFrame(RNG.normal(size=(200, 30)), columns=[f"c{i}" for i in range(30)])
    X.iloc[::3, 4] = np.nan
    X["c9"] = 1.0
    prediction = X["c4"].fillna(0).to_numpy() + 0.1 * RNG.normal(size=200)
    if as_text:
        X["c4"] = pd.cut(X["c4"], 5).astype(str)
    assert closest(X, prediction)[0] == 4
    several = np.column_stack([RNG.normal(size=200), prediction])
    assert closest(X, several)[0] == 4
    assert len(closest(X, np.zeros(200))) == 30


def test_missing_values_of_nullable_columns_are_no_obstacle():
    """pandas.NA is no float: importance and effects were left out, and the model was blamed."""
    X = pd.DataFrame({"a": pd.array([*range(59), None], "Int64"), "b": RNG.normal(size=60)})
    y = np.append(np.arange(59.0), 0.0)
    search = cases.fitted(HistGradientBoostingRegressor(), {"max_iter": [5, 10]}, X, y, scoring="r2")
    found, said = importance(search, X, y, n_permutations=2)
    assert found, said
    assert found[0].label == "a"
    assert [chart.x_label for chart in effects(search, X, ["a"])] == ["a"]
