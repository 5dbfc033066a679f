"""The queue: speculative fits, deaths and retries change neither results nor drops nor counts."""

import os
import sqlite3
import threading
import time
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv.errors import SoberWarning
from sobercv.training import Experiment, MemoryStore, OutcomeCache, Plan, Problem, Stop, expand, make_pool
from sobercv.training.fit_queue import FitQueue
from sobercv.training.pool.base import Report, SerialPool, ThreadPool
from sobercv.training.race import race

from .test_race import Decision
from .training_estimators import LABELS, Troubled, search

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 4)), np.arange(60) % 2


class Sign(ClassifierMixin, BaseEstimator):
    """Predicts by the sign of a column; leaves a file in `folder`, or waits until so many are there."""

    def __init__(self, column=0, folder="", wait_for=0):
        self.column = column
        self.folder = folder
        self.wait_for = wait_for

    def fit(self, X, y):
        if self.folder and not self.wait_for:
            Path(self.folder, f"{self.column} {X.sum()!r}").touch()  # one file per configuration and fold
        end = time.monotonic() + 120
        while self.wait_for and time.monotonic() < end and len(os.listdir(self.folder)) < self.wait_for:
            time.sleep(0.01)
        self.classes_, self.size_ = np.unique(y), len(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] > 0).astype(int)]


class Eager(SerialPool):
    """A pool that has room for some speculative fits, and makes them between those of the round."""

    def __init__(self, n_speculative):
        super().__init__()
        self.n_workers, self.n_speculative = 1 + n_speculative, 0

    def submit(self, key, batch, is_speculative=False):
        self.n_speculative += is_speculative
        super().submit(key, batch, is_speculative)

    def wait(self, seconds):
        reports = super().wait(seconds)
        if self._flying:  # another one in turn
            key = next(iter(self._flying))
            self._flying[key] = self._flying.pop(key)
        return reports


def rule(predictions, index):
    """Drop configuration 2 after the second round; say that 1 is surer to survive than 0 and 3."""
    who = predictions.configurations
    gone = (who == 2) & (index >= 1)
    return Decision(~gone, np.select([who == 1, gone], [0.0, 1.0], 0.5))


def run(pool, raise_errors=False, path=None, folder="", wait_for=0, **more):
    """Race four columns; fits of the last wait until so many fits of the others have begun."""
    problem = Problem.build(X, Y, task="classification")
    plan = Plan.build(problem, 5)
    slow = {"column": [3], "wait_for": [wait_for]}
    configurations = expand([{"column": [0, 1, 2]}, slow])
    store = MemoryStore(problem, plan, 4)
    experiment = Experiment(problem, Sign(folder=str(folder)), LABELS, raise_errors)
    cache = None if path is None else OutcomeCache(path, experiment, configurations, plan, 0)
    return store, race(experiment, configurations, plan, pool=pool, store=store, cache=cache, rule=rule, **more)


def same(first, second):
    (one, log), (other, again) = first, second
    assert log.dropped_at.tolist() == again.dropped_at.tolist()
    assert (log.n_fits, log.n_fits_saved, log.n_fits_left) == (again.n_fits, again.n_fits_saved, again.n_fits_left)
    assert np.array_equal(one.done, other.done)
    assert np.array_equal(one.predictions().responses["predict"], other.predictions().responses["predict"])


@pytest.mark.parametrize("n_speculative", [0, 1, 2, 5, 100])
def test_speculative_fits_change_nothing(n_speculative):
    pool = Eager(n_speculative)
    same(run(SerialPool()), run(pool))
    assert (pool.n_speculative > 0) == (n_speculative > 0)


class Unlucky(SerialPool):
    """A pool whose first batch comes back with an outcome and with the error of another fit."""

    def wait(self, seconds):
        key, outcomes = next(iter(self._flying.items()))
        return [Report(key, [next(outcomes)], error=ValueError("no luck"))]

    def stop(self):
        """Return what had come back from the others."""
        found = [Report(key, list(outcomes)) for key, outcomes in self._flying.items()]
        super().stop()
        return found


def test_what_came_back_beside_an_error_is_kept(tmp_path):
    with pytest.raises(ValueError, match="no luck"):
        run(Unlucky(), raise_errors=True, path=tmp_path / "store")
    with closing(sqlite3.connect(tmp_path / "store")) as file:
        assert file.execute("SELECT count(*) FROM outcomes").fetchone() == (4,)  # all of the first round


def test_an_error_does_not_hide_what_came_with_it():
    pool, futures = ThreadPool(2), (Future(), Future())
    futures[0].set_exception(ValueError("no luck"))
    futures[1].set_result(["an outcome"])
    for key, future in enumerate(futures):
        pool._flying[key] = future
        pool._inbox.put(key)
    failed, made = pool.wait(0)
    assert (failed.outcomes, str(failed.error)) == ([], "no luck")
    assert (made.outcomes, made.error) == (["an outcome"], None)


class Killed(Exception):
    """The end of the program."""


class Mortal(Eager):
    """Makes speculative fits, and ends the program after so many fits in all."""

    def __init__(self, n_speculative, n_fits):
        super().__init__(n_speculative)
        self.n_left = n_fits

    def wait(self, seconds):
        reports = super().wait(seconds)
        self.n_left -= sum(len(report.outcomes) for report in reports)
        if self.n_left < 0:
            raise Killed
        return reports


