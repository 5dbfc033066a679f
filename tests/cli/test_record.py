"""The record of a run: what results.json holds is checked when it is read, and its schema is in the docs."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from sobercv.errors import SoberError
from sobercv.runs.folder import RunFolder
from sobercv.runs.record import RESULTS, RunRecord

SCHEMA = Path(__file__).parents[2] / "docs" / "results.schema.json"


def json_schema():
    """For programs that read results.json."""
    schema = msgspec.json.schema(RunRecord)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": RESULTS, **schema}


def test_the_schema_in_the_docs_is_that_of_the_record():
    made = json.dumps(json_schema(), indent=1) + "\n"
    assert SCHEMA.read_text() == made, "write json_schema() to docs/results.schema.json"


def test_a_run_is_valid_and_read_as_it_was_written(run_folder):
    held = json.loads((run_folder / RESULTS).read_text())
    validator = Draft202012Validator(json_schema())
    validator.check_schema(validator.schema)
    assert not list(validator.iter_errors(held))
    record = RunRecord.read(RunFolder(run_folder))
    assert record.score == record.summary.scores[0]
    assert record.settings.target == "y"
    assert record.model.columns == ("good", "useless")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"winner": 1}, r"\$\.winner"),
        ({"n_fits": 1.5}, r"\$\.n_fits"),
        ({"n_fits": True}, r"\$\.n_fits"),
        ({"stopped": "bored"}, r"\$\.stopped"),
        ({"settings": {"cv": 1}}, r"\$\.settings\.cv"),
        ({"score": {}}, "missing required field"),
        ({"data": {}}, "missing required field"),
        ({"warnings": [{"code": "W999", "text": ""}]}, "does not exist"),
        ({"findings": [{"code": "", "text": ""}]}, "does not exist"),
        ({"summary": None}, r"\$\.summary"),
    ],
)
def test_what_was_edited_is_named_by_its_place(run_folder, change, said):
    held = json.loads((run_folder / RESULTS).read_text())
    (run_folder / RESULTS).write_text(json.dumps(held | change))
    with pytest.raises(SoberError, match=said) as caught:
        RunRecord.read(RunFolder(run_folder))
    assert caught.value.code == "E809"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"format": 5}', b"NaN"])
def test_what_is_no_record_is_refused_in_one_sentence(run_folder, content):
    (run_folder / RESULTS).write_bytes(content)
    with pytest.raises(SoberError, match=r"results\.json"):
        RunRecord.read(RunFolder(run_folder))


@pytest.mark.parametrize("command", ["report", "resume", "predict"])
def test_a_folder_of_another_layout_is_refused_in_one_sentence(sober, run_folder, command):
    held = json.loads((run_folder / "settings.json").read_text())
    (run_folder / "settings.json").write_text(json.dumps(held | {"format": 1}))
    ended = sober(command, "run", *(["data.csv"] if command == "predict" else []))
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert "another version of sober" in ended.err


def test_a_run_that_is_judged_again_says_that_its_own_intervals_are_of_another_width(sober, run_folder):
    assert "W201" not in sober("correct", "run").err
    folder = RunFolder(run_folder)
    record = RunRecord.read(folder)
    folder.write_record(RESULTS, replace(record, summary=replace(record.summary, excess=1.05)))
    ended = sober("correct", "run")
    assert ended.code == 0
    assert "must be multiplied by (1.05); here the usual factor (1.20) is used" in " ".join(ended.err.split())
