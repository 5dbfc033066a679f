"""The simulation study: the same numbers however it is cut or interrupted, and claims that can disagree."""

import numpy as np
import pytest
from studies.harness import read_results, write_results
from studies.simulation import run as runner
from studies.simulation.claims import claims
from studies.simulation.design import COLUMNS, one_table, settings
from studies.simulation.run import run, summarise

import studies


def test_the_design_is_the_papers():
    assert len(settings()) == 196
    assert {(s.a, s.b) for s in settings()} == {(9, 6), (14, 6), (24, 6), (54, 6)}


def test_a_row_has_what_it_says():
    row = dict(zip(COLUMNS, one_table(settings()[0], 3, 0), strict=True))
    assert row["estimate naive"] >= row["estimate bbc"]
    assert 0 < row["models bced"] <= 1
    assert row["covered bbc 0.99"] >= row["covered bbc 0.5"]


def test_pieces_and_interruptions_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "QUICK_SAMPLES", (20,))
    monkeypatch.setattr(runner, "QUICK_CONFIGURATIONS", (50,))
    monkeypatch.setattr(runner, "QUICK_REPETITIONS", 4)
    quiet = {"quick": True, "n_jobs": 1, "say": lambda _: None}
    whole = run(tmp_path / "a", **quiet)
    run(tmp_path / "b", **quiet)
    for path in sorted((tmp_path / "b").iterdir())[::2]:
        path.unlink()  # as if stopped in the middle
    again = run(tmp_path / "b", **quiet)
    assert whole == again
    write_results(whole, tmp_path / "results.csv", {})
    back = read_results(tmp_path / "results.csv")
    assert [r["n"] for r in back] == [r["n"] for r in whole]
    assert back[0]["bias naive"] == pytest.approx(whole[0]["bias naive"], rel=1e-5)


@pytest.mark.soak
@pytest.mark.parametrize(("n", "c", "a"), [(20, 50, 9), (40, 200, 54), (100, 500, 24), (500, 50, 14)])
def test_committed_rows_come_out_again(n, c, a, tmp_path):
    setting = next(s for s in settings() if (s.n, s.c, s.a) == (n, c, a))
    committed = next(r for r in read_results(runner.HERE / "results.csv") if (r["n"], r["c"], r["a"]) == (n, c, a))
    row = summarise(setting, np.array([one_table(setting, r, 0) for r in range(500)]))
    write_results([row], tmp_path / "again.csv", {})
    assert read_results(tmp_path / "again.csv") == [committed]  # all digits that are committed


def test_claims_disagree_when_the_numbers_do():
    design = [s for s in settings() if s.c in (50, 500)]
    rows = [
        summarise(s, np.tile(np.array([one_table(s, r, 0) for r in range(2)]), (3, 1))) for s in design if s.n <= 40
    ]
    for row in rows:
        row["bias naive"] = -0.1
    verdicts = {c.says: c.agrees for c in claims(rows)}
    assert not verdicts["CVT is optimistic in all settings"]
    assert not verdicts["the bias of CVT is as high as"]


def test_few_repetitions_cannot_tell():
    rows = read_results(runner.HERE / "results.csv")
    for row in rows:
        row["bias naive"] += 0.02  # more than the claim allows, less than the error of few repetitions
    says = "the bias of CVT is as high as"
    assert next(c.agrees for c in claims(rows) if c.says == says) is False
    for row in rows:
        row["se naive"] = 0.02
    assert next(c.agrees for c in claims(rows) if c.says == says) is None


def test_a_study_that_is_stopped_says_how_it_goes_on(capsys, monkeypatch):
    def stopped(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("studies.simulation.__main__.run", stopped)
    assert studies.main(["simulation", "--quick"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().out


def test_studies_by_name(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "QUICK_SAMPLES", (20,))
    monkeypatch.setattr(runner, "QUICK_CONFIGURATIONS", (50, 100))
    monkeypatch.setattr(runner, "QUICK_REPETITIONS", 3)
    assert studies.main(["nothing"]) == 2
    assert "simulation" in capsys.readouterr().out
    assert studies.main(["simulation", "--quick", "--jobs", "1", "--work", str(tmp_path)]) == 0
    assert " agree" in capsys.readouterr().out
