"""A real ray on this machine: the same bits as serial, also when a worker is killed."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import joblib
import pytest

from sobercv.errors import SoberError
from sobercv.training.pool.clusters import RayPool

from .mortal import mortal_search, parts, pipeline_search, speculative_race

pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture(scope="module")
def cluster():
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # ray's workers step back for others, and tests wait for them
    import ray
    from ray.util.joblib import register_ray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            address="local",  # not one that happens to run on this machine
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            object_store_memory=80_000_000,
            _node_ip_address="127.0.0.1",
        )
        register_ray()
        yield ray
        ray.shutdown()


def test_the_same_bits_as_serial(cluster):
    alone = pipeline_search(drop="auto")
    with joblib.parallel_config("ray", n_jobs=-1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert parts(pipeline_search(drop="auto")) == parts(alone)


def test_idle_workers_begin_later_rounds(cluster, monkeypatch, tmp_path):
    with joblib.parallel_config("ray", n_jobs=2):
        assert speculative_race(RayPool, monkeypatch, tmp_path)


def test_a_worker_that_is_killed(cluster, tmp_path):
    alone = mortal_search()
    with joblib.parallel_config("ray", n_jobs=-1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mortal_search({"once": str(tmp_path / "killed")})
    assert (tmp_path / "killed").exists()
    assert parts(found) == parts(alone)
    assert found.race_.n_fits == 40


NODES = """
import os, warnings
os.environ.update(RAY_AUTH_MODE="disabled", RAY_ENABLE_UV_RUN_RUNTIME_ENV="0", RAY_USAGE_STATS_ENABLED="0")
import joblib, ray
from ray.cluster_utils import Cluster
from ray.util.joblib import register_ray
from sobercv.errors import SoberError
from sobercv.training import Fitted
from sobercv.training.pool import clusters
from tests.clusters.mortal import mortal_search, parts

warnings.simplefilter("ignore")
clusters.WAIT_FOR_NODES, clusters.COUNT_SECONDS = 5, 1
alone = mortal_search()
small = {"object_store_memory": 80_000_000}
# A node that does not answer twice is dead; by default ray asks five times, every three seconds.
checks = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
head = {"num_cpus": 0, "include_dashboard": False, "_system_config": checks, **small}
cluster = Cluster(initialize_head=True, head_node_args=head)
nodes = [cluster.add_node(num_cpus=1, **small) for _ in range(2)]
ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
register_ray()
n_fits = 0
def kill(event):
    global n_fits
    n_fits += isinstance(event, Fitted)
    if n_fits % 40 == 5 and isinstance(event, Fitted):
        cluster.remove_node(nodes.pop(), allow_graceful=False)
with joblib.parallel_config("ray", n_jobs=2):
    print("same bits:", parts(mortal_search(on_event=kill)) == parts(alone), n_fits, len(nodes))
    try:
        mortal_search(on_event=kill)
    except SoberError as error:
        print("the last node:", error.code, error)
"""


def test_a_head_that_does_not_answer_counts_as_lost(monkeypatch):
    """ray raises what its transport raises; the search waits a while, and then says what happened."""

    def silent():
        raise ConnectionError("failed to connect to GCS")

    pool = object.__new__(RayPool)
    pool.ray, pool._flying = SimpleNamespace(nodes=silent, is_initialized=lambda: True), {0: None}
    pool._missing_since = time.monotonic() - 1000
    with pytest.raises(SoberError, match="no node left") as error:
        pool._look()
    assert error.value.code == "E602"


def test_nodes_that_die(tmp_path):
    """One of two: the same bits. The last one: a sentence, and no endless waiting."""
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-c", NODES]
    found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert "same bits: True 40 1" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]
    assert "the last node: E602" in found.stdout, found.stdout[-2000:] + found.stderr[-2000:]
