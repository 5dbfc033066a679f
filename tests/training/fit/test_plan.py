import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Plan, Problem

N = 30
X = np.random.default_rng(0).normal(size=(N, 2))
LABELS = np.array(["a", "b", "b"] * 10)
GROUPS = np.repeat(np.arange(10), 3)
CLASSES = Problem.build(X, LABELS, task="classification")
NUMBERS = Problem.build(X, X[:, 0], task="regression")
GROUPED = Problem.build(X, LABELS, task="classification", groups=[f"g{g}" for g in GROUPS])
TIMES = np.array([(i % 3 == 0, i + 1.0) for i in range(N)], dtype=[("e", bool), ("t", float)])
SURVIVAL = Problem.build(X, TIMES, task="survival")


def same(plan, pairs):
    for split, (train, test) in zip(plan.splits, pairs, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


@pytest.mark.parametrize("cv", [None, 2, np.int64(3)])
def test_numbers_make_scikit_learns_splits(cv):
    same(Plan.build(CLASSES, cv), check_cv(cv, LABELS, classifier=True).split(X, LABELS))
    same(Plan.build(NUMBERS, cv), check_cv(cv, X[:, 0]).split(X))


def test_repeats_begin_as_scikit_learn_and_go_on_shuffled():
    plan = Plan.build(CLASSES, 5, n_repeats=3, seed=1)
    assert (plan.n_repeats, plan.n_splits, plan.n_rounds) == (3, 15, 15)
    same(Plan.build(CLASSES, 5), [(s.train, s.test) for s in plan.splits[:5]])
    assert not np.array_equal(plan.fold_of[:, 1], plan.fold_of[:, 2])
    np.testing.assert_array_equal(plan.fold_of, Plan.build(CLASSES, 5, n_repeats=3, seed=1).fold_of)
    assert not np.array_equal(plan.fold_of, Plan.build(CLASSES, 5, n_repeats=3, seed=2).fold_of)
    np.testing.assert_array_equal(plan.fold_of[:, :2], Plan.build(CLASSES, 5, n_repeats=2, seed=1).fold_of)
    assert plan.seen(range(15)).all()


@pytest.mark.parametrize("problem", [GROUPED, Problem.build(X, X[:, 0], task="regression", groups=GROUPS)])
def test_groups_are_kept_together(problem):
    plan = Plan.build(problem, 3, n_repeats=2)
    for split in plan.splits:
        assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
    assert not np.array_equal(plan.fold_of[:, 0], plan.fold_of[:, 1])


def test_shuffled_groups_stay_stratified():
    groups = np.repeat(np.arange(20), 5)
    y = np.isin(groups, [0, 1, 2, 3, 4]).astype(int)  # five groups hold all of the rare class
    problem = Problem.build(np.zeros((100, 1)), y, task="classification", groups=groups)
    plan = Plan.build(problem, 5, n_repeats=4)
    assert {int(y[split.test].sum()) for split in plan.splits} == {5}
    assert len({tuple(plan.fold_of[:, repeat]) for repeat in range(4)}) == 4


def test_survival_is_stratified_by_event():
    event = SURVIVAL.target.values["event"]
    for plan in (Plan.build(SURVIVAL, 5), Plan.build(SURVIVAL, StratifiedKFold(5))):
        assert {int(event[split.test].sum()) for split in plan.splits} == {2}
    same(Plan.build(SURVIVAL, 11), KFold(11).split(X))  # only 10 events: nothing to spread


@pytest.mark.parametrize(
    ("cv", "n_repeats", "n_splits"),
    [
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 2, 6),
        (RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0), 4, 20),
        (LeaveOneGroupOut(), 1, 10),
        (GroupKFold(5), 1, 5),
        (PredefinedSplit(np.arange(N) % 2), 1, 2),
    ],
)
def test_partitions_become_repeats(cv, n_repeats, n_splits):
    groups = GROUPS if "Group" in type(cv).__name__ else None
    problem = Problem.build(X, LABELS, task="classification", groups=groups)
    plan = Plan.build(problem, cv)
    assert (plan.n_repeats, plan.n_splits) == (n_repeats, n_splits)
    assert plan.seen(range(n_splits)).all()
    same(plan, cv.split(X, LABELS, problem.groups))


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(4, test_size=0.2, random_state=0),
        StratifiedShuffleSplit(3, test_size=10, random_state=0),
        ShuffleSplit(1, test_size=0.3, random_state=0),
        [(np.arange(20), np.arange(20, 30))],
    ],
)
def test_hold_outs_are_repeats_that_have_seen_their_test_rows(cv):
    plan = Plan.build(CLASSES, cv)
    pairs = list(cv.split(X, LABELS)) if hasattr(cv, "split") else cv
    same(plan, pairs)
    assert plan.n_repeats == plan.n_splits == len(pairs)
    seen = plan.seen(range(len(pairs)))
    for repeat, (_, test) in enumerate(pairs):
        assert np.flatnonzero(seen[:, repeat]).tolist() == sorted(test)


