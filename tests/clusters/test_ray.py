"""A real ray on this machine: the same bits as serial, also when a worker is killed."""

import os
import warnings

import joblib
import pytest

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
