"""Partial dependence is scikit-learn's, and every task has it."""

import numpy as np
import pytest
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

from sobercv.report.model_charts import effects, importance

from . import cases


def test_the_line_is_partial_dependence():
    search, X, y = cases.regression()
    found, _ = importance(search, X, y, n_permutations=1)
    chart = effects(search, X, [bar.label for bar in found])[0]
    name = found[0].label
    assert chart.title == f"When {name} changes"
    line = chart.lines[0]
    some = X.iloc[:150] if len(X) <= 150 else X
    expected = partial_dependence(
        search.best_estimator_, some, [name], custom_values={name: np.array(line.x)}, kind="average"
    )["average"][0]
    np.testing.assert_allclose(np.diff(line.y), np.diff(expected), rtol=1e-3)  # of a linear model: rows do not matter


def test_a_column_of_whole_numbers_is_drawn_at_whole_numbers():
    X = cases.table(120, "ab")
    X["a"] = np.arange(120) % 7
    search = cases.fitted(LinearRegression(), {"fit_intercept": [True, False]}, X, X["a"] + X["b"], scoring="r2")
    (chart,) = effects(search, X, ["a"])
    assert chart.lines[0].x == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert np.diff(chart.lines[0].y) == pytest.approx(np.ones(6), abs=0.01)


@pytest.mark.parametrize("name", ["binary", "several", "survival"])
def test_every_task_has_effects(name):
    summary = cases.summary(name)
    drawn = [chart for chart in summary.charts if chart.name.startswith("effect-")]
    assert drawn
    for chart in drawn:
        low, high = chart.y_range
        assert low < high
        assert all(v is not None for line in chart.lines for v in line.y)