@pytest.mark.parametrize(
    "cv",
    [
        PredefinedSplit(np.where(np.arange(N) < 10, -1, np.arange(N) % 2)),
        PredefinedSplit(np.where(np.arange(N) == 7, -1, np.arange(N) % 5)),
        list(LeaveOneOut().split(X))[:-1],
        list(KFold(5).split(X))[:4],
        [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))],
    ],
)
def test_a_partition_that_leaves_samples_out_is_one_repeat(cv):
    pairs = list(cv.split(X, LABELS)) if hasattr(cv, "split") else cv
    plan = Plan.build(CLASSES, cv)
    same(plan, pairs)
    assert (plan.n_repeats, plan.n_splits) == (1, len(pairs))
    assert np.flatnonzero(plan.seen(range(len(pairs)))[:, 0]).tolist() == sorted(np.concatenate([t for _, t in pairs]))
    # The same partition twice, or an unfinished second one, is two repeats.
    assert Plan.build(CLASSES, [*pairs, *pairs]).n_repeats == 2
    others = list(KFold(5, shuffle=True, random_state=0).split(X))
    assert Plan.build(CLASSES, [*others, *others[:4]]).n_repeats == 2


def test_a_partition_followed_by_a_hold_out_is_not_repeated():
    halves = [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]
    assert Plan.build(CLASSES, halves).n_repeats == 1
    assert Plan.build(CLASSES, [*halves, halves[0]]).n_repeats == 3
    overlapping = [(np.arange(15, 30), np.arange(15)), (np.arange(10), np.arange(10, 30))]
    assert Plan.build(CLASSES, overlapping).n_repeats == 2


def test_leave_one_out_shares_rounds():
    plan = Plan.build(CLASSES, LeaveOneOut())
    assert (plan.n_repeats, plan.n_splits, plan.n_rounds) == (1, 30, 15)
    assert plan.positions[0, 7] == 7
    assert plan.fold_of[:, 0].tolist() == list(range(N))
    assert plan.seen([2, 5]).sum() == 2
    many = Plan.build(Problem.build(np.zeros((500, 1)), np.arange(500.0), task="regression"), LeaveOneOut())
    assert [len(part) for part in many.rounds] == [25] * 20


def test_masks_generators_and_frames():
    inside = np.arange(N) < 20
    plan = Plan.build(CLASSES, ((inside, ~inside) for _ in range(2)))
    assert plan.splits[1].test.tolist() == list(range(20, 30))
    framed = Problem.build(pd.DataFrame(X), pd.Series(LABELS), task="classification")
    same(Plan.build(framed, StratifiedKFold(3)), StratifiedKFold(3).split(X, LABELS))


def test_split_params_take_the_place_of_groups():
    plan = Plan.build(CLASSES, GroupKFold(5), split_params={"groups": GROUPS})
    assert all(not set(GROUPS[s.train]) & set(GROUPS[s.test]) for s in plan.splits)


def test_groups_torn_apart_are_warned_about():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Plan.build(GROUPED, KFold(4, shuffle=True, random_state=0))
    # Ours alone: scikit-learn's "The groups parameter is ignored" says less.
    assert [w.message.code for w in caught] == ["W301"]
    assert "In fold 1 of repeat 1" in str(caught[0].message)


