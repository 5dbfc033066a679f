"""The tables of benchmarks: parts that were not measured again stay, and the same numbers draw the same picture."""

import csv
import shutil

from benchmarks import __main__ as command
from benchmarks import growth, report


def test_every_section_has_its_words():
    known = report.about()
    assert {line["command"].split()[-1] for line in known.values()} == set(command.SECTIONS)
    for name, line in known.items():
        assert line["title"]
        assert line["notes"]
        assert (report.EVIDENCE / name).exists()


def test_a_part_measured_again_replaces_only_itself(tmp_path):
    shutil.copy(report.EVIDENCE / "benchmarks-about.csv", tmp_path)
    before = report.about(tmp_path)
    report.write(tmp_path, "search", [[["what", "ms"], ["a", "1"]], [["b"]]], "here")
    after = report.about(tmp_path)
    assert [name for name in after if after[name] != before[name]] == [
        "benchmarks-search-2.csv",
        "benchmarks-search.csv",
    ]
    assert after["benchmarks-search.csv"] == before["benchmarks-search.csv"] | {"machine": "here"}
    assert (tmp_path / "benchmarks-search.csv").read_text() == "what,ms\na,1\n"
    with (
        (report.EVIDENCE / "benchmarks-about.csv").open(newline="") as first,
        (tmp_path / "benchmarks-about.csv").open(newline="") as second,
    ):
        assert [line[:4] for line in csv.reader(first)] == [line[:4] for line in csv.reader(second)]


def test_a_picture_is_always_the_same(tmp_path):
    curves = [
        growth.Curve(metric, axis, [10, 100], [0.1, 0.9], [0.1, 1.0], [1.0, 5.0])
        for metric in growth.METRICS
        for axis in growth.BASE
    ]
    for name in ("a.svg", "b.svg"):
        growth.draw(curves, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_linear_growth_has_slope_one():
    assert abs(growth.slope([1000, 10_000, 100_000], [5.0, 10.0, 100.0]) - 1.0) < 1e-12
    assert abs(growth.slope([1, 2, 5, 10], [7.0, 7.0, 5.0, 10.0]) - 1.0) < 1e-12


def test_a_table_is_shown_with_its_words():
    shown = report.as_text("Title", [["what", "ms"], ["a", "1.5"]], "Notes.").splitlines()
    assert shown == ["Title", "=====", "what   ms", "----  ---", "a     1.5", "Notes."]
