"""Every column by its kind, whatever the file: recognised, recorded, and read again by the record."""

import gzip

import msgspec
import numpy as np
import pandas as pd
import pytest

from sobercv.errors import SoberError
from sobercv.tables import Column, Schema, Settings, read
from sobercv.tables.settings import checked

ROWS = {
    "age": ["34", "51", "47", "29"],
    "weight": ["71,5", "64,0", "80,25", "59,5"],
    "cells": ["1.234.567,5", "999,0", "12.000,0", "5.500,25"],
    "platelets": ["150.000", "220.000", "95.500", "310.250"],
    "code": ["007", "07", "7", "11"],
    "visit": ["31.01.2020", "01.02.2020", "15.03.2020", "02.12.2019"],
    "smokes": ["TRUE", "FALSE", "TRUE", "FALSE"],
    "dose": ["1,5", "?", "2,5", "k.A."],
    "site": ["north", "south", "north", "south"],
}
KINDS = {
    "age": "number", "weight": "number", "cells": "number", "platelets": "number", "code": "text", "visit": "date",
    "smokes": "boolean", "dose": "number", "site": "text",
}  # fmt: skip


def write(path, text, **how):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(**how))
    return path


def german(rows=ROWS):
    lines = [";".join(rows), *(";".join(cells) for cells in zip(*rows.values(), strict=True))]
    return "\r\n".join(lines) + "\r\n"


@pytest.fixture
def exported(tmp_path):
    return read(write(tmp_path / "d.csv", german(), encoding="utf-8-sig"))


def test_a_german_export_has_the_right_types_and_values(exported):
    frame = exported.frame
    assert {name: c.kind for name, c in exported.schema.columns.items()} == KINDS
    assert frame["weight"].tolist() == [71.5, 64.0, 80.25, 59.5]
    assert frame["cells"].tolist() == [1234567.5, 999.0, 12000.0, 5500.25]
    assert frame["platelets"].tolist() == [150000, 220000, 95500, 310250], "decimal commas elsewhere decide"
    assert frame["code"].tolist() == ["007", "07", "7", "11"]
    assert frame["visit"].dt.month.tolist() == [1, 2, 3, 12]
    assert frame["smokes"].tolist() == [True, False, True, False]
    np.testing.assert_array_equal(frame["dose"], [1.5, np.nan, 2.5, np.nan])
    codes = [note.code for note in exported.notes]
    assert codes == ["W801", "W801", "W801", "W801"]


def test_what_was_recognised_is_said(exported):
    said = " ".join(note.text for note in exported.notes)
    assert "'71,5' is read as 71.5" in said
    assert "'1.234.567,5' is read as 1234567.5" in said
    assert "'?', 'k.A.'" in said
    assert "'code' (such as '007')" in said


FILES = {
    "english thousands": ('a,b\n"1,234.5",x\n"2,000.0",y\n', "a", [1234.5, 2000.0]),
    "spaces": ("a;b\n1 234,5;x\n2 000,0;y\n", "a", [1234.5, 2000.0]),
    "apostrophes": ("a;b\n1'234.5;x\n2'000.0;y\n", "a", [1234.5, 2000.0]),
    "points elsewhere decide": ('a,b\n"1,234",0.5\n"5,678",0.25\n', "a", [1234, 5678]),
    "commas elsewhere decide": ("a;b\n1,234;0,5\n5,678;0,25\n", "a", [1.234, 5.678]),
    "a point is a point where nothing speaks for commas": ("a,b\n1.234,x\n5.678,y\n", "a", [1.234, 5.678]),
    "thousands and nothing else, among commas": ("a;b\n1.000;0,5\n2.000;0,25\n", "a", [1000, 2000]),
    "two digits in every row": ("a,b\n05,x\n12,y\n", "a", [5, 12]),
    "zeros before the point": ("a;b\n0.234;x\n5.678;y\n", "a", [0.234, 5.678]),
}


@pytest.mark.parametrize(("text", "name", "values"), FILES.values(), ids=FILES)
def test_numbers_of_the_world(tmp_path, text, name, values):
    assert read(write(tmp_path / "d.csv", text)).frame[name].tolist() == values


DOUBTFUL = {
    "commas": ("a;b\n1,234;x\n5,678;y\n", [1.234, 5.678], [1234, 5678]),
    "points between semicolons": ("a;b\n1.234;x\n5.678;y\n", [1234, 5678], [1.234, 5.678]),
    "points among commas and points": ("a;b;c\n1.234;0,5;0.5\n5.678;1,5;1.5\n", [1234, 5678], [1.234, 5.678]),
}


