"""Tables as people have them: from check to report with the right types, or a stop that says what to write."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sobercv
from sobercv.cli.examples import clinic as clinic_table
from sobercv.presets.preset import make_cleaner
from sobercv.tables.column import Column, read_text

from .conftest import SMALL, refitted, table

ROLES = ("--target", "Befund", "--group", "Patient", "--ignore", "Tage", "--ignore", "Status")
KINDS = {
    "Patient": "text", "Alter": "number", "Gewicht": "number", "Leukozyten": "number", "Station": "text",
    "Aufnahme": "date", "Raucher": "boolean", "CRP": "number", "Tage": "number", "Status": "number", "Befund": "text",
}  # fmt: skip


@pytest.fixture
def clinic(sober, tmp_path):
    assert sober("example", "clinic").code == 0
    return tmp_path / "clinic.csv"


def right_types(results):
    return {fact["name"]: fact["kind"] for fact in results["data"]["columns_read"]} == KINDS


def test_a_german_export_goes_from_check_to_report(sober, clinic):
    looked = json.loads(sober("check", "clinic.csv", *ROLES, *SMALL, "--json").out)
    assert right_types(looked)
    ended = sober("fit", "clinic.csv", *ROLES, *SMALL, "-o", "run")
    assert ended.code == 0, ended.err
    for said in ("W801", "'Gewicht', 'CRP'", "W801"):
        assert said in ended.err
    results = json.loads((clinic.parent / "run" / "results.json").read_text())
    assert right_types(results)
    read = {row[0]: tuple(row[1:4]) for row in results["summary"]["columns"]["rows"][1:]}
    assert {name: kind for name, (_, kind, _) in read.items()} == KINDS
    assert read["Patient"][0] == "group"
    assert "comma" in read["Gewicht"][2]
    page = (clinic.parent / "run" / "report.html").read_text()
    for said in ("How each column was read (11)", "decimal comma", "W801", "W801", "TRIPOD+AI"):
        assert said in page
    done = sober("predict", "run", "clinic.csv")
    assert done.code == 0, done.err
    assert "W84" not in done.err  # nothing in the file was new to the model
    said = pd.read_csv(pd.io.common.StringIO(done.out))[".pred_class"]
    assert (refitted(clinic.parent, "clinic.csv") == said).all()


def test_the_same_numbers_as_from_a_plain_file(sober, clinic):
    assert sober("fit", "clinic.csv", *ROLES, *SMALL, "--fast", "-o", "german", "-q").code == 0
    frame = clinic_table()
    for name in ("Gewicht", "Leukozyten", "CRP"):
        plain = frame[name].str.replace(".", "").str.replace(",", ".").replace("?", None)
        frame[name] = pd.to_numeric(plain)
    frame["Aufnahme"] = pd.to_datetime(frame["Aufnahme"], format="%d.%m.%Y")
    frame["Raucher"] = frame["Raucher"].map({"TRUE": 1.0, "FALSE": 0.0})
    frame.assign(**{c: frame[c].astype(int) for c in ("Alter", "Tage", "Status")}).to_parquet("plain.parquet")
    assert sober("fit", "plain.parquet", *ROLES, *SMALL, "--fast", "-o", "plain", "-q").code == 0
    one, two = (json.loads(Path(f, "results.json").read_text())["score"] for f in ("german", "plain"))
    assert one == two


def test_excel_with_two_sheets(sober, clinic, tmp_path):
    with pd.ExcelWriter(tmp_path / "clinic.xlsx") as book:
        pd.DataFrame([["see the other sheet"]], columns=["note"]).to_excel(book, sheet_name="Info", index=False)
        clinic_table().to_excel(book, sheet_name="Visiten", index=False)
    stopped = sober("check", "clinic.xlsx", *ROLES, *SMALL)
    assert stopped.code == 2
    assert "--sheet NAME" in stopped.err
    assert "'Info', 'Visiten'" in stopped.err
    ended = sober("fit", "clinic.xlsx", "--sheet", "Visiten", *ROLES, *SMALL, "--fast", "-o", "run", "--json")
    assert ended.code == 0, ended.err
    assert right_types(json.loads(ended.out))
    assert "--sheet Visiten" in json.loads(ended.out)["command"]
    assert sober("predict", "run", "clinic.xlsx", "--sheet", "Visiten").code == 0
    assert sober("predict", "run", "clinic.csv").code == 0, "a workbook in training, text now"
    assert sober("resume", "run", "-q", "--fast").code == 0


def test_without_a_header_nobody_is_lost(sober, clinic, tmp_path):
    lines = clinic.read_text("utf-8-sig").splitlines()[1:]
    (tmp_path / "bare.csv").write_text("\n".join(lines))
    stopped = sober("check", "bare.csv", "--target", "Befund")
    assert stopped.code == 2
    assert "--no-header" in stopped.err
    roles = ("--target", "col11", "--group", "col1", "--ignore", "col9", "--ignore", "col10")
    ended = sober("fit", "bare.csv", "--no-header", *roles, *SMALL, "--fast", "-o", "run", "--json")
    assert ended.code == 0, ended.err
    results = json.loads(ended.out)
    assert results["data"]["rows"] == 120
    assert "--no-header" in results["command"]
    (tmp_path / "new.csv").write_text("\n".join(lines[:3]))
    assert len(sober("predict", "run", "new.csv").out.splitlines()) == 4


def test_patients_with_several_rows_are_noticed(sober, clinic):
    found = json.loads(sober("check", "clinic.csv", "--target", "Befund", *SMALL, "--json").out)["findings"]
    text = next(f["text"] for f in found if f["code"] == "W301")
    assert "--group Patient" in text


def test_three_event_codes(sober, clinic):
    roles = ("--time", "Tage", "--event", "Status", "--group", "Patient", "--ignore", "Befund")
    stopped = sober("check", "clinic.csv", *roles)
    assert stopped.code == 2
    assert "--event-value" in stopped.err
    ended = sober("fit", "clinic.csv", *roles, "--event-value", "2", *SMALL, "--fast", "-o", "run")
    assert ended.code == 0, ended.err
    assert "Competing risks are ignored" in " ".join(ended.err.split())
    page = (clinic.parent / "run" / "report.html").read_text()
    assert "W813" in page, "what check warned of stands in the report"
    results = json.loads((clinic.parent / "run" / "results.json").read_text())
    assert results["data"]["events"] == (clinic_table()["Status"] == "2").sum()
    said = pd.read_csv(pd.io.common.StringIO(sober("predict", "run", "clinic.csv").out))[".pred"]
    np.testing.assert_allclose(refitted(clinic.parent, "clinic.csv"), said, rtol=1e-6)


def test_a_table_with_every_mess_goes_from_check_to_report(sober, tmp_path):
    """Numbers of cases, a target of ja and nein, and all of the above in one workbook without names of columns."""
    frame = clinic_table()
    frame["Fallnummer"] = [str(20230000100 + 7 * i) for i in range(len(frame))]
    frame["Rezidiv"] = frame["Befund"].map({"krank": "ja", "gesund": "nein"})
    frame.to_csv(tmp_path / "all.csv", sep=";", index=False, lineterminator="\r\n", encoding="utf-8-sig")
    with pd.ExcelWriter(tmp_path / "all.xlsx") as book:
        pd.DataFrame([["see the other sheet"]], columns=["note"]).to_excel(book, sheet_name="Info", index=False)
        frame.to_excel(book, sheet_name="Visiten", index=False, header=False)
    kinds = KINDS | {"Fallnummer": "identifier", "Rezidiv": "text"}
    looked = json.loads(sober("check", "all.csv", "--target", "Rezidiv", *SMALL, "--json").out)
    assert {fact["name"]: fact["kind"] for fact in looked["data"]["columns_read"]} == kinds
    found = {f["code"]: f["text"] for f in looked["findings"]}
    assert "--group Patient" in found["W301"]
    assert "'Fallnummer'. Write --id or --ignore" in found["W809"]
    assert "'Befund'" in found["W806"], "it tells the target"
    names = {name: f"col{i + 1}" for i, name in enumerate(frame)}
    sheet = ("all.xlsx", "--sheet", "Visiten")
    stopped = sober("check", *sheet, "--target", "Rezidiv")
    assert (stopped.code, "--no-header" in stopped.err) == (2, True)
    roles = ("--target", names["Rezidiv"], "--group", names["Patient"], "--id", names["Fallnummer"])
    roles += tuple(word for name in ("Befund", "Tage", "Status") for word in ("--ignore", names[name]))
    ended = sober(
        "fit", *sheet, "--no-header", *roles, "--metric", "f1,roc_auc", "--missing", "weiß nicht,-99", *SMALL, "--fast",
        "-o", "run", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "held 'weiß nicht', '-99' count as missing." in (tmp_path / "run" / "METHODS.md").read_text()
    results = json.loads(ended.out)
    assert {fact["name"]: fact["kind"] for fact in results["data"]["columns_read"]} == {
        names[n]: k for n, k in kinds.items()
    }
    assert results["score"]["positive"] == "ja"
    page = (tmp_path / "run" / "report.html").read_text()
    for said in (
        "How each column was read (13)",
        "120 different",
        "F1 of &#34;ja&#34;",
        "sober fit all.xlsx",
    ):
        assert said in page, said
    assert str(tmp_path) not in page, "a report is shown to others"


# ---- what was silently wrong ---------------------------------------------------------------------------------------
def coded(n=148):
    """A table in which only the code tells the class, and codes are only told apart by their zeros."""
    rng = np.random.default_rng(4)
    code = rng.choice(["007", "07", "7", "A7"], n, p=[0.3, 0.3, 0.3, 0.1])
    y = np.where(np.isin(code, ["007", "A7"]) ^ (rng.random(n) < 0.05), "yes", "no")
    return pd.DataFrame({"code": code, "x": rng.normal(size=n).round(3), "y": y})


def test_predictions_do_not_depend_on_the_rest_of_the_file(sober, tmp_path):
    frame = coded()
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert sober("fit", "d.csv", "--target", "y", *SMALL, "--fast", "-o", "run", "-q").code == 0
    whole = pd.read_csv(pd.io.common.StringIO(sober("predict", "run", "d.csv").out))[".pred_class"]
    digits = (frame["code"] != "A7").to_numpy()
    frame[digits].to_csv(tmp_path / "part.csv", index=False)
    part = pd.read_csv(pd.io.common.StringIO(sober("predict", "run", "part.csv").out))[".pred_class"]
    assert part.tolist() == whole[digits].tolist()
    assert (whole == frame["y"]).mean() > 0.9, "the zeros count"


def test_codes_stay_codes_in_folds_that_lack_a_letter(sober, tmp_path):
    frame = coded()
    frame[frame["code"] != "A7"].to_csv(tmp_path / "d.csv", index=False)
    ended = sober("fit", "d.csv", "--target", "y", *SMALL, "--fast", "-o", "run", "--json")
    assert json.loads(ended.out)["score"]["value"] > 0.9, "as numbers, 007, 07 and 7 would be the same"


def long_and_wide(n=120, c=6):
    rng = np.random.default_rng(8)
    y = np.where(np.arange(n) % 2, "R", "M")
    chance = np.clip(0.5 + 0.2 * np.where(y == "R", 1, -1)[:, None] + 0.2 * rng.normal(size=(n, c)), 0.01, 0.99)
    rows = [(i, y[i], f"model{k}", chance[i, k]) for k in range(c) for i in range(n)]
    return pd.DataFrame(rows, columns=["sample", "y_true", "model", "prob_R"]), y, chance


def test_a_long_table_of_no_known_tool_gives_the_right_number(sober, tmp_path):
    frame, y, chance = long_and_wide()
    frame.to_csv(tmp_path / "p.csv", index=False)
    expected = sobercv.bbc(y, chance, "roc_auc", random_state=0)
    ended = sober("correct", "p.csv", "--target", "y_true", "--metric", "roc_auc", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["score"]["value"] == expected.value
    left_out = sober("correct", "p.csv", "--target", "y_true", "--ignore", "model", "--metric", "roc_auc")
    assert left_out.code == 2
    assert "no column names the configurations" in left_out.err


def test_gzip_by_standard_input_can_be_resumed(sober):
    raw = gzip.compress(table().to_csv(index=False).encode())
    ended = sober("fit", "-", "--target", "y", *SMALL, "--fast", "-o", "run", "-q", stdin=raw)
    assert ended.code == 0, ended.err
    again = sober("resume", "run", "-q")
    assert (again.code, again.out) == (0, ended.out)


@pytest.mark.parametrize("value", [1e308, -1e308])
def test_numbers_that_overflow_are_refused(sober, tmp_path, value):
    table().assign(good=[value] * 20 + [0.5] * 40).to_csv(tmp_path / "d.csv", index=False)
    ended = sober("fit", "d.csv", "--target", "y", *SMALL, "--fast", "-o", "run")
    assert ended.code == 2
    assert "E102" in ended.err
    assert not (tmp_path / "run").exists()


def test_none_is_a_category_and_no_gap():
    column = Column("text", "feature", levels=("none", "other"))
    pain, _ = read_text(pa.array(["none", "other", None] * 10), column)
    names = make_cleaner(frame := pd.DataFrame({"pain": pain})).fit(frame).get_feature_names_out()
    assert names.tolist() == ["pain_none", "pain_other", "pain_nan"]
