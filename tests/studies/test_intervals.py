"""The study of intervals: it judges what `sobercv.bbc` gives, keeps pieces, and says what fails."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from studies.intervals import __main__ as command
from studies.intervals import page
from studies.intervals.coverage import EXCESSES, by_excess, choose, ends, judged, summarise
from studies.intervals.measure import LEVELS, row
from studies.intervals.run import run_real, run_simulated
from studies.intervals.simulated import Setting, settings, table
from studies.intervals.tables import SETS, places

import sobercv
from sobercv.testing import simulate


@pytest.fixture(scope="module")
def estimate():
    data = simulate.beta_accuracy(n=40, c=10, seed=3)
    return sobercv.bbc(data.y, data.predictions, "accuracy", n_bootstraps=200, interval="calibrated")


def test_the_bounds_are_those_of_the_estimate(estimate):
    kept = row(estimate, truth=0.7, error=0.0)
    paper = sobercv.inference.intervals.Percentile(estimate.draws)
    for level in LEVELS:
        low, high, lower = ends(kept, "calibrated", level)
        assert (low, high) == pytest.approx(estimate.interval_at(level))
        assert lower == pytest.approx(estimate.lower_bound(level))
        assert ends(kept, "percentile", level)[:2] == paper.bounds((1 + level) / 2)


def test_a_larger_factor_is_wider(estimate):
    kept = row(estimate, truth=0.7, error=0.0)
    widths = [judged(kept, "calibrated", 0.95, excess)[3] for excess in EXCESSES]
    assert widths == sorted(widths)


def test_the_noise_of_the_truth_is_allowed_for(estimate):
    high = estimate.interval[1]
    sure, unsure = (row(estimate, truth=high + 0.01, error=e) for e in (0.0, 0.05))
    assert judged(sure, "calibrated", 0.95)[0] is False
    assert judged(unsure, "calibrated", 0.95)[:3] == (True, True, False)


def test_the_constant_of_a_set_is_chosen_by_the_others():
    def made(name, truth_at):
        """A set whose truth lies at the bound of this factor, so that smaller factors miss."""
        base = {"set": name, "truth error": 0.0, "value": 0.7, "centre": 0.7, "size": 100.0, "doubt": 0.0}
        base |= {"freedom": np.inf, "still lost": 1.0, "low": 0.0, "high": 1.0, "repeats": 1, "truth": 0.0}
        low = ends(base, "calibrated", 0.95, truth_at)[0]
        return {**base, "truth": low + 1e-6}

    rows = by_excess([*(made(f"easy {k}", 1.0) for k in range(5)), made("hard", 2.0)])
    assert choose(rows) == choose(rows, without="easy 1")
    assert choose([r for r in rows if r["set"] == "hard"]) > choose(rows, without="hard")


def test_every_setting_has_a_table_with_its_truth():
    names = [s.name for s in settings()]
    assert len(names) == len(set(names))
    families = {s.family: s for s in settings() if s.n <= 100}
    for setting in families.values():
        made = table(setting, seed=1)
        assert len(made.y) == len(made.predictions) == setting.n
        assert made.truth.shape == (setting.c,)
        assert not np.isnan(made.truth).any()


def test_places_are_unique_and_begin_with_a_bit_of_everything():
    found = places()
    assert len({p.file for p in found}) == len(found) >= 1000
    first = [p for p in found if p.sample < 6]
    assert found[: len(first)] == first
    assert {p.name for p in first} == set(SETS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    X, y = load_breast_cancer(return_X_y=True)
    np.savez(made / "breast_cancer_wdbc.npz", X=X, y=y)
    return made


def test_a_run_makes_judges_and_goes_on(folder, tmp_path):
    said = []
    rows = run_real([folder], tmp_path, quick=True, say=said.append)
    assert {r["set"] for r in rows} == {"breast_cancer_wdbc"}
    assert {r["metric"] for r in rows} == {"accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"}
    assert all(r["centre"] <= r["naive"] for r in rows if r["repeats"] == 1)
    kept = sorted((tmp_path / "judged").glob("*.json"))
    before = [path.stat().st_mtime_ns for path in kept]
    assert run_real([], tmp_path, quick=True, make=False, say=said.append) == rows
    assert [path.stat().st_mtime_ns for path in kept] == before


@pytest.mark.soak
def test_the_command_is_one_of_the_studies(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("studies.intervals.run.QUICK_SETTINGS", 2)
    monkeypatch.setattr("studies.intervals.run.QUICK_REPETITIONS", 3)
    command.main(["--quick", "--data", str(folder), "--work", str(tmp_path)])
    out = capsys.readouterr().out
    assert "real data: level 95 %" in out
    assert "simulation: level 95 %" in out


def test_the_worst_set_is_named(estimate):
    bad = row(estimate, truth=0.0, error=0.0) | {"set": "a", "n": 40, "kind": "binary", "metric": "accuracy"}
    bad |= {"setting": "s"}
    text = page.headline(summarise([bad], page.REAL), summarise([bad], page.SIMULATED))
    assert "covers .000, worst set .000 (a)" in text
    assert "worst set .000 (s)" in text


def test_pieces_do_not_depend_on_their_number():
    one = Setting("equal", 20, 3, 0.6)
    from studies.intervals.run import _piece

    assert _piece(one, 5, 4) == [*_piece(one, 5, 2), *_piece(one, 7, 2)]


def test_simulation_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("studies.intervals.run.simulated.settings", lambda: [Setting("equal", 20, 3, 0.6)])
    rows = run_simulated(tmp_path, quick=False, repetitions=3, say=lambda text: None)
    assert len(rows) == 3
    assert run_simulated(tmp_path, quick=False, repetitions=3, say=lambda text: None) == rows
