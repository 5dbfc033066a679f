"""Processes of our own: fits can be ended, a death costs little, nothing outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.pipeline import Pipeline

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Experiment, MemoryStore, Plan, Problem, Stop, expand, make_executor
from sobercv.training.race import race
from sobercv.training.run import process
from sobercv.training.run.executor import OneProcessExecutor, ParallelExecutor

LABELS = (("predict",),)
FOREVER = 600
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.arange(60) % 2
ROOT = Path(__file__).parents[3]


class Odd(ClassifierMixin, BaseEstimator):
    """Predicts by a column, or does what `how` says."""

    def __init__(self, column=0, how=""):
        self.column = column
        self.how = how

    def fit(self, X, y):
        if self.how == "sleep":
            time.sleep(FOREVER)
        if self.how == "spin":  # in one instruction of C, with the lock of the interpreter
            sum(range(10**12))
        if self.how == "exit":
            sys.exit("that is all")
        if self.how == "panic":
            raise Panic("a thread in Rust")
        if self.how == "mute":
            raise Mute
        if self.how == "interrupt":
            raise KeyboardInterrupt
        if self.how == "local":
            raise type("Local", (Exception,), {})("made here")
        if self.how == "print":
            print("noise" * 1000, flush=True)
            os.write(1, b"more noise\n")
        self.classes_ = np.unique(y)
        self.pid_ = os.getpid()
        return self

    def predict(self, X):
        if self.how == "pid":
            Path(os.environ["SOBER_PIDS"], str(self.pid_)).touch()
        return self.classes_[(X[:, self.column] > 0).astype(int)]


class Panic(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class SlowStep(TransformerMixin, BaseEstimator):
    def __init__(self, slow=False):
        self.slow = slow

    def fit(self, X, y=None):
        time.sleep(FOREVER if self.slow else 0)
        return self

    def transform(self, X):
        return X


def run(grid, n_jobs=1, estimator=None, cv=3, max_seconds=None, rule=None, raise_errors=False, **options):
    estimator = Odd() if estimator is None else estimator
    problem = Problem.build(X, Y, task="classification")
    plan, configurations = Plan.build(problem, cv), expand(grid)
    store = MemoryStore(problem, plan, len(configurations))
    executor = make_executor(n_jobs, is_limited=max_seconds is not None, **options)
    experiment = Experiment(problem, estimator, LABELS, raise_errors)
    log = race(experiment, configurations, plan, executor=executor, store=store, rule=rule, stop=Stop(max_seconds))
    return store, log


COLUMNS = [{"column": [0, 1, 2]}]


def labels(store, log):
    return store.predictions(log.finishers).responses["predict"]


# ---- a limit for each fit -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n_jobs", "how"), [pytest.param(1, "sleep", marks=pytest.mark.soak), (2, "spin")])
def test_a_fit_that_takes_too_long_is_ended_and_the_others_are_as_ever(n_jobs, how):
    truth = run(COLUMNS)
    found = run([*COLUMNS, {"how": [how]}], n_jobs, cv=2, fit_timeout=1.5, rule=lambda predictions, index: None)
    again = run(COLUMNS, n_jobs, fit_timeout=60)
    assert found[1].status.tolist() == ["finished"] * 3 + ["failed"]
    assert found[1].failures[3].kind == "timed out"
    assert "fit_timeout=1.5 seconds" in str(found[1].failures[3])
    assert found[1].n_fits == 7  # it is not tried on the second fold
    np.testing.assert_array_equal(labels(*again), labels(*truth))


def test_a_shared_step_that_takes_too_long_ends_all_that_share_it():
    pipe = Pipeline([("first", SlowStep()), ("model", Odd())])
    grid = {"first__slow": [False, True], "model__column": [0, 1, 2]}
    _, log = run(grid, 2, pipe, cv=2, fit_timeout=1.5, rule=lambda predictions, index: None)
    assert log.status.tolist() == ["finished"] * 3 + ["failed"] * 3
    assert {failure.kind for failure in log.failures.values()} == {"timed out"}


def test_too_long_can_be_an_error():
    with pytest.raises(SoberError, match="was ended") as error:
        run([{"how": ["sleep"]}], fit_timeout=1.0, raise_errors=True)
    assert error.value.code == "E314"


def test_the_search_takes_it_and_a_store_tries_again(tmp_path):
    grid = {"how": ["", "sleep"]}
    options = {"scoring": "accuracy", "cv": 2, "n_bootstraps": 20, "store": tmp_path / "run.sqlite", "fit_timeout": 1.0}
    for _ in range(2):
        with pytest.warns(SoberWarning) as caught:
            found = sobercv.BBCSearchCV(Odd(), grid, **options).fit(X, Y)
        assert "W303" in [getattr(w.message, "code", "") for w in caught]
        assert found.race_.failures[1].kind == "timed out"


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_where_fits_cannot_be_ended_that_is_said(backend):
    with (
        joblib.parallel_config(backend, n_jobs=2),
        pytest.raises(SoberError, match="processes of this machine") as error,
    ):
        run(COLUMNS, None, fit_timeout=1.0)
    assert error.value.code == "E605"


# ---- a limit for all ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.soak), 2])
def test_a_time_limit_ends_fits_under_way_and_the_cheap_ones_give_a_number(n_jobs):
    pipe = Pipeline([("first", SlowStep()), ("model", Expensive())])
    grid = [{"model__how": ["sleep"]}, {"model": [Odd()], "model__column": [1, 2]}]
    run({"column": [0] * 20}, n_jobs, max_seconds=FOREVER)  # processes that have started wait for the next search
    store, log = run(grid, n_jobs, pipe, max_seconds=6)
    assert log.stopped == "max_seconds"
    assert log.status.tolist() == ["failed", "finished", "finished"]
    assert log.failures[0].kind == "timed out"
    assert "not fitted before max_seconds" in str(log.failures[0])
    assert log.n_fits_left > 0
    assert log.n_fits_saved == 0
    assert labels(store, log).shape[1] == 2


class Expensive(Odd):
    """Known to be slow by its name."""


Expensive.__name__ = "MLPOdd"


def test_what_cannot_leave_this_process_has_a_limit_between_fits():
    class Stays(Odd):
        def __reduce__(self):
            raise TypeError("I stay here")

    with pytest.warns(SoberWarning, match="I stay here") as caught:
        _, log = run(COLUMNS, estimator=Stays(), max_seconds=600)
    assert [w.message.code for w in caught] == ["W603"]
    assert log.stopped == "finished"
    with pytest.raises(SoberError) as error:
        run(COLUMNS, estimator=Stays(), fit_timeout=600)
    assert error.value.code == "E602"


def test_a_limit_that_is_not_reached_changes_nothing():
    truth = run(COLUMNS)
    np.testing.assert_array_equal(labels(*run(COLUMNS, 2, max_seconds=600)), labels(*truth))


# ---- odd exceptions -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_odd_exceptions_fail_one_configuration_and_not_the_run(n_jobs):
    _, log = run([*COLUMNS, {"how": ["exit", "panic", "mute"]}], n_jobs)
    assert log.status.tolist() == ["finished"] * 3 + ["failed"] * 3
    assert {failure.kind for failure in log.failures.values()} == {"raised"}
    words = ["SystemExit: that is all", "Panic: a thread in Rust", "Mute: (its text cannot be read: RuntimeError)"]
    assert [str(log.failures[c]).partition(": ")[2] for c in (3, 4, 5)] == words


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_stays_an_interrupt(n_jobs):
    _, log = run([*COLUMNS, {"how": ["interrupt"]}], n_jobs)
    assert log.stopped == "interrupted"


def test_exceptions_come_back_with_the_place_where_they_were_raised():
    with pytest.raises(SystemExit, match="that is all") as raised:
        run([{"how": ["exit", ""]}], 2, raise_errors=True)
    assert "sys.exit" in "".join(raised.value.__notes__)
    with pytest.raises(Exception, match="made here"):
        run([{"how": ["local", ""]}], 2, raise_errors=True)


def test_what_fits_print_does_not_get_in_between(capfd):
    _, log = run([{"how": ["print"], "column": [0, 1, 2]}], 2)
    assert log.finishers.all()
    out, err = capfd.readouterr()
    assert "noise" not in out
    assert err.count("more noise") == 9


# ---- processes ------------------------------------------------------------------------------------------------------
def pids(folder, monkeypatch, n_jobs=2, **environment):
    folder.mkdir(exist_ok=True)
    for name, value in {"SOBER_PIDS": str(folder), **environment}.items():
        monkeypatch.setenv(name, value)
    run([{"how": ["pid"] * 12}], n_jobs)
    found = {int(path.name) for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    return found


def test_processes_wait_for_the_next_search(tmp_path, monkeypatch):
    process.end_idle()
    first = pids(tmp_path, monkeypatch)  # a quick process may do the work of both
    waiting = {p._popen.pid for p in process._idle}
    assert first <= waiting
    assert os.getpid() not in first
    assert pids(tmp_path, monkeypatch) <= waiting
    assert not pids(tmp_path, monkeypatch, SOBER_OTHER="1") & waiting  # another environment
    edited = Path(sys.modules[__name__].__file__)
    assert process._newest_own_code() >= edited.stat().st_mtime
    monkeypatch.setattr(process, "_newest_own_code", lambda: time.time() + 1)
    before = {p._popen.pid for p in process._idle}
    assert not pids(tmp_path, monkeypatch) & before  # code was edited since
    process.end_idle()
    assert not process._idle


def test_joblib_s_own_workers_are_left_alone():
    def pids():
        return set(joblib.Parallel(2)(joblib.delayed(os.getpid)() for _ in range(8)))

    before = pids()
    run(COLUMNS, 2)
    assert pids() & before  # other settings than theirs would have restarted them


def test_large_data_are_shared_not_copied(monkeypatch):
    sent = []
    plain = process.Process.send
    monkeypatch.setattr(process.Process, "send", lambda self, *message: sent.append(message) or plain(self, *message))
    problem = Problem.build(np.tile(X, (4000, 1)), np.tile(Y, 4000), task="classification")
    plan, configurations = Plan.build(problem, 3), expand(COLUMNS)
    tables = []
    for n_jobs in (1, 2):
        store = MemoryStore(problem, plan, 3)
        executor = ParallelExecutor(n_jobs) if n_jobs == 2 else make_executor(1)
        race(Experiment(problem, Odd(), LABELS), configurations, plan, executor=executor, store=store)
        tables.append(store.predictions().responses["predict"])
    np.testing.assert_array_equal(*tables)
    common = [message for message in sent if message[0] == "common"]
    assert len(common) == 2
    assert all(len(message[4]) < 10_000 for message in common)  # X and y are elsewhere
    assert not Path(common[0][5][0]).exists()  # and gone


def test_a_process_that_cannot_start_is_said(monkeypatch, tmp_path):
    process.end_idle()
    (tmp_path / "ends.py").write_text("import sys; sys.exit(3)")
    monkeypatch.setattr(process, "PROGRAM", str(tmp_path / "ends.py"))
    with pytest.raises(SoberError, match="exit code 3") as error:
        run(COLUMNS, 2)
    assert error.value.code == "E602"
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SoberError, match="cannot be started") as error:
        run(COLUMNS, 2)
    assert error.value.code == "E602"


def test_an_executor_for_one_job_may_be_used_without_limits():
    problem = Problem.build(X, Y, task="classification")
    plan = Plan.build(problem, 3)
    store = MemoryStore(problem, plan, 3)
    race(Experiment(problem, Odd(), LABELS), expand(COLUMNS), plan, executor=OneProcessExecutor(), store=store)
    assert store.done.all()


SCRIPT = """
import os, sys, threading, time
import numpy as np
import sobercv
from tests.training.run.test_process_workers import Odd, X, Y
def fit():
    grid = {"how": ["sleep"] * 4} if sys.argv[1] != "idle" else {"column": [0, 1, 2]}
    sobercv.BBCSearchCV(Odd(), grid, scoring="accuracy", cv=3, n_jobs=2, fit_timeout=500, n_bootstraps=20).fit(X, Y)
    print("idle", flush=True)
    time.sleep(600)
