"""Ways to write numbers: what fits which, what stays in doubt, and that no value changes on the way."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sobercv.errors import SoberError
from sobercv.tables import Settings
from sobercv.tables.column import CONVENTIONS, PLAIN, Marks, are_codes, conventions, without_limits
from sobercv.tables.read_table import read

COMMA, ENGLISH, GERMAN = Marks(","), Marks(".", ","), Marks(",", ".")
CASES = [
    # what, values, the conventions that fit all
    ("whole numbers", ["1", "20", "-3"], [PLAIN]),
    ("points", ["1.5", ".5", "2.", "-1e-3"], [PLAIN]),
    ("decimal commas", ["199,0", "1,5", "-0,25"], [COMMA]),
    ("commas between thousands and a point", ["1,234.5", "12"], [ENGLISH]),
    ("points between thousands and a comma", ["1.234,5", "12"], [GERMAN]),
    ("several groups", ["1,234,567"], [ENGLISH]),
    ("several groups with points", ["1.234.567"], [GERMAN]),
    ("spaces between thousands", ["1 234,5", "12"], [Marks(",", " ")]),
    ("spaces that do not break", ["1\u00a0234", "5\u202f678"], [Marks(".", " ")]),
    ("apostrophes", ["1'234.5", "9\u2019876.5"], [Marks(".", "'")]),
    ("three digits behind a comma", ["1,234", "5,678"], [COMMA, ENGLISH]),
    ("three digits behind a point", ["1.234", "5.678"], [PLAIN, GERMAN]),
    ("a zero before the comma ends the doubt", ["0,234", "5,678"], [COMMA]),
    ("exponents", ["1,5E+03", "2e4"], [COMMA]),
    ("a minus that is longer", ["\u22121,5"], [COMMA]),
    ("words", ["1,5", "much"], []),
    ("lists", ["1,5,7", "2,3"], []),
    ("versions", ["1.2.3"], []),
    ("telephone numbers", ["030 123", "040 456"], []),
    ("codes with zeros in front", ["007", "12"], []),
    ("more digits than a number holds", ["1234567890123456789"], []),
    ("digits of other scripts", ["\u0663"], []),
    ("nothing", [], []),
]  # fmt: skip


def text(values):
    return pa.array(values, pa.string())


def read_by(marks, values):
    return pc.cast(marks.rewritten(text(values)), pa.float64()).to_pylist()


@pytest.mark.parametrize(("values", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_which_conventions_fit(values, expected):
    assert conventions(text(values)) == expected


def written(number, marks):
    text = f"{number:,.3f}"
    return text.replace(",", "§").replace(".", marks.decimal).replace("§", marks.thousands)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20), st.sampled_from(CONVENTIONS))
def test_a_number_is_read_as_it_was_written(thousandths, marks):
    numbers = [n / 1000 for n in thousandths]
    texts = [written(n, marks) for n in numbers]
    assert read_by(marks, texts) == numbers
    found = conventions(text(texts))
    assert any(read_by(other, texts) == numbers for other in found), "the right one is among them"


def test_what_does_not_fit_is_not_rewritten():
    assert read_by(GERMAN, ["1,234.5", "1.234,5"]) == [None, 1234.5]
    assert read_by(COMMA, ["1.5", None]) == [None, None]
    assert read_by(ENGLISH, ["199,0"]) == [None]


def test_limits_are_numbers_without_their_sign():
    values = ["0.5", "<0.5", "> 10", "\u2264 1e-3", "<x"]
    assert read_by(PLAIN, values) == [0.5, None, None, None, None]
    assert read_by(PLAIN, without_limits(text(values)).to_pylist()) == [0.5, 0.5, 10, 0.001, None]


def test_codes_are_digits_that_nobody_would_write_as_an_amount():
    assert are_codes(text(["007", "7"]))
    assert not are_codes(text(["0", "7"]))
    assert not are_codes(text(["05", "12"])), "two digits each: a month"
    assert are_codes(text(["05", "5"])), "the same number, written in two ways"
    assert not are_codes(text(["0.5", "007"]))
    assert not are_codes(text([]))


def test_a_point_that_may_stand_between_thousands_is_not_guessed_at_in_new_rows(tmp_path):
    """Training held whole numbers below a thousand only, in a file with decimal commas."""
    rows = "".join(f"{100 + 7 * i};{i % 9},5;{i % 2}\n" for i in range(40))
    (tmp_path / "old.csv").write_text(f"cells;crp;y\n{rows}")
    schema = read(tmp_path / "old.csv", Settings(target="y")).schema
    assert schema.columns["cells"].described == "", "nothing special to a reader"
    for cell, number in (
        ("980", 980),
        ("12.5", 12.5),
        ("1.2500", 1.25),
        ("62,0", 62),
        ("62,5", 62.5),
        ("0.125", 0.125),
    ):
        (tmp_path / "new.csv").write_text(f"cells;crp\n{cell};0,5\n300;0,4\n")
        table = read(tmp_path / "new.csv", schema=schema)
        assert table.frame["cells"][0] == number
        assert not table.notes
    (tmp_path / "new.csv").write_text("cells;crp\n1.250;0,5\n300;0,4\n")
    table = read(tmp_path / "new.csv", schema=schema)
    assert table.frame["cells"].isna().tolist() == [True, False]
    assert "1 of 'cells' ('1.250')" in table.notes[0].text
    (tmp_path / "new.csv").write_text("cells;crp\n1.250;0,5\n")
    with pytest.raises(
        SoberError, match=r"'cells' was numeric \(in a file with decimal commas\).*'1\.250' now"
    ) as error:
        read(tmp_path / "new.csv", schema=schema)
    assert error.value.code == "E804"


def test_points_that_the_user_decided_on_are_read_again(tmp_path):
    (tmp_path / "d.csv").write_text("a;b\n" + "".join(f"{i}.234;{i},5\n" for i in range(1, 9)))
    table = read(tmp_path / "d.csv", Settings(decimal="."))
    assert read(tmp_path / "d.csv", schema=table.schema).frame["a"].tolist() == [i + 0.234 for i in range(1, 9)]
