"""The study on real data: the paper's design, replayed races that equal real ones, claims that can disagree."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ParameterGrid
from studies.harness import Absent, Options
from studies.races import replay
from studies.real import (
    GUARD,
    SELECTIONS,
    bias,
    by_width,
    coverage,
    drop_equals,
    fits,
    load,
    protocols,
    sub_sample,
    subset,
)

import sobercv
from sobercv import presets
from sobercv.inference import Question
from sobercv.testing import simulate
from studies import real


@pytest.fixture(scope="module")
def table():
    return load_breast_cancer(return_X_y=True)


def grids(X, y):
    return presets.get("paper", "binary", X, y, n_trees=3)


def test_the_full_design_is_the_papers(table):
    keys = real.PARTS["full"].design()
    assert len(keys) == 9 * 6 * 20
    assert sorted({n for _, n, _ in keys}) == [20, 40, 60, 80, 100, 500]
    assert sum(np.prod([len(v) for v in g.values()]) for g in grids(*table).param_grid) == 610


def test_the_small_grid_is_a_part_of_the_full_one(table):
    whole = grids(*table).param_grid
    grid = subset(whole)
    assert sum(np.prod([len(v) for v in g.values()]) for g in grid) == 36
    selections = {None if g["select"][0] == "passthrough" else (g["select"][0].alpha, g["select"][0].k) for g in grid}
    assert selections == set(SELECTIONS)
    every = {str(c) for g in whole for c in ParameterGrid({k: v for k, v in g.items() if k not in ("select", "model")})}
    for part in grid:
        assert {str(c) for c in ParameterGrid({k: v for k, v in part.items() if k not in ("select", "model")})} <= every


def test_pool_and_hold_out_never_meet(table):
    y = table[1]
    numbered = np.arange(len(y))[:, None]
    parts = [sub_sample(numbered, y, n, sample) for n in (20, 100) for sample in (0, 1)]
    rest = {tuple(p.X_rest[:, 0]) for p in parts}
    assert len(rest) == 1  # one hold-out set for all sub-data sets
    assert len(parts[0].X_rest) == len(y) - int(0.3 * len(y))
    for part in parts:
        assert not set(part.X[:, 0]) & set(part.X_rest[:, 0])
        assert len(part.X) in (20, 100)
        assert abs(part.y.mean() - y.mean()) < 0.05
    assert set(parts[0].X[:, 0]) != set(parts[1].X[:, 0])
    assert fits(y, 100)
    assert not fits(y, 500)  # more than the pool
    assert not fits(y, 20)  # too few of the rarer class


def test_dense_and_sparse_files_are_found(tmp_path, table):
    X, y = table
    np.savez(tmp_path / "sylvine.npz", X=X.astype(np.float32), y=y.astype(np.int8))
    rows = sparse.csr_matrix(X)
    np.savez(
        tmp_path / "gisette_valid.npz",
        data=rows.data,
        indices=rows.indices,
        indptr=rows.indptr,
        shape=rows.shape,
        format=b"csr",
        y=y.astype(np.int8),
    )
    options = Options([tmp_path])
    with pytest.raises(Absent, match="dexter"):
        load(options, "dexter")
    for name in ("sylvine", "gisette"):
        here, labels = load(options, name)
        assert here.shape == X.shape
        assert here.dtype == np.float64
        assert np.array_equal(labels, y)


def test_no_network_is_said(monkeypatch):
    def away(**_):
        raise OSError("no network")

    monkeypatch.setattr(real, "fetch_openml", away)
    with pytest.raises(Absent, match=r"christine.*no network"):
        load(Options(), "christine")


@pytest.mark.parametrize("guard", [0, GUARD])
def test_a_replayed_race_is_the_real_race(guard):
    X, y = load_breast_cancer(return_X_y=True)
    part = sub_sample(X, y, 100, 0)
    preset = grids(part.X, part.y)
    pipeline, grid = preset.estimator, subset(preset.param_grid)
    rule = sobercv.BootstrapDrop(threshold=0.99, min_predictions=guard, n_bootstraps=200)
    options = {"scoring": "roc_auc", "cv": 10, "random_state": 3, "refit": False, "n_bootstraps": 200}
    raced = sobercv.BBCSearchCV(pipeline, grid[:4], drop=rule, **options).fit(part.X, part.y)
    whole = sobercv.BBCSearchCV(pipeline, grid[:4], drop=None, **options).fit(part.X, part.y)
    again = replay(whole.predictions_, rule, whole.question_)
    assert round(again.models * 10 * whole.predictions_.n_configurations) == raced.race_.n_fits
    assert np.array_equal(again.survivors.configurations, raced.predictions_.configurations)
    if guard == 0:
        assert again.models < 1


def test_a_row_has_what_it_says(table, monkeypatch):
    monkeypatch.setattr(real, "subset", lambda grids: subset(grids)[2:4])
    part = sub_sample(*table, 30, 0)
    row = protocols(part, 3, False, repeats=2)
    assert row["width 4"] == row["width bbc10"]  # of as many repeats as there are
    assert row["naive"] >= row["bbc"]
    assert 0 < row["models bced"] <= 1 == row["models bced50"]  # 30 samples never reach the guard
    assert row["bced50"] == row["bbc"]
    assert 0 <= row["ncv"] <= 1
    assert protocols(part, 3, False, repeats=2) == row


def _made_up(rng, naive, bced_truth):
    """Results of a world in which we know what every claim must say."""
    made = []
    for data in ("sylvine", "madelon", "dexter"):
        for n in (20, 40, 60, 80, 100, 500):
            for sample in range(4):
                truth = 0.8 + 0.01 * rng.normal()
                row = {"data": data, "n": n, "sample": sample, "configurations": 36, "seconds": 1.0}
                row |= {"naive": truth + naive * 20 / n, "tt": truth + (0.1 if n == 20 else -0.1), "ncv": truth}
                for p in ("bbc", "632+", "bbc-f", "bbc10", "bced", "bced50"):
                    row |= {p: truth - 0.001, f"truth {p}": truth, f"reached {p}": 0.5, f"width {p}": 2 / n}
                row["truth bced"] = truth * (bced_truth if n <= 100 else 1)
                row |= {"bced": row["truth bced"] - 0.02, "truth bbc10": truth + 0.01, "bbc10": truth + 0.009}
                row |= {"alive bced": 0.02, "alive bced50": 1.0, "models bced": 0.3, "models bced50": 0.4}
                row |= {"width 4": 1.6 / n, "width bbc10": 1.5 / n}
                made.append(row)
    return pd.DataFrame(made)


def _wide(tt):
    """All 610 configurations, with so much that TT claims."""
    lines = []
    for n in (20, 500):
        for sample in range(8):
            row = {"data": "sylvine", "n": n, "sample": sample, "naive": 0.9, "tt": tt + 0.001 * sample, "bbc": 0.8}
            for rule in ("strict", "equals"):
                row |= {rule: 0.8, f"truth {rule}": 0.8, f"alive {rule}": 0.1, f"models {rule}": 0.25}
            lines.append(row | {"truth bbc": 0.8})
    return pd.DataFrame(lines)


def _checked(naive, bced_truth, tt=0.9):
    rows = _made_up(np.random.default_rng(0), naive, bced_truth)
    return real.checked(rows, _wide(tt), rows[rows.n == 40].assign(data=np.tile(["dexter", "madeline"], 6)))


def test_claims_follow_the_numbers():
    good, bad = _checked(0.1, 0.92), _checked(-0.1, 1.0, tt=0.7)
    assert good["cvt_up"]
    assert not bad["cvt_up"]
    assert good["tt"].above()
    assert bad["tt"].above() is False  # far from what two errors reach
    assert good["lost"].max() > 2 > bad["lost"].max()
    assert good["speed"] == "sylvine 4.0"


def test_dropping_is_told_by_size():
    first, _ = by_width(_wide(0.7).query("n == 500"))
    assert (first["sub"], f"{first['naive']:+.3f}", first["saved"]) == (8, "+0.100 ± 0.000", 4.0)


def test_the_likely_rule_of_the_paper_drops_equals_too():
    data = simulate.binormal_auc(n=60, c=3, seed=0)
    scores = np.column_stack([data.predictions[:, 0], data.predictions[:, 0], -data.predictions[:, 0]])
    table = sobercv.Predictions.build(data.y, {"decision_function": scores}, task="classification")
    question = Question.ask("roc_auc", random_state=0)
    assert drop_equals(table, question, 0).keep.tolist() == [True, False, False]
    strict = sobercv.BootstrapDrop(min_predictions=0, n_bootstraps=200)
    assert strict(table, question, 0).keep.tolist() == [True, True, False]


def test_coverage_counts_what_was_reached():
    rows = pd.DataFrame({"reached bbc": [0.5, 0.8, 0.95, 2.0], "bbc": 0.5, "truth bbc": 0.4})
    assert coverage(rows, "bbc", 0.8) == 0.5
    assert coverage(rows, "bbc", 0.99) == 0.75
    assert np.allclose(bias(rows, "bbc"), 0.1)
