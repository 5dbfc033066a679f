"""Bytes flipped and files cut anywhere: the right result or a refusal in a sentence, never anything else."""

import os
import shutil
import warnings

import numpy as np
import pytest

from sobercv.errors import SoberError, SoberWarning
from sobercv.training import Experiment, MemoryStore, OutcomeCache, Plan, Problem, expand, make_pool
from sobercv.training.race import race
from tests.training.training_estimators import RANKS

from . import runs

CASES = 1000 if os.environ.get("SOBER_SOAK") else 120
SMALL = {"grid": {"C": [0.01, 1.0], "flip": [False, True]}, "refit": False}
REFUSALS = {"E801", "E809", "E505"}
PAGE = 4096


def run(path, n_repeats=2, drop=None):
    """A whole search: a digest of what it found, and what it warned of."""
    return listen(lambda: runs.bits(runs.search(path, n_repeats=n_repeats, drop=drop, **SMALL)))


def fit(path):
    """Only the fits of that search, which take a tenth of the time."""
    problem = Problem.build(runs.X, runs.Y, task="classification")
    plan, configurations = Plan.build(problem, 4, 2), expand(SMALL["grid"])
    experiment = Experiment(problem, runs.Logged(), RANKS)
    store = MemoryStore(problem, plan, len(configurations))
    cache = None if path is None else OutcomeCache(path, experiment, configurations, plan, 0)

    def run():
        race(experiment, configurations, plan, pool=make_pool(), store=store, cache=cache)
        return store.predictions().responses["decision_function"].tobytes()

    return listen(run)


def listen(function):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", SoberWarning)
        found = function()
    return found, [w.message.code for w in heard if isinstance(w.message, SoberWarning)]


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """A finished store, and one as a kill would leave it: one repeat in the file, another one in its side file."""
    folder = tmp_path_factory.mktemp("snapshots")
    path = folder / "run.sqlite"

    def watch(predictions, question, index):
        if index == 6:
            for side in ("", "-wal"):
                shutil.copy(f"{path}{side}", f"{folder / 'killed'}{side}")

    run(path, n_repeats=1)
    run(path, drop=watch)
    assert os.path.getsize(folder / "killed-wal") > 5 * PAGE
    shutil.copy(path, folder / "finished")
    return folder


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


@pytest.fixture(scope="module")
def truths():
    return {call: call(None)[0] for call in (fit, run)}


def test_damage_anywhere_is_never_a_wrong_result(snapshots, truths, tmp_path):
    refused, quiet = [], 0
    for case in range(CASES):
        work = tmp_path / str(case)
        work.mkdir()
        path = damage(snapshots, work, case)
        call = run if case % 10 == 0 else fit
        try:
            found, heard = call(path)
        except SoberError as error:
            refused.append((case, error.code, str(path) in str(error)))
            continue
        assert found == truths[call], case
        assert heard == []
        quiet += 1
        shutil.rmtree(work)
    assert all(code in REFUSALS and named for _, code, named in refused), refused
    assert quiet > CASES / 10  # cuts between two outcomes, and bytes that nothing uses
    assert len(refused) > CASES / 5


def test_names_that_are_no_text(snapshots, truths, tmp_path):
    """Messages of SQLite quote the damaged bytes."""
    whole = (snapshots / "finished").read_bytes()
    start = whole.index(b"outcomes")
    for i in range(start - 4, start + 120, 4):
        path = tmp_path / f"{i}.sqlite"
        path.write_bytes(whole[:i] + b"\xe0" + whole[i + 1 :])
        try:
            found = fit(path)
        except SoberError as error:
            found = error.code
        assert found == "E505", i


@pytest.mark.parametrize("case", ["missing", "empty", "of another run"])
def test_a_side_file_that_is_not_its_own(snapshots, truths, tmp_path, case):
    path = tmp_path / "run.sqlite"
    shutil.copy(snapshots / "killed", path)
    if case == "empty":
        (tmp_path / "run.sqlite-wal").touch()
    if case == "of another run":
        other = tmp_path / "other.sqlite"
        runs.search(other, X=-runs.X, drop=lambda *a: shutil.copy(f"{other}-wal", f"{path}-wal") and None, **SMALL)
        with pytest.raises(SoberError) as error:
            run(path)
        assert error.value.code == "E502"
    else:
        assert run(path)[0] == truths[run]


def test_a_damaged_file_is_left_as_it_is(snapshots, tmp_path):
    """It may be of use to somebody who can repair it."""
    path = tmp_path / "run.sqlite"
    shutil.copy(snapshots / "finished", path)
    raw = np.fromfile(path, np.uint8)
    raw[-PAGE : -PAGE + 8] = 255  # the head of the last page
    raw.tofile(path)
    with pytest.raises(SoberError, match="is damaged") as error:
        fit(path)
    assert error.value.code == "E505"
    assert path.read_bytes() == raw.tobytes()
