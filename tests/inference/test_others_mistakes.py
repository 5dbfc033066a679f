"""One test for each mistake that REFERENCES found in other people's code; each fails if we make it too."""

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error

import sobercv
from tests.oracles import paper, rows

quiet = pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")


def coins(n=40, c=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.arange(n) % 2, rng.integers(0, 2, (n, c))


@pytest.mark.parametrize(
    "metric",
    [
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
        "neg_median_absolute_error",
        sobercv.make_metric(mean_squared_error, greater_is_better=False),
    ],
    ids=str,
)
def test_a_distance_selected_by_argmax(metric):
    rng = np.random.default_rng(1)
    y = rng.normal(size=30)
    p = y[:, None] + rng.normal(size=(30, 3)) * [5.0, 0.01, 2.0]
    estimate = sobercv.bbc(y, p, metric, n_bootstraps=50, random_state=0)
    assert estimate.winner == 1
    assert estimate.win_counts.tolist() == [0, 50, 0]
    assert -0.1 < estimate.value < 0


def test_log_loss_and_brier_selected_by_argmax():
    y = np.arange(30) % 2
    p = np.column_stack([np.full(30, 0.5), np.where(y == 1, 0.9, 0.1), np.where(y == 1, 0.1, 0.9)])
    for metric, best in {"neg_log_loss": np.log(0.9), "neg_brier_score": -0.01}.items():
        estimate = sobercv.bbc(y, p, metric, n_bootstraps=50, random_state=0)
        assert estimate.winner == 1
        assert estimate.value == pytest.approx(best)


def test_c_index_selected_as_one_minus_c_and_reported_as_c():
    rng = np.random.default_rng(2)
    time = rng.exponential(size=60)
    y = np.column_stack([np.ones(60), time])
    p = np.column_stack([-time + rng.normal(size=60) * 0.3, time, rng.normal(size=60)])  # good, upside down, coin
    estimate = sobercv.bbc(y, p, "concordance_index", n_bootstraps=100, random_state=0)
    assert estimate.win_counts.tolist() == [100, 0, 0]
    record = np.array(list(zip(np.ones(60, bool), time, strict=True)), dtype=[("event", bool), ("time", float)])
    assert estimate.naive == pytest.approx(rows.concordance_index(record, p[:, 0]), abs=1e-12)
    assert estimate.value > 0.75
    assert sobercv.naive(y, p, "concordance_index").scores[1] == 0.0


@pytest.mark.parametrize("metric", ["neg_mean_squared_error", "neg_mean_absolute_error", "neg_root_mean_squared_error"])
def test_a_sum_over_out_of_bag_rows_reported_as_a_mean(metric):
    y = np.zeros(25)
    p = np.column_stack([np.ones(25), np.full(25, -2.0)])
    estimate = sobercv.bbc(y, p, metric, n_bootstraps=200, random_state=0)
    np.testing.assert_allclose(estimate.draws, -1.0, rtol=1e-14)  # every row loses 1, however many rows there are
    assert estimate.interval == pytest.approx((-1.0, -1.0))


def test_in_bag_rows_scored_instead_of_out_of_bag():
    y = np.arange(20) % 2
    p = np.column_stack([np.where(np.arange(20) < 10, y, 1 - y), np.where(np.arange(20) < 10, 1 - y, y)])
    counts = np.array([[2] * 10 + [0] * 10, [0] * 10 + [2] * 10])  # right on what is in the bag, wrong on the rest
    estimate = sobercv.bbc(y, p, "accuracy", counts=counts)
    assert estimate.draws.tolist() == [0.0, 0.0]
    assert estimate.win_counts.tolist() == [1, 1]


def test_false_positives_and_negatives_cancelling_in_accuracy():
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1] * 3)
    shifted = 1 - y  # as many false positives as false negatives: the mean of the labels is right, no label is
    p = np.column_stack([shifted, np.where(np.arange(30) < 21, y, 0)])
    estimate = sobercv.naive(y, p, "accuracy")
    assert estimate.scores[0] == 0.0
    assert estimate.winner == 1
    assert sobercv.naive(y, p, "neg_mean_squared_error").scores[0] == -1.0


@quiet
def test_a_bag_with_one_class_given_a_magic_score():
    y = np.array([1] * 4 + [0] * 8)
    p = np.random.default_rng(3).random((12, 3))
    good = [[3, 1, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0], [0, 0, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2]]
    no_positive_left = [[1, 1, 1, 1, 8, 0, 0, 0, 0, 0, 0, 0]]
    no_positive_drawn = [[0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 0]]
    counts = np.array(good + no_positive_left + no_positive_drawn)
    for metric in ("roc_auc", "average_precision"):
        estimate = sobercv.bbc(y, p, metric, counts=counts)
        assert np.isnan(estimate.draws).tolist() == [False, False, True, True]
        assert estimate.n_undefined == 2
        assert estimate.value == pytest.approx(estimate.draws[:2].mean(), abs=1e-14)
        table = paper.Table(y, p[:, :, None], np.ones((12, 1), bool), np.zeros((12, 1), int), metric)
        np.testing.assert_allclose(estimate.draws, paper.bbc(table, counts)[0], atol=1e-12)


