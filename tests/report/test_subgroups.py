"""Scores by subgroup: what each scores, how much they differ, and the interval for a new one."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut

from sobercv.metrics import get
from sobercv.report.subgroups import heterogeneity, scores_by, subgroup_section

from . import cases


@pytest.fixture(scope="module")
def search():
    rng = np.random.default_rng(0)
    centre = np.repeat(["north", "south", "east", "west"], [60, 50, 40, 30])
    X = rng.normal(size=(180, 4))
    y = np.where(X[:, 0] + rng.normal(size=180) > 0, "case", "control")
    table = pd.DataFrame(X, columns=list("abcd"))
    found = cases.fitted(LogisticRegression(), {"C": [0.01, 1.0]}, table, y, scoring=["roc_auc", "accuracy"],
                         cv=LeaveOneGroupOut().split(X, y, centre), keep="all")  # fmt: skip
    return found, centre, y


def test_each_subgroup_has_the_score_of_its_rows(search):
    found, centre, _ = search
    table = found.winner_predictions_
    for metric, score in (("roc_auc", roc_auc_score), ("accuracy", accuracy_score)):
        rows = scores_by(table, centre, get(metric).bind(table), 0.95, 0)
        assert [row.label for row in rows] == ["east", "north", "south", "west"]
        for row in rows:
            here = centre == row.label
            values = table.responses["decision_function" if metric == "roc_auc" else "predict"][here, 0, 0]
            assert row.score == pytest.approx(score(table.y[here], values))
            assert row.interval[0] < row.score < row.interval[1]
            assert row.n == here.sum()


def test_events_are_of_the_class_whose_name_leaves_no_doubt(search):
    """Where no metric asked for the positive class, "control" was counted, the second of the two by alphabet."""
    found, centre, y = search
    rows = scores_by(found.winner_predictions_, centre, get("roc_auc").bind(found.winner_predictions_), 0.95, 0)
    assert [row.events for row in rows] == [((centre == row.label) & (y == "case")).sum() for row in rows]


def test_a_subgroup_of_one_class_has_no_score_and_is_not_drawn(search):
    found, _, y = search
    labels = np.where((np.arange(len(y)) < 8) & (y == "case"), "cases only", np.where(np.arange(len(y)) % 2, "a", "b"))
    (only,) = [
        r
        for r in scores_by(found.winner_predictions_, labels, get("roc_auc").bind(found.winner_predictions_), 0.95, 0)
        if r.label == "cases only"
    ]
    assert np.isnan(only.score)
    assert only.interval is None
    section = subgroup_section(found, "x", labels, held_out=False)
    assert [name.split(" (")[0] for name in section.charts[0].y_names] == ["a", "b"]
    assert section.tables[0].rows[3][3] == "\u2013"
    held_out = subgroup_section(found, "x", labels, held_out=True)
    assert "Two values do not show" in held_out.tables[0].sentence


def test_values_that_models_were_trained_on_tell_nothing_of_a_new_one(search):
    found, centre, _ = search
    section = subgroup_section(found, "hospital", centre, held_out=False)
    assert "a new one" not in section.charts[0].y_names
    assert "prediction interval" not in section.tables[0].sentence


def test_a_subgroup_whose_resamples_score_alike_has_no_interval(search):
    """Three rows that are ranked rightly said: 1.000, 1.000 to 1.000."""
    found, _, y = search
    chance = found.winner_predictions_.responses["decision_function"][:, 0, 0]
    ranked = np.argsort(chance)  # of the second class, which is not "case"
    few = [*ranked[y[ranked] == "case"][:2], *ranked[y[ranked] != "case"][-2:]]
    labels = np.where(np.isin(np.arange(len(y)), few), "few", np.where(np.arange(len(y)) % 2, "a", "b"))
    section = subgroup_section(found, "x", labels, held_out=False)
    *_, row = section.tables[0].rows
    assert row[:5] == ("few", "4", "2", "1.000", "\u2013")
    dot = section.charts[0].whiskers[2]
    assert (dot.low, dot.value, dot.high) == (1.0, 1.0, 1.0)


def test_an_interval_of_few_groups_is_no_narrower_than_one_of_rows(search):
    """A bootstrap of four centres alone said 0.56 to 0.66 for 150 rows that say 0.48 to 0.69."""
    found, centre, _ = search
    table = found.winner_predictions_
    assert table.groups is None
    labels = np.where(np.arange(180) % 2, "f", "m")
    rows = scores_by(table, labels, get("roc_auc").bind(table), 0.95, 0)
    groups = np.unique(centre, return_inverse=True)[1]
    few = scores_by(replace(table, groups=groups), labels, get("roc_auc").bind(table), 0.95, 0)
    assert all(b.variance >= a.variance for a, b in zip(rows, few, strict=True))


def test_the_section_says_what_few_centres_cannot_say(search):
    found, centre, _ = search
    section = subgroup_section(found, "hospital", centre, held_out=True)
    (chart,), (table,) = section.charts, section.tables
    assert section.title == "Each hospital held out"
    assert chart.y_names[-1] == "a new one"
    new = chart.whiskers[-1]
    assert 0.0 <= new.low < new.value < new.high <= 1.0
    assert "4 values of hospital can show" in table.sentence
    assert "prediction interval" in table.sentence
    assert table.rows[0] == ("hospital", "Rows", "Events", "ROC AUC", "Interval", "Accuracy")
    assert subgroup_section(found, "id", np.arange(180).astype(str), held_out=False) is None


def test_a_new_one_is_never_more_certain_than_the_honest_score():
    """Centres that happen to be alike left an interval for a new one inside that of the mean, 1 run of 4."""
    narrower = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, centre = rng.normal(size=(120, 3)), np.arange(120) % 6
        y = np.where(X[:, 0] + rng.normal(size=120) > 0, "case", "control")
        found = cases.fitted(LogisticRegression(), {"C": [0.01, 1.0]}, X, y, scoring="roc_auc", keep="all",
                             cv=LeaveOneGroupOut().split(X, y, centre), random_state=seed)  # fmt: skip
        low, high = found.estimate_.interval
        new = subgroup_section(found, "centre", centre.astype(str), held_out=True).charts[0].whiskers[-1]
        assert new.low <= low < high <= new.high
        rows = scores_by(
            found.winner_predictions_,
            centre.astype(str),
            get("roc_auc").bind(found.winner_predictions_),
            0.95,
            found.seed_,
        )
        alone = heterogeneity(np.array([r.score for r in rows]), np.array([r.variance for r in rows]))
        narrower += alone.high - alone.low < high - low
    assert narrower, "the subgroups alone would have said less than the whole"


def test_equal_scores_have_no_spread():
    found = heterogeneity(np.full(6, 0.8), np.full(6, 0.001))
    assert found.between == 0.0
    assert found.mean == pytest.approx(0.8)
    assert 0.7 < found.low < 0.8 < found.high < 0.9


def test_dersimonian_and_laird_by_hand():
    scores, variances = np.array([0.6, 0.7, 0.9]), np.array([0.01, 0.02, 0.01])
    weight = 1 / variances
    mean = np.average(scores, weights=weight)
    q = (weight * (scores - mean) ** 2).sum()
    tau2 = (q - 2) / (weight.sum() - (weight**2).sum() / weight.sum())
    assert heterogeneity(scores, variances).between == pytest.approx(np.sqrt(max(tau2, 0.0)))


@pytest.mark.parametrize("k", [pytest.param(4, marks=pytest.mark.soak), 6, pytest.param(10, marks=pytest.mark.soak)])
def test_the_interval_for_a_new_one_covers(k):
    rng, covered = np.random.default_rng(k), []
    n, most = (300, 0.995) if os.environ.get("SOBER_SOAK") else (90, 1.0)
    for i in range(n):
        tau = (0.0, 0.03, 0.08)[i % 3]
        variances = rng.uniform(0.0005, 0.004, k)
        scores = 0.75 + tau * rng.normal(size=k) + np.sqrt(variances) * rng.normal(size=k)
        found = heterogeneity(scores, variances)
        covered.append(found.low < 0.75 + tau * rng.normal() < found.high)
    assert 0.955 - 3 * np.sqrt(0.955 * 0.045 / n) <= np.mean(covered) <= most
