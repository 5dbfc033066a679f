"""The study of intervals: it judges what `sobercv.bbc` gives, keeps pieces, and says what fails."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from studies.harness import Options, Part, grouped, left_out, run
from studies.intervals import (
    EXCESSES,
    LEVELS,
    by_excess,
    by_factor,
    choose,
    ends,
    judged,
    kept,
    places,
    summarise,
)

import sobercv
from sobercv.testing import simulate
from studies import intervals, sets, simulated


@pytest.fixture(scope="module")
def estimate():
    data = simulate.beta_accuracy(n=40, c=10, seed=3)
    return sobercv.bbc(data.y, data.predictions, "accuracy", n_bootstraps=200, interval="calibrated")


def judged_at(row, level=0.95, excess=1.2):
    return judged(row, ends(row, by_factor(excess), level), row["centre"], level)


def test_the_bounds_are_those_of_the_estimate(estimate):
    row = kept(estimate, truth=0.7, error=0.0)
    paper = sobercv.inference.intervals.Percentile(estimate.draws)
    for level in LEVELS:
        low, high, lower = ends(row, level=level)
        assert (low, high) == pytest.approx(estimate.interval_at(level))
        assert lower == pytest.approx(estimate.lower_bound(level))
        assert ends(row, None, level)[:2] == paper.bounds((1 + level) / 2)


def test_a_larger_factor_is_wider(estimate):
    row = kept(estimate, truth=0.7, error=0.0)
    widths = [judged_at(row, excess=excess)[2] for excess in EXCESSES]
    assert widths == sorted(widths)


def test_the_noise_of_the_truth_is_allowed_for(estimate):
    high = estimate.interval[1]
    sure, unsure = (kept(estimate, truth=high + 0.01, error=e) for e in (0.0, 0.05))
    assert judged_at(sure)[0] is False
    assert judged_at(unsure)[:2] == (True, True)


def test_the_constant_of_a_set_is_chosen_by_the_others():
    def made(name, truth_at):
        """A set whose truth lies at the bound of this factor, so that smaller factors miss."""
        base = {"set": name, "truth error": 0.0, "value": 0.7, "centre": 0.7, "size": 100.0, "doubt": 0.0}
        base |= {"freedom": np.inf, "still lost": 1.0, "low": 0.0, "high": 1.0, "repeats": 1, "truth": 0.0}
        low = ends(base, by_factor(truth_at))[0]
        return {**base, "truth": low + 1e-6}

    rows = pd.DataFrame([*(made(f"easy {k}", 1.0) for k in range(5)), made("hard", 2.0)])
    table = grouped(rows, "set", by_excess).pivot(index="set", columns="excess")
    chosen = left_out(table, choose).chosen
    assert choose(table.mean()) == chosen["easy 1"]
    assert choose(table.loc["hard"]) > chosen["hard"]


def test_every_setting_has_a_table_with_its_truth():
    names = [s.name for s in simulated.settings()]
    assert len(names) == len(set(names))
    families = {s.family: s for s in simulated.settings() if s.n <= 100}
    for setting in families.values():
        made = simulated.table(setting, seed=1)
        assert len(made.y) == len(made.predictions) == setting.n
        assert made.truth.shape == (setting.c,)
        assert not np.isnan(made.truth).any()


def test_places_begin_with_a_bit_of_everything():
    found = places()
    first = [p for p in found if p[2] < 6]
    assert found[: len(first)] == first
    assert {p[0] for p in first} == set(sets.sizes("intervals"))


def test_a_run_makes_judges_and_continues(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    np.savez(tmp_path / "breast_cancer_wdbc.npz", X=X, y=y)
    keys = [("breast_cancer_wdbc", 40, s, 2 - s) for s in (0, 1)]
    part = Part(intervals.PARTS["real"].keys, lambda: keys, intervals.real, intervals.real_results)
    options = Options([tmp_path], tmp_path / "work", output=tmp_path / "out")
    files = run("intervals", "real", part, options)
    assert set(files) == {"real", "repeats", "excess"}
    rows = files["real"]
    assert set(rows.metric) == {"accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"}
    assert (rows.tables == 2).all()
    assert set(files["repeats"].repeats) == {1, 2}
    before = [path.stat().st_mtime_ns for path in sorted((tmp_path / "work").rglob("*.*"))]
    again = run("intervals", "real", part, Options([], tmp_path / "work", output=tmp_path))
    assert all(again[name].equals(rows) for name, rows in files.items())
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "work").rglob("*.*"))] == before


def test_the_worst_set_is_named(estimate):
    bad = kept(estimate, truth=0.0, error=0.0) | {"set": "a", "n": 40, "kind": "binary", "metric": "accuracy"}
    rows = intervals.overall(grouped(pd.DataFrame([bad]), "set n kind metric", summarise))
    (line,) = rows[(rows.level == 95) & (rows.interval == "calibrated")].to_dict("records")
    assert (line["covers"], line["worst"], line["where"]) == (0.0, 0.0, "a")


def test_a_simulated_setting_is_judged():
    name = simulated.settings()[42].name
    rows = pd.DataFrame(intervals.PARTS["simulated"].made(None, [(name, sample) for sample in range(3)]))
    assert len(rows) == 3
    assert rows["value"].nunique() > 1
    assert len(summarise(rows)) == 2 * len(LEVELS)
