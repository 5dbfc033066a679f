"""New rows through a model: read by the record of the run, whatever they look like themselves."""

import json

import pandas as pd
import pytest
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sobercv.errors import SoberError
from sobercv.runs import RunFolder
from sobercv.runs.model import save
from sobercv.runs.new_rows import levels_of, strangers_noted
from sobercv.runs.predict import Asked, predict
from sobercv.tables import assign, read

ROWS = "key;dose;y\n007;1,5;a\n07;2,5;b\n7;3,5;a\nA7;4,5;b\n" + "8;5,5;a\n9;6,5;b\n" * 4


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder with a model that knows the dose; the key tells rows apart."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "d.csv").write_text(ROWS)
    table = read(tmp_path / "d.csv")
    data = assign(table.frame, target="y", id="key", ignore=())
    folder = RunFolder(tmp_path / "run")
    folder.make()
    folder.write_json("settings.json", {})
    model = DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
    save(model, data, folder, {"reading": table.record.to_dict(), "positive": "b"})
    return folder


def test_marks_and_codes_are_those_of_training(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n007;1,5\n7;12\n")
    found = predict(run, tmp_path / "new.csv")
    assert found.frame["key"].tolist() == ["007", "7"]
    assert found.frame[".pred_class"].tolist()[0] == "a"
    assert found.notes == ()


def test_what_does_not_fit_is_counted_and_what_lacks_is_named(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n1;1,5\n2;2,5\n3;much\n")
    notes = predict(run, tmp_path / "new.csv").notes
    assert [note.code for note in notes] == ["W844"]
    (tmp_path / "new.csv").write_text("key;doses\n1;1,5\n")
    with pytest.raises(SoberError, match="lack 1 of 1 columns: 'dose'"):
        predict(run, tmp_path / "new.csv")
    pd.DataFrame({"key": ["1"], "dose": [1.5]}).to_parquet(tmp_path / "new.parquet")
    assert predict(run, tmp_path / "new.parquet").notes == ()


def test_the_threshold_decides_and_is_said(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n1;1,5\n2;2,5\n")
    plain = predict(run, tmp_path / "new.csv")
    assert plain.frame[".pred_class"].tolist() == ["a", "b"]
    assert plain.meaning == '"b" where its probability is 0.5 or more'
    chances = plain.frame[".pred_b"].tolist()
    asked = Asked(threshold=(chances[0] + 1e-6) if chances[0] > 0 else 1e-6)
    assert predict(run, tmp_path / "new.csv", asked=asked).frame[".pred_class"].tolist() == ["a", "b"]
    assert predict(run, tmp_path / "new.csv", asked=asked).meaning.endswith(f"is {asked.threshold:g} or more")
    for wrong in (Asked(threshold=0.0), Asked(threshold=1.5), Asked(times=(3.0,))):
        with pytest.raises(SoberError) as caught:
            predict(run, tmp_path / "new.csv", asked=wrong)
        assert caught.value.code == "E807"


def test_unseen_categories_and_empty_columns_are_one_line():
    many = [f"word {i}" for i in range(50)]
    before = pd.DataFrame({"site": ["north", "south"] * 25, "dose": [1.5] * 50, "story": many, "flag": [True] * 50})
    levels = levels_of(before)
    assert levels == {"site": ["north", "south"]}
    assert strangers_noted(before, levels) == []
    new = pd.DataFrame({"site": ["north", "moon", "moon", "mars", None], "dose": [None] * 5, "story": ["new"] * 5})
    (note,) = strangers_noted(new, levels)
    assert note.code == "W847"
    assert "3 values of a category that training did not have: 'site' ('moon', 'mars')" in note.text
    assert "1 column without any value: 'dose'" in note.text
    assert note.columns == ("site", "dose")


def test_a_record_that_is_damaged_is_refused(run, tmp_path):
    manifest = json.loads((run / "model.json").read_text())
    for damaged in (
        None,
        {"columns": 3},
        {"has_header": True, "columns": {"dose": {"kind": "number", "decimal": "x"}}},
    ):
        run.write_json("model.json", {**manifest, "reading": damaged})
        with pytest.raises(SoberError) as caught:
            predict(run, tmp_path / "d.csv")
        assert caught.value.code in ("E809", "E810")


@pytest.mark.parametrize("positive", ["a", "b"])
def test_scores_are_those_of_the_positive_class(tmp_path, monkeypatch, positive):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "d.csv").write_text(ROWS.replace("5,5", "1,0"))
    table = read(tmp_path / "d.csv")
    data = assign(table.frame, target="y", id="key", ignore=())
    folder = RunFolder(tmp_path / "run")
    folder.make()
    folder.write_json("settings.json", {})
    model = LinearSVC(random_state=0).fit(data.X, data.y)
    save(model, data, folder, {"reading": table.record.to_dict(), "positive": positive})
    found = predict(folder, tmp_path / "d.csv")
    assert ((found.frame[".score"] > 0) == (found.frame[".pred_class"] == positive)).all()
    assert set(found.frame[".pred_class"]) == {"a", "b"}
    assert f'the greater .score, the more like "{positive}"' in found.meaning
    with pytest.raises(SoberError, match="neg_log_loss"):
        predict(folder, tmp_path / "d.csv", asked=Asked(0.3))
