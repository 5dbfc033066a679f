"""New rows through a model: read by the record of the run, whatever they look like themselves."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sobercv.errors import SoberError
from sobercv.predictions import Predictions
from sobercv.runs.fit import positive_of
from sobercv.runs.folder import RunFolder
from sobercv.runs.model import MODEL, _numbers, packed, predict
from sobercv.runs.record import Begun, ModelFacts, RunRecord
from sobercv.runs.survival_curve import SurvivalCurve
from sobercv.tables import Settings, assign, read
from sobercv.tables.facts import facts_of

from ..report.cases import by_hand

ROWS = "key;dose;y\n007;1,5;a\n07;2,5;b\n7;3,5;a\nA7;4,5;b\n" + "8;5,5;a\n9;6,5;b\n" * 4


@pytest.fixture
def run(tmp_path):
    """A folder with a model that knows the dose; the key tells rows apart."""
    (tmp_path / "d.csv").write_text(ROWS)
    return written(tmp_path, DecisionTreeClassifier(random_state=0), "b")


def written(place, model, positive):
    """Write a folder with a model, and a record that knows as much as predicting needs."""
    roles = Settings(target="y", id="key")
    table = read(place / "d.csv", roles)
    data = assign(table.frame, roles)
    folder, summary = RunFolder(place / "run"), by_hand()
    folder.path.mkdir()
    folder.write_record("settings.json", Begun(Settings(), "x", {}))
    folder.write(MODEL, packed(model.fit(data.X, data.y)))
    facts = ModelFacts(("dose",), ("a", "b"), positive)
    record = RunRecord(
        summary.scores[0], (), 1, 1, 0, 0, 1, 5, 20, True, (), "a model", "finished", 0, (), "sober fit", Settings(), facts_of(table, data),
        table.schema, (), {}, facts, summary,
    )  # fmt: skip
    folder.write_record("results.json", record)
    return folder


def test_marks_and_codes_are_those_of_training(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n007;1,5\n7;12\n")
    found = predict(run, tmp_path / "new.csv")
    assert found.frame["key"].tolist() == ["007", "7"]
    assert found.frame[".pred_class"].tolist()[0] == "a"
    assert found.notes == ()


def test_the_rows_of_training_are_no_new_rows(run, tmp_path):
    (note,) = predict(run, tmp_path / "d.csv").notes
    assert note.code == "W301"
    assert "d.csv is the table that the model was trained on" in note.text
    (tmp_path / "new.csv").write_text(ROWS + "11;1,5;a\n")
    assert predict(run, tmp_path / "new.csv").notes == ()


def test_what_does_not_fit_is_counted_and_what_lacks_is_named(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n1;1,5\n2;2,5\n3;much\n")
    notes = predict(run, tmp_path / "new.csv").notes
    assert [note.code for note in notes] == ["W844"]
    (tmp_path / "new.csv").write_text("key;doses\n1;1,5\n")
    with pytest.raises(SoberError, match="lack 1 of 1 columns: 'dose'"):
        predict(run, tmp_path / "new.csv")
    pd.DataFrame({"key": ["1"], "dose": [1.5]}).to_parquet(tmp_path / "new.parquet")
    assert predict(run, tmp_path / "new.parquet").notes == ()


def test_a_column_of_another_spelling_is_named(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;Dose;y\n1;1,5;a\n")
    with pytest.raises(SoberError, match=r"'dose'. Did you mean 'Dose'\? Then rename it to 'dose'."):
        predict(run, tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("key;y\n1;a\n")
    with pytest.raises(SoberError, match=r"'dose'. Add them."):
        predict(run, tmp_path / "new.csv")


def test_a_model_of_a_run_that_was_stopped_says_so(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n1;1,5\n")
    held = json.loads((run / "results.json").read_text())
    (run / "results.json").write_text(json.dumps({**held, "is_complete": False, "n_judged": 9}))
    (note,) = predict(run, tmp_path / "new.csv").notes
    assert note.code == "W601"
    assert f"was chosen on 9 of {ROWS.count(chr(10)) - 1} rows" in note.text
    assert note.text.endswith(f"sober resume {run.path}")


def test_chances_of_survival_are_named_by_their_column():
    curve = SurvivalCurve(0.0, 1.0, 1.0, (100.0,), (0.5,))
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0.0, 1.0])
    found, meaning = _numbers(model, [[0.0]], ModelFacts(("dose",), survival=curve), (365.0, 730.0))
    assert meaning.endswith("; .pred_survival_365 is the probability of no event until 365")
    assert ".pred_survival_365" in found


def test_the_threshold_decides_and_is_said(run, tmp_path):
    (tmp_path / "new.csv").write_text("key;dose\n1;1,5\n2;2,5\n")
    plain = predict(run, tmp_path / "new.csv")
    assert plain.frame[".pred_class"].tolist() == ["a", "b"]
    assert plain.meaning == '"b" where its probability is above 0.5'
    chances = plain.frame[".pred_b"].tolist()
    threshold = (chances[0] + 1e-6) if chances[0] > 0 else 1e-6
    assert predict(run, tmp_path / "new.csv", threshold=threshold).frame[".pred_class"].tolist() == ["a", "b"]
    assert predict(run, tmp_path / "new.csv", threshold=threshold).meaning.endswith(f"is {threshold:g} or more")
    for wrong in ({"threshold": 0.0}, {"threshold": 1.5}, {"times": (3.0,)}):
        with pytest.raises(SoberError) as caught:
            predict(run, tmp_path / "new.csv", **wrong)
        assert caught.value.code == "E808"


@pytest.mark.parametrize(("positive", "said"), [("a", "0.5 or more"), ("b", "above 0.5")])
def test_what_is_said_of_a_tie_is_what_the_model_does(tmp_path, positive, said):
    """A model predicts the first of two classes that are equally likely."""
    (tmp_path / "of").mkdir()
    (tmp_path / "of" / "d.csv").write_text(ROWS)
    folder = written(tmp_path / "of", KNeighborsClassifier(2), positive)
    (tmp_path / "new.csv").write_text("key;dose\n1;2,0\n")
    found = predict(folder, tmp_path / "new.csv")
    assert found.frame.loc[0, [".pred_class", ".pred_a", ".pred_b"]].tolist() == ["a", 0.5, 0.5]
    assert found.meaning == f'"{positive}" where its probability is {said}'


def test_a_record_that_is_damaged_is_refused(run, tmp_path):
    held = json.loads((run / "results.json").read_text())
    for damaged in (
        None,
        {},
        {"columns": 3},
        {"has_header": True, "columns": {"dose": {"kind": "number", "marks": {"decimal": "x"}}}},
    ):
        (run / "results.json").write_text(json.dumps({**held, "schema": damaged}))
        with pytest.raises(SoberError) as caught:
            predict(run, tmp_path / "d.csv")
        assert caught.value.code == "E809"


@pytest.mark.parametrize(
    ("classes", "positive"), [(("case", "control"), "case"), (("no", "yes"), "yes"), (("left", "right"), "right")]
)
def test_the_class_that_a_threshold_is_of_is_that_of_the_charts(classes, positive):
    table = Predictions.build(np.array(classes * 5), np.tile([[0.2], [0.8]], (5, 1)), task="classification")
    assert positive_of(table) == positive


@pytest.mark.parametrize("positive", ["a", "b"])
def test_scores_are_those_of_the_positive_class(tmp_path, positive):
    (tmp_path / "d.csv").write_text(ROWS.replace("5,5", "1,0"))
    folder = written(tmp_path, LinearSVC(random_state=0), positive)
    found = predict(folder, tmp_path / "d.csv")
    assert ((found.frame[".score"] > 0) == (found.frame[".pred_class"] == positive)).all()
    assert set(found.frame[".pred_class"]) == {"a", "b"}
    assert f'a higher .score means more like "{positive}"' in found.meaning
    with pytest.raises(SoberError, match="neg_log_loss"):
        predict(folder, tmp_path / "d.csv", threshold=0.3)
