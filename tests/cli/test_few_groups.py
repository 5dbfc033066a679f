"""Few centres: each is held out in turn, scored apart, and the report, the record and METHODS.md say what they tell."""

import json

import numpy as np
import pandas as pd
import pytest

from sobercv.report.checklist import checklist
from sobercv.runs.folder import RunFolder
from sobercv.runs.record import RunRecord


@pytest.fixture
def hospitals(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    frame = pd.DataFrame(X, columns=["age", "crp", "bmi"])
    frame["hospital"] = np.repeat(["A", "B", "C", "D"], 40)
    frame["sex"] = np.where(np.arange(160) % 2, "m", "f")
    frame["sick"] = np.where(X[:, 0] + rng.normal(size=160) > 0, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


SMALL = ("--target", "sick", "-p", "quick", "--configurations", "4", "--jobs", "1")


def test_four_hospitals_are_held_out_in_turn(hospitals, sober):
    ended = sober("fit", "data.csv", *SMALL, "--group", "hospital", "--by", "sex", "-o", "run")
    assert ended.code == 0, ended.err
    record = json.loads((hospitals / "run" / "results.json").read_text())
    assert (record["settings"]["cv"], record["settings"]["aggregate"], record["n_folds"]) == (
        "groups",
        "within_folds",
        4,
    )
    assert "--cv groups" in record["command"]
    sections = {section["name"]: section for section in record["summary"]["sections"]}
    assert {"by-hospital", "by-sex"} <= set(sections)
    rows = sections["by-hospital"]["tables"][0]["rows"]
    assert [row[0] for row in rows[1:]] == ["A", "B", "C", "D"]
    predictions = pd.read_parquet(hospitals / "run" / "predictions.parquet")
    assert predictions.groupby("id2", observed=True)[".group"].nunique().eq(1).all()
    methods = (hospitals / "run" / "METHODS.md").read_text()
    assert "each of 4 groups held out once" in methods
    assert "which ranked rows of the same fold only" in methods
    assert "Only 4 groups" in methods, "a limitation"
    assert f"repeated by: {record['summary']['command']}" in methods
    assert "prediction interval" in methods
    listed = checklist(RunRecord.read(RunFolder(hospitals / "run")).summary)
    items = {row[0]: row[-1] for row in listed.rows}
    assert "hospital" in items["23b"]
    assert "each of 4 groups held out once" in items["12a"]
    page = (hospitals / "run" / "report.html").read_text()
    assert "Each hospital held out" in page
    assert "they cannot show how much it varies" in page
    assert "It says nothing about later years" in page
    again = sober("correct", "run", "--metric", "roc_auc", "--json")
    assert json.loads(again.out)["score"]["value"] == pytest.approx(record["score"]["value"])


def test_a_number_of_folds_that_the_groups_allow_is_taken(hospitals, sober):
    ended = sober("fit", "data.csv", *SMALL, "--group", "hospital", "--cv", "3", "--fast", "-o", "run")
    assert ended.code == 0, ended.err
    assert json.loads((hospitals / "run" / "results.json").read_text())["settings"]["cv"] == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cv", "groups"), "--group"),
        (("--cv", "groups", "--group", "hospital", "--repeats", "2"), "every repeat would be the same"),
        (("--cv", "many"), "a whole number, or groups"),
        (("--by", "sx"), "Did you mean 'sex'"),
        (("--by", "age"), "can be scored separately"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(hospitals, sober, options, words):
    ended = sober("fit", "data.csv", *SMALL, *options, "-o", "run")
    assert ended.code != 0
    assert words in " ".join(ended.err.split())


def test_new_rows_keep_their_group(hospitals, sober):
    assert sober("fit", "data.csv", *SMALL, "--group", "hospital", "--fast", "-o", "run").code == 0
    ended = sober("predict", "run", "data.csv", "-o", "new.csv")
    assert ended.code == 0, ended.err
    assert pd.read_csv("new.csv")["hospital"].tolist() == pd.read_csv("data.csv")["hospital"].tolist()
