"""Partial dependence is scikit-learn's; correlated columns are found."""

import numpy as np
import pytest
from sklearn.inspection import partial_dependence

from sobercv.report.model_charts import correlated, effects, importance

from . import cases


def test_the_bold_line_is_partial_dependence():
    search, X, y = cases.regression()
    found, _ = importance(search, X, y, n_permutations=1)
    chart = effects(search, X, [bar.label for bar in found.bars])[0]
    name = found.bars[0].label
    assert chart.title == f"When {name} changes"
    line = chart.lines[0]
    some = X.iloc[:150] if len(X) <= 150 else X
    expected = partial_dependence(
        search.best_estimator_, some, [name], custom_values={name: np.array(line.x)}, kind="average"
    )["average"][0]
    np.testing.assert_allclose(np.diff(line.y), np.diff(expected), rtol=1e-3)  # of a linear model: rows do not matter
    assert len(chart.faint) == 30
    assert len(chart.faint[0]) == len(line.x)


def test_columns_that_say_the_same_are_found_and_shuffled_together():
    X = cases.table(200, "abcdef")
    X["f"] = -X["a"] + 0.1 * X["f"]
    X["text"] = "x"
    (group,) = correlated(X, np.arange(7))
    assert group.tolist() == [0, 5]
    y = np.where(X["a"] - X["f"] + 0.2 * X["b"] > 0, 1, 0)
    from sklearn.linear_model import LogisticRegression

    X = X.drop(columns="text")
    search = cases.fitted(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, scoring="roc_auc")
    found, _ = importance(search, X, y, n_permutations=3)
    (bar,) = found.together
    assert bar.label == "a + f"
    assert bar.value > 1.5 * found.bars[0].value, "each alone hides behind the other"


@pytest.mark.parametrize("name", ["binary", "several", "survival"])
def test_every_task_has_effects(name):
    summary = cases.summary(name)
    drawn = [chart for chart in summary.charts if chart.name.startswith("effect-")]
    assert drawn
    for chart in drawn:
        low, high = chart.y_range
        assert low < high
        assert all(v is not None for line in chart.lines for v in line.y)
