"""A real dask cluster, a scheduler and two worker processes on this machine: the same bits as serial, whatever dies."""

import contextlib
import logging
import os
import warnings
from types import SimpleNamespace

import joblib
import pytest

from sobercv.errors import SoberError
from sobercv.training import Fitted
from sobercv.training.run.future_workers import DaskWorkers
from sobercv.training.run.workers import WorkersDied

from .mortal import early_race, mortal_search, parts, pipeline_search

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


def test_idle_workers_begin_later_rounds(client, monkeypatch):
    with joblib.parallel_config("dask"):
        assert early_race(DaskWorkers, monkeypatch)


def test_data_are_scattered_once(client, monkeypatch):
    scattered, calls = [], []
    plain, submit = client.scatter, client.submit
    monkeypatch.setattr(client, "scatter", lambda *a, **k: scattered.append(a) or plain(*a, **k))
    monkeypatch.setattr(client, "submit", lambda *a, **k: calls.append(a) or submit(*a, **k))
    with joblib.parallel_config("dask"):
        pipeline_search(drop="auto")
    assert len(scattered) == 1
    assert len(calls) > 20
    assert max(len(call[3]) for call in calls) < 6000  # splits and configurations, no data


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


class Future:
    """A dask future that has come back, or not."""

    def __init__(self, value):
        self.value = value

    def add_done_callback(self, callback):
        callback(self)

    def result(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class KilledWorker(Exception):
    """dask's word for a task that was given up."""


def test_what_dask_gives_up_is_told_at_the_end():
    class Client:
        def submit(self, work, key, *args, **options):
            return Future(KilledWorker() if key == 1 else (key, "good"))

        def cancel(self, futures):
            raise AssertionError

    class Backend:
        client, submit_kwargs = Client(), {}

        def effective_n_jobs(self, n):
            return 2

    results = []
    with pytest.raises(WorkersDied) as died:
        results.extend(DaskWorkers(Backend()).run(print, {0: "a", 1: "b", 2: "c"}))
    assert died.value.suspects == {1}


@pytest.mark.parametrize("absent_at", ["wait_for_workers", "scatter"])
def test_a_cluster_without_workers_is_told(absent_at):
    def nobody(*args, **options):
        raise TimeoutError("No valid workers found")

    client = SimpleNamespace(**{"wait_for_workers": lambda *a, **k: None, "scatter": print, absent_at: nobody})
    backend = SimpleNamespace(client=client, effective_n_jobs=lambda n: 2)
    with pytest.raises(SoberError, match="E603"):
        DaskWorkers(backend).start((1, 2))
