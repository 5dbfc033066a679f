"""What studies share: pieces that are made once, results that are read as they were written, one command line."""

import json
import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from studies.__main__ import STUDIES, main
from studies.harness import Absent, Options, Part, file_name, read_results, results_name, run, write_results

from studies import excess


def logged(options, name, n):
    with (options.work / "log.txt").open("a") as file:
        file.write(f"{name}\n")
    return [{"simulated": n > 1, "bias": np.float64(0.1234567), "size": "1 to 3"}]


PART = Part("data n", lambda: [("a", 1), ("b", 2), ("c", 3)], logged, digits="%.4g", about={"seed": 3})


@pytest.mark.parametrize("jobs", [1, 2])
def test_pieces_are_made_once(tmp_path, jobs, capsys):
    def options(first=None):
        return Options(work=tmp_path, output=tmp_path / "out", jobs=jobs, first=first)

    run("some", "main", PART, options(first=1))
    rows = run("some", "main", PART, options())["main"]
    assert "some, main: 3 pieces; 2 are missing" in capsys.readouterr().out
    assert sorted((tmp_path / "log.txt").read_text().split()) == ["a", "b", "c"]
    assert list(rows.data) == ["a", "b", "c"]
    back = read_results("some", tmp_path / "out").to_dict("records")
    assert back[0] == {"data": "a", "n": 1, "simulated": False, "bias": 0.1235, "size": "1 to 3"}
    about = json.loads((tmp_path / "out" / "some.json").read_text())
    assert (about["seed"], about["pieces"]) == (3, 3)


def test_a_piece_that_fails_leaves_no_file(tmp_path):
    fails = [True]

    def piece(options, name):
        if fails:
            raise ZeroDivisionError
        return [{"x": 1}]

    part = Part("data", lambda: [("a",)], piece)
    with pytest.raises(ZeroDivisionError):
        run("some", "main", part, Options(work=tmp_path, output=tmp_path))
    assert not list((tmp_path / "some").rglob("*.json"))
    fails.clear()
    rows = run("some", "main", part, Options(work=tmp_path, output=tmp_path))["main"]
    assert rows.to_dict("records") == [{"data": "a", "x": 1}]


def test_what_lacks_data_is_left_out_and_replaces_no_results(tmp_path, capsys):
    def piece(options, name):
        if name == "here":
            return [{"x": 1}]
        options.find(name)

    options = Options(work=tmp_path / "work", output=tmp_path / "out")
    run("some", "main", Part("data", lambda: [("here",), ("gone",)], piece), options)
    assert "left out, as they are not in the folders of --data: gone" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "work" / "some.csv").exists()
    with pytest.raises(Absent):
        options.find("gone")


def test_samples_of_all_places_come_round_by_round():
    part = Part(
        "n sample", lambda: [(1,), (2,)], lambda options, n, sample: [{"x": 10 * n + sample}], samples=4, at_once=2
    )
    assert part.pieces() == [[(1, 0), (1, 1)], [(2, 0), (2, 1)], [(1, 2), (1, 3)], [(2, 2), (2, 3)]]
    assert part.made(None, part.pieces()[2]) == [{"n": 1, "sample": 2, "x": 12}, {"n": 1, "sample": 3, "x": 13}]


@pytest.mark.parametrize("study", STUDIES)
def test_every_piece_has_a_file_of_its_own(study):
    for part in import_module(f"studies.{study}").PARTS.values():
        pieces = part.pieces()
        assert len({file_name(piece[0]) for piece in pieces}) == len(pieces) > 0
        keys = [key for piece in pieces for key in piece]
        assert len(set(keys)) == len(keys)
        assert {len(key) for key in keys} == {len(part.keys.split())}


def test_a_study_that_is_stopped_says_how_it_continues(capsys, monkeypatch):
    def stopped(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("studies.__main__.run", stopped)
    assert main(["simulation"]) == 130
    assert "the same command continues from there" in capsys.readouterr().out


def test_studies_and_parts_by_name(capsys, tmp_path, monkeypatch):
    for wrong, told in ((["nothing"], "simulation"), (["racing", "nothing"], "cheap")):
        with pytest.raises(SystemExit):
            main(wrong)
        assert told in capsys.readouterr().err
    few = replace(excess.PARTS["groups"], samples=3, at_once=3)
    monkeypatch.setitem(excess.PARTS, "groups", few)
    assert main(["excess", "groups", "--first", "1", "--jobs", "1", "--work", str(tmp_path)]) == 0
    assert "1 pieces" in capsys.readouterr().out
    committed = read_results("excess-groups")
    again = read_results("excess-groups", tmp_path)
    assert len(again) == 3
    assert again.equals(committed.head(3))


@pytest.mark.parametrize(
    ("study", "name", "key"),
    [
        ("folds", "simulated", ("accuracy n=60 c=50 level=0.6 rho=0 extra=0", 3, 0)),
        ("excess", "main", ("bates_regr_20", 100, 0)),
        ("excess", "differences", (90, 30, 5, 0)),
    ],
)
def test_committed_rows_come_out_again(study, name, key, tmp_path):
    part = import_module(f"studies.{study}").PARTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = part.results(pd.DataFrame(part.made(Options(), [key])))
    write_results(made, tmp_path / "again.csv", part, 1)
    committed = read_results(results_name(study, name))
    for column, value in zip(part.keys.split(), key, strict=True):
        committed = committed[committed[column] == value]
    again, expected = read_results("again", tmp_path), committed.reset_index(drop=True)
    # Other builds of BLAS round differently.
    pd.testing.assert_frame_equal(again, expected, check_dtype=False, check_like=True, rtol=1e-3)


def test_the_score_in_new_centres_is_measured(tmp_path):
    assert main(["centres", "--first", "1", "--jobs", "1", "--work", str(tmp_path)]) == 0
    (row,) = read_results("centres", tmp_path).to_dict("records")
    assert (row["centres"], row["studies"]) == (4, 1)
    assert 0 < row["covers a new centre"] <= 1
    assert 0 < row["width"] < 1
