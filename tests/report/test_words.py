import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

import sobercv
from sobercv.cli.screen import Screen
from sobercv.report import words
from sobercv.report.records import Chart, ConfigurationRow, Score
from sobercv.report.svg import WIDTH, Frame
from sobercv.report.tables import configurations_table

from . import cases


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ((0.8, 0.7, 0.9), 3),
        ((0.9945, 0.9878, 0.9997), 4),  # 0.9997 must not be written as 1.000
        ((0.99996, 1.0), 5),
        ((54.2, 60.1), 2),
        ((3021.5,), 0),
        ((0.0003,), 5),
        ((math.nan,), 3),
    ],
)
def test_digits(values, digits):
    assert words.digits_for(values) == digits


@pytest.mark.parametrize(
    ("naive", "shown"), [(0.90001, ("0.900", "0.900", "+0.000")), (0.9004, ("0.9000", "0.9004", "+0.0004"))]
)
def test_a_difference_far_below_the_width_of_the_interval_needs_no_digits(naive, shown):
    estimate = sobercv.bbc([0, 1] * 10, np.eye(20)[:, :2], "accuracy", random_state=0)
    bounds = SimpleNamespace(bounds=lambda share: (0.88, 0.91), name="calibrated")
    score = Score.of(replace(estimate, value=0.9, naive=naive, bounds=bounds))
    assert (score.honest, score.claim, score.off_by) == shown


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.001, "<1 %"), (0.5, "50 %"), (0.999, ">99 %"), (1.0, "100 %"), (None, "\u2013")],
)
def test_percent(share, text):
    assert words.percent(share) == text


TIMES = [(0.0004, "0.4 ms"), (0.02, "20 ms"), (0.1, "0.1 s"), (59.9, "59.9 s"), (75, "1 min 15 s"), (7500, "2 h 5 min")]


@pytest.mark.parametrize(("seconds", "text"), TIMES)
def test_seconds(seconds, text):
    assert words.seconds(seconds) == text


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (TransformedTargetRegressor(Ridge()), "ridge regression"),
        (TransformedTargetRegressor(SVR()), "support vector machines"),
        (CalibratedClassifierCV(SVC()), "calibrated support vector machines"),
        (CalibratedClassifierCV(make_pipeline(RandomForestClassifier())), "calibrated random forests"),
        (CalibratedClassifierCV(), "CalibratedClassifierCV"),
    ],
)
def test_a_wrapped_model_is_named_by_what_is_inside(model, name):
    assert words.family_of(model) == name


def test_names_are_cleaned_and_cut():
    assert words.clean("a\nb\t c") == "a b c"
    assert words.clean("\x00\x1b\ud800") == "\ufffd" * 3
    assert len(words.clean("x" * 1000)) == 300
    words.clean("\ud800 \U0001f600").encode("utf-8")


def test_steps_are_left_out_where_the_rest_is_enough():
    def said(*params):
        return words.configurations_in_words(SimpleNamespace(cv_results_={"params": params}, estimator=None))

    assert said({"model__C": 1, "scale__with_mean": True}) == ["C=1, with_mean=True"]
    assert said({"a__C": 1}, {"b__C": 2}) == ["a__C=1", "b__C=2"]


def test_metric_names():
    assert words.metric_label("roc_auc") == "ROC AUC"
    assert words.metric_label("neg_log_loss") == "Negative log loss"
    assert words.metric_label("f1_macro") == "F1 macro"
    assert words.metric_label("npv(threshold=0.3)", "ill") == 'NPV (threshold 0.3) of "ill"'
    assert words.metric_label("neg_survival_brier_score(time=365)") == "Negative survival brier score (time 365)"
    assert words.metric_label("") == ""


def test_the_difference_is_that_of_the_numbers_as_written(capsys):
    score = Score("roc_auc", "ROC AUC", 0.87749, None, 0.95, 0.88751, 0.01002, 1000, 0, 3)
    assert score.off_by == "+0.011"  # 0.888 and 0.877 on the screen, 0.01002 apart
    assert score.gap == "0.011 too good"
    Screen({}).scores([score], [])
    assert "(+0.011)" in capsys.readouterr().out


def test_the_last_number_of_an_axis_is_not_cut_off():
    frame = Frame(Chart("", "", "", "", (0.0, 1000.0), (0.0, 1.0)))
    assert frame.x(1000.0) + 3.7 * len("1,000") <= WIDTH
    assert Frame(Chart("", "", "", "", (0.0, 980.0), (0.0, 1.0))).right == WIDTH - 12


def test_labels_in_the_middle_of_a_line():
    labels = (
        "Balanced accuracy",
        "ROC AUC",
        "R\u00b2",
        "F1 macro",
        "Matthews correlation",
        "Concordance index",
        "Brier score",
    )
    shown = [
        "balanced accuracy",
        "ROC AUC",
        "R\u00b2",
        "F1 macro",
        "Matthews correlation",
        "concordance index",
        "Brier score",
    ]
    assert [words.within(label) for label in labels] == shown


def test_nothing_has_no_sign():
    assert (words.number(-0.0001), words.number(-0.0001, sign="+")) == ("0.000", "+0.000")
    assert (words.number(-0.01, 2), words.number(-0.01, 2, "+")) == ("-0.01", "-0.01")


@pytest.mark.parametrize(("p", "text"), [(0.9951, "99.5 %"), (0.99, "99.0 %"), (0.9999, ">99.9 %"), (1.0, ">99.9 %")])
def test_how_sure_a_drop_was_looks_like_no_p_value(p, text):
    row = ConfigurationRow(7, "C=10", "dropped", False, 7, 0.71, 0.72, 0.0, None, 1.5, 2, p)
    table = configurations_table(replace(cases.by_hand(), configurations=(row,)))
    assert table.rows[1][2] == f"dropped after round 2 ({text} sure)"


def test_a_metric_that_names_its_class_is_not_said_to_be_of_it_again():
    assert words.metric_label("f1(pos_label='sick')", "sick") == "F1 (pos_label 'sick')"
    assert words.metric_label("f1", "sick") == 'F1 of "sick"'
