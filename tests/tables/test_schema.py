"""What must not be lost or changed on the way from text to values: words, ids, labels, dates, limits, row labels."""

import msgspec
import numpy as np
import pandas as pd
import pytest

from sobercv.errors import SoberError
from sobercv.tables import Column, Schema, Settings, assign, read

GRADES = ["None", "Mild", "Severe", "Mild"] * 15
SITES = ["NA", "north", "N/A", "south"] * 15


def written(path, kind, frame):
    path = path / f"d.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    else:
        getattr(frame, f"to_{kind}")(path)
    return path


def text(path, lines):
    path = path / "d.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def said(table):
    return " ".join(note.text for note in table.notes)


# ---- words for gaps ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "feather"])
def test_words_mean_the_same_in_every_format(tmp_path, kind):
    frame = pd.DataFrame({"grade": GRADES, "site": SITES, "dose": ["1.5", "None", "NA", "2"] * 15})
    table = read(written(tmp_path, kind, frame), Settings(target="grade"))
    assert sorted(table.frame["grade"].unique()) == ["Mild", "None", "Severe"], "None is a class among classes"
    assert table.frame["site"].isna().tolist() == [True, False, True, False] * 15
    np.testing.assert_array_equal(table.frame["dose"], [1.5, np.nan, np.nan, 2] * 15)
    assert "words treated as missing ('N/A', 'NA'): 'site'" in said(table), "nothing is lost in silence"
    data = assign(table.frame, target="grade")
    assert (data.task, data.n_rows) == ("multiclass", 60)


def test_a_target_that_loses_rows_to_a_word_says_so(tmp_path):
    table = read(text(tmp_path, ["x,y", *(f"{i},{'NA' if i < 5 else i % 2}" for i in range(40))]), Settings(target="y"))
    assert table.frame["y"].isna().sum() == 5
    assert "('NA'): 'y'" in said(table)
    quiet = read(
        text(tmp_path, ["x,y", *(f"{'NA' if i < 5 else i / 8},{i % 2}" for i in range(40))]), Settings(target="y")
    )
    assert quiet.notes == (), "a gap among numbers is a gap"


@pytest.mark.parametrize("new", ["csv", "xlsx", "parquet"])
def test_new_rows_in_another_format_have_the_same_gaps(tmp_path, new):
    schema = read(written(tmp_path, "csv", pd.DataFrame({"site": SITES, "x": range(60)}))).schema
    rows = pd.DataFrame({"site": ["north", "NA", "N/A", "None"], "x": [1, 2, 3, 4]})
    found = read(written(tmp_path, new, rows), schema=schema).frame["site"]
    assert found.isna().tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_unseen_categories_and_empty_columns_of_new_rows_are_one_line(tmp_path, kind):
    many = [f"word {i}" for i in range(50)]
    before = pd.DataFrame({"site": ["north", "south"] * 25, "dose": [1.5] * 50, "story": many, "flag": [True] * 50})
    path = written(tmp_path, kind, before)
    schema = read(path).schema
    assert {name: c.levels for name, c in schema.columns.items() if c.levels} == {"site": ("north", "south")}
    assert read(path, schema=schema).notes == ()
    new = pd.DataFrame({"site": ["north", "moon", "moon", "mars", None], "dose": [None] * 5, "story": ["new"] * 5})
    (note,) = read(written(tmp_path, kind, new), schema=schema).notes
    assert note.code == "W844"
    assert "categories not seen in training: 3 of 'site' ('moon', 'mars')" in note.text
    assert "no value at all in 'dose'" in note.text
    assert note.columns == ("site", "dose")


# ---- ids, groups, labels -------------------------------------------------------------------------------------------
def test_ids_and_groups_are_never_numbers(tmp_path):
    groups = ["1.1", "1.10", "1E3", "1000", "01", "1"] * 5
    path = text(tmp_path, ["id,g,x,y", *(f"{i:03d},{g},{i / 7},{i % 2}" for i, g in enumerate(groups))])
    roles = Settings(target="y", id="id", group="g")
    table = read(path, roles)
    assert table.frame["g"].tolist() == groups
    assert table.frame["id"].tolist()[:2] == ["000", "001"]
    assert len(np.unique(assign(table.frame, roles).groups)) == 6
    assert table.schema.columns["g"] == Column("text", "group")
    again = msgspec.json.decode(msgspec.json.encode(table.schema), type=Schema)
    assert read(path, schema=again).frame["g"].tolist() == groups


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_ids_that_are_numbers_in_the_file_are_text_without_a_point(tmp_path, kind):
    frame = pd.DataFrame({"id": [1001.0, 1002.0, np.nan], "n": [7, 8, 9], "y": [0.5, 1.5, 2.5]})
    found = read(written(tmp_path, kind, frame), Settings(target="y", id="id", group="n")).frame
    assert found["id"].tolist()[:2] == ["1001", "1002"]
    assert found["id"].isna().tolist() == [False, False, True]
    assert found["n"].tolist() == ["7", "8", "9"]