@pytest.mark.parametrize("n_fits", [1, 4, 7, 11, 16])
def test_after_a_kill_speculative_fits_that_were_kept_change_nothing(tmp_path, n_fits):
    path = tmp_path / "run.sqlite"
    with pytest.raises(Killed):
        run(Mortal(3, n_fits), path=path)
    same(run(SerialPool()), run(ThreadPool(32), path=path))
    again = run(SerialPool(), path=path)
    same(run(SerialPool()), again)
    assert again[1].n_recalled == again[1].n_fits


def test_who_comes_first():
    problem = Problem.build(X, Y, task="classification")
    plan, configurations = Plan.build(problem, 5), expand({"column": [0, 1, 2, 3]})
    queue = FitQueue(Experiment(problem, Sign(), LABELS), configurations, plan.rounds, Eager(1))

    def later(index):
        return [(task.split.fold, task.configuration.index) for task in queue._later(index)]

    assert later(0)[:4] == [(1, 0), (1, 1), (1, 2), (1, 3)]  # before the first test, in the order given
    queue.expect(np.array([True, True, False, True]), np.array([0.5, 0.0, 1.0, 0.5]))
    assert later(1)[:4] == [(2, 1), (2, 0), (2, 3), (3, 1)]  # the next fold, the surest first; the dropped are not
    assert later(4) == []  # there is no later round


def test_discarded_fits_are_counted():
    _, log = run(Eager(100))
    assert log.n_fits == 4 + 4 + 3 * 3
    assert log.n_fits_discarded == 3  # folds 3 to 5 of configuration 2, made before it was dropped
    assert run(SerialPool())[1].n_fits_discarded == 0


def test_errors_that_are_to_be_raised_are_met_in_their_round():
    pool = Eager(100)
    run(pool, raise_errors=True)
    assert pool.n_speculative == 0


def test_idle_processes_make_speculative_fits(tmp_path):
    """Three processes wait for one slow configuration: they fit what follows, and nothing changes."""
    # Slow fits of two rounds take two of them; the third begins the other nine fits of three rounds.
    raced = run(make_pool(3), folder=tmp_path, wait_for=9)
    same(run(SerialPool()), raced)
    assert raced[1].n_fits_discarded > 0


@pytest.mark.parametrize("n_threads", [2, 32])
def test_idle_threads_make_speculative_fits(tmp_path, n_threads):
    """Whatever comes first, and however many threads there are: the same bits."""
    before = threading.active_count()
    with joblib.parallel_config("threading", n_jobs=n_threads):
        # All of the later rounds begin while the slow one runs, where there are so many threads.
        raced = run(make_pool(), folder=tmp_path, wait_for=3 * 5 if n_threads == 32 else 4)
    same(run(SerialPool()), raced)
    if n_threads == 32:
        assert raced[1].n_fits_discarded == 3
    deadline = time.monotonic() + 120
    while threading.active_count() > before:  # they have been told to end
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Deaf(Eager):
    """A pool whose workers die of some configurations, or whenever they are told to."""

    def __init__(self, killers, once=()):
        super().__init__(2)
        self.killers, self.once, self.submitted, self.alone = set(killers), set(once), {}, []

    def submit(self, key, batch, is_speculative=False):
        self.submitted[key] = {task.configuration.index for task in batch}
        super().submit(key, batch, is_speculative)

    def wait(self, seconds):
        here = list(self._flying)
        dying = self.submitted[here[0]] & (self.killers | self.once)
        if dying:
            self.alone.append((len(here), dying))
            self.once -= dying
            self._flying.clear()
            return [Report(key, [], death="SIGKILL(-9)") for key in here]
        return super().wait(seconds)


def test_a_worker_that_died_once_costs_a_retry():
    pool = Deaf([], once=[1])
    with pytest.warns(SoberWarning, match="SIGKILL"):
        same(run(SerialPool()), run(pool))


def test_a_configuration_that_kills_its_worker_is_named_and_the_others_finish():
    pool = Deaf([1])
    with pytest.warns(SoberWarning, match="died"):
        _, log = run(pool)
    assert log.failures[1].kind == "worker died"
    assert list(log.failures) == [1]
    assert log.status.tolist() == ["finished", "failed", "dropped", "finished"]
    assert pool.alone[-1] == (1, {1})  # tried alone, and then never again
    assert sum(n == 1 for n, _ in pool.alone) <= 2


class Interrupted(Eager):
    """A pool that hears Ctrl-C after one fit, when another one has been made that was not reported yet."""

    n_waits = n_late = 0

    def wait(self, seconds):
        self.n_waits += 1
        if self.n_waits == 2:
            raise KeyboardInterrupt
        return super().wait(seconds)

    def stop(self):
        reports = [Report(key, list(outcomes)) for key, outcomes in self._flying.items()]
        self.n_late += sum(len(report.outcomes) for report in reports)
        super().stop()
        return reports


def test_what_was_made_when_ctrl_c_came_is_kept(tmp_path):
    pool, path = Interrupted(1), tmp_path / "run.sqlite"
    _, log = run(pool, path=path, stop=Stop())
    assert pool.n_late == 1
    assert (log.stopped, log.n_fits) == ("interrupted", 2)
    assert run(SerialPool(), path=path)[1].n_recalled == 2


def test_an_error_in_a_thread_is_met_here():
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(RuntimeError, match="no luck"):
        search(Troubled(), {"trouble": ["none", "raise"]}, X, Y, raise_errors=True)
