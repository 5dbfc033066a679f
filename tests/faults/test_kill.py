"""Signals at random moments, then the same call again: the same bits, nothing fitted twice but what was in flight.

`make soak` sends 300 SIGKILLs and 100 SIGTERMs, to searches here and to commands in `test_kill_commands.py`.
"""

import os
import signal
from collections import Counter

import numpy as np
import pytest

from . import runs

SOAK = bool(os.environ.get("SOBER_SOAK"))
#: By the number of jobs: those with workers take seconds each.
KILLS = {1: 120, 2: 30} if SOAK else {1: 16, 2: 1}
TERMS = {1: 20, 2: 10} if SOAK else {1: 4, 2: 1}
FIT = 0.002  # seconds


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_killed_search_ends_with_the_same_bits(zygote, tmp_path, n_jobs, record_property):
    options = {"n_jobs": n_jobs}
    whole, alone = tmp_path / "whole", tmp_path / "alone"
    whole.mkdir()
    alone.mkdir()
    answer = zygote.run(whole, seconds=FIT, options=options)
    assert answer["bits"] == zygote.truth  # a store changes nothing
    zygote.run(alone, seconds=FIT)
    needed = Counter(runs.fits(alone / "fits.log"))  # by the race: two workers also begin fits that may be discarded
    assert set(needed.values()) == {1}
    rng = np.random.default_rng(n_jobs)
    kills, sizes, case = 0, [], 0
    while kills < KILLS[n_jobs]:
        folder = tmp_path / str(case)
        folder.mkdir()
        here = 0
        for _ in range(1 + case % 3):  # once, twice, three times on the same file
            stopped = zygote.run(folder, seconds=FIT, kill=rng.uniform(0, answer["seconds"]), options=options)
            here += stopped["killed"]
            assert "traceback" not in stopped
            assert stopped["left"] == []
        sizes.append(len(Counter(runs.fits(folder / "fits.log"))))
        end = zygote.run(folder, seconds=FIT)
        assert end.get("bits") == zygote.truth, end
        fits = Counter(runs.fits(folder / "fits.log"))
        assert needed.keys() <= fits.keys()
        if n_jobs == 1:
            assert fits.keys() == needed.keys()
            assert fits.total() - needed.total() <= here  # one fit at a time is in flight
        kills += here
        case += 1
    assert min(sizes) < len(needed)  # some came before the end,
    if n_jobs == 1:
        assert len(set(sizes)) >= min(KILLS[1] // 8, len(needed) // 2)  # and at many different moments
    record_property(f"ended by SIGKILL, searches with {n_jobs} jobs", kills)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_terminated_search_gives_its_estimate_and_goes_on(zygote, tmp_path, n_jobs, record_property):
    options = {"n_jobs": n_jobs}
    whole = tmp_path / "whole"
    whole.mkdir()
    seconds = zygote.run(whole, seconds=FIT, options=options)["seconds"]
    rng = np.random.default_rng(10 + n_jobs)
    ended, case = Counter(), -1
    while ended.total() - ended["finished"] < TERMS[n_jobs]:
        case += 1
        folder = tmp_path / str(case)
        folder.mkdir()
        kill = rng.uniform(0, seconds)
        stopped = zygote.run(folder, seconds=FIT, kill=kill, signal=signal.SIGTERM, options=options)
        # In the race it ends with an estimate, or without one complete split; before and after it, as programs do.
        assert (
            stopped.get("stopped") in ("terminated", "finished") or stopped.get("code") == "E601" or stopped["killed"]
        )
        assert stopped["left"] == []
        assert zygote.run(folder, seconds=FIT)["bits"] == zygote.truth
        ended[stopped.get("stopped", "at once")] += 1
    record_property(f"ended by SIGTERM, searches with {n_jobs} jobs", ended.total() - ended["finished"])


def test_a_finished_run_fits_nothing_again(zygote, tmp_path):
    zygote.run(tmp_path)
    before = runs.fits(tmp_path / "fits.log")
    assert zygote.run(tmp_path)["bits"] == zygote.truth
    assert runs.fits(tmp_path / "fits.log") == before
