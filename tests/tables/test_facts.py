"""What people are told about every column."""

from types import SimpleNamespace

from sobercv.tables import Settings, assign, read
from sobercv.tables.facts import facts_of


def test_every_kind_is_told(tmp_path):
    head = "id;dose;code;when;smokes;one;none;site;y"
    rows = [
        f"{i};{i % 7},5;00{i % 5};{i % 28 + 1:02d}.01.2020;{'TRUE' if i % 3 else 'FALSE'};x;;{'ns'[i % 2]};{i % 2}"
        for i in range(40)
    ]
    (tmp_path / "d.csv").write_text("\n".join([head, *rows]))
    table = read(tmp_path / "d.csv")
    facts = {
        f["name"]: SimpleNamespace(**f)
        for f in facts_of(table, assign(table.frame, Settings(target="y")))["columns_read"]
    }
    assert {name: fact.kind for name, fact in facts.items()} == {
        "id": "identifier", "dose": "number", "code": "text", "when": "date", "smokes": "boolean", "one": "constant",
        "none": "empty", "site": "text", "y": "number",
    }  # fmt: skip
    assert facts["y"].role == "target"
    assert (facts["dose"].read_as, facts["dose"].values) == ("decimal comma", "0.5 to 6.5")
    assert facts["code"].read_as == "codes"
    assert (facts["when"].read_as, facts["when"].values) == ("day.month.year", "2020-01-01 to 2020-01-28")
    assert facts["smokes"].values == "true in 26 of 40"
    assert facts["none"].n_missing == 40
    assert facts["site"].values == "n, s"


def test_long_numbers_are_whole(tmp_path):
    rows = [f"{20230000100 + 7 * i},3,{i % 2}" for i in range(30)]
    (tmp_path / "d.csv").write_text("\n".join(["case,dose,y", *rows]))
    table = read(tmp_path / "d.csv")
    facts = {
        f["name"]: SimpleNamespace(**f)
        for f in facts_of(table, assign(table.frame, Settings(target="y")))["columns_read"]
    }
    assert facts["case"].values == "20230000100 to 20230000303"
    assert facts["dose"].values == "3"
