"""Dates in text: one format for a whole column, or none."""

import pyarrow as pa
import pytest

from sobercv.tables.column import date_formats, dates

CASES = [
    ("as the standard has it", ["2020-01-31", "1999-12-1"], ["%Y-%m-%d"]),
    ("with a clock", ["2020-01-31 23:59:00"], ["%Y-%m-%d %H:%M:%S"]),
    ("with a T", ["2020-01-31T23:59:00"], ["%Y-%m-%dT%H:%M:%S"]),
    ("German", ["31.01.2020", "1.2.1999"], ["%d.%m.%Y"]),
    ("American", ["01/31/2020", "02/01/2020"], ["%m/%d/%Y"]),
    ("British", ["31/01/2020", "01/02/2020"], ["%d/%m/%Y"]),
    ("one or the other", ["01/02/2020", "03/04/2020"], ["%m/%d/%Y", "%d/%m/%Y"]),
    ("both in one column", ["31/01/2020", "01/31/2020"], []),
    ("two formats", ["2020-01-31", "31.01.2020"], []),
    ("no day of the calendar", ["30.02.2020"], []),
    ("two digits of a year", ["31.01.20"], []),
    ("numbers", ["20200131"], []),
    ("nothing", [], []),
]


@pytest.mark.parametrize(("values", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_which_formats_fit(values, expected):
    assert date_formats(pa.array(values, pa.string())) == expected


def test_what_does_not_fit_becomes_a_gap():
    found = dates(pa.array(["31.01.2020", "soon"]), "%d.%m.%Y")
    assert [str(d)[:10] for d in found] == ["2020-01-31", "NaT"]
