"""SES finds the neighbours of a target in simulated networks, and little else; it obeys the laws of a selector."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sobercv.errors import SoberError
from sobercv.feature_selection import SES

from ..presets import networks

KINDS = list(networks.ALL)


@parametrize_with_checks([SES(), SES(equivalences=False, k=1)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_neighbours_and_little_else(kind):
    found, wrong, repeats = 0, 0, 25
    for seed in range(repeats):
        X, y, truth = networks.ALL[kind](seed)
        selected = set(SES(alpha=0.01, equivalences=False).fit(X, y).selected_.tolist())
        found += truth <= selected
        wrong += len(selected - truth)
    assert found >= 23  # all neighbours, in at least 23 of 25 networks
    others = repeats * (X.shape[1] - len(truth))
    # Fixed seeds; at a true rate of alpha the count would exceed this in fewer than 1 of 10,000 such tests.
    assert wrong <= 0.01 * others + 4 * np.sqrt(0.01 * others)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_are_noise_are_selected_at_a_rate_below_alpha(kind):
    repeats, columns = 25, 20
    wrong = 0
    for seed in range(repeats):
        _, y, _ = networks.ALL[kind](seed, n=300)
        X = np.random.default_rng(1000 + seed).normal(size=(300, columns))
        ses = SES(alpha=0.05, equivalences=False).fit(X, y)
        wrong += ses.is_significant_ * len(ses.selected_)
    assert wrong / (repeats * columns) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / (repeats * columns))


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_an_equivalent(kind):
    X, y, _ = networks.ALL[kind](3)
    rng = np.random.default_rng(0)
    copies = X[:, [1, 2]] + 0.03 * rng.normal(size=(len(X), 2))  # columns p and p + 1
    p = X.shape[1]
    ses = SES(alpha=0.01).fit(np.hstack([X, copies]), y)
    groups = [set(group.tolist()) for group in ses.signatures_]
    assert any({1, p} <= group for group in groups)
    assert any({2, p + 1} <= group for group in groups)
    assert len({1, p} & set(ses.selected_.tolist())) == 1
    assert [group[0] for group in ses.signatures_] == ses.selected_.tolist()
    assert sum(map(len, groups)) == len(set().union(*groups))  # nobody stands in two places


@pytest.mark.parametrize("kind", KINDS)
def test_an_exact_copy_is_left_out(kind):
    X, y, _ = networks.ALL[kind](5)
    p = X.shape[1]
    ses = SES().fit(np.hstack([X, X[:, :4]]), y)
    assert not any({j, p + j} <= set(ses.selected_.tolist()) for j in range(4))


@pytest.mark.parametrize("kind", KINDS)
def test_order_scale_and_storage_do_not_matter(kind):
    X, y, _ = networks.ALL[kind](7, n=300)
    rng = np.random.default_rng(2)
    ses = SES().fit(X, y)
    order = rng.permutation(X.shape[1])
    assert order[SES().fit(X[:, order], y).selected_].tolist() == ses.selected_.tolist()
    scaled = X * rng.choice([-1e150, 1e-150, 3.0], X.shape[1])
    assert SES().fit(scaled, y).selected_.tolist() == ses.selected_.tolist()
    rows = rng.permutation(len(X))
    assert SES().fit(X[rows], y[rows]).selected_.tolist() == ses.selected_.tolist()
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(np.float32).astype(float), pd.DataFrame(X)):
        again = SES().fit(other, y)
        assert again.selected_.tolist() == ses.selected_.tolist()
    np.testing.assert_allclose(SES().fit(sparse.csr_array(X), y).p_values_, ses.p_values_, rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("kind", KINDS)
def test_equivalences_do_not_change_the_selection(kind):
    X, y, _ = networks.ALL[kind](9, n=300)
    with_them, without = SES().fit(X, y), SES(equivalences=False).fit(X, y)
    assert with_them.selected_.tolist() == without.selected_.tolist()
    assert [len(group) for group in without.signatures_] == [1] * len(without.selected_)


def test_k_zero_keeps_all_that_are_associated_alone():
    X, y, _ = networks.numbers(0)
    ses = SES(alpha=0.01, k=0).fit(X, y)
    assert set(ses.selected_.tolist()) == set(np.flatnonzero(ses.p_values_ <= 0.01).tolist())
    assert {0, 3, 5} <= set(ses.selected_.tolist())  # ancestor, sibling and descendant are, and k = 1 removes them
    assert not {0, 3, 5} & set(SES(alpha=0.01, k=1).fit(X, y).selected_.tolist())


def test_no_association_keeps_the_nearest_column():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    ses = SES(alpha=1e-9).fit(X, y)
    assert not ses.is_significant_
    assert ses.selected_.tolist() == [int(np.argmin(ses.p_values_))]
    assert SES().fit(np.ones((50, 3)), y).selected_.tolist() == [0]


@pytest.mark.parametrize("y", [np.arange(30) % 2, np.arange(30) % 3, np.linspace(0, 1, 30)])
def test_a_column_that_tells_everything_is_enough(y):
    X = np.column_stack([np.random.default_rng(0).normal(size=(30, 4)), y])
    assert SES().fit(X, y).selected_.tolist() == [4]


def test_names_and_pipelines():
    X, y, _ = networks.binary(0)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    ses = SES(alpha=0.01).set_output(transform="pandas").fit(frame, y)
    assert list(ses.transform(frame).columns) == list(ses.get_feature_names_out())
    assert ses.get_feature_names_out().tolist() == [f"gene {j}" for j in sorted(ses.selected_)]
    assert ses.get_support(indices=True).tolist() == sorted(ses.selected_.tolist())
    pipeline = make_pipeline(SES())
    assert (
        clone(pipeline).fit(X, y).transform(X).shape
        == pickle.loads(pickle.dumps(pipeline.fit(X, y))).transform(X).shape
    )


Y = np.arange(20) % 2
X = np.random.default_rng(0).normal(size=(20, 3))
BAD = [
    ("alpha in per cent", SES(alpha=5), Y, "E108", "alpha.*5"),
    ("alpha zero", SES(alpha=0), Y, "E108", "alpha.*0"),
    ("half a k", SES(k=1.5), Y, "E108", "k.*1.5"),
    ("negative k", SES(k=-1), Y, "E108", "k.*-1"),
    ("unknown task", SES(task="clustering"), Y, "E122", "task.*clustering"),
    ("no target", SES(), None, "E112", "requires y"),
    ("one class", SES(), np.ones(20, int), "E112", "two classes"),
    ("text for numbers", SES(task="regression"), np.array(["a"] * 20), "E112", "numbers.*a"),
    ("a gap", SES(task="regression"), np.r_[np.nan, Y[1:]], "E112", "missing"),
    ("no event", SES(), np.array([(False, 1.0)] * 20, dtype=[("event", bool), ("time", float)]), "E112", "event"),
]


@pytest.mark.parametrize(("ses", "y", "code", "names"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(ses, y, code, names):
    with pytest.raises(SoberError, match=names) as caught:
        ses.fit(X, y)
    assert caught.value.code == code
