"""The simulation study: the committed rows come out again, and claims can disagree."""

import numpy as np
import pandas as pd
import pytest
from studies.harness import Options, Part, read_results, run, write_results
from studies.simulation import COLUMNS, SETTINGS, claims, one_table, summarise

from studies import simulation


def test_the_design_is_the_papers():
    assert len(SETTINGS) == 196
    assert {(a, b) for *_, a, b in SETTINGS} == {(9, 6), (14, 6), (24, 6), (54, 6)}


def test_a_row_has_what_it_says():
    row = dict(zip(COLUMNS, one_table(*SETTINGS[0], 3), strict=True))
    assert row["estimate naive"] >= row["estimate bbc"]
    assert 0 < row["models bced"] <= 1
    assert row["covered bbc 0.99"] >= row["covered bbc 0.5"]


def test_pieces_and_interruptions_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(simulation, "REPETITIONS", 4)
    monkeypatch.setattr(simulation, "PIECE", 2)
    keys = [(*SETTINGS[0], first) for first in (0, 2)]
    part = Part(lambda: keys, simulation.piece, simulation.results)
    options = Options(work=tmp_path / "work", output=tmp_path)
    whole = run("simulation", "main", part, options)["main"]
    sorted((tmp_path / "work").rglob("*.json"))[0].unlink()  # as if stopped in the middle
    assert run("simulation", "main", part, options)["main"] == whole
    assert whole == [summarise(SETTINGS[0], np.array([one_table(*SETTINGS[0], r) for r in range(4)]))]
    back = read_results("simulation", tmp_path)
    assert back["bias naive"][0] == pytest.approx(whole[0]["bias naive"], rel=1e-5)


@pytest.mark.soak
@pytest.mark.parametrize(("n", "c", "a"), [(20, 50, 9), (40, 200, 54), (100, 500, 24), (500, 50, 14)])
def test_committed_rows_come_out_again(n, c, a, tmp_path):
    setting = next(s for s in SETTINGS if s[1:4] == (n, c, a))
    rows = read_results("simulation")
    committed = rows[(rows.n == n) & (rows.c == c) & (rows.a == a)].to_dict("records")
    row = summarise(setting, np.array([one_table(*setting, r) for r in range(500)]))
    write_results([row], tmp_path / "again.csv", simulation.PARTS["main"], 1)
    assert read_results("again", tmp_path).to_dict("records") == committed  # all digits that are committed


def test_claims_disagree_when_the_numbers_do():
    design = [s for s in SETTINGS if s[2] in (50, 500) and s[1] <= 40]
    rows = pd.DataFrame([summarise(s, np.tile(np.array([one_table(*s, r) for r in range(2)]), (3, 1))) for s in design])
    rows["bias naive"] = -0.1
    verdicts = {c.says: c.agrees for c in claims(rows)}
    assert not verdicts["CVT is optimistic in all settings"]
    assert not verdicts["the bias of CVT is as high as"]


def test_few_repetitions_cannot_tell():
    rows = read_results("simulation")
    rows["bias naive"] += 0.02  # more than the claim allows, less than the error of few repetitions
    says = "the bias of CVT is as high as"
    assert next(c.agrees for c in claims(rows) if c.says == says) is False
    rows["se naive"] = 0.02
    assert next(c.agrees for c in claims(rows) if c.says == says) is None
