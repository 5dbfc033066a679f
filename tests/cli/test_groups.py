"""Few centres: each is held out once, by itself or by --cv groups; nothing is refused that can be judged."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def centres(tmp_path):
    """Four hospitals of very different sizes."""
    rng = np.random.default_rng(0)
    hospital = np.repeat(["A", "B", "C", "D"], [90, 20, 15, 60])
    x = rng.normal(size=len(hospital))
    y = np.where(x + rng.normal(size=len(x)) > 0, "ill", "well")
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=len(x)), "hospital": hospital, "y": y})
    frame.to_csv(tmp_path / "centres.csv", index=False)
    return frame


ROLES = ("centres.csv", "--target", "y", "--group", "hospital", "--jobs", "1")


@pytest.mark.parametrize("option", [(), ("--cv", "groups")])
def test_every_hospital_is_a_fold(sober, centres, option):
    said = sober("check", *ROLES, "--preset", "quick", *option)
    assert said.code == 0
    assert "4 folds, one per group" in said.out
    assert "Each of the 4 groups is held out once" in " ".join(said.err.split())
    ended = sober(
        "fit", *ROLES, "--preset", "quick", "--configurations", "3", "-o", "run", "--no-report", "--json", *option
    )
    assert ended.code == 0, ended.err
    folds = pd.read_parquet("run/predictions.parquet")
    held = centres["hospital"].to_numpy()[folds[".row"] - 1]
    fold = folds["id2"] if "id2" in folds else folds["id"]
    assert pd.crosstab(held, fold).astype(bool).to_numpy().sum() == 4, "one hospital per fold"
    assert json.loads(ended.out)["n_folds"] == 4


def test_what_cannot_be_done_is_said(sober, centres):
    assert "--group COLUMN" in sober("check", "centres.csv", "--target", "y", "--cv", "groups").err
    assert "every repeat would be the same" in " ".join(sober("check", *ROLES, "--repeats", "3").err.split())
    assert "whole number, or groups" in sober("check", *ROLES, "--cv", "many").err


def test_no_drop_runs_all_to_the_end(sober, centres):
    ended = sober(
        "fit", *ROLES, "--preset", "quick", "--configurations", "8", "--no-drop", "-o", "run", "--no-report", "--json"
    )
    told = json.loads(ended.out)
    assert told["n_dropped"] == 0
    assert told["n_finished"] == told["n_configurations"]
    assert "--no-drop" in told["command"]


def test_groups_are_copied_into_predictions(sober, centres):
    roles = (*ROLES, "--preset", "quick", "--configurations", "2", "-o", "run", "--no-report", "--quiet")
    assert sober("fit", *roles).code == 0
    said = sober("predict", "run", "centres.csv")
    lines = said.out.splitlines()
    assert lines[0].split(",")[:2] == ["hospital", ".row"]
    assert lines[1].startswith("A,1,")
    centres.drop(columns="hospital").to_csv("new.csv", index=False)
    assert sober("predict", "run", "new.csv").out.startswith(".row,")
