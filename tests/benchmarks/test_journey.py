"""The journey at a tiny size: everybody is asked, and the tables say what was measured."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from benchmarks import journey, peers

GRID = [{"reduce": ["passthrough"], "model": [LogisticRegression()], "model__C": [0.1, 1.0, 10.0]}]


@pytest.fixture
def tiny(monkeypatch):
    """One set, four folds, one job: no workers to wait for."""
    data = replace(journey.SHIPPED[0], n=60, n_samples=2, n_outer=None, grid=GRID)
    monkeypatch.setattr(journey, "SHIPPED", (data,))
    monkeypatch.setattr(journey, "FORESTS", GRID)
    monkeypatch.setattr(journey, "FOLDS", 4)
    monkeypatch.setattr(peers, "N_JOBS", 1)
    with threadpool_limits(1):  # as workers have it; on a busy machine, threads that wait for each other take minutes
        yield data


def test_all_tables_are_made(tiny, monkeypatch, capsys):
    monkeypatch.setattr(peers, "has_optuna", lambda: False)
    table, summary, share = journey.run()
    tools = [journey.PLAIN, journey.NESTED, journey.HALVING, journey.SOBER]
    assert [row[1] for row in table[1:]] == tools
    assert [row[0] for row in summary[1:]] == tools
    assert len(share) == 3
    assert {len(row) for row in table} == {len(table[0])}
    assert {len(row) for row in summary} == {len(summary[0])}
    said = capsys.readouterr().out
    assert "sub-sample 1" in said
    assert "no `--data FOLDER` was given: madeline, jasmine, sylvine" in said


def test_sober_beside_the_grid(tiny):
    (heads, row), _ = journey.speed()
    assert len(row) == len(heads)
    assert row[6].endswith("x")


def test_processes_of_their_own(tiny):
    ((heads, row),) = journey.cold()
    assert len(row) == len(heads)
    assert row[-1].endswith("x")


def test_a_part_of_nested_cv_is_marked(tiny):
    task = next(tiny.tasks(None, quick=False))
    plain = peers.grid_search(task)
    whole, part = peers.nested(task, plain), peers.nested(task, plain, n_outer=2)
    assert not whole.scaled
    assert np.isfinite(whole.reported)
    assert part.scaled
    assert np.isnan(part.reported)
    assert whole.models == part.models == 5 * plain.models


def test_the_clock_hears_tests_and_estimate(tiny):
    task = next(tiny.tasks(None, quick=False))
    result = peers.bbc_search(task)
    assert 0 < result.tests + result.estimate < result.seconds
    assert 0 < result.bootstrap_cpu < result.cpu
    assert result.models <= 4 * 3 + 1


@pytest.mark.skipif(not peers.has_optuna(), reason="needs optuna")
def test_optuna_tries_every_configuration(tiny):
    task = next(tiny.tasks(None, quick=False))
    result = peers.wilcoxon(task)
    plain = peers.grid_search(task)
    assert 3 * 2 + 1 <= result.models <= plain.models
    assert result.held_out > 0.8


def test_files_are_read(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "madeline.npz", X=rng.integers(0, 9, (600, 3), np.uint8), y=np.tile([0, 1], 300).astype(np.int8)
    )
    task = next(journey.FROM_FILES[0].tasks(tmp_path, quick=True))
    assert task.X.dtype == np.float64
    assert len(task.X) == 500
    assert len(task.splits) == journey.FOLDS
    assert len(task.configurations) < len(ParameterGrid(journey.CLASSES))
