"""sober fit and what comes after it: the folder, and each file in it, for every task."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sobercv.report.checklist import checklist
from sobercv.report.words import number
from sobercv.runs.folder import RunFolder
from sobercv.runs.record import RunRecord

from .conftest import SMALL, refitted, table

FILES = {
    "METHODS.md", "model.skops", "predictions.parquet", "refit.py", "report.html", "results.json",
    "run.sqlite", "settings.json",
}  # fmt: skip
ROLES = {
    "binary": ("--target", "y"),
    "multiclass": ("--target", "y"),
    "regression": ("--target", "y"),
    "survival": ("--time", "months", "--event", "died"),
}


@pytest.mark.parametrize("task", ROLES)
def test_a_run_of_each_task_leaves_all_files_and_they_agree(sober, tmp_path, task):
    frame = table(task, text=task in ("binary", "regression"))
    frame.to_csv(tmp_path / "data.csv", index=False)
    ended = sober("fit", "data.csv", *ROLES[task], *SMALL, "-o", "run")
    assert ended.code == 0, ended.err
    assert "honest score" in ended.out
    assert "run/report.html" in ended.out
    assert {p.name for p in (tmp_path / "run").iterdir()} >= FILES
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert results["data"]["task"] == task
    assert f"{results['score']['value']:.3f}" in ended.out
    assert f"{results['score']['naive']:.3f}" in ended.out
    methods = (tmp_path / "run" / "METHODS.md").read_text()
    assert f"{results['score']['value']:.3f}" in methods
    assert "10.1007/s10994-018-5714-4" in methods
    assert ("elastic" in methods.partition(", tuned by")[0]) == (
        "penalties was computed from all rows of the data" in methods
    )
    again = sober("predict", "run", "data.csv")
    assert again.code == 0, again.err
    said = pd.read_csv(pd.io.common.StringIO(again.out))
    assert len(said) == len(frame)
    assert again.err.splitlines()[-2].startswith(f"{len(frame)} rows predicted")
    assert again.err.splitlines()[-1].startswith("Written: to standard output, columns .row, .pred")
    if task == "survival":
        assert "a higher .pred (the risk) means an earlier event" in again.err
        later = sober("predict", "run", "data.csv", "--at", "5", "--at", "20", "-o", "at.csv", "-q")
        assert (later.code, later.out, later.err) == (0, "", "")
        at = pd.read_csv("at.csv")
        assert (at[".pred_survival_5"] >= at[".pred_survival_20"]).all()
        assert at[[".pred", ".pred_survival_5"]].corr(method="spearman").iloc[0, 1] < -0.99
        assert sober("predict", "run", "data.csv", "--at", "1e9").code == 2
    trained = refitted(tmp_path)
    column = ".pred" if task in ("regression", "survival") else ".pred_class"
    if trained.dtype.kind == "f":
        np.testing.assert_allclose(trained, said[column], rtol=1e-6)
    else:
        assert (trained == said[column]).all()


def test_predictions_are_a_long_table_that_correct_reads_again(sober, data):
    assert sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--repeats", "2").code == 0
    long = pd.read_parquet("run/predictions.parquet")
    columns = [name for name in long.columns if name not in (".pred_ill", ".pred_well")]  # where finishers have them
    assert columns == [".row", ".config", "id", "id2", ".pred", ".pred_class", "truth"]
    assert set(long["id"]) == {"Repeat1", "Repeat2"}
    assert set(long["id2"]) == {"Fold1", "Fold2", "Fold3"}
    results = json.loads((data.parent / "run" / "results.json").read_text())
    complete = long.groupby(".config", observed=True)[".row"].apply(
        lambda rows: sorted(rows) == sorted([*range(1, 61)] * 2)
    )
    assert complete.sum() == results["n_finished"]
    assert len(complete) == results["n_finished"] + results["n_dropped"]
    # Decision values (.pred) are of the second class; a table alone does not say so, the folder of the run does.
    ended = sober("correct", "run/predictions.parquet", "--metric", "roc_auc", "--positive", "well", "--json")
    assert ended.code == 0, ended.err
    first = json.loads((data.parent / "run" / "results.json").read_text())["score"]
    assert json.loads(ended.out)["score"]["naive"] == pytest.approx(first["naive"])


def test_json_is_valid_and_alone_on_standard_output(sober, data):
    for command in (
        ("check", "data.csv", "--target", "y", *SMALL, "--json"),
        ("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--json"),
        ("resume", "run", "--json"),
        ("report", "run", "--json"),
        ("compare", "data.csv", "--target", "y", *SMALL, "--protocols", "naive,bbc", "--json"),
    ):
        ended = sober(*command)
        assert ended.code == 0, ended.err
        assert isinstance(json.loads(ended.out), dict)
        assert ended.err == ""


def test_a_comparison_fits_into_80_columns(sober, data, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = sober("compare", "data.csv", "--target", "y", *SMALL, "--protocols", "naive,tt,bbc")
    lines = ended.out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "\u2026" not in ended.out
    assert lines[0].strip() == "ROC AUC"
    assert lines[1].split() == ["protocol", "score", "95", "%", "interval", "models", "seconds"]
    assert re.search(r"bbc +0\.\d{3} +0\.\d{3} to [01]\.\d{3} +\d+ +\d+\.\d", ended.out)


def test_quiet_prints_the_result_only(sober, data):
    ended = sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--quiet")
    assert ended.err == ""
    assert [line.split()[0] for line in ended.out.splitlines()] == ["metric", "honest", "plain", "report"]


def test_the_sign_of_a_negative_score_is_explained_once(sober, data):
    names = ("-m", "neg_log_loss,neg_brier_score")
    sign = "more is better, 0 is perfect"
    ended = sober("fit", "data.csv", "--target", "y", *SMALL, *names, "--fast", "-o", "run")
    assert (ended.err.count(sign), ended.out.count(sign)) == (1, 0)
    assert sober("report", "run").err.count(sign) == 1
    assert sober("correct", "run").err.count(sign) == 1
    compared = ("compare", "data.csv", "--target", "y", *SMALL, "--protocols", "naive", "-m")
    assert sober(*compared, "neg_log_loss").err.count(sign) == 1
    assert sign not in sober(*compared, "roc_auc").err
    for only in ("--quiet", "--json"):
        assert sober("report", "run", only).err == ""
    assert sign not in sober("correct", "run", "-m", "roc_auc", "--json").err


def test_the_screen_and_the_methods_round_like_the_report(sober, data, tmp_path):
    ended = sober("fit", "data.csv", "--target", "y", *SMALL, "-m", "neg_log_loss,roc_auc", "--fast", "-o", "run")
    scores = RunRecord.read(RunFolder(Path("run"))).summary.scores
    methods, page = ((tmp_path / "run" / name).read_text() for name in ("METHODS.md", "report.html"))
    for score in scores:
        for text in (score.honest, score.ends, score.claim):
            assert text in ended.out
            assert text in page
        natural = number(abs(score.value), score.digits), number(abs(score.naive), score.digits)
        assert f"of **{natural[0]}** (95 % CI " in methods
        assert f"without the correction it would be {natural[1]}" in methods


def test_jobs_change_no_result(sober, data):
    small = [a for a in SMALL if a not in ("--jobs", "1")]
    assert sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "one", "-q").code == 0
    assert sober("fit", "data.csv", "--target", "y", *small, "--jobs", "2", "-o", "two", "-q").code == 0
    one, two = (json.loads((data.parent / f / "results.json").read_text())["score"] for f in ("one", "two"))
    assert one == two


def test_extend_adds_repeats_and_trains_nothing_again(sober, data):
    sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "-q")
    ended = sober("extend", "run", "--repeats", "2", "--json")
    assert ended.code == 0, ended.err
    whole = sober("fit", "data.csv", "--target", "y", *SMALL, "--repeats", "2", "-o", "whole", "--json")
    assert json.loads(ended.out)["score"] == json.loads(whole.out)["score"]
    assert json.loads(ended.out)["settings"]["repeats"] == 2
    assert json.loads(ended.out)["n_fits"] == json.loads(whole.out)["n_fits"], (
        "METHODS.md counts those of the first run"
    )


def test_standard_input_works_and_can_be_resumed(sober, tmp_path):
    raw = table().to_csv(index=False).encode()
    ended = sober("fit", "-", "--target", "y", *SMALL, "-o", "run", "-q", stdin=raw)
    assert ended.code == 0, ended.err
    assert (tmp_path / "run" / "data.csv").read_bytes() == raw
    assert sober("resume", "run", "-q").out == ended.out


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "feather", "csv.gz"])
def test_every_format_gives_the_same_plan(sober, tmp_path, suffix):
    frame, path = table(), tmp_path / f"data.{suffix}"
    if suffix == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == "csv.gz":
        frame.to_csv(path, index=False)
    else:
        getattr(frame, f"to_{suffix}")(path)
    ended = sober("fit", path, "--target", "y", *SMALL, "-o", "run", "--json")
    assert ended.code == 0, ended.err
    frame.to_csv(tmp_path / "plain.csv", index=False)
    plain = sober("fit", "plain.csv", "--target", "y", *SMALL, "-o", "plain", "--json")
    assert json.loads(ended.out)["score"]["value"] == pytest.approx(json.loads(plain.out)["score"]["value"], abs=1e-6)


def test_groups_stay_together_and_ids_come_back(sober, tmp_path):
    frame = table().assign(patient=np.repeat([f"p{i}" for i in range(20)], 3))
    frame.to_csv(tmp_path / "data.csv", index=False)
    ended = sober("fit", "data.csv", "--target", "y", "--id", "patient", *SMALL, "-o", "run", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["data"]["groups"] == 20
    long = pd.read_parquet("run/predictions.parquet").merge(
        frame.assign(**{".row": range(1, 61)})[[".row", "patient"]], on=".row"
    )
    assert (long.groupby("patient")["id2"].nunique() == 1).all()
    assert sober("predict", "run", "data.csv").out.splitlines()[0].startswith("patient,.row")


def test_settings_file_counts_less_than_the_command_line(sober, data, tmp_path):
    (tmp_path / "sober.toml").write_text(
        'data = "data.csv"\ntarget = "y"\npreset = "quick"\nconfigurations = 3\ncv = 3\njobs = 1\nmax-time = "10m"\n'
        'metric = ["accuracy", "roc_auc"]\noutput = "from-file"\n'
    )
    ended = sober("fit", "--cv", "4", "--json")
    assert ended.code == 0, ended.err
    results = json.loads(ended.out)
    assert results["settings"]["cv"] == 4
    assert results["settings"]["max_time"] == 600
    assert results["score"]["metric"] == "accuracy"
    assert [other["metric"] for other in results["others"]] == ["roc_auc"]
    assert (tmp_path / "from-file" / "report.html").exists()


def test_a_command_that_repeats_the_run_is_written_down(sober, data):
    ended = sober("fit", "data.csv", "--target", "y", *SMALL, "--ignore", "useless", "-o", "run", "--json")
    command = json.loads(ended.out)["command"]
    again = sober(*command.split()[1:], "--jobs", "1", "-o", "again", "--json")
    assert json.loads(again.out)["score"] == json.loads(ended.out)["score"]


def test_max_time_judges_what_is_there_and_resume_finishes(sober, data):
    ended = sober(
        "fit", "data.csv", "--target", "y", *SMALL, "--repeats", "3", "--max-time", "0.2s", "-o", "run", "--json"
    )
    assert ended.code in (0, 2), ended.err
    done = sober("resume", "run", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["stopped"] == "finished"


def test_extend_does_not_shrink_a_run(sober, data, tmp_path):
    assert sober("fit", data, "--target", "y", *SMALL, "--repeats", "2", "--fast", "-o", "run").code == 0
    before = (tmp_path / "run" / "results.json").read_bytes()
    refused = sober("extend", "run", "--repeats", "1")
    assert refused.code == 2
    assert "--repeats must be at least 2" in refused.err
    assert (tmp_path / "run" / "results.json").read_bytes() == before


def test_the_checklist_counts_what_is_missing_in_predictors_only(sober, tmp_path):
    frame = table(n=60)
    frame["notes"] = [None] * 59 + ["seen"]
    frame.loc[:4, "good"] = None
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 510)), columns=[f"g{i}" for i in range(510)])
    wide.loc[:9, "g509"] = None
    pd.concat([frame, wide], axis=1).to_csv("wide.csv", index=False)
    options = [*SMALL[:3], "2", *SMALL[4:], "--fast", "--ignore", "notes", "-o", "run"]
    assert sober("fit", "wide.csv", "--target", "y", *options).code == 0
    answer = next(row[-1] for row in checklist(RunRecord.read(RunFolder(Path("run"))).summary).rows if row[0] == "11")
    assert answer.startswith(
        "Missing cells: 15 of 30,720 in 512 predictors. Inside each training fold, missing numbers"
    )


HTML = "<img src=x onerror=alert(1)>"


def test_labels_are_escaped_in_methods_and_formulas_in_predictions(sober, tmp_path):
    frame = table(n=60)
    frame["y"] = frame["y"].map({"ill": HTML, "well": "=cmd()"})
    frame["id"] = [f"-{i}.5" if i % 2 else f"@sum({i})" for i in range(60)]
    frame.to_csv("d.csv", index=False)
    assert sober("fit", "d.csv", "--target", "y", "--id", "id", *SMALL, "--fast", "-o", "run").code == 0
    methods = (tmp_path / "run" / "METHODS.md").read_text()
    assert "\\<img src=x onerror=alert(1)\\>: " in methods
    assert re.search(r"(?<!\\)<", methods) is None
    ended = sober("predict", "run", "d.csv", "-o", "p.csv")
    assert "would read as a formula" in ended.err
    rows = list(csv.reader((tmp_path / "p.csv").read_text().splitlines()))
    assert rows[1][0] == "'@sum(0)"
    assert rows[2][0] == "-1.5", "a number stays a number"
    assert {row[2] for row in rows[1:]} == {HTML, "'=cmd()"}
    assert sober("predict", "run", "d.csv", "-o", "p.parquet").code == 0
    assert set(pd.read_parquet("p.parquet")[".pred_class"]) == {HTML, "=cmd()"}, "Parquet is no spreadsheet"


def test_a_class_called_class_keeps_its_labels(sober, tmp_path):
    frame = table()
    frame["y"] = frame["y"].map({"ill": "class", "well": "none"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert sober("fit", "data.csv", "--target", "y", *SMALL, "-m", "accuracy", "--fast", "-o", "run").code == 0
    found = json.loads(sober("correct", "run", "--json").out)["score"]
    assert found == json.loads((tmp_path / "run" / "results.json").read_text())["score"]
    rows = pd.read_csv(io.StringIO(sober("predict", "run", "data.csv").out))
    assert set(rows[".pred_class"]) == {"class", "none"}


def test_an_id_that_is_called_like_a_prediction_is_refused(sober, tmp_path):
    table().assign(**{".row": range(60)}).to_csv(tmp_path / "data.csv", index=False)
    assert sober("fit", "data.csv", "--target", "y", "--id", ".row", *SMALL, "--fast", "-o", "run").code == 0
    ended = sober("predict", "run", "data.csv")
    assert (ended.code, "'.row' is the name of a prediction column" in ended.err) == (2, True)
