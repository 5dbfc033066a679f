"""Tables of predictions: long ones agree with the paper's loop, and what holds an array changes nothing."""

import dask.array as da
import numpy as np
import pytest

import sobercv
from sobercv.errors import SoberError
from sobercv.inference.units import CHUNK, Units

N, C = 2 * CHUNK + 9_000, 5  # drawn in two whole chunks and a part of one
RNG = np.random.default_rng(91)
Y = RNG.integers(0, 2, N)
P = np.round(np.clip(0.1 * Y[:, None] + 0.9 * RNG.random((N, C)), 0, 1), 3)
L = (P > 0.5).astype(np.uint8)
T = RNG.normal(size=N)
G = T[:, None] + RNG.normal(size=(N, C)) * np.linspace(1.0, 1.01, C)
FEW = 400
OPTIONS = {"n_bootstraps": 70, "random_state": 3}


def assert_same(ours, theirs):
    """Every public number, bit for bit."""
    for name in ("draws", "value", "naive", "interval", "scores", "winner", "n_undefined", "n_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def memory_map(p, where):
    np.save(where / "p.npy", p)
    return np.load(where / "p.npy", mmap_mode="r")


CONTAINERS = {
    "memory map": memory_map,
    "dask": lambda p, where: da.from_array(p, chunks=(33, 2)),
    "by columns": lambda p, where: np.asfortranarray(p),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("metric", "p"), [("accuracy", L[:FEW]), ("roc_auc", P[:FEW]), ("neg_log_loss", P[:FEW])])
def test_the_container_changes_nothing(container, metric, p, tmp_path):
    held = CONTAINERS[container](p, tmp_path)
    assert_same(sobercv.bbc(Y[:FEW], held, metric, **OPTIONS), sobercv.bbc(Y[:FEW], p, metric, **OPTIONS))


@pytest.mark.parametrize("file", ["oof.parquet", b"oof.parquet"])
def test_a_file_name_is_no_array(file, tmp_path):
    for given in (file, tmp_path / "oof.parquet"):
        with pytest.raises(SoberError, match=r"oof\.parquet.*read_parquet") as caught:
            sobercv.bbc(Y, given, "accuracy")
        assert caught.value.code == "E101"


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_jobs_changes_no_bit(n_jobs):
    for y, p, metric in ((T, G, "neg_mean_squared_error"), (Y, P, "roc_auc")):
        assert_same(*(sobercv.bbc(y, p, metric, **OPTIONS, n_jobs=n) for n in (None, n_jobs)))


def test_the_loop_of_the_paper():
    """Algorithm 5 as a loop over resamples, in which every row is repeated as often as it was drawn."""
    counts = Units(N, 5).counts(0, 6)
    draws, wins = [], []
    for row in counts:
        drawn = np.repeat(np.arange(N), row)
        inside = [np.mean(L[drawn, c] == Y[drawn]) for c in range(C)]
        wins.append(int(np.argmax(inside)))
        out = row == 0
        draws.append(np.mean(L[out, wins[-1]] == Y[out]))
    estimate = sobercv.bbc(Y, L, "accuracy", n_bootstraps=6, random_state=5)
    np.testing.assert_array_equal(estimate.draws, draws)
    assert estimate.win_counts.tolist() == np.bincount(wins, minlength=C).tolist()
    np.testing.assert_array_equal(estimate.scores, (Y[:, None] == L).mean(axis=0))
