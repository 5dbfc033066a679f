"""Excel workbooks: sheets by name, cells by their types, text by what it holds."""

import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from sobercv.errors import SoberError
from sobercv.tables import Settings, read, source_bytes

HEADER = ["age", "weight", "code", "when", "smokes", "note"]
ROWS = [
    [34, "71,5", "007", pd.Timestamp("2020-01-31"), True, "a"],
    [51, "64,0", "07", pd.Timestamp("2020-02-01"), False, 5],
]


def book(path, sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def refused(path, **options):
    with pytest.raises(SoberError) as caught:
        read(path, Settings(**options))
    return caught.value


def test_cells_have_their_types_and_text_is_looked_at(tmp_path):
    found = read(book(tmp_path / "d.xlsx", {"one": [HEADER, *ROWS]}))
    kinds = {name: c.kind for name, c in found.schema.columns.items()}
    assert kinds == {
        "age": "number",
        "weight": "number",
        "code": "text",
        "when": "date",
        "smokes": "boolean",
        "note": "text",
    }
    assert found.frame["weight"].tolist() == [71.5, 64.0]
    assert found.frame["code"].tolist() == ["007", "07"]
    assert found.frame["note"].tolist() == ["a", "5"]
    assert found.format == "xlsx"


def test_sheets_are_chosen_by_name_and_asked_for_where_several_hold_something(tmp_path):
    path = book(tmp_path / "d.xlsx", {"Notes": [["x", "y"], [1, 2]], "Data": [HEADER, *ROWS], "empty": []})
    error = refused(path)
    assert error.code == "E808"
    assert "'Notes', 'Data', 'empty'" in error.message
    assert read(path, Settings(sheet="data")).frame.shape == (2, 6), "capitals do not matter"
    assert refused(path, sheet="Dta").code == "E808"
    assert "is empty" in refused(path, sheet="empty").message
    assert len(read(book(tmp_path / "e.xlsx", {"empty": [], "Data": [HEADER, *ROWS]})).frame) == 2


def test_gaps_empty_rows_and_columns_without_a_name(tmp_path):
    rows = [["a", "b", None], [1, None, None], [None, None, None], [2.5, "#N/A", None], [3, 4, None]]
    found = read(book(tmp_path / "d.xlsx", {"s": rows}))
    assert list(found.frame.columns) == ["a", "b"]
    assert found.frame["a"].tolist() == [1, 2.5, 3]
    np.testing.assert_array_equal(found.frame["b"], [np.nan, np.nan, 4])


def test_a_title_above_the_names_is_no_header(tmp_path):
    error = refused(book(tmp_path / "d.xlsx", {"s": [["Study of 2020", None, None], HEADER[:3], ROWS[0][:3]]}))
    assert error.code == "E801"
    assert "first row" in error.message


def test_a_sheet_without_header_is_asked_about(tmp_path):
    path = book(tmp_path / "d.xlsx", {"s": [[5.1, 3.5, "a"], [4.9, 3.0, "b"], [4.7, 3.2, "a"], [5.8, 3.3, "b"]]})
    assert refused(path).code == "E808"
    found = read(path, Settings(header=False))
    assert list(found.frame.columns) == ["col1", "col2", "col3"]
    assert len(found.frame) == 4


def test_damaged_and_growing_workbooks_are_one_sentence(tmp_path, monkeypatch):
    whole = book(tmp_path / "d.xlsx", {"s": [HEADER, *ROWS]}).read_bytes()
    (tmp_path / "half.xlsx").write_bytes(whole[: len(whole) // 2])
    assert refused(tmp_path / "half.xlsx").code == "E801"
    torn = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(torn, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, b"<torn" if "sheet1" in entry else old.read(entry))
    (tmp_path / "torn.xlsx").write_bytes(torn.getvalue())
    assert "damaged Excel" in refused(tmp_path / "torn.xlsx").message
    monkeypatch.setattr(source_bytes, "MOST_BYTES", 1000)
    assert "grows beyond" in refused(tmp_path / "d.xlsx").message


def test_names_twice_are_told(tmp_path):
    found = read(book(tmp_path / "d.xlsx", {"s": [["a", "a", "b"], [1, 2, "u"], [3, 4, "v"]]}))
    assert list(found.frame.columns) == ["a", "a.1", "b"]
    assert [note.code for note in found.notes] == ["W801"]


def test_cells_of_several_types_are_text_as_they_stand(tmp_path):
    rows = [["when", "dose", "y"], [pd.Timestamp("2020-01-31"), 1.5, "a"], [45, True, "b"], [None, 2.5, "a"]]
    found = read(book(tmp_path / "d.xlsx", {"s": rows})).frame
    assert found["when"].tolist()[:2] == ["2020-01-31 00:00:00", "45"], "no moment of the year 1970"
    assert found["dose"].tolist() == ["1.5", "True", "2.5"], "as in a CSV file"


def test_text_with_a_comma_beside_numbers_is_read_with_their_point(tmp_path):
    rows = [[i / 10, i] for i in range(1, 41)] + [["<0,5", "1,5"], ["2,75", 3], ["< 0,125", 4]]
    found = read(book(tmp_path / "d.xlsx", {"one": [["crp", "count"], *rows]}), Settings(limits="half"))
    assert found.frame["crp"].tolist()[-3:] == [0.25, 2.75, 0.0625]
    assert found.frame["count"].tolist()[-3:] == [1.5, 3, 4]
    rows[-1] = ["1,234", "B,7"]  # which could be read in two ways without the other commas
    found = read(book(tmp_path / "e.xlsx", {"one": [["crp", "count"], *rows]}), Settings(limits="half"))
    assert found.frame["crp"].tolist()[-3:] == [0.25, 2.75, 1.234]
    assert found.frame["count"].tolist()[-1] == "B,7"


def test_names_that_are_numbers_stay_names_behind_an_empty_column(tmp_path):
    rows = [[None, "2019", "x"], [None, 5, 7], [None, 6, 9], [None, 8, 2]]
    assert list(read(book(tmp_path / "d.xlsx", {"s": rows})).frame.columns) == ["2019", "x"]


def test_blank_rows_above_the_names_are_no_empty_sheet(tmp_path):
    rows = [[], [], [], HEADER, *ROWS * 6]
    with pytest.raises(SoberError, match="names fewer than half of the columns"):
        read(book(tmp_path / "late.xlsx", {"data": rows}))
