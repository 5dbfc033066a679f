"""All checks together: what each sees, what it leaves in peace, and in which order people hear of it."""

import numpy as np
import pandas as pd
import pytest

from sobercv.checks import check_dataset
from sobercv.errors import CODES, Note, SoberError
from sobercv.tables import assign

from .tables import TIMED, codes, honest, notes, numeric, timed

RNG = np.random.default_rng(2)
BIG = honest()

SEEN = [
    ("a copy of the target", BIG.assign(copy=BIG["y"].map({"ill": 1.0, "well": 2.0})), "W806"),
    ("a copy as text", BIG.assign(copy=BIG["y"] + "!"), "W806"),
    ("gaps that tell the target", BIG.assign(when=np.where(BIG["y"] == "ill", "2020-01-01", None)), "W806"),
    ("row numbers", BIG.assign(nr=range(300)), "W809"),
    ("keys", BIG.assign(key=[f"P-{i * 37 % 1000:04d}" for i in range(300)]), "W809"),
    ("a date of death", BIG.assign(death_date=pd.date_range("2020-01-01", periods=300)), "W806"),
    ("a date", BIG.assign(born=pd.date_range("1950-01-01", periods=300)), "S801"),
    ("a date as text", BIG.assign(born=["3.4.1950", "17.12.1971"] * 150), "S801"),
    ("a constant", BIG.assign(one=1), "W809"),
    ("nothing", BIG.assign(none=np.nan), "W809"),
    ("mostly gaps", BIG.assign(few=[1.0, 2.0, *[np.nan] * 298]), "W809"),
    ("copied rows", pd.concat([BIG, BIG.head(20)]), "W301"),
    ("one copied row", pd.concat([BIG, BIG.head(1)]), "S801"),
    ("patients with several rows", BIG.assign(patient_id=RNG.integers(1000, 1100, 300)), "W301"),
    ("a rare class", BIG.assign(y=["rare"] * 15 + ["other"] * 285), "W804"),
    ("a class rarer than folds", BIG.assign(y=["rare"] * 5 + ["other"] * 295), "E106"),
    ("stars from 1 to 5", BIG.assign(y=RNG.integers(1, 6, 300)), "S801"),
    ("few rows", honest(100), "S802"),
    ("very few rows", honest(19).assign(y=["ill", "well"] * 9 + ["ill"]), "E106"),
    ("rows without a target", BIG.assign(y=BIG["y"].where(BIG.index > 2)), "W813"),
    ("infinite values", BIG.assign(far=[np.inf, *range(299)]), "E102"),
    ("nothing to learn from", BIG.assign(good=1.0, useless=np.nan), "E818"),
]


@pytest.mark.parametrize(("name", "frame", "code"), SEEN, ids=[s[0] for s in SEEN])
def test_what_should_be_seen_is_seen(name, frame, code):
    assert code in codes(frame)


def test_classes_that_differ_in_capitals_are_named():
    frame = BIG.assign(y=["Ja", *["ja"] * 150, *["nein"] * 149])
    (text,) = [note.text for note in notes(frame) if note.code == "E106"]
    same = "The classes 'Ja', 'ja' differ only in capitals. If they are one, write them alike."
    assert text == f"Class 'Ja' has 1 row, fewer than the 10 folds. {same}"
    frame = BIG.assign(y=["Ja"] * 100 + ["ja"] * 100 + ["nein"] * 100)
    said = [note.text for note in notes(frame) if "capitals" in note.text]
    assert said == ["The classes 'Ja', 'ja' differ only in capitals. If they are one, write them alike."]


def test_honest_tables_are_left_in_peace():
    assert codes(BIG) == []
    assert codes(numeric()) == []
    assert codes(timed(), **TIMED) == []


def test_few_rows_or_events_are_counted_against_the_folds():
    assert "E106" in codes(honest(8), cv=10)
    assert "E106" not in codes(honest(40), cv=5)
    few = timed().assign(e=[1] * 4 + [0] * 296)
    assert "E106" in codes(few, cv=5, **TIMED)
    assert "W804" in codes(few, cv=4, **TIMED)


