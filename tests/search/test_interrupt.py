"""Ctrl-C, a time budget and a width: what is complete is judged as if it had been all, and says so."""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import Note, SoberError, SoberWarning
from sobercv.search import bbc_search_cv, results
from sobercv.training import fit_queue, stopping
from sobercv.training.pool.base import SerialPool

X, Y = (a[::3] for a in load_breast_cancer(return_X_y=True))
GRID = {"depth": [1, 2, 3, 4]}
N_FITS = 4 * 10


class Signalling(ClassifierMixin, BaseEstimator):
    """A tree that presses Ctrl-C in chosen fits, which the environment names: an attribute would be part of the code."""

    fits = 0

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        Signalling.fits += 1
        if str(Signalling.fits) in os.environ.get("CTRL_C_AT", "").split():
            signal.raise_signal(signal.SIGINT)
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.fixture
def ctrl_c():
    """Tell at which fits Ctrl-C is pressed; Python's own handler is in force, whoever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def at(*fits):
        Signalling.fits, os.environ["CTRL_C_AT"] = 0, " ".join(map(str, fits))

    at()
    yield at
    at()
    signal.signal(signal.SIGINT, before)


def search(**options):
    return sobercv.BBCSearchCV(
        Signalling(), GRID, **{"scoring": "accuracy", "cv": 10, "drop": None, "n_bootstraps": 200, **options}
    )


def early(**options):
    """Fit a search that is stopped, and check the warning."""
    with pytest.warns(SoberWarning) as caught:
        found = search(**options).fit(X, Y)
    assert "W601" in [getattr(w.message, "code", None) for w in caught]
    return found


def parts(found):
    return (
        found.estimate_.value, found.estimate_.interval, found.estimate_.draws.tolist(), found.best_index_,
        found.race_.status.tolist(), found.predictions_.responses["predict"].tolist(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole():
    return search().fit(X, Y)


def first_folds(whole, n):
    """What BBC says about the first folds of a complete search."""
    table = whole.predictions_
    part = table.take_rows(table.fold_of[:, 0] < n)
    return sobercv.bbc(None, part, "accuracy", n_bootstraps=200, random_state=0)


@pytest.mark.parametrize(("at", "n_complete"), [(5, 1), (8, 1), (9, 2), (22, 5), (40, 9)])
def test_ctrl_c_judges_the_splits_that_are_complete(ctrl_c, whole, at, n_complete):
    ctrl_c(at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = search().fit(X, Y), first_folds(whole, n_complete)
    assert (found.stopped_, found.is_complete_) == ("interrupted", False)
    assert found.estimate_.value == expected.value
    # Both know as much, but only the search knows that there were to be more folds, so that models saw more rows.
    assert found.estimate_.interval[0] == expected.interval[0]
    assert found.estimate_.bounds.still_lost == pytest.approx(0.9**0.5)
    assert found.best_index_ == expected.winner
    assert found.race_.n_fits == at - 1
    assert found.race_.n_fits_left == N_FITS - at + 1
    note = [n for n in found.estimate_.notes if n.code == "W601"]
    assert len(note) == 1
    assert f"interrupted (Ctrl-C) after {n_complete} of 10 splits" in note[0].text
    assert found.cv_results_["rank_test_score"][found.best_index_] == 1
    assert np.isfinite(found.cv_results_["pooled_test_score"]).all()
    assert found.predict(X).shape == Y.shape  # refitted
    assert "stopped by interrupted" in repr(found.race_)


def test_a_whole_run_says_so(whole):
    assert (whole.stopped_, whole.is_complete_, whole.race_.n_fits_left) == ("finished", True, 0)
    assert not [n for n in whole.estimate_.notes if n.code == "W601"]


def test_ctrl_c_before_one_split_is_complete_is_an_error(ctrl_c):
    ctrl_c(4)
    with pytest.raises(SoberError, match="before one split was complete") as error:
        search().fit(X, Y)
    assert error.value.code == "E601"
    assert "more time" not in str(error.value)  # Ctrl-C has nothing to do with it
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_three_groups_are_predicted_is_an_error_that_says_how_to_continue(ctrl_c):
    ctrl_c(12)
    with pytest.raises(SoberError, match=r"before 3 groups were predicted.*continues where it stopped") as error:
        search(cv=LeaveOneGroupOut()).fit(X, Y, groups=np.arange(len(Y)) % 4)
    assert error.value.code == "E601"


def test_ctrl_c_during_the_final_training_ends_at_once_but_the_estimate_is_there(ctrl_c):
    ctrl_c(9, 10)
    found = search()
    with pytest.warns(SoberWarning), pytest.raises(KeyboardInterrupt):
        found.fit(X, Y)
    assert found.estimate_.n_samples < len(Y)
    assert not hasattr(found, "best_estimator_")


def test_ctrl_c_twice_ends_at_once(ctrl_c):
    class Stubborn(Signalling):
        def fit(self, X, y):
            try:
                return super().fit(X, y)
            except KeyboardInterrupt:
                signal.raise_signal(signal.SIGINT)

    ctrl_c(12)
    found = sobercv.BBCSearchCV(Stubborn(), GRID, scoring="accuracy", drop=None)
    with pytest.raises(KeyboardInterrupt):
        found.fit(X, Y)
    assert not hasattr(found, "estimate_")


def test_ctrl_c_while_an_outcome_is_recorded_waits_until_it_is(ctrl_c):
    heard = []

    def press(event):
        heard.append(event)
        if sum(type(e).__name__ == "Fitted" for e in heard) == 8 and type(event).__name__ == "Fitted":
            signal.raise_signal(signal.SIGINT)

    found = early(on_event=press)
    assert (found.stopped_, found.race_.n_fits) == ("interrupted", 8)


def test_with_dropping_an_abandoned_round_is_not_judged(ctrl_c):
    rule = sobercv.BootstrapDrop(threshold=0.6, min_predictions=20, n_bootstraps=100)
    whole = search(drop=rule).fit(X, Y)
    assert (whole.race_.status == "dropped").any()
    for at in (6, whole.race_.n_fits - 1):
        ctrl_c(at)
        found = early(drop=rule)
        gone = found.race_.status == "dropped"
        rounds = len(found.race_.alive_by_round)
        np.testing.assert_array_equal(gone, (whole.race_.dropped_at >= 0) & (whole.race_.dropped_at < rounds))
        assert found.race_.n_fits + found.race_.n_fits_saved + found.race_.n_fits_left == N_FITS


@pytest.mark.parametrize("drop", [None, "auto"])
def test_interrupted_runs_go_on_from_their_file(ctrl_c, tmp_path, drop):
    whole = search(drop=drop, n_repeats=2).fit(X, Y)
    n_whole = whole.race_.n_fits
    for at in (2, 13, 29):
        file = tmp_path / f"{at}.sqlite"
        ctrl_c(at)
        with warnings.catch_warnings(), contextlib.suppress(SoberError):  # E601 where not one split is complete
            warnings.simplefilter("ignore")
            search(drop=drop, n_repeats=2, store=file).fit(X, Y)
        ctrl_c()
        again = search(drop=drop, n_repeats=2, store=file).fit(X, Y)
        assert Signalling.fits == n_whole - (at - 1) + 1  # the one that was broken off, and the winner on all data
        assert parts(again) == parts(whole)


def test_in_another_thread_nothing_is_installed(whole):
    found = []
    thread = threading.Thread(target=lambda: found.append(search().fit(X, Y)))
    thread.start()
    thread.join()
    assert parts(found[0]) == parts(whole)


def test_an_outsider_s_handler_is_left_alone(ctrl_c):
    mine = lambda *args: None  # noqa: E731
    signal.signal(signal.SIGINT, mine)
    with stopping.Stop():
        assert signal.getsignal(signal.SIGINT) is mine


# ---- max_seconds ----------------------------------------------------------------------------------------------------
@pytest.fixture
def clock(monkeypatch):
    """One second passes whenever `Stop` looks; nobody else is ever late. Where fits are ended, see tests/training."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(stopping, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(fit_queue, "perf_counter", lambda: 0.0)


