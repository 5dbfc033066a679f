"""Bytes flipped and files cut anywhere: the right result or a refusal in a sentence, never anything else."""

import os
import shutil
import warnings

import numpy as np
import pytest

from sober.errors import SoberError, SoberWarning

from . import runs

CASES = 1000 if os.environ.get("SOBER_SOAK") else 240
SMALL = {"cv": 4, "grid": {"C": [0.01, 1.0], "flip": [False, True]}, "refit": False}
REFUSALS = {"E503", "E504", "E505", "E507"}
PAGE = 4096


def run(path, n_repeats=2, drop=None):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", SoberWarning)
        found = runs.search(path, n_repeats=n_repeats, drop=drop, **SMALL)
    return found, [w.message.code for w in heard if isinstance(w.message, SoberWarning)]


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """A finished store, and one as a kill would leave it: one repeat in the file, another one in its side file."""
    folder = tmp_path_factory.mktemp("snapshots")
    path = folder / "run.sqlite"

    def watch(predictions, metric, seed, index):
        if index == 6:
            for side in ("", "-wal"):
                shutil.copy(f"{path}{side}", f"{folder / 'killed'}{side}")

    run(path, n_repeats=1)
    run(path, drop=watch)
    assert os.path.getsize(folder / "killed-wal") > 5 * PAGE
    shutil.copy(path, folder / "finished")
    return folder, runs.bits(run(None)[0])


def flip(raw, rng, n):
    # Every other time where structure lives: the header of the file, or the head of a page.
    if rng.random() < 0.5:
        places = rng.integers(0, max(len(raw) // PAGE, 1), n) * PAGE + rng.integers(0, 108, n)
    else:
        places = rng.integers(0, len(raw), n)
    for place in places % len(raw):
        raw[place] ^= rng.integers(1, 256)
    return raw


def cut(raw, rng, n):
    return raw[: rng.integers(0, len(raw))]


def blank(raw, rng, n):
    start = rng.integers(0, len(raw)) // 512 * 512
    raw[start : start + 512 * n] = 0
    return raw


def swap(raw, rng, n):
    """Two pages change places, as a careless copy of parts would do."""
    pages = [raw[i : i + PAGE].copy() for i in range(0, len(raw) - PAGE + 1, PAGE)]
    a, b = rng.integers(0, len(pages), 2)
    raw[a * PAGE : (a + 1) * PAGE], raw[b * PAGE : (b + 1) * PAGE] = pages[b], pages[a]
    return raw


DAMAGES = (flip, flip, flip, cut, blank, swap)


def damage(folder, work, case):
    rng = np.random.default_rng([3, case])
    kind = ("finished", "killed", "killed")[case % 3]
    path = work / "run.sqlite"
    for side in ("", "-wal"):
        if os.path.exists(f"{folder / kind}{side}"):
            shutil.copy(f"{folder / kind}{side}", f"{path}{side}")
    target = f"{path}-wal" if case % 3 == 2 else str(path)
    raw = np.fromfile(target, np.uint8)
    DAMAGES[rng.integers(len(DAMAGES))](raw, rng, int(rng.integers(1, 9))).tofile(target)
    return path


def test_damage_anywhere_is_never_a_wrong_result(snapshots, tmp_path):
    folder, truth = snapshots
    refused, mended, quiet = [], 0, 0
    for case in range(CASES):
        work = tmp_path / str(case)
        work.mkdir()
        path = damage(folder, work, case)
        try:
            found, heard = run(path)
        except SoberError as error:
            assert error.code in REFUSALS, (case, error)
            assert str(path) in str(error)
            refused.append(error.code)
            continue
        assert runs.bits(found) == truth, case
        assert set(heard) <= {"W502"}
        mended += bool(heard)
        quiet += not heard
        if heard:
            again, heard = run(path)  # what was mended stays mended
            assert runs.bits(again) == truth
            assert not heard, case
        shutil.rmtree(work)
    assert mended > CASES / 10  # the rescue was really needed,
    assert quiet > CASES / 10  # and cuts between two outcomes need none
    assert len(refused) < CASES / 3  # most of the time there is something to save


@pytest.mark.parametrize("case", ["missing", "empty", "of another run"])
def test_a_side_file_that_is_not_its_own(snapshots, tmp_path, case):
    folder, truth = snapshots
    path = tmp_path / "run.sqlite"
    shutil.copy(folder / "killed", path)
    if case == "empty":
        (tmp_path / "run.sqlite-wal").touch()
    if case == "of another run":
        other = tmp_path / "other.sqlite"
        runs.search(other, X=-runs.X, drop=lambda *a: shutil.copy(f"{other}-wal", f"{path}-wal") and None, **SMALL)
        with pytest.raises(SoberError) as error:
            run(path)
        assert error.value.code == "E502"
    else:
        assert runs.bits(run(path)[0]) == truth


def test_what_is_whole_in_a_damaged_file_is_not_lost(snapshots, tmp_path, monkeypatch):
    folder, truth = snapshots
    path = tmp_path / "run.sqlite"
    shutil.copy(folder / "finished", path)
    raw = np.fromfile(path, np.uint8)
    raw[-PAGE : -PAGE + 8] = 255  # the head of the last page
    raw.tofile(path)
    monkeypatch.setenv("SOBER_FIT_LOG", str(tmp_path / "fits.log"))
    found, heard = run(path)
    assert runs.bits(found) == truth
    assert heard == ["W502"]
    assert 0 < len(runs.fits(tmp_path / "fits.log")) < found.n_fits_
    assert (tmp_path / "run.sqlite.damaged").read_bytes() == raw.tobytes()
