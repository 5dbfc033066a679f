"""Counts: rows add up, groups share, strata keep their size, and a block can be drawn alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sobercv
from sobercv.inference.units import Units
from tests.cases import make

SIZES = st.integers(1, 70)
SEEDS = st.integers(0, 2**32)
quiet = pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")


@settings(max_examples=60)
@given(n=SIZES, seed=SEEDS, b=st.integers(1, 150))
def test_as_many_draws_as_samples(n, seed, b):
    counts = Units(n, seed).counts(0, b)
    assert counts.shape == (b, n)
    assert (counts.sum(axis=1, dtype=int) == n).all()


@settings(max_examples=60)
@given(n=SIZES, seed=SEEDS, data=st.data())
def test_members_of_a_group_share_one_count(n, seed, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)))
    groups = np.unique(labels, return_inverse=True)[1]
    counts = Units(n, seed, groups=groups).counts(0, 70)
    first = np.unique(groups, return_index=True)[1]
    np.testing.assert_array_equal(counts, counts[:, first][:, groups])
    assert (counts[:, first].sum(axis=1, dtype=int) == len(first)).all()  # as many groups as there are


@settings(max_examples=60)
@given(n=SIZES, seed=SEEDS, data=st.data())
def test_strata_keep_their_size(n, seed, data):
    strata = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    counts = Units(n, seed, strata=strata).counts(0, 70)
    for stratum in np.unique(strata):
        assert (counts[:, strata == stratum].sum(axis=1, dtype=int) == (strata == stratum).sum()).all()


def test_groups_in_strata():
    groups, strata = np.arange(60) // 3, (np.arange(60) // 3) % 2
    counts = Units(60, 5, groups=groups, strata=strata).counts(0, 100)
    assert (counts[:, ::3].sum(axis=1, dtype=int) == 20).all()
    assert (counts[:, strata == 1].sum(axis=1, dtype=int) == 30).all()
    assert (counts.reshape(100, 20, 3) == counts.reshape(100, 20, 3)[:, :, :1]).all()


@settings(max_examples=30)
@given(n=SIZES, seed=SEEDS)
def test_a_block_can_be_drawn_alone(n, seed):
    bootstrap = Units(n, seed)
    whole = bootstrap.counts(0, 300)
    for start, stop in ((0, 64), (64, 300), (128, 131), (256, 300)):
        np.testing.assert_array_equal(bootstrap.counts(start, stop), whole[start:stop])


def test_a_long_table_is_drawn_in_chunks_and_still_adds_up():
    n = 150_000
    counts = Units(n, 1).counts(0, 3)
    assert (counts.sum(axis=1, dtype=int) == n).all()
    left_out = (counts == 0).mean(axis=1)
    np.testing.assert_allclose(left_out, np.exp(-1), atol=5 * np.sqrt(0.1 / n))
    spread = counts.reshape(3, 30, -1).sum(axis=2, dtype=float).var(axis=1)  # draws land evenly, also over chunks
    assert (spread < 5000 * 3).all()


def test_counts_are_multinomial():
    """Chi-square of how often a sample is drawn 0, 1, 2, 3+ times; false alarm once in ten thousand, seed fixed."""
    counts = Units(50, 7).counts(0, 4096)
    share = stats.binom.pmf(np.arange(3), 50, 1 / 50)
    expected = np.append(share, 1 - share.sum()) * 4096
    for sample in (0, 24, 49):
        observed = np.bincount(np.minimum(counts[:, sample], 3), minlength=4)
        assert stats.chisquare(observed, expected).pvalue > 1e-4
    assert abs(np.corrcoef(counts[:, 0], counts[:, 1])[0, 1] + 1 / 49) < 5 / np.sqrt(4096)


def test_purpose_index_and_seed_draw_independently():
    runs = [
        Units(30, 1).counts(0, 64),
        Units(30, 2).counts(0, 64),
        Units(30, 1, "drop").counts(0, 64),
        Units(30, 1, "drop", (1,)).counts(0, 64),
        Units(30, 1).counts(64, 128),
    ]
    for i, a in enumerate(runs):
        for b in runs[:i]:
            assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / np.sqrt(a.size)


@settings(max_examples=30)
@given(k=st.integers(2, 12), seed=SEEDS)
def test_folds_are_drawn_until_one_is_left_out(k, seed):
    drawn = Units.of_folds(k, 80, seed).drawn
    assert (drawn.sum(axis=1, dtype=int) == k).all()
    assert (drawn == 0).any(axis=1).all()
    np.testing.assert_array_equal(drawn, Units.of_folds(k, 80, seed).drawn)


def test_fold_draws_are_what_remains_of_all_draws():
    """Of the 27 ways to draw three folds, 6 leave none out; the other 21 stay equally likely."""
    drawn = Units.of_folds(3, 4200, 0).drawn
    two_and_one = [(2, 1, 0), (2, 0, 1), (1, 2, 0), (0, 2, 1), (1, 0, 2), (0, 1, 2)]
    ways = {(3, 0, 0): 1, (0, 3, 0): 1, (0, 0, 3): 1} | dict.fromkeys(two_and_one, 3)
    observed = [(drawn == key).all(axis=1).sum() for key in ways]
    assert sum(observed) == 4200
    assert stats.chisquare(observed, np.array(list(ways.values())) * 200).pvalue > 1e-4


@quiet
def test_more_bootstraps_continue_the_fewer():
    case = make("roc_auc-proba2", seed=81, n=40)
    few, many = (sobercv.bbc(**case.arguments(), n_bootstraps=b, random_state=4).draws for b in (100, 333))
    np.testing.assert_array_equal(few, many[:100])


@quiet
@pytest.mark.parametrize("options", ["plain", "groups", "stratify", "weights"])
@pytest.mark.parametrize("target", ["accuracy-labels3", "roc_auc-proba2", "concordance_index-survival"])
def test_rows_without_predictions_are_not_in_the_table(target, options):
    """Incomplete CV: the same draws, to the last bit, as if the unseen rows had never been there."""
    case = make(target, "groups" if options == "groups" else "plain", seed=82, n=60, c=5)
    extra = {"n_bootstraps": 80, "random_state": 6, "stratify": options == "stratify"}
    if options == "weights":
        case.options["sample_weight"] = 1.0 + np.arange(60) % 3
    seen = np.arange(60) >= 25
    if options == "groups":
        seen = np.isin(case.options["groups"], np.unique(case.options["groups"])[12:])  # whole groups are missing
    options_of_rows = {k: v[seen] for k, v in case.options.items()}
    case.options["seen"] = seen
    whole = sobercv.bbc(**case.arguments(), **extra)
    part = sobercv.bbc(case.y[seen], {case.response: case.p[seen]}, case.metric, **options_of_rows, **extra)
    np.testing.assert_array_equal(whole.draws, part.draws)
    assert whole.interval == part.interval
