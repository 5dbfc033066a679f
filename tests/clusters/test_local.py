"""Processes of this machine: deaths cost a retry, and a killer is named."""

import os
import threading

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Configuration, Experiment, MemoryStore, Plan, Problem, make_pool
from sobercv.training.race import race

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
    assert {w.message.code for w in caught if isinstance(w.message, SoberWarning)} == {"W204", "W602"}
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
    assert error.value.code == "E315"


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
    plan = Plan.build(problem, 2)
    experiment, store = Experiment(problem, Sizes(), LABELS), MemoryStore(problem, plan, 1)
    with pytest.raises(SoberError, match=words) as error:
        race(experiment, [Configuration(0)], plan, pool=make_pool(2), store=store)
    assert error.value.code == "E602"


class Bound(Sizes):
    """Can be cloned, and not be sent."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_a_configuration_that_cannot_be_sent_is_said_in_a_sentence():
    problem = Problem.build(np.zeros((20, 1)), np.arange(20) % 2, task="classification")
    plan, configurations = Plan.build(problem, 2), [Configuration(0, {"model": Bound()})]
    experiment = Experiment(problem, Pipeline([("model", Sizes())]), LABELS)
    race(experiment, configurations, plan, pool=make_pool(1), store=MemoryStore(problem, plan, 1))
    with pytest.raises(SoberError, match="cannot be sent to worker processes: TypeError: cannot pickle") as error:
        race(experiment, configurations, plan, pool=make_pool(2), store=MemoryStore(problem, plan, 1))
    assert error.value.code == "E602"
