"""Laws that every registered metric obeys, whatever the data (after scikit-learn's metrics/tests/test_common.py)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sobercv
from tests.cases import ALL_TARGETS, SETTINGS, Case, make

#: A table: which seed, which kind of cross-validation, how many rows.
SEEDS = st.integers(0, 2**20)
ROWS = st.integers(6, 20)
TABLES = st.sampled_from([s for s in SETTINGS if s != "folds"])
EXAMPLES = settings(max_examples=8)

every_target = pytest.mark.parametrize("target", ALL_TARGETS)


def same(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def some_counts(seed, n, b=5):
    return np.random.default_rng(seed).integers(0, 4, (b, n))


def taken(case: Case, rows) -> Case:
    """The same table with only these rows, in this order, as often as they are named."""
    options = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in case.options.items()}
    return Case(case.metric, case.kind, case.y[rows], case.p[rows], case.counts[:, rows], options)


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=TABLES)
def test_a_count_is_a_repeated_row_and_zero_is_an_absent_one(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=3)
    counts = some_counts(seed, n, b=3)
    table, metric = case.predictions(), sobercv.metrics.get(case.metric)
    for row, score in zip(counts, metric.scores(table, counts), strict=True):
        written_out = np.repeat(np.arange(n), row)
        if len(written_out):
            repeated = table.take_rows(written_out)
            same(score, metric.scores(repeated, np.ones((1, len(written_out)), int))[0])


@every_target
def test_no_resamples_have_no_scores(target):
    case = make(target, "plain", 0, n=12, c=3)
    scorer = sobercv.metrics.get(case.metric).bind(case.predictions())
    counts = np.zeros((0, 12), np.uint8)
    assert scorer.scores(counts).shape == (0, 3)
    assert scorer.picked(counts, np.zeros(0, int)).shape == (0,)


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=TABLES)
def test_the_order_of_rows_means_nothing(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=3)
    counts = some_counts(seed, n)
    order = np.random.default_rng(seed).permutation(n)
    same(case.scores(counts), taken(case, order).scores(counts[:, order]))


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=TABLES)
def test_a_configuration_is_scored_alone(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=5)
    counts = some_counts(seed, n)
    whole = case.scores(counts)
    order = np.random.default_rng(seed).permutation(5)
    case.p = case.p[:, order]
    same(case.scores(counts), whole[:, order])
    case.p = case.p[:, 2:3]
    same(case.scores(counts), whole[:, order[2:3]])


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=TABLES)
def test_a_resample_is_scored_alone(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=3)
    counts = some_counts(seed, n, b=70)  # more than a vector register and than a small block
    whole = case.scores(counts)
    order = np.random.default_rng(seed).permutation(70)
    same(case.scores(counts[order]), whole[order])
    same(case.scores(counts[33:34]), whole[33:34])


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_a_weight_of_two_is_a_repeated_row_and_of_zero_an_absent_one(target, seed, n):
    case = make(target, "plain", seed, n=n, c=3)
    weight = np.random.default_rng(seed).integers(0, 3, n)
    weight[0] = 1
    counts = some_counts(seed, n)
    by_counts = case.scores(counts * weight)
    case.options["sample_weight"] = weight.astype(float)
    same(case.scores(counts), by_counts)


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_the_scale_of_weights_means_nothing(target, seed, n):
    case = make(target, "weights", seed, n=n, c=3)
    counts = some_counts(seed, n)
    before = case.scores(counts)
    case.options["sample_weight"] = case.options["sample_weight"] * 8
    same(case.scores(counts), before)


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_doubling_every_count_means_nothing(target, seed, n):
    case = make(target, "ties", seed, n=n, c=3)
    counts = some_counts(seed, n)
    same(case.scores(counts), case.scores(counts * 2))


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_two_repeats_alike_are_one(target, seed, n):
    case = make(target, "plain", seed, n=n, c=3)
    counts = some_counts(seed, n)
    once = case.scores(counts)
    case.p = np.concatenate([case.p, case.p], axis=2)
    same(case.scores(counts), once)


# ---- the range: what intervals lean on ------------------------------------------------------------------------------
def inside(metric, scores):
    low, high = metric.range
    defined = scores[np.isfinite(scores)]
    assert (defined >= low - 1e-9).all()
    assert (defined <= high + 1e-9).all()


@every_target
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=TABLES)
def test_scores_stay_in_the_range_that_the_metric_states(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=3)
    metric, counts = sobercv.metrics.get(case.metric), some_counts(seed, n)
    assert metric.range[0] < metric.range[1]
    inside(metric, case.scores(counts))
    rng = np.random.default_rng(seed)
    for awful in (rng.permutation(n), np.roll(np.argsort(case.y), n // 2)):  # predictions for others
        case.p = case.p[awful] if "seen" not in case.options else case.p
        inside(metric, case.scores(counts))


def perfect(case):
    """Predictions that could not be better."""
    y = case.y[:, None, None]
    if case.kind.startswith("labels") or case.kind in ("number", "positive"):
        return y.astype(case.p.dtype)
    if case.kind == "survival":
        return -y["time"] - 0.5 * ~y["event"]  # of those with the same time the censored live longer
    if case.p.ndim == 4 and case.kind[-1] == "3":
        return (y[..., None] == np.arange(3)) * (1.0 if case.kind == "proba3" else 9.0)
    if case.p.ndim == 4:
        times = {"chances": [4], "courses": [2, 4, 7]}[case.kind]
        return (y["time"][..., None] > np.array(times)).astype(float)
    return y.astype(float) if case.kind == "proba2" else 9.0 * y - 4.5


def best_possible(target):
    return sobercv.metrics.get(target.rsplit("-", 1)[0]).range[1]


#: The end of a net benefit is reached only where everybody is ill.
WITH_AN_END = [t for t in ALL_TARGETS if np.isfinite(best_possible(t)) and "net_benefit" not in t]


@pytest.mark.parametrize("target", WITH_AN_END)
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_perfect_predictions_reach_the_end_of_the_range(target, seed, n):
    case = make(target, "plain", seed, n=n, c=1)
    case.p = perfect(case)
    scores = case.scores(some_counts(seed, n))
    same(scores[np.isfinite(scores)], best_possible(target), 1e-9)


RANKING = ["roc_auc-proba2", "roc_auc_ovr-proba3", "roc_auc_ovo-proba3", "concordance_index-survival"]


@pytest.mark.parametrize("target", RANKING)
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=st.sampled_from(["plain", "ties", "weights", "repeats"]))
def test_turning_the_ranking_round_turns_the_score_round(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=3)
    counts = some_counts(seed, n)
    case.p = np.round(case.p * 2**14) / 2**14  # exact, so that turning makes no ties and breaks none
    before = case.scores(counts)
    case.p = (1 - case.p) / 2  # probabilities of three classes still add up to one
    same(case.scores(counts), 1 - before)


@pytest.mark.parametrize("target", RANKING)
@EXAMPLES
@given(seed=SEEDS, n=ROWS, setting=st.sampled_from(["plain", "weights", "repeats"]))
def test_constant_predictions_rank_like_a_coin(target, seed, n, setting):
    case = make(target, setting, seed, n=n, c=2)
    case.p = np.full_like(case.p, 1 / 3)
    scores = case.scores(np.vstack([np.ones((1, n), int), some_counts(seed, n)]))
    assert np.isfinite(scores[0]).all() or case.kind == "survival"
    same(scores[np.isfinite(scores)], 0.5)


@pytest.mark.parametrize("target", ["roc_auc-proba2", "concordance_index-survival", "average_precision-proba2"])
@EXAMPLES
@given(seed=SEEDS, n=ROWS)
def test_only_ranks_matter(target, seed, n):
    case = make(target, "ties", seed, n=n, c=3)
    counts = some_counts(seed, n)
    before = case.scores(counts)
    case.p = (np.arctan(case.p) + 2) / 4  # increasing, keeps ties, stays a probability
    same(case.scores(counts), before)


@pytest.mark.parametrize("target", ["roc_auc-proba2", "concordance_index-survival"])
@EXAMPLES
@given(seed=SEEDS, n=st.integers(9, 20))
def test_within_folds_ignores_the_scale_of_each_fold(target, seed, n):
    case = make(target, "within_folds", seed, n=n, c=3)
    if case.kind == "survival":
        case.y["event"] = True  # so that there are pairs in every fold
        case.y["time"] = np.arange(n)
    else:
        case.y[np.unique(case.options["folds"], return_index=True)[1]] = 0
        case.y[n - 1 - np.unique(case.options["folds"][::-1], return_index=True)[1]] = 1
    before = sobercv.naive(**case.arguments()).scores
    case.p = (case.p + 3 * case.options["folds"][:, :, None]) / 10
    same(sobercv.naive(**case.arguments()).scores, before)


def test_a_table_in_which_nothing_was_seen_has_no_score():
    absent = np.repeat(np.arange(6)[:, None] >= 2, 3, axis=1)
    table = sobercv.Predictions.build([0, 1] * 3, np.ma.array(np.zeros((6, 3)), mask=absent), task="classification")
    unseen = table.take_rows(np.arange(2, 6))
    assert np.isnan(sobercv.metrics.get("recall_micro").scores(unseen, np.ones((5, 4), int))).all()