@pytest.mark.parametrize(("text", "comma", "point"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_two_readings_are_asked_about_and_the_answer_is_obeyed(tmp_path, text, comma, point):
    path = write(tmp_path / "d.csv", text)
    with pytest.raises(SoberError, match=r"can be .* or .*--decimal") as caught:
        read(path)
    assert caught.value.code == "E808"
    assert read(path, Settings(decimal=",")).frame["a"].tolist() == comma
    assert read(path, Settings(decimal=".")).frame["a"].tolist() == point
    with pytest.raises(SoberError, match=r"--decimal must be \. or ,; got ';'"):
        checked({"decimal": ";"})


def test_plain_files_keep_every_bit_that_was_written(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 4)) * 10.0 ** rng.integers(-9, 9, (50, 4)), columns=list("abcd"))
    frame["n"], frame["t"] = rng.integers(0, 9, 50), rng.choice(["u", "v"], 50)
    text = frame.to_csv(index=False)
    found = read(write(tmp_path / "d.csv", text))
    pd.testing.assert_frame_equal(found.frame, frame, check_exact=True)
    assert found.notes == ()


# ---- every format --------------------------------------------------------------------------------------------------
def messy(kind, path):
    frame = pd.DataFrame(ROWS).assign(**{"{braces}": [1, 2, 3, 4]})
    if kind == "csv":
        return write(path / "d.csv", german({**ROWS, "{braces}": list("1234")}), encoding="utf-8-sig")
    if kind == "xlsx":
        frame.assign(mixed=[1, "x", 2.5, None], real=[1.5, 2, None, 3], when=pd.Timestamp("2020-01-02")).to_excel(
            path / "d.xlsx", index=False
        )
        return path / "d.xlsx"
    typed = frame.assign(factor=pd.Categorical([1, 2, 1, 2]), gaps=pd.array([1, None, 3, 4], "Int64"))
    if kind == "parquet":
        typed.to_parquet(path / "d.parquet")
    else:
        typed.to_feather(path / "d.feather")
    return next(path.glob("d.*"))


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "feather"])
def test_every_format_has_the_same_kinds_and_is_read_again_by_its_schema(tmp_path, kind):
    path = messy(kind, tmp_path)
    found = read(path)
    schema = msgspec.json.decode(msgspec.json.encode(found.schema), type=Schema)
    pd.testing.assert_frame_equal(read(path, schema=schema).frame, found.frame)
    for name, expected in KINDS.items():
        assert found.schema.columns[name].kind == expected, name


# ---- by the record -------------------------------------------------------------------------------------------------
def test_new_rows_are_read_by_the_record_both_ways(tmp_path):
    train = read(write(tmp_path / "d.csv", "code,n,y\n007,1,a\n07,2,b\n7,3,a\nA7,4,b\n"))
    new = read(write(tmp_path / "n.csv", "code,n\n007,5\n7,6\n"), schema=train.schema).frame
    assert new["code"].astype(str).tolist() == ["007", "7"], "text in training, text now"
    train = read(write(tmp_path / "d.csv", "code,n\n17,1\n18,2\n"))
    found = read(write(tmp_path / "n.csv", "code,n\n17,5\n07,6\n18,7\nA7,7\n"), schema=train.schema)
    np.testing.assert_array_equal(found.frame["code"], [17, 7, 18, np.nan])
    assert [note.code for note in found.notes] == ["W844"]
    assert "1 of 'code' ('A7')" in found.notes[0].text


def test_marks_gaps_and_dates_come_from_the_record(exported, tmp_path):
    new = {name: cells[:2] for name, cells in ROWS.items()} | {"dose": ["k.A.", "9"], "cells": ["1", "2.345"]}
    found = read(write(tmp_path / "n.csv", german(new)), schema=exported.schema)
    assert found.notes == ()
    assert found.frame["cells"].tolist() == [1, 2345], "not 2.345, though nothing here shows it"
    assert found.frame["visit"].dt.day.tolist() == [31, 1]
    np.testing.assert_array_equal(found.frame["dose"], [np.nan, 9])


def test_what_does_not_fit_is_counted_in_one_line_and_most_of_a_column_refused(exported, tmp_path):
    new = {**ROWS, "age": ["34", "old", "47", "?"], "visit": ["31.01.2020", "soon", "15.03.2020", "02.12.2019"]}
    found = read(write(tmp_path / "n.csv", german(new)), schema=exported.schema)
    assert len(found.notes) == 1
    assert found.notes[0].text == (
        "Values that do not match the kind of their column in training are treated as missing: 2 of 'age' ('old'), 1 of 'visit' "
        "('soon')."
    )
    for name, cells in (("weight", ["71.5", "64.0", "80.25", "59.5"]), ("smokes", ["1", "0", "1", "0"])):
        with pytest.raises(SoberError, match=f"'{name}' was .* in training but") as caught:
            read(write(tmp_path / "n.csv", german({**ROWS, name: cells})), schema=exported.schema)
        assert caught.value.code == "E804"


