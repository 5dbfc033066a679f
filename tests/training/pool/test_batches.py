import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sobercv.training import Experiment, Plan, Problem, expand
from sobercv.training.fit.task import Task
from sobercv.training.pool.batches import cut

X = np.random.default_rng(0).normal(size=(80, 2))
PROBLEM = Problem.build(X, X[:, 0], task="regression")
LABELS = (("predict",),)
PIPE = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
FIVE_BY_FORTY = {"scale__copy": [1, 2, 3, 4, 5], "model__alpha": list(range(40))}


def batches_of(estimator, grid, cv, n_workers):
    configurations = tuple(expand(grid))
    tasks = [Task(split, configurations) for split in Plan.build(PROBLEM, cv).splits]
    batches = cut(Experiment(PROBLEM, estimator, LABELS), tasks, n_workers)
    fits = sorted((c.index, task.split.fold) for batch in batches for task in batch for c in task.configurations)
    assert fits == sorted((c.index, task.split.fold) for task in tasks for c in configurations)
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
    assert all(task.configurations for batch in batches for task in batch)


def test_common_prefixes_stay_together():
    batches = batches_of(PIPE, FIVE_BY_FORTY, 5, 2)
    assert len(batches) == 15
    fitted = sum(len({c.params["scale__copy"] for c in task.configurations}) for batch in batches for task in batch)
    assert fitted == 25


def test_one_large_group_is_cut_less_often():
    assert len(batches_of(Ridge(), {"alpha": list(range(100))}, 2, 2)) == 12
    assert len(batches_of(PIPE, {"model__alpha": list(range(100))}, 2, 2)) == 6


def test_nothing_to_do():
    assert cut(Experiment(PROBLEM, Ridge(), LABELS), [], 2) == []


def test_known_times_are_shared_fairly_and_long_batches_come_first():
    configurations = tuple(expand({"alpha": list(range(40))}))
    task = Task(Plan.build(PROBLEM, 2).splits[0], configurations)
    seconds = {c.index: 10.0 if c.index >= 36 else 0.1 for c in configurations}
    batches = cut(Experiment(PROBLEM, Ridge(), LABELS), [task], 2, seconds)
    fits = sorted(c.index for batch in batches for c in batch[0].configurations)
    assert fits == list(range(40))
    times = [sum(seconds[c.index] for c in batch[0].configurations) for batch in batches]
    assert times == sorted(times, reverse=True)
    assert max(times) < 14  # without the times, one batch would hold all four long ones


def test_times_of_some_only_change_nothing():
    configurations = tuple(expand({"alpha": list(range(40))}))
    task = Task(Plan.build(PROBLEM, 2).splits[0], configurations)

    def indices(seconds):
        return [
            [c.index for c in batch[0].configurations]
            for batch in cut(Experiment(PROBLEM, Ridge(), LABELS), [task], 2, seconds)
        ]

    assert indices({0: 100.0}) == indices(None)
    assert sorted(indices({c.index: 0.0 for c in configurations})) == indices(None)


def test_where_workers_abound_no_two_fits_share_a_batch():
    configurations = tuple(expand({"alpha": list(range(27))}))
    task = Task(Plan.build(PROBLEM, 2).splits[0], configurations)
    seconds = {c.index: 0.4 if c.index < 14 else 0.6 for c in configurations}
    batches = cut(Experiment(PROBLEM, Ridge(), LABELS), [task], 32, seconds)
    assert len(batches) == 27
    assert [seconds[batch[0].configurations[0].index] for batch in batches] == sorted(seconds.values(), reverse=True)
