"""Worker processes: fits can be ended, a death costs little, nothing outlives its parent."""

import contextlib
import importlib
import multiprocessing
import multiprocessing.spawn
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import Future
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.pipeline import Pipeline

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Experiment, MemoryStore, Plan, Problem, Stop, expand, make_pool
from sobercv.training.fit.task import Task
from sobercv.training.pool import processes
from sobercv.training.race import race

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
            _announce(os.getpid())
            time.sleep(FOREVER)
        if self.how == "nap":
            _announce(os.getpid())
            time.sleep(0.3)
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
        if self.how.startswith("program"):
            program = subprocess.Popen(["sleep", "600"], start_new_session="session" in self.how)
            _announce(program.pid)
            time.sleep(FOREVER)
        if self.how == "fork and die":
            child = os.fork()
            if child == 0:
                time.sleep(FOREVER)
            _announce(child)
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "die, then sleep":
            with contextlib.suppress(FileExistsError):
                Path(os.environ["SOBER_PIDS"], "died").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(FOREVER)
        if self.how == "forget":
            weakref.finalize(_common_of_worker(), Path(os.environ["SOBER_FORGET"]).touch)
        if self.how == "mapped" and multiprocessing.parent_process() is not None:
            shared = _common_of_worker().problem.X
            while not isinstance(shared, np.memmap) and isinstance(getattr(shared, "base", None), np.ndarray):
                shared = shared.base
            assert isinstance(shared, np.memmap), type(shared)
        if self.how == "print":
            print("noise" * 1000, flush=True)
            os.write(1, b"more noise\n")
        self.classes_ = np.unique(y)
        self.pid_ = os.getpid()
        return self

    def predict(self, X):
        if self.how == "pid":
            _announce(self.pid_)
        return self.classes_[(X[:, self.column] > 0).astype(int)]


def _announce(pid):
    """Leave a file named by a process where the test looks for it."""
    if "SOBER_PIDS" in os.environ:
        Path(os.environ["SOBER_PIDS"], str(pid)).touch()


