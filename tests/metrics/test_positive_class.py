"""Scores of one class are those of the positive class: scikit-learn's default, or the one that was named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

from sobercv import Predictions, metrics
from sobercv.errors import SoberError
from sobercv.targets import Target

N = 60
RNG = np.random.default_rng(12)
TRUTH = RNG.integers(0, 2, N)
SAID = np.where(RNG.random(N) < 0.7, TRUTH, 1 - TRUTH)
SCORE = np.round(np.clip(TRUTH * 0.3 + RNG.random(N) * 0.7, 0, 1), 2)
ONES = np.ones((1, N), int)

OF_LABELS = {
    "f1": theirs.f1_score,
    "precision": theirs.precision_score,
    "recall": theirs.recall_score,
    "jaccard": theirs.jaccard_score,
}
CLINIC = {"sensitivity", "specificity", "ppv", "npv", "calibration_intercept"}
RATIOS = {"positive_likelihood_ratio", "neg_negative_likelihood_ratio"}
DEPENDENT = {*OF_LABELS, "average_precision", *RATIOS, *CLINIC}


def score(name, y, predictions, response, **options):
    metric = metrics.get(name)
    table = Predictions.build(y, {response: predictions}, task="classification", **options)
    return metric.scores(table, ONES)[0, 0]


@pytest.mark.parametrize("name", OF_LABELS)
@pytest.mark.parametrize("labels", [["ja", "nein"], [0, 1], [1, 2], [False, True], [3, 7]])
def test_scores_of_labels_are_scikit_learns(name, labels):
    labels = np.array(labels)
    y, said = labels[TRUTH], labels[SAID]
    for label in labels.tolist():
        expected = OF_LABELS[name](y, said, pos_label=label)
        assert score(name, y, said, "predict", pos_label=label) == pytest.approx(expected, rel=1e-12)
    if 1 in labels.tolist():
        assert score(name, y, said, "predict") == pytest.approx(OF_LABELS[name](y, said), rel=1e-12)


@pytest.mark.parametrize("labels", [["ja", "nein"], [0, 1], [1, 2]])
def test_ranks_are_scikit_learns(labels):
    labels = np.array(labels)
    y = labels[TRUTH]
    area = pytest.approx(theirs.roc_auc_score(y, SCORE), rel=1e-12)
    for label in labels.tolist():  # one score a sample is that of the positive class
        mine = SCORE if label == labels[1] else 1 - SCORE
        expected = theirs.average_precision_score(y, mine, pos_label=label)
        assert score("average_precision", y, mine, "predict_proba", pos_label=label) == pytest.approx(
            expected, rel=1e-12
        )
        assert score("roc_auc", y, mine, "predict_proba", pos_label=label) == area
    assert score("roc_auc", y, SCORE, "predict_proba") == area  # of the greater label
    if labels.tolist() == [1, 2]:  # scores of 2, precision of 1
        expected = theirs.average_precision_score(y, -SCORE, pos_label=1)
        assert score("average_precision", y, SCORE, "predict_proba") == pytest.approx(expected, rel=1e-12)


def test_likelihood_ratios_are_told_the_positive_class():
    y, said = np.array(["ja", "nein"])[TRUTH], np.array(["ja", "nein"])[SAID]
    plus, minus = theirs.class_likelihood_ratios(y, said, labels=["nein", "ja"])  # the second is the positive one
    assert score("positive_likelihood_ratio", y, said, "predict", pos_label="ja") == pytest.approx(plus)
    assert score("neg_negative_likelihood_ratio", y, said, "predict", pos_label="ja") == pytest.approx(-minus)


@pytest.mark.parametrize("name", sorted(set(metrics.names()) | DEPENDENT))
def test_a_metric_knows_whether_it_depends_on_the_positive_class(name):
    metric = metrics.get(name)
    assert metric.depends_on_positive == (name in DEPENDENT)
    if metric.task != "classification" or metric.min_classes > 2:
        return
    response = metric.responses[-1]
    values = {"predict": SAID, "predict_proba": SCORE, "decision_function": SCORE - 0.5}[response]
    other = -values if response == "decision_function" else 1 - values
    one = score(name, TRUTH, values, response, pos_label=1)
    swapped = score(name, TRUTH, values if response == "predict" else other, response, pos_label=0)
    assert (one == pytest.approx(swapped, rel=1e-9)) != metric.depends_on_positive


@pytest.mark.parametrize("name", sorted(DEPENDENT))
def test_who_depends_on_it_asks_for_it(name):
    target = Target.read(["ja", "nein"], "classification")
    with pytest.raises(SoberError, match="pos_label='ja' or pos_label='nein'") as error:
        metrics.get(name).check_target(target)
    assert error.value.code == "E120"
    metrics.get(name).check_target(Target.read(["ja", "nein"], "classification", pos_label="nein"))


def test_a_metric_names_the_class_where_it_matters():
    target = Target.read(["ja", "nein"], "classification", pos_label="nein")
    assert metrics.get("recall").positive_of(target) == "nein"
    assert metrics.get("roc_auc").positive_of(target) is None
    assert metrics.get("f1").positive_of(Target.read([0, 1], "classification")) == 1


@given(st.integers(0, 2**20))
def test_naming_the_greater_class_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, 20), rng.random((20, 3))
    y[:2] = 0, 1
    for name in ("roc_auc", "average_precision", "neg_log_loss"):
        plain, named = (
            metrics.get(name).scores(
                Predictions.build(y, {"predict_proba": p}, task="classification", **options), np.ones((1, 20), int)
            )
            for options in ({}, {"pos_label": 1})
        )
        np.testing.assert_array_equal(plain, named)


# ---- types of predictions, and counts -------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [np.float16, np.longdouble, ">f8", ">f4"])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "neg_log_loss", "concordance_index", "r2"])
def test_numbers_of_every_size_and_order_are_scored(name, kind):
    p = SCORE.astype(kind)
    task = metrics.get(name).task
    y = {"classification": TRUTH, "regression": SCORE + TRUTH, "survival": np.column_stack([TRUTH, SCORE + 1])}[task]
    got, plain = (
        metrics.get(name).scores(Predictions.build(y, v, task=task, responses=metrics.get(name).responses), ONES)
        for v in (p, p.astype(np.float64))
    )
    np.testing.assert_allclose(got, plain, rtol=1e-12)


@pytest.mark.parametrize(
    "counts", [np.full((1, N), 2**31), np.full((1, N), 2**32 + 1), np.full((1, N), -1), np.full((1, N), 0.5)]
)
def test_counts_that_would_wrap_are_refused(counts):
    table = Predictions.build(TRUTH, SAID, task="classification")
    with pytest.raises(SoberError, match="2,147,483,647") as error:
        metrics.get("accuracy").scores(table, counts)
    assert error.value.code == "E108"


def test_large_counts_that_fit_are_exact():
    table = Predictions.build(TRUTH, SAID, task="classification")
    plain = metrics.get("accuracy").scores(table, ONES)
    np.testing.assert_allclose(metrics.get("accuracy").scores(table, ONES * (2**31 - 1)), plain, rtol=1e-15)


def test_a_table_tells_the_task_of_a_metric_that_leaves_it_open():
    y, p = np.arange(40) % 2, np.random.default_rng(3).random((40, 2))  # numbers that look like classes
    table = Predictions.build(y.astype(float), p, task="regression")
    mine = metrics.make_metric(lambda truth, said: -float(np.abs(truth - said).max()), name="worst")
    settled = mine.for_target(table.target)
    assert settled.task == "regression"
    assert settled.scores(table, np.ones((1, 40), int)).shape == (1, 2)
