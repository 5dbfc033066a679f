"""Tables of tidymodels, caret and mlr3: their columns, and a truth that the user names."""

import numpy as np
import pandas as pd
import pytest

from sobercv.correction import judge_predictions, recognise
from sobercv.errors import SoberError

from .predictions import FOLD, MODELS, N, melted, wide

LONG = melted().assign(other=lambda f: np.where(f["sample"] % 2, "R", "M"))
LABEL = np.where(LONG["prob_R"] > 0.5, "R", "M")
TABLES = {
    "tidymodels": pd.DataFrame({
        ".row": LONG["sample"] + 1, ".config": LONG["model"], "id": "Fold" + LONG["fold"].astype(str),
        ".pred_R": LONG["prob_R"], ".pred_M": 1 - LONG["prob_R"], "y": LONG["y_true"], "other": LONG["other"],
    }),
    "caret": pd.DataFrame({
        "rowIndex": LONG["sample"] + 1, "obs": LONG["y_true"], "pred": LABEL, "R": LONG["prob_R"], "M": 1 - LONG["prob_R"],
        "mtry": LONG["model"], "Resample": "Fold" + LONG["fold"].astype(str), "other": LONG["other"],
    }),
    "mlr3": pd.DataFrame({
        "row_ids": LONG["sample"] + 1, "truth": LONG["y_true"], "response": LABEL, "prob.R": LONG["prob_R"],
        "prob.M": 1 - LONG["prob_R"], "iteration": LONG["fold"], "nr": LONG["model"], "other": LONG["other"],
    }),
}  # fmt: skip
TRUTH = {"tidymodels": "y", "caret": "obs", "mlr3": "truth"}


@pytest.mark.parametrize("tool", TABLES)
def test_the_truth_is_the_column_that_was_named(tool):
    frame = TABLES[tool]
    own = recognise(frame.drop(columns="other"))
    assert own.tool == tool
    assert own.names == [f"mtry={m}" if tool == "caret" else m for m in MODELS]
    assert (own.folds[:, 0] == FOLD).all()
    named = recognise(frame, target=TRUTH[tool])
    assert (named.y == own.y).all()
    other = recognise(frame.drop(columns="mtry", errors="ignore").assign(**({"mtry": LONG["model"]} if tool == "caret" else {})),
                      target="other")  # fmt: skip
    assert (other.y == np.where(np.arange(N) % 2, "R", "M")).all()
    assert other.names == own.names, "the other truth names no configurations"
    with pytest.raises(SoberError, match="no column 'outcome'"):
        recognise(frame, target="outcome")


def test_each_table_is_known_for_what_it_is():
    known = [recognise(frame.drop(columns="other", errors="ignore")).tool for frame in TABLES.values()]
    assert known == list(TABLES)
    assert recognise(LONG.drop(columns="other")).tool == "long table by 'sample' and 'model'"
    assert recognise(wide(), target="y").tool == "wide"


def test_workflows_of_tidymodels_number_their_configurations_alike():
    tidy = TABLES["tidymodels"].drop(columns="other")
    both = recognise(pd.concat([tidy.assign(wflow_id=name) for name in ("svm", "knn")]))
    assert both.names[0] == "wflow_id=knn, .config=model 0"
    assert len(both.names) == 2 * len(MODELS)


def test_predictions_of_workflow_sets_may_be_means_over_repeats():
    """collect_predictions() of a workflow set averages, leaves out id, and adds columns that are no truth."""
    tidy = TABLES["tidymodels"].drop(columns=["other", "id"])
    both = pd.concat([tidy.assign(wflow_id=name, preproc="recipe", model="tree") for name in ("svm", "knn")])
    found = recognise(both)
    assert set(found.y) == {"R", "M"}
    assert [note.code for note in found.notes] == ["W206"]
    assert "summarize = FALSE" in found.notes[0].text
    assert recognise(TABLES["tidymodels"].drop(columns="other")).notes == ()


def test_leave_one_out_of_caret_has_no_column_of_folds():
    caret = TABLES["caret"].drop(columns="other")
    found, alone = recognise(caret), recognise(caret.drop(columns="Resample"))
    assert (alone.tool, alone.names, alone.folds) == ("caret", found.names, None)
    assert np.array_equal(alone.responses["predict_proba"], found.responses["predict_proba"])
    own = caret.rename(columns={"mtry": "model", "Resample": "fold", "R": "prob_R", "M": "prob_M"})
    assert recognise(own).names == MODELS, "someone's own table with caret's words"


def test_survival_in_a_long_table_is_refused():
    with pytest.raises(SoberError, match="wide tables"):
        recognise(TABLES["mlr3"].assign(t=1, e=1), time="t", event="e")


def test_penalties_are_no_stacked_ensembles():
    names = dict(zip(MODELS, ["logreg_L1", "logreg_L2", "svm_L2", "stackoverflow", "LightGBM_BAG_L1"], strict=True))
    assert (
        judge_predictions(recognise(wide().rename(columns=names), target="y"), pos_label="R")[
            "roc_auc"
        ].n_configurations
        == 5
    )
    for stacked in ("WeightedEnsemble_L2", "LightGBM_BAG_L2", "StackedEnsemble_AllModels", "stacking"):
        with pytest.raises(SoberError, match=f"--ignore {stacked}") as caught:
            judge_predictions(recognise(wide().rename(columns={"model 1": stacked}), target="y"))
        assert caught.value.code == "E814"


@pytest.mark.parametrize("tool", TABLES)
def test_points_that_r_writes_for_spaces_and_signs_in_names_of_classes(tool):
    frame, (one, other) = TABLES[tool].drop(columns="other"), ("has disease", "no (other) disease")
    named = {
        c: c[:-1] + {"R": one, "M": other}[c[-1]] for c in frame if c[-1] in "RM" and c[:-1] in ("", ".pred_", "prob.")
    }
    frame = frame.replace({"R": one, "M": other}).rename(columns=named)
    pointed = frame.rename(columns={c: c.replace(" ", ".").replace("(", ".").replace(")", ".") for c in named.values()})
    expected, found = recognise(frame), recognise(pointed)
    assert found.names == expected.names
    assert np.array_equal(found.responses["predict_proba"], expected.responses["predict_proba"])
    assert judge_predictions(found, "roc_auc")["roc_auc"].naive > 0.5


def test_a_spelling_that_two_classes_share_is_of_neither():
    frame = TABLES["mlr3"].drop(columns=["other", "prob.M"]).replace({"R": "a b", "M": "a-b"})
    assert set(recognise(frame.rename(columns={"prob.R": "prob.a.b"})).responses) == {"predict"}