if sys.argv[1] == "thread":
    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
fit()
"""


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(line) for line in found.split()]


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("state", "number"),
    [
        ("busy", signal.SIGKILL),
        pytest.param("idle", signal.SIGKILL, marks=pytest.mark.soak),
        pytest.param("thread", signal.SIGABRT, marks=pytest.mark.soak),
    ],
)
def test_nothing_outlives_its_parent(tmp_path, state, number):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    parent = subprocess.Popen([sys.executable, str(script), state], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        if state == "idle":
            assert parent.stdout.readline() == "idle\n"
        deadline = time.monotonic() + 120
        while not (len(children(parent.pid)) == 2 and all(map(_is_quiet, children(parent.pid)))):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        workers = children(parent.pid)
        assert len(workers) == 2
        os.kill(parent.pid, number)
        parent.wait()
        end = time.monotonic() + 5
        while any(map(is_there, workers)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(map(is_there, workers))
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def _is_quiet(pid):
    """Whether a worker has imported all and sleeps, in a fit or idle."""

    def ticks():
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    try:
        before = ticks()
        time.sleep(0.5)
        return ticks() - before <= 1 and before > 50
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_processes_serve_one_search_after_another():
    """What an idle process says next is heard by the search that has taken it, not by the one before."""
    logs = [run(COLUMNS, n_jobs=2)[1] for _ in range(3)]
    assert [log.n_fits for log in logs] == [9, 9, 9]