RARE = Problem.build(X, np.array(["a"] * 23 + ["b"] * 7), task="classification")
TWICE = np.array([0, 0, 1])


class Overstated(KFold):
    """A splitter that promises one split more than it gives."""

    def get_n_splits(self, *data):
        return super().get_n_splits() + 1


@pytest.mark.parametrize(
    ("problem", "cv", "sentence"),
    [
        (RARE, 10, "least populated class in y has only 7 members.*10 folds.*'b'"),
        (Problem.build(X, np.repeat(["a", "b", "c"], 10), task="classification"), KFold(3), "class 'a'.*stratified"),
    ],
    ids=["fewer than folds", "none to train on"],
)
def test_rare_classes_warn_and_go_on(problem, cv, sentence):
    with pytest.warns(SoberWarning, match=f"{sentence}.*W804") as caught:
        plan = Plan.build(problem, cv)
    assert len(caught) == 1
    assert plan.seen(range(plan.n_splits)).all()


@pytest.mark.parametrize(
    ("problem", "cv", "options", "code", "part"),
    [
        (RARE, 24, {}, "E106", "n_splits=24 cannot be greater than the number of members in each class"),
        (NUMBERS, 31, {}, "E106", "n_samples=30"),
        (GROUPED, 11, {}, "E106", "number of groups: 10"),
        (NUMBERS, KFold(31), {}, "E307", "KFold cannot split"),
        (NUMBERS, TimeSeriesSplit(3), {}, "E307", "GridSearchCV"),
        (NUMBERS, type("Mine", (TimeSeriesSplit,), {})(3), {}, "E307", "Mine is for rows in time order"),
        (RARE, [(np.arange(20), np.arange(20, 30))], {}, "E106", "Fold 1 of repeat 1 has no sample of class 'b'"),
        (
            Problem.build(X, np.array(["a"] * 29 + ["b"]), task="classification"),
            LeaveOneOut(),
            {},
            "E106",
            "Fold 30 of repeat 1 has no sample of class 'b' to train on. Use fewer folds (now 30; the rarest class has",
        ),
        (NUMBERS, [*TimeSeriesSplit(3).split(X)], {}, "E307", "This list of splits is for rows in time order"),
        (NUMBERS, Overstated(3), {}, "E307", "inconsistent results. Expected 4 splits, got 3"),
        (NUMBERS, GroupKFold(3), {}, "E113", "GroupKFold needs groups"),
        (NUMBERS, KFold(3), {"n_repeats": 2}, "E114", "RepeatedStratifiedKFold"),
        (NUMBERS, 3, {"n_repeats": 0}, "E108", "1 or more"),
        (NUMBERS, 3, {"n_repeats": 1.5}, "E108", "got 1.5"),
        (NUMBERS, 1, {}, "E307", "at least 2"),
        (NUMBERS, 2.5, {}, "E307", "got 2.5"),
        (NUMBERS, True, {}, "E307", "got True"),
        (NUMBERS, "five", {}, "E307", "got 'five'"),
        (NUMBERS, object(), {}, "E307", "number of folds"),
        (NUMBERS, [], {}, "E307", "no split at all"),
        (NUMBERS, [1, 2], {}, "E307", "Split 1 of `cv` must be a pair"),
        (NUMBERS, [([0], [1]), ([0.5], [1])], {}, "E307", "Split 2 of `cv` must be a pair"),
        (NUMBERS, [(np.arange(20), np.arange(19, 30))], {}, "E307", "trains on rows that it predicts (row 19)"),
        (NUMBERS, [(np.arange(20), np.arange(20, 31))], {}, "E307", "outside 0 to 29"),
        (NUMBERS, [(np.arange(20), [-1])], {}, "E307", "outside 0 to 29"),
        (NUMBERS, [(np.arange(20), [])], {}, "E307", "no row to predict"),
        (NUMBERS, [([], np.arange(20))], {}, "E307", "no row to train on"),
        (NUMBERS, [(np.arange(5, 20), TWICE)], {}, "E307", "predicts row 0 more than once"),
    ],
)
def test_errors(problem, cv, options, code, part):
    with pytest.raises(SoberError) as error:
        Plan.build(problem, cv, **options)
    assert error.value.code == code
    assert part in error.value.message