def test_labels_that_become_one_number_are_noted(tmp_path):
    table = read(
        text(tmp_path, ["x,y", *(f"{i / 7},{('1', '1.0', '2')[i % 3]}" for i in range(30))]), Settings(target="y")
    )
    assert "'1', '1.0', which are read as the same number" in said(table)
    whole = read(text(tmp_path, ["x,y", *(f"{i / 7},{i % 3}" for i in range(30))]), Settings(target="y"))
    assert whole.notes == ()
    assert whole.frame["y"].dtype.kind == "i"


def test_booleans_with_gaps_are_numbers_and_labels_stay_labels(tmp_path):
    rows = [f"{('TRUE', 'FALSE', '')[i % 3]},{('True', 'False', '')[i % 3]}" for i in range(30)]
    found = read(text(tmp_path, ["x,y", *rows]), Settings(target="y")).frame
    np.testing.assert_array_equal(found["x"], [1, 0, np.nan] * 10)
    assert assign(found, target="y").classes == [False, True]


# ---- delimiters, row names, row labels -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Groesse, cm;Gewicht, kg;y", "180,5;75,2;a", "160,0;55,0;b"], ["Groesse, cm", "Gewicht, kg", "y"]),
        (["Groesse, cm;Gewicht, kg;y, n", "180,5;75,2;1,5", "160,0;55,0;2,5"], ["Groesse, cm", "Gewicht, kg", "y, n"]),
        (["Groesse, cm;Gewicht, kg;y", "180;75;a", "160;55;b"], ["Groesse, cm", "Gewicht, kg", "y"]),
        (["tags;more,a,b", "x;y,1,2", "u;v,3,4"], ["tags;more", "a", "b"]),
    ],
)
def test_commas_in_names_are_no_delimiters(tmp_path, lines, names):
    assert list(read(text(tmp_path, lines)).frame.columns) == names


def test_row_names_of_r_are_asked_about_whatever_the_size(tmp_path):
    row = ",".join(["1.25"] * 3000)
    header = ",".join(f'"g{i}"' for i in range(3000))
    path = text(tmp_path, [header, *(f'"{i}",{row}' for i in range(3600))])
    assert path.stat().st_size > 50_000_000
    with pytest.raises(SoberError, match="row names, as R writes them") as caught:
        read(path)
    assert caught.value.code == "E801"


def test_short_and_long_rows_and_open_quotes(tmp_path):
    table = read(text(tmp_path, ["a,b,c", "1,2,3", "4,5", "6,7,8,"]))
    assert "One row is shorter than the header (the first is line 3)" in said(table)
    np.testing.assert_array_equal(table.frame["c"], [3, np.nan, 8])
    for lines in (["a,b", "1,2", '3,"x', "5,6"], ["a,b", "1,2", '3,"x']):
        with pytest.raises(SoberError, match="quote is opened"):
            read(text(tmp_path, lines))
    assert read(text(tmp_path, ["a,b", "1,2", '3,5"'])).frame["b"].tolist() == ["2", '5"']


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_named_row_labels_are_columns(tmp_path, kind):
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5]}, index=pd.Index(["p7", "p8", "p9"], name="patient"))
    path = tmp_path / f"d.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.reset_index().to_feather(path)
    found = read(path, Settings(target="x", id="patient"))
    assert found.frame["patient"].tolist() == ["p7", "p8", "p9"]
    assert found.notes == ()


def test_row_labels_without_a_name(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5]})
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "numbers.parquet")
    found = read(tmp_path / "numbers.parquet")
    assert list(found.frame.columns) == ["x"]
    assert "row labels of the file are unnamed numbers and were left out" in said(found)
    frame.set_axis(["p7", "p8", "p9"]).to_parquet(tmp_path / "words.parquet")
    assert read(tmp_path / "words.parquet").frame["index"].tolist() == ["p7", "p8", "p9"]


