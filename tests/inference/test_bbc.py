"""BBC and BBC-F agree to 1e-12 with the paper's loops on the same draws, and depend on nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sobercv
from tests.cases import SETTINGS, TARGETS, make
from tests.oracles import paper

#: Small tables have undefined draws on purpose; that they are warned about is tested in test_errors.
quiet = pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, equal_nan=True)


def check(estimate, table, draws, winners, level=0.95):
    """Every public number of an estimate, from the oracle's draws."""
    best, naive = paper.cvt(table)
    defined = draws[~np.isnan(draws)]
    value = defined.mean() if estimate.n_groups is None else min(defined.mean(), naive)  # groups are few here
    low, high = paper.interval(draws, level)
    close(estimate.draws, draws)
    close(estimate.value, value)
    close(estimate.naive, naive)
    close(estimate.optimism, naive - value)
    close(estimate.interval, (min(low, value), max(high, value)))
    assert estimate.winner == best
    assert estimate.n_undefined == np.isnan(draws).sum()
    chosen = [w for w in winners if w is not None]
    assert estimate.win_counts.tolist() == np.bincount(chosen, minlength=table.n_configurations).tolist()


@quiet
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("target", TARGETS)
def test_bbc_is_algorithm_5(target, setting):
    case = make(target, setting, seed=21, c=3)
    table = case.table()
    estimate = sobercv.bbc(**case.arguments(), counts=case.counts, interval="percentile")
    check(estimate, table, *paper.bbc(table, case.counts))
    close(estimate.scores, paper.all_scores(table, table.rows))
    assert estimate.metric == case.metric


@quiet
@pytest.mark.parametrize("target", ["roc_auc-proba2", "concordance_index-survival"])
@pytest.mark.parametrize("extra", ["nothing", "weights", "ties", "unseen"])
def test_bbc_within_folds(target, extra):
    case = make(target, "within_folds", seed=22, n=30)
    if extra == "weights":
        case.options["sample_weight"] = np.arange(30) % 4 / 2 + 0.5
    if extra == "ties":
        case.p = np.round(case.p, 1)
    if extra == "unseen":
        case.options["seen"] = np.arange(30) % 7 != 0
    table = case.table()
    estimate = sobercv.bbc(**case.arguments(), counts=case.counts, interval="percentile")
    check(estimate, table, *paper.bbc(table, case.counts))


@quiet
@pytest.mark.parametrize("target", TARGETS)
def test_bbc_f(target):
    case = make(target, "plain", seed=23, n=36)
    case.options["folds"] = np.random.default_rng(0).permutation(np.arange(36) % 4)
    counts = np.random.default_rng(1).multinomial(4, [1 / 4] * 4, size=12)
    counts = counts[(counts == 0).any(axis=1)]
    table = case.table()
    estimate = sobercv.bbc(**case.arguments(), by="fold", counts=counts)
    draws, winners = paper.bbc_f(table, counts)
    close(estimate.draws, draws)
    close(estimate.value, np.nanmean(draws))
    assert estimate.win_counts.sum() == len(counts)
    assert estimate.win_counts.tolist() == np.bincount(winners, minlength=4).tolist()


def test_bbc_f_draws_folds_and_always_leaves_one_out():
    case = make("accuracy-labels2", "plain", seed=24, n=30, c=3)
    folds = np.arange(30) % 2  # with two folds, half of all draws leave none out
    estimate = sobercv.bbc(case.y, case.p, "accuracy", folds=folds, by="fold", n_bootstraps=200, random_state=0)
    assert estimate.n_undefined == 0
    right = case.p[:, :, 0] == case.y[:, None]
    per_fold = {right[folds == k, j].mean() for k in (0, 1) for j in range(3)}
    assert set(np.round(estimate.draws, 12)) <= set(np.round(list(per_fold), 12))


@quiet
def test_632_plus():
    shifts = []
    for target in ("accuracy-labels2", "roc_auc-proba2", "neg_mean_squared_error-number"):
        case = make(target, seed=25, n=40, c=6, b=50)
        options = {**case.arguments(), "counts": case.counts, "interval": "percentile"}
        plain = sobercv.bbc(**options)
        plus = sobercv.bbc(**options).as_632plus()
        close(plus.value, paper.plus_632(plain.naive, plain.value, plain.scores))
        close(plus.optimism, plus.naive - plus.value)
        shift = plus.value - plain.value
        shifts.append(shift)
        top = 1.0 if target != "neg_mean_squared_error-number" else 0.0
        close(plus.interval, [plain.interval[0] + shift, min(top, plain.interval[1] + shift)])
        assert plus.interval[1] <= top
    assert min(shifts) >= 0  # never below BBC, and not just BBC again
    assert max(shifts) > 0


def test_632_plus_of_equal_configurations_is_a_plain_632():
    y = np.arange(40) % 2
    p = np.where(np.arange(40) % 5 == 0, 1 - y, y)[:, None] * np.ones((1, 3), int)
    estimate = sobercv.bbc(y, p, "accuracy", random_state=0).as_632plus()
    bbc = sobercv.bbc(y, p, "accuracy", random_state=0)
    close(estimate.value, 0.368 * bbc.naive + 0.632 * bbc.value)  # no spread to overfit to: R = 0


# ---- what the answer must not depend on -----------------------------------------------------------------------------
def fields(estimate):
    return [estimate.value, *estimate.interval, estimate.naive, estimate.winner, estimate.n_undefined, *estimate.draws]


