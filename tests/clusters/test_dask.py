"""A real dask cluster, a scheduler and two worker processes on this machine: the same bits as serial, whatever dies."""

import contextlib
import logging
import os
import time
import warnings
from concurrent.futures import Future
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Fitted
from sobercv.training.pool import work
from sobercv.training.pool.clusters import DaskPool

from .mortal import mortal_search, parts, pipeline_search, speculative_race

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # dask gives a worker up for good that does not come back soon; a busy machine needs longer to start one again.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
        cluster = distributed.LocalCluster(host="127.0.0.1", silence_logs=logging.CRITICAL, **options)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=120)
            yield client
        with contextlib.suppress(Exception):  # dask itself stumbles over workers that died
            cluster.close(timeout=5)


@pytest.mark.parametrize("drop", [None, "auto"])
def test_the_same_bits_as_serial(client, drop):
    alone = pipeline_search(drop=drop)
    with joblib.parallel_config("dask"):
        assert parts(pipeline_search(drop=drop)) == parts(alone)


def test_idle_workers_begin_later_rounds(client, monkeypatch, tmp_path):
    with joblib.parallel_config("dask"):
        assert speculative_race(DaskPool, monkeypatch, tmp_path)


def test_data_are_scattered_once(client, monkeypatch):
    scattered, calls = [], []
    plain, submit = client.scatter, client.submit
    monkeypatch.setattr(client, "scatter", lambda *a, **k: scattered.append(a) or plain(*a, **k))
    monkeypatch.setattr(client, "submit", lambda *a, **k: calls.append(a) or submit(*a, **k))
    with joblib.parallel_config("dask"):
        pipeline_search(drop="auto")
    assert len(scattered) == 1
    assert len(calls) > 20
    assert max(len(call[2]) for call in calls) < 6000  # splits and configurations, no data


def test_a_worker_killed_from_outside(client):
    alone = mortal_search()
    heard = []

    def kill(event):
        heard.append(event)
        if sum(isinstance(e, Fitted) for e in heard) == 10 and isinstance(event, Fitted):
            os.kill(next(iter(client.run(os.getpid).values())), 9)

    with joblib.parallel_config("dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mortal_search(on_event=kill)
    assert sum(isinstance(e, Fitted) for e in heard) == 40
    assert parts(found) == parts(alone)


def test_all_workers_killed_one_after_the_other(client, tmp_path):
    client.wait_for_workers(2, timeout=120)
    alone = mortal_search()
    with joblib.parallel_config("dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mortal_search({"once": str(tmp_path / "killed")})
    assert (tmp_path / "killed").exists()
    assert parts(found) == parts(alone)


def test_a_configuration_that_kills_its_worker_is_named(client):
    client.wait_for_workers(2, timeout=120)
    alone = mortal_search()
    with joblib.parallel_config("dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mortal_search({"spared": os.getpid()}, refit=False)
    assert list(found.race_.failures) == [3]
    assert found.race_.failures[3].kind == "worker died"
    expected = np.delete(alone.predictions_.responses["predict"], 3, axis=1)
    np.testing.assert_array_equal(found.predictions_.responses["predict"], expected)


def test_a_batch_that_dask_loses_is_handed_out_again(client, monkeypatch):
    """It waits for what no worker has, as batches do whose data died with a worker."""
    client.wait_for_workers(2, timeout=120)
    lost, submit = [], DaskPool._future

    def losing(self, key, batch, is_speculative):
        if lost:
            return submit(self, key, batch, is_speculative)
        lost.append(key)
        return self.client.get_executor(pure=False, resources={"nowhere": 1}).submit(int)

    monkeypatch.setattr(DaskPool, "_future", losing)
    alone = mortal_search()
    with joblib.parallel_config("dask"), pytest.warns(SoberWarning, match="dask lost what it worked on"):
        found = mortal_search()
    assert lost
    assert parts(found) == parts(alone)


def test_what_had_come_back_when_the_scheduler_died_is_kept():
    client = SimpleNamespace(status="closed")
    pool, made, lost = DaskPool(SimpleNamespace(client=client, effective_n_jobs=lambda n: 2)), Future(), Future()
    made.set_result(["an outcome"])
    lost.cancel()
    for key, future in enumerate((made, lost)):
        pool._flying[key] = future
        pool._inbox.put(key)
    first, second = pool.wait(0)
    assert (first.outcomes, first.death) == (["an outcome"], "")
    assert second.death == "CancelledError"
    with pytest.raises(SoberError, match="the scheduler does not answer") as error:  # where it is tried again
        pool.submit(2, ())
    assert error.value.code == "E602"


def test_a_scheduler_that_dies_while_it_is_asked_loses_nothing(monkeypatch):
    """The client still believes in it; what comes back next says that it is gone."""

    def closed(*args):
        raise OSError("in <TCP (closed) ConnectionPool.processing>")

    client = SimpleNamespace(status="running", processing=closed)
    pool, made = DaskPool(SimpleNamespace(client=client, effective_n_jobs=lambda n: 2)), Future()
    monkeypatch.setattr("sobercv.training.pool.clusters.COUNT_SECONDS", -1.0)
    made.set_result(["an outcome"])
    pool._flying = {0: made, 1: Future()}
    pool._inbox.put(0)
    (report,) = pool.wait(0)
    assert report.outcomes == ["an outcome"]


def _is_empty():
    return not work._opened


def _forget_soon():
    work.FORGET_SECONDS = 0.5


def test_workers_forget_the_data(client):
    """The data of a search do not stay in the memory of the cluster."""
    client.wait_for_workers(2, timeout=120)
    client.run(_forget_soon)
    with joblib.parallel_config("dask"):
        pipeline_search(drop=None)
    end = time.monotonic() + 120
    while not all(client.run(_is_empty).values()):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_scheduler_that_dies_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        cluster = distributed.LocalCluster(silence_logs=logging.CRITICAL, **options)
        other = distributed.Client(cluster, set_as_default=False)

        def end(event):
            if isinstance(event, Fitted):
                other.close()
                cluster.close(timeout=5)

        with joblib.parallel_config("dask", client=other), pytest.raises(SoberError, match="dask cluster") as error:
            mortal_search(on_event=end, drop="auto")
    assert error.value.code == "E602"


@pytest.mark.parametrize("absent_at", ["wait_for_workers", "scatter"])
def test_a_cluster_without_workers_is_told(absent_at):
    def nobody(*args, **options):
        raise TimeoutError("No valid workers found")

    client = SimpleNamespace(
        status="running", **{"wait_for_workers": lambda *a, **k: None, "scatter": print, absent_at: nobody}
    )
    backend = SimpleNamespace(client=client, effective_n_jobs=lambda n: 2)
    pool = DaskPool(backend)
    with pytest.raises(SoberError, match="E602"), pool.opened(None, 1):
        pool.submit(0, ())
