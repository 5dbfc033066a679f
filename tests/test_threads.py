"""The limit on BLAS threads belongs to the process: calls that overlap keep it, and the last one gives it back."""

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import sobercv
from sobercv import threads


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 1), (1, 1), (3, 3), (np.int64(2), 2)])
def test_n_jobs_is_read_as_in_scikit_learn(n_jobs, expected):
    assert threads.count(n_jobs) == expected


def test_negative_n_jobs_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda process: range(8), raising=False)
    assert [threads.count(n) for n in (-1, -2, -8, -100)] == [8, 7, 1, 1]


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "all"])
def test_what_is_no_number_of_jobs(n_jobs):
    with pytest.raises(sobercv.SoberError, match=r"n_jobs.*E108"):
        sobercv.bbc([0, 1, 0, 1], [[0], [1], [0], [1]], "accuracy", n_jobs=n_jobs)


def test_overlapping_calls_of_bbc_keep_the_limit_and_give_it_back():
    """The first call ends while the second is at work, and must not take its limit away, nor leave it behind."""
    y, p = np.arange(60) % 2, np.random.default_rng(0).random((60, 4))
    second_is_in, first_is_over, seen = threading.Event(), threading.Event(), []

    def first(scores):
        if len(scores) > 1:  # in the bootstrap
            assert second_is_in.wait(60)
        return scores.argmax(axis=1)

    def second(scores):
        if len(scores) > 1:
            second_is_in.set()
            assert first_is_over.wait(60)
            seen.append(blas_threads())
        return scores.argmax(axis=1)

    def call(rule):
        return sobercv.bbc(y, p, "roc_auc", select=rule, n_bootstraps=50)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(call, first)
            one.add_done_callback(lambda done: first_is_over.set())
            two = pool.submit(call, second)
            assert one.result().draws.tolist() == two.result().draws.tolist()
        after = blas_threads()
    assert before == after == {2}
    assert seen == [{1}]


def openmp_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"}


def test_models_trained_side_by_side_have_one_openmp_thread_each():
    import sklearn.ensemble  # noqa: F401 - brings OpenMP along

    both_are_in = threading.Barrier(2, timeout=600)

    def limited():
        with threadpool_limits(2, user_api="openmp"):
            with threads.one_openmp_thread():
                both_are_in.wait()
                inside = openmp_threads()
                both_are_in.wait()
            return inside, openmp_threads()

    with ThreadPoolExecutor(2) as pool:
        found = [done.result() for done in [pool.submit(limited), pool.submit(limited)]]
    assert found == [({1}, {2}), ({1}, {2})]


def test_no_number_depends_on_the_threads_of_blas():
    """Long products round differently on several threads, so plain scores and standard errors are made on one, too."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    p = y[:, None] + rng.normal(size=(20_000, 300))
    found = []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            found.append(sobercv.bbc(y, p, "neg_mean_squared_error", select="simplest_within", n_bootstraps=64))
            found.append(sobercv.naive(y, p, "neg_mean_squared_error"))
    bits = [estimate.scores.tobytes() for estimate in found]
    assert len(set(bits)) == 1
    assert found[0].draws.tobytes() == found[2].draws.tobytes()


# ---- warnings -------------------------------------------------------------------------------------------------------
def test_threads_ignore_warnings_one_after_the_other():
    """With `catch_warnings` in each at once, the last one out would restore what the first one had set."""
    first_is_out, order = threading.Event(), []

    def second():
        with threads.ignored_warnings():
            order.append(first_is_out.is_set())
            warnings.warn("not heard", UserWarning, stacklevel=1)

    before = list(warnings.filters)
    other = threading.Thread(target=second)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with threads.ignored_warnings():
            other.start()
            other.join(0.1)
            first_is_out.set()
        other.join()
        assert order == [True]
        assert not caught
        warnings.warn("heard", UserWarning, stacklevel=1)
        assert [str(w.message) for w in caught] == ["heard"]
    assert warnings.filters == before


def test_a_function_as_metric_on_threads_leaves_the_filters_as_they_were():
    y, p = np.arange(60) % 2, np.random.default_rng(0).random((60, 2)).round()

    def share(y_true, y_pred):
        warnings.warn("a thousand times", RuntimeWarning, stacklevel=2)
        return float(np.mean(y_true == y_pred))

    before = list(warnings.filters)
    for _ in range(5):
        metric = sobercv.make_metric(share, task="classification")
        sobercv.bbc(y, p, metric, n_bootstraps=300, n_jobs=4)
        assert warnings.filters == before


# ---- forks ----------------------------------------------------------------------------------------------------------
FORK = """
import os, sys, threading, time
import numpy as np
import sobercv
from sobercv import threads

y, p = np.arange(60) % 2, np.random.default_rng(0).random((60, 4))
inside, go_on, limit = threading.Event(), threading.Event(), threads._controller

def slow_limit(n_modules):
    inside.set()  # with the lock held
    time.sleep(0.5)
    return limit(n_modules)

def rule(scores):
    go_on.wait(600)
    return scores.argmax(axis=1)

sobercv.bbc(y, p, "roc_auc", n_bootstraps=50)  # an import that another thread has begun would hang, too, as in any fork
threads._controller = slow_limit
other = threading.Thread(target=lambda: sobercv.bbc(y, p, "roc_auc", select=rule, n_bootstraps=50), daemon=True)
other.start()
assert inside.wait(600)
threads._controller = limit
child = os.fork()
if child == 0:
    sobercv.bbc(y, p, "roc_auc", n_bootstraps=50)
    os._exit(0 if not threads._inside and not threads._limits else 3)
deadline = time.monotonic() + 600
while time.monotonic() < deadline:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        go_on.set()
        other.join(600)
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.05)
os.kill(child, 9)
sys.exit("the child hangs")
"""


def test_a_fork_while_another_thread_is_inside_bbc():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
