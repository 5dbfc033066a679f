import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from sobercv.errors import SoberError
from sobercv.responses import why_impossible
from sobercv.training import MemoryStore, Plan, Problem
from sobercv.training.fit.task import Failure, Outcome

rng = np.random.default_rng(0)
N, C = 30, 4
X = rng.normal(size=(N, 2))
Y = np.repeat([0, 1, 2], 10)


def filled(cv=3, failing=(), order=None):
    problem = Problem.build(X, Y, task="classification", groups=np.arange(N), sample_weight=np.arange(1.0, N + 1))
    plan = Plan.build(problem, cv)
    store = MemoryStore(problem, plan, C)
    truth = np.random.default_rng(1).dirichlet(np.ones(3), size=(N, C, plan.n_repeats))
    outcomes = []
    for split in plan.splits:
        for c in range(C):
            failure = Failure("raised", f"split {split.fold}", "Error", 0, split.fold) if c in failing else None
            responses = {
                "predict_proba": truth[split.test, c, split.repeat],
                "predict": truth[split.test, c, split.repeat].argmax(axis=1).astype(np.int8),
            }
            responses = {} if failure else responses
            outcomes.append(Outcome(c, split.repeat, split.fold, responses, 1.0 + c, 2.0, failure))
    for i in range(len(outcomes)) if order is None else order(len(outcomes)):
        store.record(outcomes[i])
    return store, truth


@pytest.mark.parametrize("order", [None, lambda n: range(n)[::-1], np.random.default_rng(2).permutation])
def test_order_of_arrival_does_not_matter(order):
    store, truth = filled(order=order, failing=(2,))
    table = store.predictions()
    np.testing.assert_array_equal(table.responses["predict_proba"], truth[:, [0, 1, 3]])
    np.testing.assert_array_equal(table.responses["predict"], truth[:, [0, 1, 3]].argmax(axis=3))
    assert table.configurations.tolist() == [0, 1, 3]
    assert table.is_complete
    assert table.responses["predict"].dtype == np.int8
    assert store.failures[2].message == "split 0"
    assert store.done.all()
    assert store.fit_seconds[3].tolist() == [4.0] * 3
    assert store.predict_seconds.sum() == 2.0 * C * 3


def test_columns_are_contiguous_and_nothing_is_copied():
    store, _ = filled()
    table = store.predictions()
    assert table.responses["predict"].shape == (N, C, 1)
    assert table.responses["predict"][:, 1, 0].flags.c_contiguous
    assert table.responses["predict_proba"][:, 1, 0].flags.c_contiguous
    assert np.shares_memory(table.responses["predict"], store.predictions().responses["predict"])


def test_the_table_is_complete_in_every_other_way():
    store, _ = filled()
    table = store.predictions(np.array([True, False, True, False]))
    assert table.configurations.tolist() == [0, 2]
    assert table.task == "classification"
    assert table.classes.tolist() == [0, 1, 2]
    assert table.groups.tolist() == list(range(N))
    assert table.sample_weight.tolist() == list(range(1, N + 1))
    np.testing.assert_array_equal(table.fold_of, store.plan.fold_of)
    assert why_impossible(table.only_seen().responses["predict_proba"], by_class=True) is None


def test_only_what_all_the_living_have_is_seen():
    store, truth = filled(order=lambda n: range(6))  # all of the first split, half of the second
    first, second = store.plan.splits[:2]
    assert store.predictions().rows.tolist() == sorted(first.test)
    pair = store.predictions(np.array([True, True, False, False]))
    assert pair.rows.tolist() == sorted([*first.test, *second.test])
    rows = pair.rows
    np.testing.assert_array_equal(pair.only_seen().responses["predict_proba"], truth[rows, :2])


def test_hold_outs():
    store, truth = filled(ShuffleSplit(3, test_size=9, random_state=0))
    table = store.predictions()
    assert table.seen.sum(axis=0).tolist() == [9, 9, 9]
    got = np.moveaxis(table.responses["predict_proba"], 2, 1)[table.seen]
    np.testing.assert_array_equal(got, np.moveaxis(truth, 2, 1)[table.seen])


@pytest.mark.parametrize(
    ("failing", "alive"), [((0, 1, 2, 3), None), ((0,), np.arange(C) == 0), ((), np.zeros(C, bool))]
)
def test_nobody_left(failing, alive):
    store, _ = filled(failing=failing)
    with pytest.raises(SoberError) as error:
        store.predictions(alive)
    assert error.value.code == "E315"