# ---- dates and limits ----------------------------------------------------------------------------------------------
def test_unsure_dates_follow_the_rest_of_the_file(tmp_path):
    rows = [f"0{i}/0{i + 1}/2020;{i},5" for i in range(1, 8)]
    german = read(text(tmp_path, ["when;x", *rows]))
    assert german.frame["when"].dt.day.tolist() == list(range(1, 8))
    assert "Read day first" in said(german)
    english = read(text(tmp_path, ["when,x", *(row.replace(",", ".").replace(";", ",") for row in rows)]))
    assert english.frame["when"].dt.month.tolist() == list(range(1, 8))
    assert "Read month first" in said(english)
    both = read(text(tmp_path, ["when,then", *(f"0{i}/0{i + 1}/2020,{i + 20}/01/2020" for i in range(1, 8))]))
    assert both.frame["when"].dt.day.tolist() == list(range(1, 8)), "another column has the day first"


def crp(tmp_path, every=8, sign="<0.5"):
    cells = [sign if i % every == 0 else f"{i / 8:.3f}" for i in range(80)]
    return text(tmp_path, ["crp,y", *(f"{c},{i % 2}" for i, c in enumerate(cells))])


def test_a_few_limits_are_read_as_their_number_and_told(tmp_path):
    table = read(crp(tmp_path, every=20))
    assert table.schema.columns["crp"].kind == "number"
    assert table.frame["crp"].iloc[0] == 0.5
    assert table.frame["crp"].iloc[1] == 0.125
    (note,) = table.notes
    assert "limits such as '<0.5' (in 4 of 80 rows): 'crp'. They are read as the limit itself." in note.text
    new = read(text(tmp_path, ["crp", "<0.3", "> 90", "7", "low"]), schema=table.schema)
    np.testing.assert_array_equal(new.frame["crp"], [0.3, 90, 7, np.nan])


def test_many_limits_are_asked_about(tmp_path):
    with pytest.raises(SoberError, match=r"in 10 of 80 rows.*--limits value .*, --limits half") as error:
        read(crp(tmp_path))
    assert error.value.code == "E808"
    assert read(crp(tmp_path), Settings(target="y", ignore=("crp",))).frame["crp"].iloc[0] == 0.5, "not used"


@pytest.mark.parametrize(
    ("limits", "first"), [("value", [0.5, 90]), ("half", [0.25, 90]), ("missing", [np.nan, np.nan])]
)
def test_limits_count_as_the_user_says_in_training_and_at_prediction(tmp_path, limits, first):
    table = read(crp(tmp_path), Settings(limits=limits))
    np.testing.assert_array_equal(table.frame["crp"].iloc[:2], [first[0], 0.125])
    stored = msgspec.json.decode(msgspec.json.encode(table.schema), type=Schema)
    new = read(text(tmp_path, ["crp", "<0.5", ">90", "7", "\u2264 0.5"]), schema=stored)
    np.testing.assert_array_equal(new.frame["crp"], [*first, 7, first[0]])
    assert new.notes == ()


def test_words_among_numbers_are_no_limits(tmp_path):
    words = ["lost" if i % 8 == 0 else f"{i / 8:.3f}" for i in range(80)]
    other = read(text(tmp_path, ["crp,y", *(f"{c},{i % 2}" for i, c in enumerate(words))]))
    (note,) = other.notes
    assert (
        "numbers and other cells ('lost'): 'crp'. It is read as categories; correct such cells, or name words"
        in note.text
    )
    assert "codes" not in note.text


@pytest.mark.parametrize("sign", ["<-0.5", "> -0.5", "<+0.5", "<\u22120.5"])
def test_limits_with_a_sign_are_limits(tmp_path, sign):
    table = read(crp(tmp_path, every=20, sign=sign))
    assert f"limits such as {sign!r} (in 4 of 80 rows)" in said(table)
    assert np.isnan(read(crp(tmp_path, every=20, sign=sign), Settings(limits="missing")).frame["crp"].iloc[0])