def test_all_errors_are_listed():
    frame = honest(60).assign(far=[np.inf, *range(59)], centre=[1, 2] * 30, y=["rare"] * 3 + ["other"] * 57)
    found = [note for note in notes(frame, group="centre") if note.severity == "error"]
    assert [note.code for note in found] == ["E106", "E106", "E102"]
    assert found[0].text.startswith("The number of groups with a target is 2; at least 3 are needed.")
    assert codes(honest(60)[["y"]])[0] == "E818"


def test_a_named_group_or_id_is_not_complained_about():
    frame = BIG.assign(patient_id=np.repeat(np.arange(100), 3))
    assert codes(frame, group="patient_id") == ["S802"]  # 100 patients are few
    assert codes(frame, id="patient_id") == ["S802"]


def test_errors_come_first_and_suggestions_last():
    frame = honest(100).assign(one=1, far=[np.inf, *range(99)], born=pd.date_range("1950-01-01", periods=100))
    found = notes(frame)
    severities = [note.severity for note in found]
    assert severities == sorted(severities, key=["error", "warning", "suggestion"].index)
    assert set(severities) == {"error", "warning", "suggestion"}
    assert all(note.title == CODES[note.code] for note in found)


def test_what_the_reader_of_the_file_noted_is_handed_on():
    given = Note("W801", "The file is not UTF-8.")
    assert given in check_dataset(assign(BIG, target="y"), notes=[given])


def test_a_note_names_its_columns_and_is_plain_data():
    (note,) = notes(BIG.assign(one=1, two=2))
    assert note.to_dict() == {
        "code": "W809",
        "severity": "warning",
        "text": "2 columns have the same value in every row: 'one', 'two'. Left out of every model.",
        "columns": ["one", "two"],
    }


def test_long_and_many_names_are_cut():
    frame = BIG.assign(**{f"{'x' * 50}{i}": 1 for i in range(5)})
    text = notes(frame)[0].text
    assert text.count("x" * 39 + "…") == 3
    assert "and 2 more" in text


def test_rows_that_repeat_are_described_and_rows_with_ids_of_their_own_are_not_complained_about():
    frame = pd.concat([BIG, BIG.head(20).assign(y=lambda f: np.where(f.index < 5, "other", f["y"]))])
    (note,) = [note for note in notes(frame) if note.code == "W301"]
    assert note.text.startswith("20 rows repeat another row in all 2 columns, 15 of them with the same target.")
    assert "emove" not in note.text
    assert "--id" in note.text
    assert "W301" not in codes(frame.assign(nr=np.arange(320) * 7 % 1000), id="nr"), "their ids differ"


def test_a_fold_per_hospital_is_enough():
    hospitals = honest(200).assign(hospital=[f"H{i % 5}" for i in range(200)])
    data = assign(hospitals, target="y", group="hospital")
    assert [note.code for note in check_dataset(data, cv=5) if note.severity == "error"] == []
    assert data.n_folds(10) == data.n_folds("groups") == 5
    (said,) = [note.text for note in check_dataset(data, cv=5) if "held out" in note.text]
    assert "Each of the 5 groups is held out once" in said


LATER = ["follow_up_days", "FollowUp", "Beobachtungstage", "Nachbeobachtung (Monate)", "discharge_status", "LOS", "Entlassart",
         "durée de suivi", "décès", "dias_seguimiento", "Überlebenszeit", "data_obito", "ontslagdatum", "time_to_relapse",
         "Rezidiv", "cause of death", "giorni_degenza"]  # fmt: skip
EARLIER = ["age", "elastic", "endocrine", "sex", "gender", "closed", "Todd", "lost_weight", "mortgage", "recurring",
           "sortierung", "blood_pressure", "lastname", "progress_note_length", "deadline"]  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_what_is_known_only_after_the_outcome_is_asked_about(name):
    (found,) = [n for n in notes(honest().assign(**{name: np.arange(300.0) % 7.5})) if n.columns == (name,)]
    assert found.code == "S801"
    assert "--ignore" in found.text


@pytest.mark.parametrize("name", EARLIER)
def test_other_names_are_not_asked_about(name):
    assert not [n for n in notes(honest().assign(**{name: np.arange(300.0) % 7.5})) if name in n.columns]


