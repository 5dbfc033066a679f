"""Every fast metric agrees to 1e-12 with the literal loop over really repeated rows, in every kind of table."""

from dataclasses import replace

import numpy as np
import pytest

import sobercv
from sobercv.metrics import by_name
from tests.cases import ALL_TARGETS, METRICS, SETTINGS, make
from tests.oracles import paper


def close(ours, theirs, tolerance=1e-12):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


def oracle_scores(table, counts):
    return [paper.all_scores(table, [i for i in paper.bag(row) if table.seen[i].any()]) for row in counts]


def test_every_fast_metric_is_examined():
    elsewhere = {"calibration_slope", "calibration_intercept"}  # in test_calibration
    assert {*METRICS, *elsewhere} >= set(sobercv.metrics.names())
    assert {*(metric.partition("(")[0] for metric in METRICS), *elsewhere} >= set(by_name.METRICS)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s != "folds"])
@pytest.mark.parametrize("target", ALL_TARGETS)
def test_scores(target, setting):
    case = make(target, setting, seed=1, b=6)
    counts = np.vstack([case.counts, np.ones_like(case.counts[:1]), case.counts[:2] == 0])
    theirs = np.array(oracle_scores(case.table(), counts))
    ours = case.scores(counts)
    close(ours, theirs)
    assert np.isfinite(ours[6]).all()  # on all the rows, every metric has a value


@pytest.mark.parametrize("setting", ["plain", "repeats", "incomplete", "weights", "ties"])
@pytest.mark.parametrize("target", ALL_TARGETS)
def test_picked_is_the_column_of_scores(target, setting):
    case = make(target, setting, seed=2, b=12)
    metric, table = sobercv.metrics.get(case.metric), case.predictions()
    winners = np.arange(12) % 4
    close(metric.bind(table).picked(case.counts, winners), case.scores(case.counts)[np.arange(12), winners], 1e-13)


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_what_is_undefined_depends_on_truth_and_counts_only(target):
    case = make(target, seed=3, n=12, c=3)
    rng = np.random.default_rng(4)
    counts = (rng.random((60, 12)) < 0.15).astype(int) * 2  # one or two rows each, some none
    counts[0] = 0
    scores = case.scores(counts)
    assert np.isnan(scores[0]).all()
    np.testing.assert_array_equal(np.isnan(scores).any(axis=1), np.isnan(scores).all(axis=1))
    # Two rows nearly alike: a deviance is a small difference of large numbers, here as in the oracle.
    close(scores, oracle_scores(case.table(), counts), 1e-12)


@pytest.mark.parametrize(
    "metric", ["r2", "explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error"]
)
def test_a_large_offset_costs_no_digits(metric):
    case = make(f"{metric}-number", seed=5)
    case.y, case.p = case.y + 1e6, case.p + 1e6
    close(case.scores(case.counts), oracle_scores(case.table(), case.counts), 1e-9)


@pytest.mark.parametrize("metric", ["r2", "explained_variance"])
def test_an_outlier_costs_no_digits_where_it_is_absent(metric):
    """Incomes, counts of clicks: one row far out must not make the spread of all others look like nothing."""
    case = make(f"{metric}-number", seed=6)
    case.y[0], case.p[0] = 1e8, 1e8 + 3
    case.counts[::2, 0] = 0
    close(case.scores(case.counts), oracle_scores(case.table(), case.counts), 1e-9)


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_single_precision_input_is_scored_in_double(target):
    case = make(target, seed=7)
    if case.p.dtype.kind == "f":
        case.p = np.clip(case.p, 0.01, 0.99) if case.kind == "proba2" else case.p
        case.p = case.p.astype(np.float32)
    ours = case.scores(case.counts)
    case.p = case.p.astype(np.float64) if case.p.dtype.kind == "f" else case.p
    close(ours, oracle_scores(case.table(), case.counts))


# ---- large counts: written out, these rows would not fit, so the oracle gets them as weights -------------------------
def by_weights(case, counts):
    ones = np.ones(len(case.y), int)
    tables = [replace(case.table(), weight=row.astype(float)) for row in counts]
    return [paper.all_scores(table, paper.bag(ones)) for table in tables]


@pytest.mark.parametrize("each", [3, 255, 256, 1000, 700_001])
@pytest.mark.parametrize(
    "target",
    [
        "accuracy-labels2",
        "f1_macro-labels3",
        "roc_auc-proba2",
        "concordance_index-survival",
        "average_precision-proba2",
    ],
)
def test_large_counts(target, each):
    case = make(target, "ties", seed=8, n=60, c=2, b=2)
    counts = case.counts * each + (np.arange(60) % 2)
    close(case.scores(counts), by_weights(case, counts))


@pytest.mark.parametrize("target", ["roc_auc-proba2", "concordance_index-survival"])
def test_pairs_do_not_overflow(target):
    """65,024 rows have two thousand million pairs, each counted twice where there are ties."""
    n, half = 512, 256
    case = make(target, seed=9, n=n, c=2, b=1)
    first = np.arange(n) < half
    if case.kind == "survival":
        case.y["time"], case.y["event"] = np.arange(n), True
    else:
        case.y = first.astype(int)
    case.p[:, 0, 0] = first | (np.arange(n) == half)  # everybody ahead ties with the best of those behind
    case.p[:, 1, 0] = np.arange(n)[::-1] / n
    counts = np.full((1, n), 127)
    scores = case.scores(counts)
    ahead, pairs = (half * (half - 1), n * (n - 1) / 2) if case.kind == "survival" else (half * (half - 1), half**2)
    tied = half + (half * (half - 1) / 2 + (half - 1) * (half - 2) / 2 if case.kind == "survival" else 0)
    beaten = half - 1 if case.kind == "survival" else 0  # the tied one is also ahead of those behind it
    close(scores, [[(ahead + beaten + tied / 2) / pairs, 1.0]])


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_no_resamples_have_no_scores(target):
    case = make(target, "plain", seed=2, b=12)
    assert sobercv.metrics.get(case.metric).scores(case.predictions(), case.counts[:0]).shape == (0, 4)
