"""Which column is what: targets, events of several causes, groups; and names that are nearly right."""

import numpy as np
import pandas as pd
import pytest

from sobercv.errors import SoberError
from sobercv.tables import Settings, assign
from sobercv.tables.naming import closest

FRAME = pd.DataFrame({
    "x": np.arange(40.0), "bmi": np.arange(40.0), "BMI": np.arange(40.0), "Systolic BP": np.arange(40.0),
    "days": np.arange(1, 41), "status": [0, 1, 2, 1] * 10, "y": ["a", "b"] * 20,
})  # fmt: skip


def refused(**roles):
    with pytest.raises(SoberError) as caught:
        assign(FRAME, Settings(**roles))
    return caught.value


def test_without_a_target_the_columns_are_listed():
    error = refused()
    assert error.code == "E808"
    assert "The columns are 'x', 'bmi', 'BMI', 'Systolic BP', 'days', 'status', 'y'." in error.message
    assert "'status'" in refused(time="days").message


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Bmi", ["bmi", "BMI"]),
        ("systolic_bp", ["Systolic BP"]),
        ("SYSTOLC BP", ["Systolic BP"]),
        ("Y ", ["y"]),
        ("zz", []),
    ],
)
def test_the_closest_name_is_found_across_case(given, expected):
    assert closest(given, list(FRAME.columns)) == expected


def test_two_names_that_differ_in_case_only_are_both_named():
    assert "Did you mean 'bmi' or 'BMI'?" in refused(target="Bmi").message


def test_statuses_of_several_causes_need_a_word_and_get_it():
    error = refused(time="days", event="status")
    assert error.code == "E112"
    assert "'0' (10 times), '1' (20 times), '2' (10 times)" in error.message
    assert "--event-value" in error.message
    data = assign(FRAME, Settings(time="days", event="status", event_value="2"))
    assert data.y["event"].sum() == 10
    assert [note.code for note in data.notes] == ["W813"]
    assert "'1' (20 times) counts as censored" in data.notes[0].text
    assert "Competing risks are ignored" in data.notes[0].text
    assert "'7' in no row" in refused(time="days", event="status", event_value="7").message
    assert "Name that column" in refused(target="y", event_value="2").message


@pytest.mark.parametrize(
    ("status", "value", "n"),
    [
        ([0, 1] * 20, None, 20), ([False, True] * 20, None, 20), ([0.0, 1.0] * 20, None, 20), (["0", "1"] * 20, None, 20),
        ([1, 2] * 20, "2", 20), ([1.0, 2.0] * 20, "2", 20), (["alive", "dead"] * 20, "dead", 20),
        ([1, 2] * 20, "02", 20), (["01", "02"] * 20, "2", 20), (["00", "01"] * 20, None, 20),
    ],
)  # fmt: skip
def test_two_values_are_no_competing_risks(status, value, n):
    data = assign(FRAME.assign(status=status), time="days", event="status", event_value=value)
    assert data.y["event"].sum() == n
    assert data.notes == ()


@pytest.mark.parametrize(
    ("values", "seen"),
    [(["yes", "no"], "yes"), (["nein", "ja"], "ja"), (["Oui", "Non"], "Oui"), (["sí", "no"], "sí"),
     (["dead", "alive"], "dead"), (["true", "false"], "true")],
)  # fmt: skip
def test_an_event_in_words_is_read_where_they_leave_no_doubt(values, seen):
    frame = FRAME.assign(status=values * 20)
    data = assign(frame, time="days", event="status")
    assert (data.y["event"] == (frame["status"] == seen)).all()
    assert [note.code for note in data.notes] == ["W801"]
    assert f"where it is {seen!r}" in data.notes[0].text
    for name in ("censored", "Zensiert", "alive", "survived"):
        with pytest.raises(SoberError, match="--event-value") as error:
            assign(frame.rename(columns={"status": name}), time="days", event=name)
        assert error.value.code == "E112"
    with pytest.raises(SoberError, match="--event-value"):
        assign(FRAME.assign(status=["a", "b"] * 20), time="days", event="status")


@pytest.mark.parametrize(("values", "other"), [([0, 1], "0"), ([False, True], "False")])
def test_an_event_that_may_be_its_opposite_is_noted(values, other):
    frame = FRAME.assign(censored=values * 20)
    data = assign(frame, time="days", event="censored")
    assert data.y["event"].sum() == 20
    assert [note.code for note in data.notes] == ["S801"]
    assert f"--event-value {other}." in data.notes[0].text
    turned = assign(frame, time="days", event="censored", event_value=other)
    assert (turned.y["event"] != data.y["event"]).all()
    assert turned.notes == ()


def test_time_and_event_that_are_swapped_are_refused():
    with pytest.raises(SoberError, match=r"swapped\. Write --time days --event status") as error:
        assign(FRAME.assign(status=[0, 1] * 20), time="status", event="days")
    assert error.value.code == "E112"


def test_keywords_and_roles_say_the_same():
    one, two = assign(FRAME, target="y", ignore=("x",)), assign(FRAME, Settings(target="y", ignore=("x",)))
    assert list(one.X.columns) == list(two.X.columns)
    assert one.roles == two.roles == {"y": "target", "x": "ignored"}


def test_booleans_with_gaps_keep_their_labels():
    frame = FRAME.assign(y=pd.Series([True, False, None, True] * 10, dtype=object))
    data = assign(frame, target="y")
    assert data.classes == [False, True]
    assert data.n_without_target == 10


def test_groups_must_be_whole():
    assert assign(FRAME.assign(p=np.arange(40) // 4), target="y", group="p").groups.max() == 9
    with pytest.raises(SoberError) as caught:
        assign(FRAME.assign(p=[None, *range(39)]), target="y", group="p")
    assert caught.value.code == "E107"


@pytest.mark.parametrize(
    ("columns", "time", "event"),
    [
        (("pid", "OS_Monate", "Tod", "Alter"), "OS_Monate", "Tod"),
        (("\u00dcberlebenszeit (Tage)", "Ereignis", "age"), "\u00dcberlebenszeit (Tage)", "Ereignis"),
        (("fu_days", "death", "age_years"), "fu_days", "death"),
        (("survTime", "vital status"), "survTime", "vital status"),
        (("duree_suivi", "deces", "sexe"), "duree_suivi", "deces"),
    ],
)
def test_the_missing_half_of_a_survival_target_is_guessed_by_name(columns, time, event):
    frame = pd.DataFrame({name: [0, 1] * 5 for name in columns})
    for given, missing in (({"event": event}, time), ({"time": time}, event)):
        with pytest.raises(SoberError, match="Judging by its name it may be") as told:
            assign(frame, **given)
        assert repr(missing) in str(told.value)


def test_infinite_labels_are_refused_and_long_ones_stay_apart():
    for values in ([np.inf, -np.inf] * 20, [0.0, 1.0, np.inf, 1.0] * 10):
        with pytest.raises(SoberError, match="holds infinite values") as caught:
            assign(FRAME.assign(y=values), target="y")
        assert caught.value.code == "E112"
    assert assign(FRAME.assign(y=[1e20, 2e20] * 20), target="y").classes == [1e20, 2e20]