def test_a_typed_file_that_lost_zeros_is_noticed(exported, tmp_path):
    frame = exported.frame.assign(code=[7, 7, 7, 11])
    frame.to_parquet(tmp_path / "n.parquet")
    found = read(tmp_path / "n.parquet", schema=exported.schema)
    assert found.frame["code"].tolist() == ["7", "7", "7", "11"]
    assert "leading zeros" in found.notes[0].text


def test_an_empty_column_and_a_boolean_with_gaps_stay_what_they_were(exported, tmp_path):
    new = {**ROWS, "weight": ["", "", "", ""], "smokes": ["TRUE", "", "", "FALSE"], "site": ["", "", "", ""]}
    found = read(write(tmp_path / "n.csv", german(new)), schema=exported.schema)
    assert found.frame["weight"].isna().all()
    assert found.frame["weight"].dtype.kind == "f"
    np.testing.assert_array_equal(found.frame["smokes"], [1, np.nan, np.nan, 0])


def test_the_record_survives_json_and_damaged_ones_are_refused(exported):
    assert msgspec.json.decode(msgspec.json.encode(exported.schema), type=Schema) == exported.schema
    for damaged in (None, [], {}, {"has_header": True, "columns": {"a": {"kind": "magic"}}},
                    {"has_header": True, "columns": {"a": {"kind": "number", "marks": {"decimal": ";"}}}},
                    {"has_header": True, "columns": {"a": {"kind": "date", "date_format": "%s"}}},
                    {"has_header": True, "columns": {"a": {"kind": "text", "missing": [1]}}}):  # fmt: skip
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(damaged, Schema)
    assert Column("number").described == ""


# ---- odd files -----------------------------------------------------------------------------------------------------
def test_semicolons_with_decimal_commas_are_not_taken_for_commas(tmp_path):
    found = read(write(tmp_path / "d.csv", "a;b;c\n1,5;2,5;3,5\n4,5;5,5;6,5\n"))
    assert list(found.frame.columns) == ["a", "b", "c"]
    assert found.frame["c"].tolist() == [3.5, 6.5]


def test_packed_tables_and_a_sheet_of_no_workbook(tmp_path):
    path = write(tmp_path / "d.csv.gz", gzip.compress(german().encode()))
    assert read(path).frame["weight"].iloc[0] == 71.5
    with pytest.raises(SoberError, match="not an Excel file"):
        read(path, Settings(sheet="one"))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\x93NUMPY\x01\x00", "a numpy file"), (b"PK\x03\x04rest", "a zip file"), (b"\xd0\xcf\x11\xe0", "old Excel"),
        (b"   \n", "is empty"), (b"a,b\n", "no rows"),
    ],
)  # fmt: skip
def test_what_is_no_table(tmp_path, raw, said):
    with pytest.raises(SoberError, match=said):
        read(write(tmp_path / "d", raw))


def test_long_digits_are_no_numbers(tmp_path):
    found = read(write(tmp_path / "d.csv", "key,y\n12345678901234567890123,1\n12345678901234567890124,2\n"))
    assert found.frame["key"].nunique() == 2


def test_a_wide_german_table(tmp_path):
    names = [f"g{i}" for i in range(800)]
    line = ";".join(f"{i % 90},{i % 10}" for i in range(800))
    found = read(write(tmp_path / "d.csv", "\n".join([";".join(names), *[line] * 12])))
    assert found.frame.shape == (12, 800)
    assert {dtype.kind for dtype in found.frame.dtypes} == {"f"}


@pytest.mark.parametrize("stray", ["<7.0", "12.3 mm", "1O.5", "hemolysed"])
@pytest.mark.parametrize("mark", [".", ","])
def test_cells_that_keep_a_column_from_being_numbers_are_named(tmp_path, stray, mark):
    amounts = [f"{i}{mark}25" for i in range(40)]
    amounts[3], amounts[9] = stray, "?"
    lines = ["amount;grade;code", *(f"{a};{'1234'[i % 4] if i else '4a'};0{i % 7}1" for i, a in enumerate(amounts))]
    found = read(write(tmp_path / "d.csv", "\n".join(lines) + "\n"))
    (note,) = [note for note in found.notes if note.code == "W844"]
    assert repr(stray) in note.text
    assert "'amount'" in note.text
    assert note.columns == ("amount",)
    assert "?" not in note.text, "words for gaps are no strays"
    assert not any("codes" in other.text and "amount" in other.columns for other in found.notes)
    mended = "\n".join(lines).replace(f"\n{stray};", "\n;")
    assert not any(n.code == "W844" for n in read(write(tmp_path / "e.csv", mended + "\n")).notes)
