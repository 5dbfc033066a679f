"""sober correct on tables of fold scores, as R and scikit-learn write them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import sobercv as library

FILES = Path(__file__).parents[1] / "foreign" / "files"


@pytest.mark.parametrize("name", ["caret-resample.csv", "caret-resample-2.csv", "mlr-performances.csv"])
def test_files_of_r_give_what_the_library_gives(sober, name):
    said = json.loads(sober("correct", str(FILES / name), "--json").out)
    plain = FILES / name.replace("-2", "")
    expected = library.correct(pd.read_csv(plain))
    assert said["score"]["value"] == pytest.approx(expected.value, abs=1e-12)
    assert said["winner"] == expected.winner_name
    assert said["n_folds"] == 5


def test_cv_results_saved_with_an_index(sober, tmp_path):
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=5)
    search.fit(*load_iris(return_X_y=True))
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "results.csv")
    said = sober("correct", str(tmp_path / "results.csv")).out
    assert f"{library.correct(search).value:.3f}" in said
    assert "fold scores: 5 folds, 3 configurations" in said


def test_the_measure_that_selected_can_be_named(sober):
    said = json.loads(sober("correct", str(FILES / "mlr-performances.csv"), "--metric", "acc", "--json").out)
    assert said["score"]["metric"] == "acc"


def test_refusals_say_what_to_do(sober):
    assert "returnResamp" in sober("correct", str(FILES / "caret-resample-final.csv")).err
    assert "'nothing'" in sober("correct", str(FILES / "caret-resample.csv"), "--ignore", "nothing").err


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_row_names_of_r_are_no_configuration(sober, tmp_path, delimiter):
    lines = (FILES / "caret-classes.csv").read_text().splitlines()
    cells = [["" if i == 0 else str(i), *line.split(",")] for i, line in enumerate(lines)]
    if delimiter == ";":
        cells = [
            [cell.replace(".", ",") if i and cell.replace(".", "").isdigit() else cell for cell in row]
            for i, row in enumerate(cells)
        ]
    (tmp_path / "named.csv").write_text("\n".join(delimiter.join(row) for row in cells))
    said = json.loads(sober("correct", "named.csv", "--json").out)
    plain = json.loads(sober("correct", str(FILES / "caret-classes.csv"), "--json").out)
    assert said["score"] == plain["score"]
    assert said["n_configurations"] == plain["n_configurations"] == 3


def test_what_is_ignored_must_be_there(sober):
    for name in ("caret-classes.csv", "caret-resample.csv"):
        ended = sober("correct", str(FILES / name), "--ignore", "nothing")
        assert ended.code == 2
        assert "'nothing'" in ended.err


def test_it_says_why_plain_cv_differs_from_the_number_of_the_tool(sober):
    pooled = " ".join(sober("correct", str(FILES / "caret-classes.csv")).out.split())
    assert "most tools print the mean over folds" in pooled
    assert "most tools" not in sober("correct", str(FILES / "caret-resample.csv")).out


@pytest.mark.parametrize("option", ["--interval percentile", "--aggregate fold", "--group k", "--stratify"])
def test_options_that_need_rows_are_refused_for_fold_scores(sober, option):
    ended = sober("correct", str(FILES / "caret-resample.csv"), *option.split())
    assert (ended.code, ended.out) == (2, "")
    assert f"fold scores, so {option.split()[0]} would change nothing" in ended.err
    assert "E808" in ended.err


def test_repeats_that_no_column_tells_are_given(sober, tmp_path):
    rows = [
        {"learner_id": f"l{m}", "iteration": i + 1, "resampling_id": "repeated_cv", "classif.ce": (3 * i + m) % 7 / 9}
        for m in range(3) for i in range(10)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "scores.csv", index=False)
    assert "--repeats" in sober("correct", "scores.csv").err
    said = json.loads(sober("correct", "scores.csv", "--repeats", "2", "--json").out)
    expected = library.correct(pd.DataFrame(rows), n_repeats=2)
    assert said["score"]["interval"] == pytest.approx(expected.interval)
    assert said["n_folds"] == 5
    ended = sober("correct", str(FILES / "caret-classes.csv"), "--repeats", "2")
    assert "predictions, whose repeats are a column, so --repeats" in ended.err


WIDE = pd.DataFrame({name: [0.1 * (i * k % 7) + 0.05 for i in range(6)] for k, name in enumerate("abc", 1)})
FOLDS = [f"Fold{i}" for i in range(1, 7)]


@pytest.mark.parametrize("place", [{"fold": range(1, 7)}, {"Resample": FOLDS}, {"id": FOLDS}], ids=str)
def test_wide_fold_scores_are_known_by_a_column_of_folds(sober, tmp_path, place):
    WIDE.assign(**place).to_csv(tmp_path / "scores.csv", index=False)
    said = json.loads(sober("correct", "scores.csv", "--metric", "accuracy", "--json").out)
    expected = library.correct(WIDE, "accuracy")
    assert said["score"]["value"] == pytest.approx(expected.value, abs=1e-12)
    assert (said["tool"], said["n_folds"], said["n_configurations"]) == ("fold scores", 6, 3)
    assert "--metric rmse for errors" in sober("correct", "scores.csv").err


@pytest.mark.parametrize(
    "frame",
    [
        WIDE.assign(id=range(6), died=[0, 1] * 3),
        WIDE.assign(id=range(6)),
        WIDE.assign(fold=range(6), died=[0, 1] * 3),  # leave-one-out
        WIDE.assign(fold=range(6), y=WIDE["a"]),
        pd.concat([WIDE] * 4).assign(fold=range(24)),
        WIDE.assign(fold=[1, 2] * 3),
    ],
    ids=lambda frame: f"{len(frame)} {' '.join(frame)}",
)
def test_wide_predictions_are_never_taken_for_fold_scores(sober, tmp_path, frame):
    frame.to_csv(tmp_path / "oof.csv", index=False)
    ended = sober("correct", "oof.csv")
    assert ended.code == 2
    assert "--target" in ended.err


def test_a_wide_table_without_folds_says_how_they_are_told(sober, tmp_path):
    WIDE.to_csv(tmp_path / "scores.csv", index=False)
    assert "add a column fold" in sober("correct", "scores.csv", "--metric", "accuracy").err
    WIDE.assign(y=[0, 1] * 3).to_csv(tmp_path / "oof.csv", index=False)
    assert "column fold" not in sober("correct", "oof.csv").err
