import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sobercv.training import Experiment, Plan, Problem, expand
from sobercv.training.pool.batches import cut

from ..training_estimators import tasks_of

X = np.random.default_rng(0).normal(size=(80, 2))
PROBLEM = Problem.build(X, X[:, 0], task="regression")
LABELS = (("predict",),)
PIPE = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
FIVE_BY_FORTY = {"scale__copy": [1, 2, 3, 4, 5], "model__alpha": list(range(40))}


def batches_of(estimator, grid, cv, n_workers):
    tasks = [task for split in Plan.build(PROBLEM, cv).splits for task in tasks_of(split, expand(grid))]
    batches = cut(Experiment(PROBLEM, estimator, LABELS), tasks, n_workers, {}, True)
    assert sorted(task.place for batch in batches for task in batch) == sorted(task.place for task in tasks)
    return batches


@pytest.mark.parametrize("n_workers", [2, 3, 16])
@pytest.mark.parametrize("cv", [2, 5, 10, LeaveOneOut()])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(Ridge(), {"alpha": list(range(23))}), (Ridge(), {}), (PIPE, FIVE_BY_FORTY), (PIPE, {"model__alpha": [1, 2, 3]})],
)
def test_every_fit_is_in_one_batch(estimator, grid, cv, n_workers):
    n_fits = max(1, len(expand(grid))) * (80 if isinstance(cv, LeaveOneOut) else cv)
    batches = batches_of(estimator, grid, cv, n_workers)
    assert min(n_workers, n_fits) <= len(batches) <= 18 * n_workers
    assert all(batches)


def test_common_prefixes_stay_together():
    batches = batches_of(PIPE, FIVE_BY_FORTY, 5, 2)
    assert len(batches) == 15
    fitted = sum(len({task.configuration.params["scale__copy"] for task in batch}) for batch in batches)
    assert fitted == 25


def test_one_large_group_is_cut_less_often():
    assert len(batches_of(Ridge(), {"alpha": list(range(100))}, 2, 2)) == 12
    assert len(batches_of(PIPE, {"model__alpha": list(range(100))}, 2, 2)) == 6


def test_nothing_to_do():
    assert cut(Experiment(PROBLEM, Ridge(), LABELS), [], 2, {}, True) == []


def indices(n, n_workers, seconds, longest_first=True):
    tasks = tasks_of(Plan.build(PROBLEM, 2).splits[0], expand({"alpha": list(range(n))}))
    batches = cut(Experiment(PROBLEM, Ridge(), LABELS), tasks, n_workers, seconds, longest_first)
    return [[task.configuration.index for task in batch] for batch in batches]


def test_known_times_are_shared_fairly_and_long_batches_come_first():
    seconds = {c: 10.0 if c >= 36 else 0.1 for c in range(40)}
    batches = indices(40, 2, seconds)
    assert sorted(c for batch in batches for c in batch) == list(range(40))
    times = [sum(seconds[c] for c in batch) for batch in batches]
    assert times == sorted(times, reverse=True)
    assert max(times) < 14  # without the times, one batch would hold all four long ones
    assert indices(40, 2, seconds, longest_first=False) == sorted(batches)


def test_times_of_some_only_change_nothing():
    assert indices(40, 2, {0: 100.0}) == indices(40, 2, {})
    assert sorted(indices(40, 2, dict.fromkeys(range(40), 0.0))) == indices(40, 2, {})


def test_where_workers_abound_no_two_fits_share_a_batch():
    seconds = {c: 0.4 if c < 14 else 0.6 for c in range(27)}
    batches = indices(27, 32, seconds)
    assert len(batches) == 27
    assert [seconds[c] for (c,) in batches] == sorted(seconds.values(), reverse=True)
