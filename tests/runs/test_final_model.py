"""The final model: trained here or in a process of its own, and given up when the time is over."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sobercv import BBCSearchCV
from sobercv.runs.fit import train_final_model, tune

from .runs import prepared


class Slow(ClassifierMixin, BaseEstimator):
    """Learns nothing, for a long time."""

    def __init__(self, seconds=0.0, fails=False):
        self.seconds = seconds
        self.fails = fails

    def fit(self, X, y):
        time.sleep(self.seconds)
        if self.fails:
            raise RuntimeError("no\nmemory")
        self.classes_ = np.unique(y)
        return self


class Won(BBCSearchCV):
    """A search that has judged but has no model."""

    def __init__(self, estimator):
        super().__init__(estimator, {}, refit=False)
        self.best_index_, self.n_fits_, self.cv_results_ = 0, 9, {"params": [{}]}
        self.multimetric_, self.estimate_ = False, SimpleNamespace(decision=None)


@pytest.fixture
def ready(tmp_path):
    return prepared(tmp_path)


def test_the_model_is_the_same_here_and_elsewhere(ready):
    models = []
    for seconds in ({}, {"seconds": 3600.0}):
        search = tune(ready)
        assert not hasattr(search, "best_estimator_")
        n_fits = search.n_fits_
        assert train_final_model(search, ready.data, **seconds) == []
        assert search.n_fits_ == n_fits + 1
        assert search.refit_time_ > 0
        models.append(search.best_estimator_.predict_proba(ready.data.X))
        assert (search.predict_proba(ready.data.X) == models[-1]).all()
    assert (models[0] == models[1]).all()


def test_when_the_time_is_over_there_is_no_model_but_a_note(ready):
    search = Won(Slow(60.0))
    (note,) = train_final_model(search, ready.data, seconds=0.5)
    assert note.code == "W704"
    assert "the time limit was reached" in note.text
    assert "sober resume" in note.text
    assert not hasattr(search, "best_estimator_")
    assert search.n_fits_ == 9


@pytest.mark.parametrize("seconds", [np.inf, 3600.0])
def test_a_model_that_fails_on_all_data_costs_the_model_only(ready, seconds):
    (note,) = train_final_model(Won(Slow(fails=True)), ready.data, seconds)
    assert note.code == "W704"
    assert "RuntimeError: no memory" in note.text


def test_its_process_ends_with_ours_whatever_kills_us(tmp_path, ready):
    code = (
        "import sys; from tests.runs.test_final_model import Slow, Won; from tests.runs.runs import prepared\n"
        "from pathlib import Path; from sobercv.runs.fit import train_final_model\n"
        "from sobercv.training.pool import processes; before = processes.ProcessPoolExecutor.submit\n"
        "def tell(*a):\n    f = before(*a); print(*(p.pid for p in multiprocessing.active_children()), flush=True); return f\n"
        "import multiprocessing; processes.ProcessPoolExecutor.submit = tell\n"
        "train_final_model(Won(Slow(300.0)), prepared(Path(sys.argv[1])).data, 300.0)"
    )
    ours = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True)
    theirs = int(ours.stdout.readline())
    ours.kill()
    ours.wait()
    ours.stdout.close()
    for _ in range(2400):  # two minutes
        try:
            os.kill(theirs, 0)
        except ProcessLookupError:
            return
        if open(f"/proc/{theirs}/stat").read().rpartition(")")[2].split()[0] == "Z":  # noqa: SIM115
            return
        time.sleep(0.05)
    raise AssertionError("it lives on")
