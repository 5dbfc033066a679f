"""--weight: rows count in fits and scores as if they were repeated, and wrong weights are refused in a sentence."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from sobercv import presets
from sobercv.runs.folder import RunFolder
from sobercv.runs.judged_again import judge_again

from .conftest import SMALL, refitted, table


def weighted(path, task="binary"):
    """Write a table whose weights are whole numbers."""
    frame = table(task, n=90)
    frame["w"] = np.random.default_rng(1).integers(1, 5, len(frame))
    frame.to_csv(path, index=False)
    return frame


def test_the_score_is_that_of_repeated_rows(sober, tmp_path):
    frame = weighted(tmp_path / "data.csv")
    ended = sober("fit", "data.csv", "--target", "y", "--weight", "w", *SMALL, "-o", "run", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    kept = pd.read_parquet("run/predictions.parquet")
    best = []
    for _, one in kept.groupby(".config", observed=True):
        if len(one) == len(frame):
            one = one.sort_values(".row")
            repeated = one.loc[one.index.repeat(frame["w"])]
            scored = next(repeated[name] for name in (".pred_well", ".pred") if name in repeated)
            best.append(roc_auc_score(repeated["truth"] == "well", scored))
    assert found["score"]["naive"] == pytest.approx(max(best), abs=1e-9)
    assert found["data"]["weights"] == [1.0, 4.0]
    assert "--weight w" in found["command"]
    _, again = judge_again(RunFolder(Path("run")), ["roc_auc"])
    assert again["roc_auc"].value == pytest.approx(found["score"]["value"], abs=1e-12)
    assert "weighted by w, from 1 to 4" in (tmp_path / "run/METHODS.md").read_text()
    report = (tmp_path / "run/report.html").read_text()
    assert "weighted, in fits" in report
    assert "What the final model relies on" in report  # shuffled columns are scored with weights
    assert "A part of the result was left out" not in report
    assert sober("predict", "run", "data.csv", "-o", "p.csv").code == 0
    predicted = pd.read_csv("p.csv")
    assert "w" not in predicted.columns
    assert refitted(tmp_path).tolist() == predicted[".pred_class"].tolist()


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "survival"])
def test_every_model_learns_from_a_weight_of_two_as_from_two_rows(task):
    """Where all rows weigh two, cleaning is the same on twice the rows, so that whole pipelines must agree."""
    if task == "survival":
        pytest.importorskip("sksurv")
    frame = table(task, n=60)
    X = frame[["good", "useless"]]
    y = frame["y"].to_numpy() if "y" in frame else survival(frame)
    twice = np.repeat(np.arange(60), 2)
    made = presets.get("quick", task, X, y, weighted=True, n_trees=5)
    agreed = set()
    for configuration in made.configurations:
        model = configuration.params["model"]
        name = type(getattr(model, "regressor", model)).__name__
        if "Forest" in name or "Boosting" in name or configuration.params["select"] != "passthrough":
            continue  # trees count rows per leaf; selection tests count rows
        one, two = (made.estimator.__sklearn_clone__().set_params(**configuration.params) for _ in range(2))
        one.fit(X, y, model__sample_weight=np.full(60, 2.0))
        two.fit(X.iloc[twice], y[twice])
        ask = next(a for a in ("decision_function", "predict_proba", "predict") if hasattr(one, a))
        np.testing.assert_allclose(getattr(one, ask)(X), getattr(two, ask)(X), rtol=2e-3, atol=2e-3, err_msg=name)
        agreed.add(name)
    assert len(agreed) >= 2, agreed
    assert not any("Neighbors" in type(c.params["model"]).__name__ for c in made.configurations)


def survival(frame):
    from sobercv.targets import survival_of

    return survival_of(np.column_stack([frame["died"], frame["months"]]))


def test_survival_runs_with_weights(sober, tmp_path):
    pytest.importorskip("sksurv")
    weighted(tmp_path / "data.csv", "survival")
    roles = ("--time", "months", "--event", "died", "--weight", "w")
    ended = sober("fit", "data.csv", *roles, *SMALL, "-o", "run", "--fast")
    assert ended.code == 0, ended.err
    assert sober("predict", "run", "data.csv", "--at", "5", "-o", "p.csv").code == 0
    assert pd.read_csv("p.csv")[".pred_survival_5"].between(0, 1).all()


@pytest.mark.parametrize(
    ("rows", "value", "said"),
    [
        ([4], -1, "The weight 'w' is negative in row 5 of the table."),
        ([2, 7], None, "The weight 'w' is missing in 2 rows, the first of them row 3 of the table."),
        (range(90), "heavy", "The weight 'w' must hold numbers"),
        (range(90), 0, "The weight 'w' is 0 in every row"),
    ],
)
def test_wrong_weights_are_one_sentence(sober, tmp_path, rows, value, said):
    frame = weighted(tmp_path / "data.csv").astype({"w": object})
    frame.loc[list(rows), "w"] = value
    frame.to_csv(tmp_path / "data.csv", index=False)
    for command in (("check",), ("fit", "-o", "run")):
        ended = sober(command[0], "data.csv", "--target", "y", "--weight", "w", *SMALL, *command[1:])
        assert ended.code == 2
        assert said in ended.err


def test_check_says_what_the_weights_are_worth(sober, tmp_path):
    frame = weighted(tmp_path / "data.csv")
    worth = frame["w"].sum() ** 2 / (frame["w"] ** 2).sum()
    ended = sober("check", "data.csv", "--target", "y", "--weight", "w", *SMALL)
    assert ended.code == 0
    assert f"those of {worth:.0f} rows" in " ".join(ended.err.split())
    assert "--weight w" in " ".join(ended.out.split())
    assert "cannot be both the target and weight" in sober("check", "data.csv", "--target", "w", "--weight", "w").err
