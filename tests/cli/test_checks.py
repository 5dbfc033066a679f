"""sober check: what people see, and that it leaves nothing behind."""

import json
from dataclasses import fields

import pytest

from sobercv.cli.checking import show_columns
from sobercv.cli.screen import Screen
from sobercv.errors import CODES
from sobercv.tables import Settings

from .conftest import SMALL, table


def test_what_people_see(sober, tmp_path):
    table(text=True).assign(one=1).to_csv(tmp_path / "data.csv", index=False)
    ended = sober("check", "data.csv", "--target", "y", *SMALL)
    assert ended.code == 0
    lines = [line.rstrip() for line in ended.out.splitlines() if "time" not in line]
    assert lines == [
        "The table",
        "  file    data.csv (csv)",
        "  size    60 rows, 4 columns to learn from (3 numbers, 1 text)",
        "  target  y: 2 classes (ill: 28, well: 32)",
        "",
        "The columns",
        "  good     number        -2.32503 to 1.96026",
        "  useless  number        -2.39823 to 1.81648",
        "  site     text          north, south",
        "  y        target: text  ill, well",
        "  one      constant      1",
        "",
        "The plan",
        "  preset  quick: 3 of 33 configurations, drawn at random.",
        "  metric  roc_auc",
        "  fits    at most 10 (3 configurations, 3 folds, and the final model)",
        "          then up to a minute or so for charts and column importance",
        "",
        "",
        "next  sober fit data.csv --target y --preset quick --configurations 3 --cv 3 -o run",
    ]
    assert [line.split()[:2] for line in ended.err.splitlines() if line[0] != " "] == [
        ["W804", "warning"],
        ["W809", "warning"],
        ["S802", "suggestion"],
    ]


def test_check_leaves_nothing_behind(sober, data, tmp_path):
    before = sorted(p.name for p in tmp_path.iterdir())
    assert sober("check", "data.csv", "--target", "y", *SMALL, "--json").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_check_and_fit_agree_about_errors(sober, tmp_path):
    table().assign(y=["odd"] * 2 + ["even"] * 58).to_csv(tmp_path / "d.csv", index=False)
    seen = sober("check", "d.csv", "--target", "y", "--json")
    fit = sober("fit", "d.csv", "--target", "y", "-o", "run")
    first = json.loads(seen.out)["findings"][0]
    assert fit.code == seen.code == 2
    assert fit.err == f"sober: {first['text']} [{first['code']}]\n"
    assert not (tmp_path / "run").exists()


def test_what_check_warns_of_is_in_the_report_too(sober, tmp_path):
    frame = table()
    frame.assign(copy=frame["y"].map({"ill": 1.0, "well": 2.0})).to_csv(tmp_path / "data.csv", index=False)
    ended = sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run")
    assert ended.code == 0, ended.err
    assert "W806" in ended.err
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert CODES["W806"] in page
    notes = json.loads((tmp_path / "run" / "results.json").read_text())["summary"]["notes"]
    assert [note["columns"] for note in notes if note["code"] == "W806"] == [["copy"]]
    last = " ".join(" ".join(ended.err.splitlines()[-2:]).split())
    assert "Before you use the score: One column nearly predicts the target on its own (ROC AUC): 'copy' 1.000" in last
    assert last.endswith("[W806]")


def test_several_columns_are_ignored_by_one_list(sober, tmp_path):
    table(text=True).assign(**{"a,b": 1.5, "born": "3.4.1950"}).to_csv(tmp_path / "data.csv", index=False)
    for given in (("--ignore", "useless, born,site"), ("--ignore", "useless", "--ignore", "born,site")):
        ended = sober("check", "data.csv", "--target", "y", *SMALL, *given, "--ignore", "a,b", "--json")
        assert ended.code == 0, ended.err
        columns = {column["name"]: column["role"] for column in json.loads(ended.out)["data"]["columns_read"]}
        assert [name for name, role in columns.items() if role == "ignored"] == ["useless", "site", "a,b", "born"]
    wrong = sober("check", "data.csv", "--target", "y", "--ignore", "born,sight").err
    assert "no column 'sight'. Did you mean 'site'?" in wrong
    (tmp_path / "sober.toml").write_text('ignore = "useless,site,born"\nby = "site"\n')
    assert "2 columns to learn from" in sober("check", "data.csv", "--target", "y", *SMALL).out


def test_nothing_of_a_column_is_cut_off_on_a_narrow_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    column = {"role": "feature", "n_missing": 14}
    facts = [
        column | {"name": "Leukozyten", "kind": "number", "read_as": "decimal comma; thousands point; ? missing",
                  "values": "2543.8 to 10293.7"},
        column | {"name": "Raucher", "kind": "boolean", "read_as": "k.A. missing", "values": "true in 1,039 of 1,077"},
    ]  # fmt: skip
    show_columns(Screen({}), facts, 2)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for word in ("point; ?", "10293.7", "1,077,", "14"):
        assert word in shown
    assert shown.split().count("missing") == 4


@pytest.mark.parametrize("command", [(), ("check",), ("fit",), ("predict",), ("correct",)])
def test_switches_take_no_value_in_the_help(sober, command):
    said = sober(*command, "--help").out
    assert "--help" in said
    assert "<bool>" not in said


@pytest.mark.parametrize(
    ("command", "without"),
    [
        ("fit", ()),
        ("check", ("tune_threshold", "max_time")),
        ("compare", ("no_drop", "by", "tune_threshold", "repeats", "max_time")),
    ],
)
def test_a_setting_is_an_option_of_every_command_that_can_follow_it(sober, command, without):
    said = sober(command, "--help").out
    names = {each.name for each in fields(Settings) if each.metadata}
    assert {name for name in names if f"--{name.replace('_', '-')} " not in said} == {*without}


def test_the_help_of_correct_says_what_it_takes(sober):
    said = " ".join(sober("correct", "--help").out.split())
    assert "fold scores" in said
    assert "cv_results_" in said
