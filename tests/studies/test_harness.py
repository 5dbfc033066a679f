"""What studies share: options, pieces that are made once, results that are read as they were written."""

from functools import partial

import numpy as np
import pytest
from studies.harness import make_missing, read_about, read_options, read_pieces, read_results, write_results


def arrays(log, name):
    with log.open("a") as file:
        file.write(f"{name}\n")
    return {"rows": np.arange(3)}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pieces_are_made_once(tmp_path, n_jobs):
    log = tmp_path / "log.txt"
    pieces = {tmp_path / "work" / f"{name}.npz": partial(arrays, log, name) for name in "abc"}
    make_missing(dict(list(pieces.items())[:1]), say=lambda text: None)
    said = []
    found = read_pieces(pieces, "tables", n_jobs, said.append)
    assert said[0] == "3 tables; 2 are missing"
    assert [piece["rows"].tolist() for piece in found] == [[0, 1, 2]] * 3
    assert sorted(log.read_text().split()) == ["a", "b", "c"]


def test_a_piece_that_fails_leaves_no_file_of_its_name(tmp_path):
    with pytest.raises(ZeroDivisionError):
        make_missing({tmp_path / "a.json": lambda: 1 / 0}, say=lambda text: None)
    assert not (tmp_path / "a.json").exists()
    assert read_pieces({tmp_path / "a.json": lambda: [1, "b"]}, say=lambda text: None) == [[1, "b"]]


def test_results_are_read_as_they_were_written(tmp_path):
    rows = [
        {"data": "1 to 3", "n": 20, "simulated": True, "bias": 0.1234567, "size": "40"},
        {"data": "cells", "n": 40, "simulated": False, "bias": -2.0, "size": "200 to 500"},
    ]
    write_results(rows, tmp_path / "out" / "results.csv", {"seed": 3}, ".4g")
    first, second = read_results(tmp_path / "out" / "results.csv")
    assert first == {"data": "1 to 3", "n": 20.0, "simulated": True, "bias": 0.1235, "size": "40"}
    assert (second["simulated"], second["bias"]) == (False, -2.0)
    assert read_about(tmp_path / "out" / "results.csv")["seed"] == 3


def test_options_are_those_that_a_study_names(tmp_path, capsys):
    doc = "`python -m studies.some --data FOLDER`: what it does."
    found = read_options(doc, ["--data", "a", "b", "--data", "c"], data=[], work="study-work", judge_only=False)
    assert ([path.name for path in found.data], found.work.name, found.judge_only) == (
        ["a", "b", "c"],
        "study-work",
        False,
    )
    with pytest.raises(SystemExit):
        read_options(doc, [], data=None)
    assert "usage: python -m studies.some" in capsys.readouterr().err