def test_a_note_on_marks_shows_a_number_and_no_gap(tmp_path):
    table = read(text(tmp_path, ["a;b", "?;1,5", *(f"{i}.500;{i},5" for i in range(1, 6))]))
    assert "'1.500' is read as 1500." in said(table)
    assert "'?' is read as" not in said(table)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_spaces_around_words_make_no_other_words(tmp_path, kind):
    frame = pd.DataFrame({"p": ["P1", "P1 ", " P2", "P2"] * 5, "site": ["a", "b ", " a", "b"] * 5, "x": [1.5, 2] * 10})
    table = read(written(tmp_path, kind, frame), Settings(target="site", group="p"))
    assert table.frame["p"].tolist() == ["P1", "P1", "P2", "P2"] * 5, "one patient is one group"
    assert table.frame["site"].tolist() == ["a", "b", "a", "b"] * 5


def test_numbers_with_a_unit_are_categories_and_it_is_said(tmp_path):
    columns = {"share": "{}.5%", "dose": "{} mg", "cost": "${}"}
    lines = [",".join(columns), *(",".join(form.format(i) for form in columns.values()) for i in range(12))]
    (note,) = read(text(tmp_path, lines)).notes
    assert note.code == "W844"
    assert note.columns == tuple(columns)
    plain = (
        [["visit"], [f"{i + 1:02d}.13.2020" for i in range(12)]],
        [["code"], [f"{i}{'ABC'[i % 3]}" for i in range(12)]],
    )
    for head, cells in plain:
        assert not read(text(tmp_path, [*head, *cells])).notes


# ---- the user's own words for gaps ---------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "feather"])
def test_words_of_the_user_are_gaps_in_every_column_and_at_prediction(tmp_path, kind):
    frame = pd.DataFrame({
        "age": [61, -99, 48, 50], "dose": [1.5, -99, 2.5, -99], "site": ["north", "unbekannt", "-99", "south"],
        "text": ["1", " -99.0", "-99", "7"], "g": pd.Categorical([1, 2, -99, 1]), "y": ["a", "b", "unbekannt", "b"],
        "p": [7, 8, -99, 9],
    })  # fmt: skip
    gaps = {"age": [1], "dose": [1, 3], "site": [1, 2], "text": [1, 2], "g": [2], "y": [2], "p": [2]}
    path = written(tmp_path, kind, frame)
    table = read(path, Settings(target="y", group="p", missing=("unbekannt", "-99")))
    stored = msgspec.json.decode(msgspec.json.encode(table.schema), type=Schema)
    for found in (table.frame, read(path, schema=stored).frame):
        assert {name: np.flatnonzero(found[name].isna()).tolist() for name in frame} == gaps
        assert found["text"].dtype.kind == "f"
    assert not any("unbekannt" in c.levels or "-99" in c.levels for c in table.schema.columns.values())


def test_a_number_that_means_missing_counts_as_the_column_writes_it(tmp_path):
    path = text(tmp_path, ["a;b;c", "-99,0;1,5;x", "2,5;-99;-99,0", "-99;9,5;y"])
    found = read(path, Settings(missing=("-99",))).frame
    np.testing.assert_array_equal(found["a"], [np.nan, 2.5, np.nan])
    np.testing.assert_array_equal(found["b"], [1.5, np.nan, 9.5])
    assert found["c"].tolist() == ["x", "-99,0", "y"], "a word among words is as it is written"


# ---- files of R ----------------------------------------------------------------------------------------------------
def test_tables_of_write_table_are_read_or_the_call_is_said(tmp_path):
    lines = ['"x" "y z" "site"', '1.5 2 "a b"', '2.5 3 "c"', 'NA 4 "a b"']
    found = read(text(tmp_path, lines)).frame
    assert found.to_dict("list")["y z"] == [2, 3, 4]
    assert found["site"].tolist() == ["a b", "c", "a b"]
    for lines in (['"x" "site"', *['"1" 1.5 "a b"'] * 3], ['"x"', *['"1" 1.5'] * 3]):
        with pytest.raises(
            SoberError, match=r'row names, as R writes.*write\.csv\(x, "x\.csv", row\.names = FALSE\)'
        ) as no:
            read(text(tmp_path, lines))
        assert no.value.code == "E801"
    free = ["note", "two words", "two words", "more words"]
    assert list(read(text(tmp_path, free), Settings(header=True)).frame) == ["note"], "spaces cut nothing else"