@pytest.mark.parametrize("drop", [None, "auto"])
@pytest.mark.usefixtures("clock")
def test_max_seconds_stops_and_judges_what_is_complete(whole, drop, monkeypatch):
    monkeypatch.setattr(bbc_search_cv, "make_pool", lambda *_, **__: SerialPool())  # it looks after each fit
    found, n = early(max_seconds=19, drop=drop), 4 if drop is None else 3  # with rounds it is looked at more often
    assert (found.stopped_, found.is_complete_) == ("max_seconds", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.estimate_.value == first_folds(whole, n).value
    assert f"stopped by max_seconds after {n} of 10 splits" in found.estimate_.notes[-1].text
    assert found.predict(X).shape == Y.shape


def test_too_little_time_for_one_split_has_a_code_of_its_own(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(stopping, "perf_counter", lambda: next(clock))
    with pytest.raises(SoberError, match=r"stopped by max_seconds.*Give it more time") as error:
        search(max_seconds=1).fit(X, Y)
    assert error.value.code == "E604"


def test_max_seconds_that_is_long_enough_changes_nothing(whole):
    assert parts(search(max_seconds=1e6).fit(X, Y)) == parts(whole)


@pytest.mark.usefixtures("clock")
def test_max_seconds_with_workers_keeps_whole_batches(monkeypatch):
    monkeypatch.setattr(results, "warned", Note)  # threads that end later undo what catches warnings
    with joblib.parallel_config("threading", n_jobs=2):
        found = search(max_seconds=3, cv=15, n_repeats=20, n_bootstraps=20).fit(X, Y)
    assert found.stopped_ == "max_seconds"
    assert "W601" in [note.code for note in found.estimate_.notes]
    assert found.race_.n_fits in (n * 10 * 4 for n in range(2, 10))  # 300 splits in batches of 10


@pytest.mark.parametrize("name", ["max_seconds", "fit_timeout"])
@pytest.mark.parametrize("value", [0, -1, "soon", True, np.nan])
def test_limits_that_mean_nothing(name, value):
    with pytest.raises(SoberError, match=name) as error:
        search(**{name: value}).fit(X, Y)
    assert error.value.code == "E108"


def test_a_stopped_search_can_be_pickled(ctrl_c):
    ctrl_c(20)
    found = early()
    assert parts(pickle.loads(pickle.dumps(found))) == parts(found)


# ---- the real thing: a terminal's Ctrl-C goes to every process of the group -----------------------------------------
SCRIPT = """
import json, signal, time, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs inherit a deaf one
import numpy as np
from sklearn.dummy import DummyClassifier
import sobercv
class Slow(DummyClassifier):
    def fit(self, X, y):
        time.sleep(0.02)
        return super().fit(X, y)
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    X, y = np.zeros((400, 1)), np.arange(400) % 2
    grid = {"strategy": ["uniform", "stratified", "most_frequent"], "random_state": list(range(8))}
    heard = []
    def listen(event):
        heard.append(event)
        if len(heard) == 60:
            print("now", flush=True)
    search = sobercv.BBCSearchCV(Slow(), grid, scoring="accuracy", drop=None, cv=40, n_jobs=2, on_event=listen)
    search.fit(X, y)
    print(json.dumps([search.stopped_, search.estimate_.n_samples, search.race_.n_fits]), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_ctrl_c_in_a_terminal(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "now\n"
    os.killpg(process.pid, signal.SIGINT)
    stopped, n_samples, n_fits = json.loads(process.stdout.readline())
    assert process.wait(120) == 0
    assert stopped == "interrupted"
    assert 0 < n_samples < 400
    assert 50 <= n_fits < 24 * 40
