"""A first row that is a sample must not be lost as names; names that are numbers must stay names."""

import pytest

from sobercv.errors import SoberError
from sobercv.tables import Settings, read

IRIS = "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n7.0,3.2,4.7,1.4,versicolor\n6.3,3.3,6.0,2.5,virginica\n" * 5
DATA = {
    "numbers and classes": IRIS,
    "numbers only": "".join(f"{i},{i * 7 % 11},{i % 2}\n" for i in (5, 3, 8, 1, 9, 2)),
    "letters only": "p,x,s\ne,x,s\np,b,f\ne,b,s\np,x,f\n" * 4,
    "a class that occurs once, in the first row": "5.1,3.5,rare\n" + "4.9,3.0,usual\n6.1,3.1,other\n" * 9,
    "decimal commas": "5,1;3,5;a\n4,9;3,0;b\n" * 5,
    "a gap in the first row": "5.1,,a\n4.9,3.0,b\n5.8,3.1,a\n" * 5,
    "a date": "2020-01-02,3.5\n2020-02-03,4.5\n" * 5,
}
NAMES = {
    "words": "a,b,y\n1,2,0\n3,4,1\n",
    "words above text": "sex,site\nf,n\nm,s\nf,s\nm,n\n",
    "words above codes": "zip,y\n007,1\n012,2\n",
    "names that count": "0,1,2,3,target\n" + "0.5,1.5,2.5,3.5,1\n0.1,0.2,0.3,0.4,0\n" * 5,
    "wavelengths": "400,402,404,406,408,410,y\n" + "1,2,3,4,5,6,7\n" * 5,
    "years and a name": "name,2019,2020,2021,2022\n" + "a,1,2,3,4\nb,2,3,4,5\n" * 5,
    "one name among numbers": "5.1,3.5,width\n4.9,3.0,1.4\n4.7,3.2,1.3\n",
}  # fmt: skip


def table(tmp_path, text, **options):
    path = tmp_path / "d.csv"
    path.write_text(text)
    return read(path, Settings(**options))


@pytest.mark.parametrize("text", DATA.values(), ids=DATA)
def test_a_sample_in_the_first_row_is_asked_about(tmp_path, text):
    with pytest.raises(SoberError, match="--no-header") as caught:
        table(tmp_path, text)
    assert caught.value.code == "E808"


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_names_are_names(tmp_path, text):
    found = table(tmp_path, text)
    assert list(found.frame.columns) == text.splitlines()[0].split(",")


def test_both_answers_are_obeyed(tmp_path):
    without = table(tmp_path, IRIS, header=False)
    assert list(without.frame.columns) == ["col1", "col2", "col3", "col4", "col5"]
    assert len(without.frame) == 20
    assert without.frame["col1"].iloc[0] == 5.1
    assert not without.schema.has_header
    names = table(tmp_path, IRIS, header=True)
    assert len(names.frame) == 19
    assert names.frame.columns[0] == "5.1"


def test_new_rows_without_a_header_are_read_like_those_of_training(tmp_path):
    record = table(tmp_path, IRIS, header=False).schema
    (tmp_path / "new.csv").write_text("5.9,3.0,5.1,1.8,virginica\n")
    assert read(tmp_path / "new.csv", schema=record).frame["col3"].tolist() == [5.1]


TITLES = "Export vom 1.1.2026\nStudie A\n\n"
NAMED = "age,sex,site,y\n" + "61,f,a,1\n48,m,b,0\n" * 4


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            TITLES + NAMED,
            r"line 4 has 4 fields.*Delete the lines above the names of the columns, which seem to be in line 4\.",
        ),
        ("Export vom 1.1.2026\n" + NAMED.replace(",", ";"), "Delete the lines above the names"),
        ("age,sex,y\n" + "1,5,2,5,1\n" * 5, "Quote cells that hold the delimiter .with decimal commas"),
        ("age,sex,y\n" + "a,1,f,1\nb,2,m,0\n" * 5, "If the first column holds row names"),
        ("age,sex,y\n" + "1,f,1\n" * 5 + "2,f,a,b,1\n", "Quote cells that hold the delimiter"),
    ],
)
def test_lines_above_the_names_are_told_from_rows_that_are_too_long(tmp_path, text, advice):
    with pytest.raises(SoberError, match=advice) as caught:
        table(tmp_path, text)
    assert caught.value.code == "E801"


def test_a_title_between_delimiters_is_no_header(tmp_path):
    for title in ("Report 2023;;\n", "Report 2023;;\n;;\n"):
        with pytest.raises(SoberError, match="names fewer than half of the columns") as caught:
            table(tmp_path, title + "a;b;y\n" + "1;2;0\n3;4;1\n" * 5)
        assert caught.value.code == "E801"
    assert table(tmp_path, "a;y;;;;\n" + "1;0;;;;\n3;1;;;;\n" * 5).frame.shape == (10, 6)
