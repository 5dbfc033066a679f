"""The schema for other programs says what our own reader says; the one in the docs is that of `Results`."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sobercv.runs import Results
from sobercv.runs.json_schema import json_schema

from .test_schema import BAD, GOOD, Outer

#: What a schema cannot say: sizes of numbers, and what a record checks by itself.
BEYOND = ("ordinary size", "bad luck")
VALIDATOR = Draft202012Validator(json_schema(Outer, "outer"))


def test_what_our_reader_takes_is_valid():
    VALIDATOR.check_schema(VALIDATOR.schema)
    assert not list(VALIDATOR.iter_errors(GOOD))


@pytest.mark.parametrize("change", [change for change, said in BAD if said not in BEYOND], ids=str)
def test_what_our_reader_refuses_is_not(change):
    assert list(VALIDATOR.iter_errors(GOOD | change))


def test_the_schema_in_the_docs_is_that_of_the_record():
    path = Path(__file__).parents[2] / "docs" / "results.schema.json"
    made = json.dumps(json_schema(Results, "results.json of sober"), indent=1) + "\n"
    assert path.read_text() == made, f"write this to {path.name}:\n{made}"
