"""The positive class on the command line: named, obvious, or asked for; never guessed."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    columns = {"x": y + rng.normal(size=60), "said": np.where(y, "ja", "nein"), "colour": np.where(y, "blue", "red")}
    pd.DataFrame(columns).to_csv(tmp_path / "d.csv", index=False)


def check(sober, *more):
    return sober(
        "check", "d.csv", "--preset", "quick", "--cv", "3", "--configurations", "2", "--metric", "recall", *more
    )


def test_an_obvious_one_is_found_and_named(sober, table, tmp_path):
    options = ["--preset", "quick", "--cv", "3", "--configurations", "2", "--metric", "recall", "--fast", "--jobs", "1"]
    assert sober("fit", "d.csv", "--target", "said", "--ignore", "colour", *options, "-o", "run").code == 0
    score = json.loads((tmp_path / "run" / "results.json").read_text())["score"]
    assert score["positive"] == "ja"


@pytest.mark.parametrize(("positive", "sign"), [("ja", 1), ("nein", -1)])
def test_coefficients_are_those_of_the_positive_class(sober, table, tmp_path, positive, sign):
    options = ["--positive", positive, "--preset", "quick", "--cv", "3", "--configurations", "3", "--jobs", "1", "-q"]
    assert sober("fit", "d.csv", "--target", "said", "--ignore", "colour", *options, "-o", "run").code == 0
    methods = (tmp_path / "run" / "METHODS.md").read_text()
    assert "There was 1 candidate predictor (1 number): x." in methods
    weight = float(methods.split("| x |")[1].split("|")[0])
    assert np.sign(weight) == sign, "x is greater where the answer is ja"
    assert f"Values above 0 favour {positive}." in methods


def test_others_are_asked_for(sober, table):
    ended = check(sober, "--target", "colour", "--ignore", "said")
    assert ended.code == 2
    assert "do not say which is positive. Write --positive blue or --positive red" in " ".join(ended.err.split())
    assert check(sober, "--target", "colour", "--ignore", "said", "--positive", "blue").code == 0


def test_it_must_be_one_of_two(sober, table):
    ended = check(sober, "--target", "colour", "--ignore", "said", "--positive", "green")
    assert ended.code == 2
    assert "'green'" in ended.err


def test_a_run_is_not_judged_by_another_positive_class_than_it_selected_by(sober, table):
    options = ["--preset", "quick", "--cv", "3", "--configurations", "2", "--fast", "--ignore", "colour", "--jobs", "1"]
    assert sober("fit", "d.csv", "--target", "said", *options, "--metric", "f1", "-o", "by_f1").code == 0
    refused = sober("correct", "by_f1", "--positive", "nein")
    assert (refused.code, refused.out) == (2, "")
    assert "selected by f1 for 'ja'" in refused.err
    assert "E808" in refused.err
    assert sober("correct", "by_f1", "--positive", "ja", "-q").code == 0
    assert sober("fit", "d.csv", "--target", "said", *options, "--metric", "roc_auc", "-o", "by_auc").code == 0
    ended = sober("correct", "by_auc", "--metric", "recall", "--positive", "nein", "--json")
    assert ended.code == 0, "AUC selects the same winner for either class"
    assert json.loads(ended.out)["score"]["positive"] == "nein"


def test_the_label_1_is_the_positive_one_when_a_run_is_judged_again(sober, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2], 30)
    pd.DataFrame({"x": y + rng.normal(size=60), "y": y}).to_csv(tmp_path / "d.csv", index=False)
    options = ["--preset", "quick", "--cv", "3", "--configurations", "2", "--fast", "--jobs", "1"]
    metrics = ["--metric", "roc_auc", "--metric", "f1"]
    assert sober("fit", "d.csv", "--target", "y", "--task", "binary", *metrics, *options, "-o", "run", "-q").code == 0
    again = sober("correct", "run", "--metric", "f1", "--json")
    assert again.code == 0
    (first,) = json.loads((tmp_path / "run" / "results.json").read_text())["others"]
    assert json.loads(again.out)["score"]["value"] == pytest.approx(first["value"])
