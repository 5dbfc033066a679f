"""Long tables of any tool are read as what they are, or refused with the columns that are wanted; never as wide ones."""

import numpy as np
import polars
import pytest

import sobercv
from sobercv.correction import judge_predictions, recognise
from sobercv.errors import SoberError

from .predictions import CHANCE, FOLD, MODELS, C, N, Y, melted

EXPECTED = sobercv.bbc(Y, CHANCE, "roc_auc", folds=FOLD, random_state=0)
NAMES = {
    "as people write it": {},
    "other words": {"sample": "row_id", "y_true": "truth", "model": "learner", "prob_R": "proba.R", "fold": "split"},
    "capitals and spaces": {"sample": "Sample ID", "y_true": "Y True", "model": "Classifier", "prob_R": "Prob R"},
    "a patient for a sample": {"sample": "patient"},
}


def refused(frame, **roles):
    with pytest.raises(SoberError) as caught:
        recognise(frame, **roles)
    return caught.value


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_long_table_gives_what_the_wide_one_gives(names):
    imported = recognise(melted(names))
    assert imported.names == MODELS
    assert (imported.y == Y).all()
    assert (imported.folds[:, 0] == FOLD).all()
    found = judge_predictions(imported, "roc_auc")["roc_auc"]
    assert found.naive == EXPECTED.naive
    assert found.value == EXPECTED.value


def test_leaving_out_the_column_of_models_is_refused_and_not_obeyed():
    error = refused(melted(), target="y_true", ignore=("model",))
    assert error.code == "E812"
    assert "'sample' repeats (up to 5 rows per value), but no column names the configurations" in error.message
    assert "sample (which row of the data), model (which configuration), y_true" in error.message
    assert refused(melted().drop(columns="model"), target="y_true").code == "E812"


def test_without_a_column_of_samples_it_is_refused_and_no_column_is_to_be_left_out():
    error = refused(melted().drop(columns=["sample", "fold"]), target="y_true")
    assert error.code == "E812"
    assert "'model' seems to name configurations" in error.message
    assert "--ignore" not in error.message


def test_repeats_labels_and_scores():
    imported = recognise(melted(repeats=2))
    assert imported.n_repeats == 2
    assert imported.responses["predict_proba"].shape == (N, C, 2)
    labels = melted().assign(y_pred=lambda f: np.where(f["prob_R"] > 0.5, "R", "M")).drop(columns="prob_R")
    assert set(recognise(labels).responses) == {"predict"}
    score = melted({"prob_R": "score"})
    assert set(recognise(score).responses) == {""}
    number = melted({"prob_R": "prediction"}).assign(y_true=lambda f: f["sample"] * 0.5)
    assert set(recognise(number).responses) == {"predict"}


def test_names_that_are_not_documented_are_refused_with_those_that_are():
    frame = melted({"sample": "wer", "model": "womit"})
    assert (refused(frame).code, refused(frame, target="y_true").code) == ("E808", "E812")
    for error in (refused(frame), refused(frame, target="y_true")):
        assert "A long table needs: sample (which row of the data), model (which configuration)" in error.message


def test_no_predictions_at_all():
    error = refused(melted().drop(columns="prob_R"))
    assert "No column of this long table holds predictions" in error.message


def test_a_configuration_can_be_left_out_by_name():
    assert recognise(melted(), ignore=("model 2",)).names == [m for m in MODELS if m != "model 2"]


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_correct_reads_the_same_long_tables(names):
    assert sobercv.correct(melted(names), "roc_auc").value == EXPECTED.value


def test_a_repeat_in_the_index_is_a_repeat():
    table = melted(repeats=2)
    found, expected = sobercv.correct(table.set_index("repeat"), "roc_auc"), sobercv.correct(table, "roc_auc")
    assert (found.value, found.n_repeats) == (expected.value, 2)


def test_polars_is_read_as_pandas_is():
    assert sobercv.correct(polars.from_pandas(melted()), "roc_auc").value == EXPECTED.value


def test_a_truth_beside_what_would_be_read_as_fold_scores_is_refused():
    with pytest.raises(SoberError, match=r"sobercv\.bbc\(y, predictions") as error:
        sobercv.correct(CHANCE, "roc_auc", y=Y)
    assert error.value.code == "E114"


def test_scores_of_samples_left_out_one_by_one_are_predictions():
    """One row per fold and model, a column called score: only the truth tells it from fold scores."""
    names = {"y_true": "label", "prob_R": "score"}
    frame = melted(names).assign(fold=lambda f: f["sample"])
    assert set(recognise(frame).responses) == {""}
    assert sobercv.correct(frame.assign(label=lambda f: (f["label"] == "R") * 1)).metric == "roc_auc"
    with pytest.raises(SoberError, match="'label' is not a configuration") as error:
        sobercv.correct(frame.drop(columns="sample"))
    assert error.value.code == "E812"


def test_folds_and_groups_that_are_not_those_of_the_sample_are_refused():
    other = melted().assign(fold=lambda f: (f["fold"] + (f["model"] == "model 1")) % 5)
    assert "The fold differs" in refused(other).message
    assert recognise(other, ignore=("fold",)).folds is None
    grouped = melted().assign(clinic=lambda f: f["sample"] // 6)
    assert len(set(recognise(grouped, group="clinic").groups)) == 10
    assert (
        "has missing values"
        in refused(grouped.assign(clinic=lambda f: f["clinic"].where(f["sample"] > 8)), group="clinic").message
    )


def test_a_truth_beside_a_table_that_holds_its_own_is_refused():
    with pytest.raises(SoberError) as caught:
        sobercv.correct(melted(), "roc_auc", y=Y[::-1])
    assert caught.value.code == "E114"
