"""The curve over thresholds: it passes through what the search found, and says which class it is of."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import sobercv
from sobercv.report import summarize
from sobercv.report.charts import tuned_threshold
from sobercv.report.evidence import Evidence


@pytest.fixture(scope="module", params=["no", "yes"])
def search(request):
    X, y = make_classification(120, 5, weights=[0.75], flip_y=0.1, random_state=0)
    return sobercv.BBCSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring="f1", pos_label=request.param, cv=4, select=sobercv.best_with_threshold(),
        n_bootstraps=64, keep="all",
    ).fit(X, np.array(["no", "yes"])[y])  # fmt: skip


def test_the_curve_passes_through_the_tuned_threshold(search):
    (chart,) = tuned_threshold(Evidence.of(search), search)
    (mark,), (line,) = chart.marks, chart.lines
    assert mark.x == search.estimate_.decision.value
    assert mark.y == pytest.approx(search.estimate_.naive)
    assert max(y for y in line.y if y is not None) <= mark.y + 1e-6
    table, place = search.predictions_, search.best_index_
    k = table.classes.tolist().index(search.pos_label)
    chances = table.responses["predict_proba"][:, place, 0]
    chances = chances if k == 1 else 1 - chances
    at = line.x.index(0.3)
    assert line.y[at] == pytest.approx(f1_score(table.y == k, chances >= 0.3), abs=1e-5)


def test_labels_of_the_report_are_those_of_the_threshold(search):
    own = search.winner_predictions_
    k = own.classes.tolist().index(search.pos_label)
    assert f1_score(own.y == k, own.responses["predict"][:, 0, 0] == k) == pytest.approx(search.estimate_.naive)


def test_no_threshold_no_curve():
    X, y = make_classification(60, 5, random_state=0)
    search = sobercv.BBCSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring="f1", cv=3, n_bootstraps=64, keep="all"
    )
    assert tuned_threshold(Evidence.of(search.fit(X, y)), search) == ()


def test_the_table_ranks_by_the_scores_that_it_shows(search):
    shown = summarize(search)
    scores = [row.pooled for row in shown.configurations]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(search.estimate_.naive)
    assert "own best threshold" in shown.table_note
    (draws,) = [chart for chart in shown.charts if chart.name == "draws"]
    assert "The solid line marks the honest number" in draws.sentence