def test_a_column_that_may_tell_centres_apart_is_asked_about():
    frame = honest(60).assign(Klinik=["a", "b", "c", "d"] * 15)
    (found,) = [note for note in notes(frame) if note.columns == ("Klinik",)]
    assert found.code == "S801"
    assert "--group Klinik" in found.text
    assert not [note for note in notes(frame, group="Klinik") if note.columns == ("Klinik",)]
    assert not [note for note in notes(frame.assign(Klinik=range(60))) if "centres apart" in note.text]


def test_a_status_beside_a_time_is_asked_about():
    frame = honest(60).assign(status=[0, 1] * 30, OS_Monate=np.arange(60) % 13).drop(columns="y")
    (found,) = [note for note in notes(frame, target="status") if "survival target" in note.text]
    assert "--time OS_Monate --event status" in found.text
    assert not [note for note in notes(honest(60).assign(OS_Monate=1.5)) if "survival target" in note.text]


def test_tables_for_sober_correct_are_known_for_what_they_are():
    def hints(frame, **roles):
        return [note.text for note in check_dataset(assign(frame, **roles)) if "sober correct" in note.text]

    rng, y = np.random.default_rng(0), np.arange(60) % 2
    chances = {f"model {c}": np.clip(0.5 + 0.2 * (y - 0.5) + 0.1 * rng.normal(size=60), 0, 1) for c in range(4)}
    (text,) = hints(pd.DataFrame({"sick": y, "fold": np.arange(60) % 5, **chances}), target="sick")
    assert text.endswith("sober correct FILE --target sick corrects the best score.")
    assert not hints(pd.DataFrame({"sick": y, **chances, "age": rng.normal(50, 9, 60)}), target="sick")
    assert not hints(pd.DataFrame({"sick": y, **chances, "share": rng.random(60)}), target="sick")
    long = pd.DataFrame({"sample": np.arange(60) // 2, "model": ["a", "b"] * 30, "y_true": y, "prob": rng.random(60)})
    assert "out-of-fold predictions" in hints(long, target="y_true")[0]
    for frame, what in (
        (long, "out-of-fold predictions"),
        (pd.DataFrame({"fold": [1, 2] * 3, "model": list("aabbcc"), "score": rng.random(6)}), "scores by fold"),
        (pd.DataFrame({"fold": [1, 2, 3], "a": rng.random(3), "b": rng.random(3)}), "scores by fold"),
    ):
        with pytest.raises(SoberError, match=f"If these are {what} of a search, sober correct FILE") as error:
            assign(frame)
        assert error.value.code == "E808"


def test_a_rare_grade_may_be_a_number():
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=63), "y": [*np.arange(60) % 6, 7, 7, 7]})
    (note,) = [n for n in check_dataset(assign(frame, target="y", task="multiclass")) if n.code == "E106"]
    assert "or write --task regression, if it is a number" in note.text
    (note,) = [
        n for n in check_dataset(assign(frame.assign(y=frame["y"].map("k{}".format)), target="y")) if n.code == "E106"
    ]
    assert "regression" not in note.text


def test_codes_of_gaps_among_numbers_are_asked_about():
    weight = pd.Series(RNG.normal(80, 9, 300)).where(BIG.index % 9 > 0, -99)
    (text,) = [n.text for n in notes(BIG.assign(weight=weight, ecog=[0, 1, -9] * 100)) if n.code == "W844"]
    assert (
        text
        == "2 columns hold -99,-9 and no other negative number: 'weight', 'ecog'. If it means missing, write "
        + ("--missing -99,-9.")
    )
    assert "W844" not in codes(BIG.assign(change=np.arange(300) - 99))


def test_suggested_options_can_be_pasted_into_a_shell():
    frame = BIG.assign(**{"Patienten-Nr. (neu)": [f"P{i % 150}" for i in range(300)], "Zeit (Tage)": range(300)})
    said = " ".join(note.text for note in notes(frame.rename(columns={"y": "Status"}), target="Status"))
    assert "write --group 'Patienten-Nr. (neu)', or" in said
    assert "write --time 'Zeit (Tage)' --event Status instead" in said