BIG = make("roc_auc-proba2", "ties", seed=26, n=90, c=40, b=1)


@pytest.mark.parametrize("target", ["accuracy-labels3", "roc_auc-proba2", "concordance_index-survival", "r2-number"])
def test_the_number_of_jobs_changes_no_bit(target):
    case = make(target, seed=27, n=80, c=70)
    runs = [sobercv.bbc(**case.arguments(), n_bootstraps=600, random_state=3, n_jobs=n) for n in (None, 1, 2, -1)]
    for run in runs[1:]:
        np.testing.assert_array_equal(fields(run), fields(runs[0]))


CONTAINERS = {
    "list": lambda y, p: (y.tolist(), p.tolist()),
    "pandas": lambda y, p: (pd.Series(y, index=range(len(y), 0, -1)), pd.DataFrame(p, index=range(len(y), 0, -1))),
    "polars": lambda y, p: (pl.Series(y), pl.DataFrame(p)),
    "fortran": lambda y, p: (y, np.asfortranarray(p)),
    "strided": lambda y, p: (np.repeat(y, 2)[::2], np.repeat(p, 3, axis=1)[:, ::3]),
    "masked, nothing missing": lambda y, p: (y, np.ma.masked_array(p, np.zeros(p.shape, bool))),
    "with a repeat axis": lambda y, p: (y, p[:, :, None]),
    "probabilities of both classes": lambda y, p: (y, np.stack([1 - p, p], axis=2)[:, :, None, :]),
    "text labels": lambda y, p: (np.array(["no", "yes"])[y], p),
    "boolean labels": lambda y, p: (y.astype(bool), p),
    "object labels": lambda y, p: (np.array(["a", "b"], dtype=object)[y], p),
    "float32": lambda y, p: (y, p.astype(np.float32)),
    "a dict by response": lambda y, p: (y, {"predict_proba": p}),
    "read only": lambda y, p: (y, np.frombuffer(p.tobytes()).reshape(p.shape)),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_changes_nothing(container):
    y, p = BIG.y, BIG.p[:, :, 0]  # in quarters, so that float32 holds them exactly
    reference = sobercv.bbc(y, p, "roc_auc", n_bootstraps=200, random_state=5)
    given = sobercv.bbc(*CONTAINERS[container](y, p), "roc_auc", n_bootstraps=200, random_state=5)
    np.testing.assert_array_equal(fields(given), fields(reference))


def test_a_table_is_as_good_as_its_parts():
    case = make("roc_auc-proba2", "incomplete", seed=28, n=60)
    parts = sobercv.bbc(**case.arguments(), n_bootstraps=100, random_state=0)
    whole = sobercv.bbc(None, case.predictions(), "roc_auc", n_bootstraps=100, random_state=0)
    np.testing.assert_array_equal(fields(whole), fields(parts))


def test_inputs_are_left_as_they_were():
    y, p, counts = BIG.y.copy(), BIG.p.copy(), BIG.counts.copy()
    sobercv.bbc(BIG.y, BIG.p, "roc_auc", n_bootstraps=50, random_state=0)
    sobercv.bbc(BIG.y, BIG.p, "roc_auc", counts=BIG.counts)
    np.testing.assert_array_equal(BIG.y, y)
    np.testing.assert_array_equal(BIG.p, p)
    np.testing.assert_array_equal(BIG.counts, counts)


def test_the_seed_decides_and_nothing_else():
    runs = [sobercv.bbc(BIG.y, BIG.p, "roc_auc", n_bootstraps=100, random_state=s) for s in (1, 1, 2)]
    np.testing.assert_array_equal(fields(runs[0]), fields(runs[1]))
    assert not np.array_equal(runs[0].draws, runs[2].draws)
    plain, zero = (sobercv.bbc(BIG.y, BIG.p, "roc_auc", n_bootstraps=100, **o) for o in ({}, {"random_state": 0}))
    np.testing.assert_array_equal(plain.draws, zero.draws)
    fresh = [sobercv.bbc(BIG.y, BIG.p, "roc_auc", n_bootstraps=100, random_state=None) for _ in range(2)]
    assert not np.array_equal(fresh[0].draws, fresh[1].draws)
    generators = [sobercv.bbc(BIG.y, BIG.p, "roc_auc", random_state=np.random.default_rng(9)) for _ in range(2)]
    np.testing.assert_array_equal(generators[0].draws, generators[1].draws)


def test_two_metrics_on_the_same_draws_are_paired():
    case = make("neg_brier_score-proba2", seed=29, n=60, c=5, b=40)
    options = {"counts": case.counts, "interval": "percentile"}
    both = sobercv.bbc(case.y, case.p, ["neg_brier_score", "roc_auc"], **options)
    table = case.table()
    draws, winners = paper.bbc(table, case.counts)
    check(both["neg_brier_score"], table, draws, winners)
    table.metric = "roc_auc"
    judged = [paper.cv_score(table, paper.rest(table, row), w) for row, w in zip(case.counts, winners, strict=True)]
    close(both["roc_auc"].draws, judged)
    assert both["roc_auc"].winner == both["neg_brier_score"].winner
    assert both["roc_auc"].win_counts.tolist() == both["neg_brier_score"].win_counts.tolist()
    close(both["roc_auc"].naive, paper.cv_score(table, table.rows, both["roc_auc"].winner))
