"""SIGKILL at random moments, then the same call again: the same bits, nothing fitted twice but what was in flight."""

import os
from collections import Counter

import numpy as np

from . import runs

KILLS = 300 if os.environ.get("SOBER_SOAK") else 32
FIT = 0.002  # seconds


def test_a_killed_run_ends_with_the_same_bits(zygote, tmp_path):
    whole = tmp_path / "whole"
    whole.mkdir()
    answer = zygote.run(whole, seconds=FIT)
    assert answer["bits"] == zygote.truth  # a store changes nothing
    needed = Counter(runs.fits(whole / "fits.log"))
    assert set(needed.values()) == {1}
    rng = np.random.default_rng(0)
    kills, sizes, case = 0, [], 0
    while kills < KILLS:
        folder = tmp_path / str(case)
        folder.mkdir()
        here = 0
        for _ in range(1 + case % 3):  # once, twice, three times on the same file
            stopped = zygote.run(folder, seconds=FIT, kill=rng.uniform(0, answer["seconds"]))
            here += stopped["killed"]
            assert "traceback" not in stopped
        done = Counter(runs.fits(folder / "fits.log"))
        sizes.append(len(done))
        end = zygote.run(folder, seconds=FIT)
        assert end.get("bits") == zygote.truth, end
        fits = Counter(runs.fits(folder / "fits.log"))
        assert fits.keys() == needed.keys()
        assert fits.total() - needed.total() <= here  # one fit at a time is in flight
        kills += here
        case += 1
    assert min(sizes) < len(needed)  # some came before the end,
    assert len(set(sizes)) >= min(KILLS // 8, len(needed) // 2)  # and at many different moments


def test_a_finished_run_fits_nothing_again(zygote, tmp_path):
    zygote.run(tmp_path)
    before = runs.fits(tmp_path / "fits.log")
    assert zygote.run(tmp_path)["bits"] == zygote.truth
    assert runs.fits(tmp_path / "fits.log") == before


def test_killed_with_workers_in_flight(zygote, tmp_path):
    for i, kill in enumerate((0.1, 0.2, 0.3)):
        folder = tmp_path / str(i)
        folder.mkdir()
        zygote.run(folder, seconds=FIT, kill=kill, options={"n_jobs": 2})
        end = zygote.run(folder, seconds=FIT)
        assert end.get("bits") == zygote.truth, end
