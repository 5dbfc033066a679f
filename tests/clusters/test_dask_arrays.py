"""Predictions on a real dask cluster: blocks are reduced by the workers that hold them, sums come back, the same bits."""

import contextlib
import logging
import os
import warnings

import numpy as np
import pytest

import sobercv
from sobercv.errors import SoberError
from sobercv.sources import DaskSource

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

N, C = 200_000, 6
OPTIONS = {"n_bootstraps": 70, "random_state": 1}
RNG = np.random.default_rng(95)
Y = RNG.integers(0, 2, N)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(host="127.0.0.1", silence_logs=logging.CRITICAL, **options)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=120)
            yield client
        with contextlib.suppress(Exception):
            cluster.close(timeout=5)


def made_there(block_info=None):
    """Predictions that come into being on a worker, never here; right in about six of ten rows."""
    (start, stop), (first, last) = block_info[None]["array-location"]
    row, column = np.arange(start, stop)[:, None], np.arange(first, last)
    return ((row * (column + 3) * 2654435761) % 1009 / 1009.0).astype(np.float64)


def table(chunks):
    return da.map_blocks(made_there, chunks=da.core.normalize_chunks(chunks, (N, C)), dtype=np.float64)


@pytest.mark.parametrize("chunks", [(65_536, C), (50_000, 2), (N, 1)], ids=str)
def test_the_same_bits_as_in_memory(client, chunks, monkeypatch):
    array = table(chunks)
    here = array.compute()
    assert len(np.unique(here)) > 500
    monkeypatch.setattr(DaskSource, "blocks", None)  # nothing but sums may come back
    for y, metric in ((Y, "accuracy"), (here[:, 0] * 2.0, "neg_mean_squared_error")):
        ours, theirs = (sobercv.bbc(y, p, metric, **OPTIONS) for p in (array, here))
        tolerance = 0 if metric == "accuracy" else 1e-12
        np.testing.assert_allclose(ours.draws, theirs.draws, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(ours.scores, theirs.scores, rtol=tolerance, atol=tolerance)
        assert ours.win_counts.tolist() == theirs.win_counts.tolist()
        assert ours.winner == theirs.winner


def test_work_is_done_by_the_workers(client):
    def work(values, parcel):
        return [(os.getpid(), len(values), parcel)]  # lists are added one after the other

    array = table((65_536, C)).persist()
    (done,) = DaskSource(array).map(work, lambda start, stop: start, slice(0, C), 1)
    who, lengths, starts = zip(*done, strict=True)
    assert lengths == (65_536, 65_536, 65_536, N - 3 * 65_536)
    assert starts == (0, 65_536, 131_072, 196_608)  # in order
    assert set(who) <= set(client.run(os.getpid).values())
    assert os.getpid() not in who


def test_ranks_take_one_block_of_configurations_at_a_time(client):
    array = table((50_000, 2))[:5_000]
    ours, theirs = (sobercv.bbc(Y[:5_000], p, "roc_auc", **OPTIONS) for p in (array, array.compute()))
    np.testing.assert_array_equal(ours.draws, theirs.draws)


def test_what_is_wrong_on_a_worker_is_said_here(client):
    array = table((65_536, C))
    with pytest.raises(SoberError, match=r"In rows [\d,]+ to [\d,]+: Probabilities.*E104"):
        sobercv.bbc(Y, array * 2, "neg_log_loss", **OPTIONS)
