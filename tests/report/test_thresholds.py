"""Decisions at thresholds and calibration agree with scikit-learn and with the metrics of the clinic."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

import sobercv
from sobercv.predictions import Predictions
from sobercv.report.charts import calibration, decision, roc
from sobercv.report.evidence import Evidence

from . import cases


@pytest.fixture(scope="module")
def evidence():
    return Evidence.of(cases.binary()[0])


def test_the_positive_class_is_second_where_its_name_leaves_no_doubt(evidence):
    assert evidence.classes.tolist() == ["control", "case"]
    y = cases.binary()[2]
    assert (evidence.y == (y == "case")).all()
    assert evidence.responses["predict_proba"][evidence.y == 1].mean() > 0.5


def test_the_table_of_thresholds_is_that_of_confusion_matrices(evidence):
    table = decision(evidence)[1]
    assert table.rows[0][:3] == ("Threshold", "Called case", "Sensitivity")
    for row in table.rows[1:]:
        called = evidence.responses["predict_proba"][:, 0] >= float(row[0])
        ((tn, fp), (fn, tp)) = confusion_matrix(evidence.y, called)
        expected = (tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn))
        for cell, share in zip(row[2:], expected, strict=True):
            assert cell.startswith(f"{100 * share:.0f} (")


def test_the_operating_point_is_where_the_labels_stand(evidence):
    (mark,) = roc(evidence)[0].marks
    ((tn, fp), (fn, tp)) = confusion_matrix(evidence.y, evidence.labels[:, 0])
    assert (mark.x, mark.y) == pytest.approx((fp / (tn + fp), tp / (tp + fn)))


def test_the_decision_curve_is_the_net_benefit_of_the_metric(evidence):
    chart = decision(evidence)[0]
    model, everybody = chart.lines
    chances = evidence.responses["predict_proba"]
    table = Predictions.build(
        evidence.y, {"predict_proba": chances[:, None]}, task="classification", responses=("predict_proba",)
    )
    share = evidence.y.mean()
    for i in (4, 19, 49, 79):
        at = round(model.x[i], 6)
        metric = sobercv.metrics.get("net_benefit", threshold=at)
        assert model.y[i] == pytest.approx(metric.scores(table, np.ones((1, len(evidence.y)), int))[0, 0], abs=1e-5)
        assert everybody.y[i] == pytest.approx(share - (1 - share) * at / (1 - at), abs=1e-5)


def test_the_slope_is_one_where_probabilities_are_right():
    rng = np.random.default_rng(0)
    n = 4000
    chance = rng.random((n, 1))
    y = (rng.random(n) < chance[:, 0]).astype(int)
    evidence = Evidence(
        y=y, responses={"predict_proba": chance}, seen=np.ones((n, 1), bool), weight=np.ones(n), groups=None,
        classes=np.array([0, 1]), task="classification", level=0.95, seed=0,
    )  # fmt: skip
    (chart,) = calibration(evidence)
    (line,) = chart.lines
    np.testing.assert_allclose(line.y, line.x, atol=0.125)  # five standard errors of a bin of 400
    assert chart.below[0] == ("slope", "intercept")
    assert [float(cell) for cell in chart.below[1]] == pytest.approx([1.0, 0.0], abs=0.2)
