"""Wide tables: columns that number or place rows are no configurations, whatever they hold."""

import numpy as np
import pandas as pd
import pytest

from sobercv.correction import recognise
from sobercv.errors import SoberError

from .predictions import CHANCE, FOLD, MODELS, N, wide

PLACES = ["sample", "Sample_ID", "row", "id", "index", "fold", "repeat", "Unnamed: 0", "patient"]


@pytest.mark.parametrize("name", PLACES)
def test_what_numbers_or_places_rows_is_never_a_configuration(name):
    values = np.arange(N) if name not in ("fold", "repeat") else FOLD if name == "fold" else np.zeros(N, int)
    assert recognise(wide(**{name: values}), target="y").names == MODELS


def test_folds_are_taken_as_folds():
    assert (recognise(wide(fold=FOLD), target="y").folds[:, 0] == FOLD).all()
    assert recognise(wide(), target="y").folds is None


def test_a_column_without_any_value_is_a_configuration_without_predictions():
    empty = wide(empty=np.full(N, None), y=np.arange(N) % 2)
    assert recognise(empty, target="y").responses[""].mask.sum(axis=0).tolist() == [0] * len(MODELS) + [N]


@pytest.mark.parametrize("y", [np.arange(N) % 2, np.arange(N) % 2 == 1])
def test_labels_of_which_some_lack_are_labels(y):
    """Whole numbers and flags with gaps come as 0.0 and 1.0, as scores would."""
    labels = {name: np.where(np.arange(N) < 12, np.nan, CHANCE[:, c] > 0.5) for c, name in enumerate(MODELS)}
    found = recognise(pd.DataFrame({"y": y, "fold": FOLD, **labels}), target="y")
    assert found.usual_metric() == "accuracy"
    assert found.responses[""].mask.sum() == 12 * len(MODELS)


def test_whole_numbers_that_are_predicted_as_fractions_are_numbers():
    frame = wide(y=np.arange(N) % 5).rename(columns={"model 0": "score"})
    assert recognise(frame, target="y").usual_metric() == "r2"
    assert recognise(wide(y=np.array(list("abcde"))[np.arange(N) % 5]), target="y").usual_metric() == "accuracy"


def test_rows_of_one_patient_are_warned_about_and_grouped_on_request():
    frame = wide(patient=np.arange(N) // 2)
    assert [note.code for note in recognise(frame, target="y").notes] == ["W301"]
    grouped = recognise(frame, target="y", group="patient")
    assert len(set(grouped.groups)) == N // 2
    assert grouped.notes == ()


def test_probabilities_of_the_classes_are_one_configuration():
    frame = wide()[["y"]].assign(prob_M=1 - CHANCE[:, 0], prob_R=CHANCE[:, 0])
    with pytest.raises(SoberError, match="probabilities of the 2 classes by one configuration") as caught:
        recognise(frame, target="y")
    assert caught.value.code == "E813"


def test_two_numbered_configurations_are_no_probabilities_of_the_classes_0_and_1():
    frame = wide(y=np.arange(N) % 2)[["y", "model 0", "model 1"]]
    assert recognise(frame, target="y").names == ["model 0", "model 1"]
    with pytest.raises(SoberError, match="probabilities of the 2 classes"):
        recognise(frame.assign(**{"model 1": 1 - frame["model 0"]}), target="y")


def test_a_remark_may_be_left_out():
    with pytest.raises(SoberError, match="--ignore note"):
        recognise(wide(note=["seen"] * (N - 1) + ["not seen"]), target="y")
    assert recognise(wide(note=["seen"] * N), target="y", ignore=("note",)).names == MODELS


def test_a_column_among_probabilities_that_holds_something_else_is_noted():
    for odd in ({"age": np.arange(N) % 7 + 20.0}, {"sex": np.arange(N) % 2}):
        (note,) = recognise(wide(**odd), target="y").notes
        assert note.code == "W206"
        assert f"--ignore {next(iter(odd))}" in note.text
    assert recognise(wide(**odd), target="y", ignore=("sex",)).notes == ()


def test_survival_with_several_causes():
    frame = wide(days=np.arange(1, N + 1), status=np.arange(N) % 3).drop(columns="y")
    with pytest.raises(SoberError, match="--event-value"):
        recognise(frame, time="days", event="status")
    imported = recognise(frame, time="days", event="status", event_value="2")
    assert imported.y["event"].sum() == N // 3
    assert [note.code for note in imported.notes] == ["W813"]


def test_the_columns_are_listed_where_the_truth_is_not_named():
    with pytest.raises(SoberError, match="The columns are 'y', 'model 0'") as caught:
        recognise(wide())
    assert caught.value.code == "E808"


@pytest.mark.parametrize(
    "told", [{"repeat": np.arange(N) % 2}, {"fold": [f"Fold{i % 5}.Rep{i % 2}" for i in range(N)]}]
)
def test_repeats_in_a_wide_table_are_refused(told):
    """Each sample would count as several."""
    with pytest.raises(SoberError, match="every row is a sample") as caught:
        recognise(wide(**told), target="y")
    assert caught.value.code == "E812"
    assert recognise(wide(**told), target="y", ignore=tuple(told)).names == MODELS


def test_two_columns_that_play_one_part_are_refused():
    frame = wide(fold=FOLD, again=FOLD).rename(columns={"again": "fold"})
    with pytest.raises(SoberError, match="Several columns are called 'fold'") as caught:
        recognise(frame, target="y")
    assert caught.value.code == "E804"


def test_probabilities_of_three_classes_by_configuration_are_refused():
    chance = np.random.default_rng(0).dirichlet(np.ones(3), (N, 2))  # of two configurations
    labels = ["a b", "b", "d"]
    columns = {f"m{c}_{label}": chance[:, c, k] for k, label in enumerate(labels) for c in range(2)}
    frame = pd.DataFrame({"y": np.array(labels)[np.arange(N) % 3], **columns})
    with pytest.raises(SoberError, match=r"'m0_a b'.* one for each class.*long table.*prob_<class>") as error:
        recognise(frame, target="y")
    assert error.value.code == "E812"
    numbered = wide(y=np.arange(N) % 2).rename(
        columns=dict(zip(MODELS, ["s_0", "s_1", "r_0", "r_1", "x_0"], strict=True))
    )
    assert len(recognise(numbered.drop(columns="x_0"), target="y").names) == 4, (
        "what does not add up to 1 is no such table"
    )