@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_the_rule_of_the_search_differing_from_the_rule_in_the_bootstrap(aggregate):
    """AUC by fold and pooled disagree when folds live on different scales; one rule must do both jobs."""
    rng = np.random.default_rng(4)
    folds, y = np.repeat([0, 1], 30), np.tile(np.arange(30) % 2, 2)
    within = y + rng.normal(size=60) * 0.1 + 5 * np.where(folds == 0, 1, -1)  # perfect in each fold, useless pooled
    pooled = y + rng.normal(size=60) * 0.4
    p = np.column_stack([within, pooled])
    estimate = sobercv.bbc(
        y, {"decision_function": p}, "roc_auc", folds=folds, aggregate=aggregate, n_bootstraps=100, random_state=0
    )
    expected = 0 if aggregate == "fold" else 1
    assert estimate.winner == expected
    assert estimate.win_counts[expected] == 100
    assert (estimate.value > 0.99) == (aggregate == "fold")


@quiet
def test_a_bootstrap_that_loses_multiplicity():
    """Row 0 five times outweighs rows 1 and 2 once each; as a set it would not."""
    y = np.array([1, 1, 0, 0, 1, 0, 1, 0])
    only_first = np.where(np.arange(8) == 0, y, 1 - y)
    others = 1 - only_first
    counts = np.array([[5, 1, 1, 1, 0, 0, 0, 0]])
    estimate = sobercv.bbc(y, np.column_stack([others, only_first]), "accuracy", counts=counts)
    assert estimate.win_counts.tolist() == [0, 1]
    assert estimate.draws.tolist() == [0.0]


def test_a_global_generator_shared_by_workers():
    y, p = coins()
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = sobercv.bbc(y, p, "accuracy", n_bootstraps=400, random_state=7, n_jobs=2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(99)  # noqa: NPY002
    second = sobercv.bbc(y, p, "accuracy", n_bootstraps=400, random_state=7, n_jobs=1)
    np.testing.assert_array_equal(first.draws, second.draws)
    blocks = first.draws[:384].reshape(6, 64)  # and the workers did not all draw the same
    assert len(np.unique(blocks, axis=0)) == 6


def test_a_dropped_configuration_winning_on_another_metric():
    """Two metrics, one race: whoever wins by the first is judged by the second, even if another is better there."""
    y = np.arange(40) % 2
    calibrated = np.where(y == 1, 0.6, 0.4)
    calibrated[:4] = 1 - calibrated[:4]  # ranks a little worse, but the losses are small
    bold = np.where(y == 1, 0.999999, 0.999998)  # ranks perfectly, terrible probabilities
    p = np.column_stack([calibrated, bold])
    both = sobercv.bbc(y, p, ["neg_log_loss", "roc_auc"], n_bootstraps=60, random_state=0)
    assert both["roc_auc"].winner == both["neg_log_loss"].winner == 0
    assert both["roc_auc"].win_counts.tolist() == [60, 0]
    assert both["roc_auc"].value < 1
    turned = sobercv.bbc(y, p, ["roc_auc", "neg_log_loss"], n_bootstraps=60, random_state=0)
    assert turned["neg_log_loss"].winner == 1
    assert turned["neg_log_loss"].value < -5


def test_sample_weight_accepted_and_ignored():
    y, p = coins(seed=5)
    p[:, 0] = np.where(np.arange(40) < 10, y, 1 - y)  # right where the weight is
    weight = np.where(np.arange(40) < 10, 50.0, 0.1)
    plain = sobercv.bbc(y, p, "accuracy", n_bootstraps=50, random_state=0)
    weighted = sobercv.bbc(y, p, "accuracy", sample_weight=weight, n_bootstraps=50, random_state=0)
    assert plain.winner != 0
    assert weighted.winner == 0
    assert weighted.value > 0.9


@quiet
def test_groups_accepted_and_ignored():
    """Ten copies of each of eight patients: by rows, every patient is both in the bag and out of it."""
    rng = np.random.default_rng(6)
    patient = np.repeat(np.arange(8), 10)
    y, p = (np.arange(8) % 2)[patient], rng.integers(0, 2, (8, 50))[patient]
    by_row = sobercv.bbc(y, p, "accuracy", n_bootstraps=300, random_state=0)
    by_patient = sobercv.bbc(y, p, "accuracy", groups=patient, n_bootstraps=300, random_state=0)
    assert by_row.optimism < 0.05  # copies leak: no optimism seen
    assert by_patient.optimism > 0.2  # fifty coins on eight patients