def wait_until(condition, seconds=120):
    """Wait for something that must happen, on a busy machine, too."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _common_of_worker():
    from sobercv.training.pool import work

    return next(iter(work._opened.values()))[0]


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
    pool = make_pool(n_jobs, is_limited=max_seconds is not None, **options)
    experiment = Experiment(problem, estimator, LABELS, raise_errors)
    log = race(experiment, configurations, plan, pool=pool, store=store, rule=rule, stop=Stop(max_seconds))
    return store, log


COLUMNS = [{"column": [0, 1, 2]}]


def labels(store, log):
    return store.predictions(log.finishers).responses["predict"]


# ---- a limit for each fit -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n_jobs", "how"), [pytest.param(1, "sleep", marks=pytest.mark.soak), (2, "spin")])
def test_a_fit_that_takes_too_long_is_ended_and_the_others_are_as_ever(n_jobs, how):
    truth = run(COLUMNS)
    found = run([*COLUMNS, {"how": [how]}], n_jobs, cv=2, fit_timeout=4, rule=lambda predictions, index: None)
    again = run(COLUMNS, n_jobs, fit_timeout=60)
    assert found[1].status.tolist() == ["finished"] * 3 + ["failed"]
    assert found[1].failures[3].kind == "timed out"
    assert "fit_timeout=4 seconds" in str(found[1].failures[3])
    assert found[1].n_fits == 7  # it is not tried on the second fold
    np.testing.assert_array_equal(labels(*again), labels(*truth))


def test_a_shared_step_that_takes_too_long_ends_all_that_share_it():
    pipe = Pipeline([("first", SlowStep()), ("model", Odd())])
    grid = {"first__slow": [False, True], "model__column": [0, 1, 2]}
    _, log = run(grid, 2, pipe, cv=2, fit_timeout=4, rule=lambda predictions, index: None)
    assert log.status.tolist() == ["finished"] * 3 + ["failed"] * 3
    assert {failure.kind for failure in log.failures.values()} == {"timed out"}


def test_too_long_can_be_an_error():
    with pytest.raises(SoberError, match="was ended") as error:
        run([{"how": ["sleep"]}], fit_timeout=4, raise_errors=True)
    assert error.value.code == "E315"


def test_the_search_takes_it_and_a_store_tries_again(tmp_path):
    grid = {"how": ["", "sleep"]}
    options = {"scoring": "accuracy", "cv": 2, "n_bootstraps": 20, "store": tmp_path / "run.sqlite", "fit_timeout": 4}
    for _ in range(2):
        with pytest.warns(SoberWarning) as caught:
            found = sobercv.BBCSearchCV(Odd(), grid, **options).fit(X, Y)
        assert "W204" in [getattr(w.message, "code", "") for w in caught]
        assert found.race_.failures[1].kind == "timed out"


def test_where_fits_cannot_be_ended_that_is_said():
    with (
        joblib.parallel_config("threading", n_jobs=2),
        pytest.raises(SoberError, match="processes of this machine") as error,
    ):
        run(COLUMNS, None, fit_timeout=1.0)
    assert error.value.code == "E114"


# ---- a limit for all ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.soak), 2])
def test_a_time_limit_ends_fits_under_way_and_the_others_give_a_number(n_jobs):
    pipe = Pipeline([("first", SlowStep()), ("model", Odd())])
    grid = [{"model__column": [1, 2]}, {"model__how": ["sleep"]}]
    run({"column": [0] * 20}, n_jobs, max_seconds=FOREVER)  # processes that have started wait for the next search
    store, log = run(grid, n_jobs, pipe, max_seconds=6)
    assert log.stopped == "max_seconds"
    assert log.status.tolist() == ["finished", "finished", "failed"]
    assert log.failures[2].kind == "timed out"
    assert "not fitted before max_seconds" in str(log.failures[2])
    assert log.n_fits_left > 0
    assert log.n_fits_saved == 0
    assert labels(store, log).shape[1] == 2


@pytest.mark.parametrize("limit", ["max_seconds", "fit_timeout"])
def test_what_cannot_leave_this_process_has_no_limit(limit):
    class Stays(Odd):
        def __reduce__(self):
            raise TypeError("I stay here")

    with pytest.raises(SoberError, match=r"I stay here.*without a time limit") as error:
        run(COLUMNS, estimator=Stays(), **{limit: 600})
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


def waiting():
    return set().union(*(workers.pids() for workers in processes._idle))


def test_processes_wait_for_the_next_search(tmp_path, monkeypatch):
    processes._end_idle()
    first = pids(tmp_path, monkeypatch)  # a quick process may do the work of both
    wait_until(lambda: len(waiting()) == 2)  # the second may still be starting
    before = waiting()
    assert first <= before
    assert os.getpid() not in first
    assert pids(tmp_path, monkeypatch) <= before
    assert not pids(tmp_path, monkeypatch, SOBER_OTHER="1") & before  # another environment
    assert len(processes._idle) == 1  # and the others have ended
    assert not any(map(is_there, before))
    before = waiting()
    processes._end_idle()
    assert not any(map(is_there, before))


@pytest.mark.parametrize("how", ["nap", "sleep"])
def test_workers_outlive_fits_that_no_one_needs_unless_these_do_not_end(tmp_path, monkeypatch, how):
    """A race can end while a speculative fit of a configuration that was dropped is under way."""
    pids(tmp_path, monkeypatch)
    wait_until(lambda: len(waiting()) == 2)  # on a busy machine the second may take a while to start
    before = waiting()
    problem = Problem.build(X, Y, task="classification")
    task = Task(Plan.build(problem, 3).splits[0], expand([{"how": [how]}])[0])
    with make_pool(2).opened(Experiment(problem, Odd(), LABELS), 12) as pool:
        pool.submit(0, (task,), is_speculative=True)
        wait_until(lambda: any(tmp_path.iterdir()))
    if how == "nap":
        pids(tmp_path, monkeypatch)
        assert waiting() == before
    else:
        wait_until(lambda: not any(map(is_there, before)), 20)
        assert not waiting()


def test_workers_without_work_end_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "IDLE_SECONDS", 0.5)
    pids(tmp_path, monkeypatch)
    before = waiting()
    assert before
    wait_until(lambda: not any(map(is_there, before)))
    assert not processes._idle


OWN = """
from sklearn.dummy import DummyClassifier
import numpy as np
class Own(DummyClassifier):
    def predict(self, X):
        import own_deep
        return np.full(len(X), ANSWER + own_deep.ANSWER)
