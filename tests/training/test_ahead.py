"""Idle workers begin later rounds: results, drops and counts stay what they are without."""

import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand
from sobercv.training.keep.recall import recalling
from sobercv.training.race import race
from sobercv.training.run.executor import ParallelExecutor, SerialExecutor
from sobercv.training.run.future_workers import ThreadWorkers

from .test_race import Decision
from .training_estimators import LABELS

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 4)), np.arange(60) % 2


class Sign(ClassifierMixin, BaseEstimator):
    """Predicts by the sign of a column; may take its time."""

    def __init__(self, column=0, seconds=0.0):
        self.column = column
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        self.classes_, self.size_ = np.unique(y), len(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] > 0).astype(int)]


class Eager(SerialExecutor):
    """An executor that is always idle enough for some early tasks."""

    def __init__(self, n_early):
        super().__init__()
        self.n_early, self.offered = n_early, []

    def run(self, experiment, tasks, until=None, early=()):
        self.offered.append([(task.split.fold, task.configurations[0].index) for task in early])
        yield from super().run(experiment, list(early)[: self.n_early], until)
        yield from super().run(experiment, tasks, until)


def rule(predictions, index):
    """Drop configuration 2 after the second round; say that 1 is surer to survive than 0 and 3."""
    who = predictions.configurations
    gone = (who == 2) & (index >= 1)
    return Decision(~gone, np.select([who == 1, gone], [0.0, 1.0], 0.5))


def run(executor, seconds=0.0, raise_errors=False, others=0.0, path=None):
    """Race four columns; the last takes its time, and so may the others."""
    problem = Problem.build(X, Y, task="classification")
    plan = Plan.build(problem, 5)
    configurations = expand([{"column": [0, 1, 2], "seconds": [others]}, {"column": [3], "seconds": [seconds]}])
    store = MemoryStore(problem, plan, 4)
    experiment = Experiment(problem, Sign(), LABELS, raise_errors)
    executor = recalling(executor, path, experiment, configurations, plan, 0)
    return store, race(experiment, configurations, plan, executor=executor, store=store, rule=rule)


def same(first, second):
    (one, log), (other, again) = first, second
    assert log.dropped_at.tolist() == again.dropped_at.tolist()
    assert (log.n_fits, log.n_fits_saved, log.n_fits_left) == (again.n_fits, again.n_fits_saved, again.n_fits_left)
    assert np.array_equal(one.done, other.done)
    assert np.array_equal(one.predictions().responses["predict"], other.predictions().responses["predict"])


@pytest.mark.parametrize("n_early", [0, 1, 2, 5, 100])
def test_early_outcomes_change_nothing(n_early):
    same(run(SerialExecutor()), run(Eager(n_early)))


class Killed(Exception):
    """The end of the program."""


class Mortal(Eager):
    """Makes early fits, and ends the program after so many fits in all."""

    def __init__(self, n_early, n_fits):
        super().__init__(n_early)
        self.n_left = n_fits

    def run(self, experiment, tasks, until=None, early=()):
        for outcome in super().run(experiment, tasks, until, early):
            if self.n_left == 0:
                raise Killed
            self.n_left -= 1
            yield outcome


@pytest.mark.parametrize("n_fits", [1, 4, 7, 11, 16])
def test_after_a_kill_early_fits_that_were_kept_change_nothing(tmp_path, n_fits):
    path = tmp_path / "run.sqlite"
    with pytest.raises(Killed):
        run(Mortal(3, n_fits), path=path)
    with joblib.parallel_config("threading", n_jobs=32):
        same(run(SerialExecutor()), run(ParallelExecutor(), path=path))
    same(run(SerialExecutor()), run(SerialExecutor(), path=path))


def test_who_is_offered():
    executor = Eager(0)
    run(executor)
    assert executor.offered[0][:4] == [(1, 0), (1, 1), (1, 2), (1, 3)]  # before the first test, anybody
    assert executor.offered[1][:4] == [(2, 1), (2, 0), (2, 2), (2, 3)]  # the next fold, the surest first
    assert {c for _, c in executor.offered[2]} == {0, 1, 3}  # the dropped are not
    assert executor.offered[4] == []  # there is no later round


def test_what_was_made_in_vain_is_counted():
    _, log = run(Eager(100))
    assert log.n_fits == 4 + 4 + 3 * 3
    assert log.n_fits_in_vain == 3  # folds 3 to 5 of configuration 2, begun before it was dropped
    assert run(SerialExecutor())[1].n_fits_in_vain == 0


def test_errors_that_are_to_be_raised_are_met_in_their_round():
    executor = Eager(100)
    run(executor, raise_errors=True)
    assert not any(executor.offered)


def test_idle_processes_begin_early():
    """Three processes wait for one slow configuration: they begin what follows, and nothing changes."""
    with ParallelExecutor(3) as first:  # its processes stay for the next race, which need not wait for their start
        first.prepare(Experiment(Problem.build(X, Y, task="classification"), Sign(), LABELS))
        workers = first._workers
        while not all(worker.is_ready for worker in workers._processes):
            workers._hear(*workers._inbox.get())
    raced = run(ParallelExecutor(3), seconds=0.5)
    same(run(SerialExecutor()), raced)
    assert raced[1].n_fits_in_vain > 0


@pytest.mark.parametrize("n_threads", [2, 32])
def test_idle_threads_begin_early(n_threads):
    """Whatever comes first, and however many threads there are: the same bits."""
    before = threading.active_count()
    with joblib.parallel_config("threading", n_jobs=n_threads):
        raced = run(ParallelExecutor(), seconds=0.05, others=0.001)
    same(run(SerialExecutor()), raced)
    if n_threads == 32:  # all of the later rounds are begun while the slow one runs
        assert raced[1].n_fits_in_vain == 3
    deadline = time.monotonic() + 60
    while threading.active_count() > before:  # they have been told to end
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_nobody_waits_for_early_fits_of_threads():
    """A spare call that is under way does not hold up a run; a later run that asks for it takes its result."""
    workers, go = ThreadWorkers(2), threading.Event()

    def work(key, token, call, common):
        if call == ("spare",):
            assert go.wait(60)
        return key, (call, common)

    workers.start("shared")
    assert list(workers.run(work, {0: "now"}, None, {1: "spare"})) == [(0, ("now", "shared"))]
    assert workers.under_way == {1}
    go.set()
    assert dict(workers.run(work, {1: ("spare",), 2: "now"})) == {1: (("spare",), "shared"), 2: ("now", "shared")}
    assert workers.under_way == set()
    workers.close()


def test_an_error_in_a_thread_is_met_here():
    workers = ThreadWorkers(2)
    workers.start(None)

    def work(key, token, call, common):
        raise ValueError(f"no {key}")

    with pytest.raises(ValueError, match="no 0"):
        list(workers.run(work, {0: "now"}))
    workers.close()
