"""Settings: every value is checked, every wrong one named in a sentence."""

import msgspec
import pytest

from sobercv.errors import SoberError
from sobercv.tables.settings import Settings, checked, from_toml


def test_lists_of_names_are_split_and_said_once():
    assert checked({"missing": ["unbekannt,-99", "-99"]})["missing"] == ("unbekannt", "-99")
    assert checked({"missing": [-99, "k"]})["missing"] == ("-99", "k"), "a number of sober.toml"
    assert checked({"missing": -99})["missing"] == ("-99",)
    assert checked({"metric": ["roc_auc, f1", "f1"], "ignore": ["a,b", "a,b"]}) == {
        "metric": ("roc_auc", "f1"),
        "ignore": ("a,b",),
    }
    assert checked({"metric": "f1,neg_cost(missed=5, alarms=1)"})["metric"] == ("f1", "neg_cost(missed=5, alarms=1)")


@pytest.mark.parametrize("given", ["-99,0", "unbekannt,9,99", ["k.A.", "1,5"]])
def test_a_comma_between_digits_is_no_separator_of_words_for_missing(given):
    with pytest.raises(SoberError, match="may be a decimal mark or stand between two values") as error:
        checked({"missing": given})
    assert error.value.code == "E808"


def test_lists_of_columns_are_split_where_no_column_has_that_name():
    given = Settings(ignore=("a, b", "x,y", "a"), by=("site,x,y",))
    found = given.split(["a", "b", "x,y", "site"])
    assert found.ignore == ("a", "b", "x,y")
    assert found.by == ("site", "x", "y")
    assert found.split(["a", "b", "x,y", "site"]) == found


BAD = [
    ("cv", 1, "whole number no less than 2"),
    ("cv", True, "whole number"),
    ("cv", 2.0, "whole number"),
    ("cv", 10**5000, "whole number"),
    ("jobs", 0, "-1 for all cores"),
    ("jobs", 10**6, "no more than 1024"),
    ("seed", -1, "no less than 0"),
    ("stratify", "yes", "true or false"),
    ("aggregate", "mean", "pooled or fold"),
    ("limits", "some", "value or half or missing"),
    ("cv", "many", "a whole number, or groups"),
    ("target", 3, "in quotes"),
    ("metric", [1], "list of names"),
    ("ignore", {"a": 1}, "list of names"),
    ("max_time", "soon", "10m or 2h"),
    ("max_time", 0, "10m or 2h"),
    ("max_time", True, "10m or 2h"),
    ("max_time", 10**4000, "10m or 2h"),
    ("max_time", {"a": [1] * 1000}, "10m or 2h"),
    ("event_value", 10**5000, "in quotes"),
    ("tarket", "y", "Did you mean 'target'"),
]


@pytest.mark.parametrize(("name", "value", "said"), BAD, ids=[f"{b[0]}-{i}" for i, b in enumerate(BAD)])
def test_a_wrong_value_is_named(name, value, said):
    with pytest.raises(SoberError, match=said) as caught:
        checked({name: value})
    assert caught.value.code == "E808"
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(("given", "expected"), [("90", 90), (1.5, 1.5), ("10m", 600), ("2 h", 7200), ("3min", 180)])
def test_durations(given, expected):
    assert checked({"max_time": given}) == {"max_time": expected}


def test_the_command_repeats_the_run():
    found = Settings(
        data="my data.csv", target="y", ignore=("a b", "c"), metric=("f1", "accuracy"), stratify=True, jobs=3,
        max_time=3600.0,
        missing=("-99", "no value"),
    )  # fmt: skip
    assert found.command() == (
        "sober fit 'my data.csv' --target y --ignore 'a b' --ignore c --missing -99 --missing 'no value' "
        "--metric f1,accuracy --stratify"
    )


def test_plain_data_and_back():
    found = Settings(data="d", metric=("f1",), aggregate="within_folds", max_time=60.0)
    assert Settings(**checked(msgspec.json.decode(msgspec.json.encode(found)))) == found
    assert msgspec.json.decode(msgspec.json.encode(found), type=Settings) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target: y", "not valid TOML"),
        ("a = " + "[" * 5000, "nested too deeply|not valid TOML"),
        ("seed = " + "9" * 5000, "not valid TOML"),
        ("seed = 0x" + "f" * 5000, "whole number"),
        ("[target]\na = 1", "in quotes"),
        ("[[metric]]\na = 1", "list of names"),
        ("cv = {a = {b = {c = 1}}}", "whole number"),
        ("quiet = 1", "true or false"),
        ("output = ['a']", "in quotes"),
        ("folds = 5", "does not know"),
    ],
)
def test_a_settings_file_that_cannot_be_used(tmp_path, text, said):
    (tmp_path / "sober.toml").write_text(text)
    with pytest.raises(SoberError, match=said) as caught:
        from_toml(tmp_path / "sober.toml")
    assert caught.value.code == "E808"
    assert len(str(caught.value)) < 400


def test_dashes_are_underscores(tmp_path):
    (tmp_path / "sober.toml").write_text('max-time = "1m"\naggregate = "within_folds"\nno-report = true\n')
    assert from_toml(tmp_path / "sober.toml") == {"max_time": 60, "aggregate": "within_folds", "no_report": True}
