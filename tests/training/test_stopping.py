"""Signals and limits that end a race: what has come back stays, and handlers are as they were."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from sobercv.signals import TERMINATING, Terminated, raises, terminable
from sobercv.training import Stop
from sobercv.training.fit.task import Outcome

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
SIGNALS = (signal.SIGINT, *TERMINATING)


@pytest.fixture(autouse=True)
def handlers():
    """Python's own handlers, whoever runs the tests."""
    defaults = dict.fromkeys(TERMINATING, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def outcomes(number=None, at=2, n=4):
    for i in range(n):
        if i == at and number is not None:
            signal.raise_signal(number)
        yield [Outcome(i, 0, 0, {})]


def passed(stop, stream):
    with stop:
        return [outcome.configuration for outcomes in stop.watch(stream) for outcome in outcomes]


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"), (signal.SIGHUP, "terminated")],
)
def test_a_signal_ends_the_stream(number, reason):
    before = [signal.getsignal(n) for n in SIGNALS]
    with terminable():
        stop = Stop()
        assert passed(stop, outcomes(number)) == [0, 1]
        assert (stop.reason, stop.signal) == (reason, number)
    assert [signal.getsignal(n) for n in SIGNALS] == before


@pytest.mark.parametrize("number", SIGNALS)
def test_while_an_outcome_is_recorded_it_waits(number):
    stop, seen = Stop(), []
    with terminable(), stop:
        for (outcome,) in stop.watch(outcomes()):
            signal.raise_signal(number)
            seen.append(outcome.configuration)
    assert seen == [0]
    assert stop.signal == number


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_the_second_signal_ends_at_once(number, error):
    def run():
        stop = Stop()
        with terminable(), stop:
            for _ in stop.watch(outcomes()):
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(number)

    with pytest.raises(error):
        run()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


SCRIPT = """
import sys, time
import numpy as np
from sklearn.dummy import DummyClassifier
import sobercv

class Slow(DummyClassifier):
    def fit(self, X, y):
        time.sleep(0.01)
        return super().fit(X, y)

X, y = np.zeros((400, 1)), np.arange(400) % 2
told = []
def listen(event):
    told.append(event)
    if len(told) == 30:
        print("now", flush=True)
for number in range(3):
    sobercv.BBCSearchCV(
        Slow(), {"random_state": list(range(8))}, scoring="accuracy", drop=None, cv=40, n_jobs=int(sys.argv[1]),
        store="run.sqlite", on_event=listen,
    ).fit(X, y)
    print("went on", flush=True)
"""


@pytest.mark.parametrize("n_jobs", ["1", "2"])
@pytest.mark.parametrize("number", TERMINATING)
def test_a_script_ends_as_it_would_without_a_search(tmp_path, number, n_jobs):
    """SIGTERM in a library call: what is done is stored, and the process ends by the signal."""
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py", n_jobs]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True)
    assert process.stdout.readline() == "now\n"
    process.send_signal(number)
    said = process.stdout.read()
    assert process.wait(120) == -number
    assert said == ""
    db = sqlite3.connect(tmp_path / "run.sqlite")
    assert 20 <= db.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0] < 320
    db.close()


def test_somebody_else_s_handlers_are_left_alone():
    mine = lambda *args: None  # noqa: E731
    for number in SIGNALS:
        signal.signal(number, mine)
    with Stop(), terminable():
        assert all(signal.getsignal(number) is mine for number in SIGNALS)


def test_a_program_can_let_signals_raise_and_a_race_inside_still_ends_gracefully():
    with terminable():
        with pytest.raises(KeyboardInterrupt) as raised:
            signal.raise_signal(signal.SIGTERM)
        assert raised.value.number == signal.SIGTERM
        stop = Stop()
        assert passed(stop, outcomes(signal.SIGHUP)) == [0, 1]
        assert stop.signal == signal.SIGHUP
        assert signal.getsignal(signal.SIGHUP) is raises
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_other_threads_install_nothing():
    def look():
        with Stop(), terminable():
            found.extend(signal.getsignal(n) for n in TERMINATING)

    found = []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL] * len(TERMINATING)


def test_signals_may_be_left_to_others():
    stop = Stop(catch_signals=False)
    with pytest.raises(KeyboardInterrupt):
        passed(stop, outcomes(signal.SIGINT))
    assert stop.reason is None


def test_a_batch_that_has_come_back_is_kept_whole():
    def batches():
        yield [Outcome(i, 0, 0, {}) for i in range(3)]
        yield [Outcome(3, 0, 0, {})]

    stop = Stop()
    with stop:
        seen = []
        for outcomes in stop.watch(batches()):
            for outcome in outcomes:
                seen.append(outcome.configuration)
                stop.reason = "max_seconds"
    assert seen == [0, 1, 2]
