"""The simulation study: the committed rows come out again, and claims can disagree."""

from dataclasses import replace

import pandas as pd
import pytest
from studies.harness import Options, read_results, run, write_results
from studies.simulation import PARTS, SETTINGS, checked, one_table, summarise


def test_the_design_is_the_papers():
    assert len(SETTINGS) == 196
    assert {(a, b) for *_, a, b in SETTINGS} == {(9, 6), (14, 6), (24, 6), (54, 6)}


def test_a_row_has_what_it_says():
    row = one_table(*SETTINGS[0], 3)
    assert row["estimate naive"] >= row["estimate bbc"]
    assert 0 < row["models bced"] <= 1
    assert row["covered bbc 0.99"] >= row["covered bbc 0.5"]


def test_pieces_and_interruptions_change_nothing(tmp_path):
    part = replace(PARTS["main"], design=lambda: [SETTINGS[0]], samples=4, at_once=2)
    options = Options(work=tmp_path / "work", output=tmp_path)
    whole = run("simulation", "main", part, options)["main"]
    sorted((tmp_path / "work").rglob("*.json"))[0].unlink()  # as if stopped in the middle
    assert run("simulation", "main", part, options)["main"].equals(whole)
    (row,) = whole.to_dict("records")
    again = summarise(pd.DataFrame([one_table(*SETTINGS[0], r) for r in range(4)]))
    assert row == dict(zip(("n", "c", "a", "b"), SETTINGS[0][1:], strict=True)) | again
    back = read_results("simulation", tmp_path)
    assert back["bias naive"][0] == pytest.approx(row["bias naive"], rel=1e-5)


@pytest.mark.soak
@pytest.mark.parametrize(("n", "c", "a"), [(20, 50, 9), (40, 200, 54), (100, 500, 24), (500, 50, 14)])
def test_committed_rows_come_out_again(n, c, a, tmp_path):
    setting = next(s for s in SETTINGS if s[1:4] == (n, c, a))
    rows = read_results("simulation")
    committed = rows[(rows.n == n) & (rows.c == c) & (rows.a == a)].to_dict("records")
    part = PARTS["main"]
    made = pd.DataFrame(part.made(None, [(*setting, r) for r in range(500)]))
    write_results(part.results(made), tmp_path / "again.csv", part, 1)
    assert read_results("again", tmp_path).to_dict("records") == committed  # all digits that are committed


def test_claims_disagree_when_the_numbers_do():
    rows = read_results("simulation")
    assert checked(rows)["short"].below()
    rows["bias naive"] = -0.1
    found = checked(rows)
    assert not found["short"].below()
    assert not found["top"].near(0.17, 0.015)


def test_few_repetitions_cannot_tell():
    rows = read_results("simulation")
    rows["bias naive"] += 0.02  # more than the claim allows, less than the error of few repetitions
    assert checked(rows)["top"].near(0.17, 0.015) is False
    rows["se naive"] = 0.02
    assert checked(rows)["top"].near(0.17, 0.015) is None