ANSWER = {}
"""


@pytest.mark.parametrize("edited", [pytest.param("own_code_of_a_fit", marks=pytest.mark.soak), "own_deep"])
def test_idle_workers_do_not_keep_code_that_was_replaced(tmp_path, monkeypatch, edited):
    """A file that is replaced with an old date (mv, cp -p, rsync -a), imported here or only in a worker."""
    sources = {"own_code_of_a_fit": OWN.format(0), "own_deep": "ANSWER = 0"}
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    module = importlib.import_module("own_code_of_a_fit")
    try:
        store, log = run({"random_state": [0, 1]}, 2, module.Own())
        assert set(labels(store, log).ravel()) == {0}
        old = tmp_path / f"{edited}.py"
        dates = old.stat()
        new = tmp_path / "new"
        new.write_text(old.read_text().replace("ANSWER = 0", "ANSWER = 1"))
        os.utime(new, ns=(dates.st_atime_ns, dates.st_mtime_ns - 10**12))
        new.rename(old)
        store, log = run({"random_state": [0, 1]}, 2, module.Own())
        assert set(labels(store, log).ravel()) == {1}
    finally:
        for name in sources:
            sys.modules.pop(name, None)


def test_many_searches_leave_nothing_behind():
    def state():
        run(COLUMNS, 2)
        wait_until(lambda: len(waiting()) == 2)  # on a busy machine the second may take a while to start
        files = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
        return threading.active_count(), files, len(waiting()), len(multiprocessing.active_children())

    before = state()
    for _ in range(5):
        after = state()
    assert after == before


def test_of_workers_that_are_given_back_at_once_one_pool_stays():
    """A search can end in another thread while the workers of an earlier one are being ended."""

    class Waiting:
        def __init__(self, meanwhile=lambda: None):
            self.meanwhile, self.is_closed = meanwhile, False

        def close(self):
            self.is_closed = True
            self.meanwhile()

    processes._end_idle()
    second, third = Waiting(), Waiting()
    first = Waiting(lambda: processes._give_back(second, []))
    for workers in (first, third):
        processes._give_back(workers, [])
    try:
        assert [workers for workers in (first, second, third) if not workers.is_closed] == processes._idle
        assert len(processes._idle) == 1
    finally:
        for workers in (first, second, third):
            workers.taken.set()
        processes._idle.clear()


def test_a_batch_that_is_given_up_before_it_begins_leaves_no_file(tmp_path):
    journal = processes._Journal(tmp_path / "token-1.journal")
    journal.close()
    with pytest.raises(FileNotFoundError):
        processes._run(str(tmp_path), "token", b"", str(journal.path))
    assert not any(tmp_path.iterdir())


def test_joblib_s_own_workers_are_left_alone():
    def pids():
        return set(joblib.Parallel(2)(joblib.delayed(os.getpid)() for _ in range(8)))

    before = pids()
    run(COLUMNS, 2)
    assert pids() & before  # other settings than theirs would have restarted them


def test_no_more_workers_than_fits(tmp_path, monkeypatch):
    processes._end_idle()
    run([{"column": [0]}], 200)
    assert len(waiting()) <= 3
    processes._end_idle()


def test_large_data_are_mapped_not_copied(monkeypatch):
    """Workers map one file; it is gone after the search."""
    sent, shared = [], []
    plain, dump = processes.as_bytes, joblib.dump
    monkeypatch.setattr(processes, "as_bytes", lambda thing: sent.append(plain(thing)) or sent[-1])
    monkeypatch.setattr(joblib, "dump", lambda packed, path: shared.append((path, packed)) or dump(packed, path))
    problem = Problem.build(np.tile(X, (4000, 1)), np.tile(Y, 4000), task="classification")
    plan, configurations = Plan.build(problem, 3), expand({"column": [0, 1, 2], "how": ["mapped"]})
    tables = []
    for n_jobs in (1, 2):
        store = MemoryStore(problem, plan, 3)
        log = race(Experiment(problem, Odd(), LABELS), configurations, plan, pool=make_pool(n_jobs), store=store)
        assert not log.failures
        tables.append(store.predictions().responses["predict"])
    np.testing.assert_array_equal(*tables)
    ((path, (head, *large)),) = shared
    assert head.nbytes < 10_000  # X and y are outside of the pickle
    assert sum(part.nbytes for part in large) >= problem.X.nbytes
    assert max(map(len, sent)) < 10 * problem.n_samples  # splits, and no data
    assert not path.exists()


def test_workers_of_which_one_ends_while_they_are_looked_at_are_not_reused(tmp_path, monkeypatch):
    """A worker removes the file that names it when it ends by itself, perhaps after it was listed."""
    workers = object.__new__(processes._Workers)
    workers.owner, workers.key, workers.last, workers.folder = os.getpid(), "key", [], tmp_path
    monkeypatch.setattr(workers, "lost", lambda: False)
    assert workers.is_as_new("key")
    (tmp_path / "1.worker").symlink_to(tmp_path / "gone")
    assert not workers.is_as_new("key")


def test_idle_workers_forget_the_data(tmp_path, monkeypatch):
    """A worker that waits does not hold the data of the last search."""
    path = tmp_path / "gone"
    monkeypatch.setenv("SOBER_FORGET", str(path))
    run([{"how": ["forget"]}], 2)
    wait_until(path.exists)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")  # a death that is noticed before the second one
def test_a_process_that_cannot_start_is_said(monkeypatch, tmp_path):
    processes._end_idle()
    monkeypatch.setattr(processes, "_begin", _ends)
    with pytest.raises(SoberError, match="before they have started") as error:
        run(COLUMNS, 2)
    assert error.value.code == "E602"
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", "/nowhere/python")
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with pytest.raises(SoberError, match="cannot be started") as error:
        run(COLUMNS, 2)
    assert error.value.code == "E602"
    assert not any(tmp_path.iterdir())


def _ends(folder):
    os._exit(3)


def test_workers_that_end_together_before_they_have_started_count_once(tmp_path):
    """A moment without memory may end all of them; they are started again."""

    class Ended:
        folder = tmp_path
        pids = close = staticmethod(set)

    def broken():
        pool._workers = Ended()
        for key in range(2):
            pool._journals[key], pool._flying[key] = processes._Journal(tmp_path / f"{key}"), broken_future()
            pool._inbox.put(key)
        return pool.wait(0)

    def broken_future():
        future = Future()
        future.set_exception(processes.BrokenProcessPool("{SIGKILL(-9)}"))
        return future

    pool = processes.ProcessPool(2, {})
    assert [report.death for report in broken()] == ["SIGKILL(-9)"] * 2
    with pytest.raises(SoberError, match="before they have started"):
        broken()


# ---- what a fit leaves behind ---------------------------------------------------------------------------------------
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["program then sleep", "program in a session then sleep"])
def test_programs_of_a_fit_that_took_too_long_are_ended(tmp_path, monkeypatch, how):
    monkeypatch.setenv("SOBER_PIDS", str(tmp_path))
    _, log = run([{"column": [0]}, {"how": [how]}], 2, cv=2, fit_timeout=4, rule=lambda predictions, index: None)
    assert log.failures[1].kind == "timed out"
    started = {int(path.name) for path in tmp_path.iterdir()}
    assert started
    _all_end(started)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_that_dies_while_a_process_it_forked_lives(tmp_path, monkeypatch):
    monkeypatch.setenv("SOBER_PIDS", str(tmp_path))
    with pytest.warns(SoberWarning, match="worker process died"):
        _, log = run([*COLUMNS, {"how": ["fork and die"]}], 2, cv=2, rule=lambda predictions, index: None)
    assert log.failures[3].kind == "worker died"
    assert log.status.tolist() == ["finished"] * 3 + ["failed"]
    _all_end({int(path.name) for path in tmp_path.iterdir()})


def _all_end(pids):
    wait_until(lambda: not any(map(is_there, pids)))


def test_a_time_limit_holds_after_a_worker_died(tmp_path, monkeypatch):
    """The retry of a crash, which would take ten minutes, has no time of its own."""
    monkeypatch.setenv("SOBER_PIDS", str(tmp_path))
    run({"column": [0] * 20}, 2)  # processes that have started wait for the next search
    start = time.monotonic()
    with pytest.warns(SoberWarning, match="worker process died"):
        _, log = run([{"how": ["die, then sleep"]}, {"column": [0]}], 2, cv=2, max_seconds=10)
    assert log.stopped == "max_seconds"
    assert time.monotonic() - start < FOREVER / 2


SCRIPT = """
import os, sys, threading, time
import numpy as np
import sobercv
from tests.training.pool.test_processes import Odd, X, Y
def fit():
    grid = {"column": [0, 1, 2], "how": ["" if sys.argv[1] == "idle" else "sleep"]}
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
    """Workers, their guard and loky's tracker."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return {int(line) for line in found.split()}


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
    script, pids = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(SCRIPT)
    pids.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "SOBER_PIDS": str(pids)}
    parent = subprocess.Popen([sys.executable, str(script), state], env=environment, stdout=subprocess.PIPE, text=True)

    def is_ready():
        assert parent.poll() is None
        return len(list(pids.iterdir())) == 2

    try:
        if state == "idle":
            assert parent.stdout.readline() == "idle\n"
        else:
            wait_until(is_ready)  # two fits sleep
        workers = children(parent.pid)
        assert len(workers) >= 3
        assert {int(path.name) for path in pids.iterdir()} <= workers
        os.kill(parent.pid, number)
        parent.wait()
        _all_end(workers)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def test_processes_serve_one_search_after_another():
    """What an idle process says next is heard by the search that has taken it, not by the one before."""
    logs = [run(COLUMNS, n_jobs=2)[1] for _ in range(3)]
    assert [log.n_fits for log in logs] == [9, 9, 9]
