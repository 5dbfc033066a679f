"""joblib's own processes: deaths cost a retry, a killer is named, and data travel once."""

import os

import joblib
import numpy as np
import pytest

from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Configuration, Experiment, Plan, Problem
from sobercv.training.fit.task import Task
from sobercv.training.run.executor import ParallelExecutor
from sobercv.training.run.process import Process
from sobercv.training.run.workers import JoblibWorkers

from .mortal import Mortal, mortal_search, parts

LABELS = (("predict",),)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture(scope="module")
def serial():
    return mortal_search()


def test_a_worker_that_is_killed_costs_a_retry(serial, tmp_path):
    with pytest.warns(SoberWarning) as caught:
        found = mortal_search({"once": str(tmp_path / "killed")}, n_jobs=2)
    assert {w.message.code for w in caught if isinstance(w.message, SoberWarning)} == {"W602"}
    assert (tmp_path / "killed").exists()
    assert parts(found) == parts(serial)
    assert found.race_.n_fits == 40


def test_a_configuration_that_kills_twice_is_named_and_the_others_finish(serial):
    with pytest.warns(SoberWarning) as caught:
        found = mortal_search({"spared": os.getpid()}, n_jobs=2, refit=False)
    assert {w.message.code for w in caught if isinstance(w.message, SoberWarning)} == {"W303", "W602"}
    assert list(found.race_.failures) == [3]
    failure = found.race_.failures[3]
    assert (failure.kind, failure.repeat, failure.fold) == ("worker died", 0, 0)
    assert "died again" in str(failure)
    assert found.race_.status.tolist() == ["finished"] * 3 + ["failed"] + ["finished"] * 6
    expected = np.delete(serial.predictions_.responses["predict"], 3, axis=1)
    np.testing.assert_array_equal(found.predictions_.responses["predict"], expected)


@pytest.mark.soak
def test_a_killer_can_be_an_error():
    with pytest.raises(SoberError, match="died again") as error, pytest.warns(SoberWarning):
        mortal_search({"spared": os.getpid()}, n_jobs=2, error_score="raise")
    assert error.value.code == "E314"


class Counted(list):
    """Rows that count how often they are pickled."""

    pickled = 0

    def __reduce__(self):
        Counted.pickled += 1
        return list, (list(self),)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_data_travel_once_not_with_every_task(monkeypatch, backend):
    Counted.pickled = 0
    sent, common = [], []
    plain, send = JoblibWorkers._calls, Process.send

    def calls(self, work, calls, noted):
        for function, arguments, options in plain(self, work, calls, noted):
            sent.append(arguments[2])
            common.append(tuple(map(id, arguments[3:])))
            yield function, arguments, options

    def sends(self, kind, *content):
        (sent if kind == "batch" else common).append(content[1] if kind == "batch" else (self, kind))
        send(self, kind, *content)

    monkeypatch.setattr(JoblibWorkers, "_calls", calls)
    monkeypatch.setattr(Process, "send", sends)
    rows = np.random.default_rng(0).normal(size=(300, 50))
    problem = Problem.build(Counted(map(tuple, rows)), np.arange(300) % 2, task="classification")
    plan = Plan.build(problem, 5)
    experiment = Experiment(problem, Sizes(), LABELS)
    with joblib.parallel_config(backend, n_jobs=2), ParallelExecutor() as executor:
        for split in plan.splits:  # a run for each round
            tasks = [Task(split, tuple(Configuration(c) for c in range(12)))]
            assert len(list(executor.run(experiment, tasks))) == 12
        assert len(set(common)) == (2 if backend == "loky" else 1)  # a message for each process, or the same arrays
    assert Counted.pickled == 1
    assert len(sent) > 20
    assert max(map(len, sent)) < 8 * 300 + 2000  # the split, and no data


class Sizes(Mortal):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


class Sticky(list):
    """Rows that cannot be sent, or that arrive broken."""

    how = "sent"

    def __reduce__(self):
        if Sticky.how == "sent":
            raise TypeError("these rows stay here")
        return explode, ()


def explode():
    raise ImportError("no module named rows")


@pytest.mark.parametrize(("how", "words"), [("sent", "these rows stay here"), ("opened", "no module named rows")])
def test_what_workers_cannot_be_given_is_said_in_a_sentence(how, words):
    Sticky.how = how
    problem = Problem.build(Sticky([[0.0]] * 20), np.arange(20) % 2, task="classification")
    tasks = [Task(split, (Configuration(0),)) for split in Plan.build(problem, 2).splits]
    with pytest.raises(SoberError, match=words) as error, ParallelExecutor(2) as executor:
        list(executor.run(Experiment(problem, Sizes(), LABELS), tasks))
    assert error.value.code == "E602"
