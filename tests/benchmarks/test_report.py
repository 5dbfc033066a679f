"""The tables of benchmarks: parts that were not measured again stay, and the same numbers draw the same picture."""

from benchmarks import growth, report


def section(title, **options):
    return report.Section(title, ["what", "ms"], [["a", "1"]], **options)


def test_a_part_measured_again_replaces_only_itself(tmp_path):
    about = {"first": ["quiet"], "second": ["busy"]}
    report.write(tmp_path, {"second": [section("Old second")]}, about)
    report.write(tmp_path, {"first": [section("First"), section("More")]}, about)
    report.write(tmp_path, {"second": [section("New second")]}, about)
    index = (tmp_path / "benchmarks-about.csv").read_text()
    assert "Old second" not in index
    assert index.splitlines()[1] == "benchmarks-first-2.csv,More,python -m benchmarks first,,quiet"
    assert (tmp_path / "benchmarks-second.csv").read_text() == "what,ms\na,1\n"
    report.write(tmp_path, {"second": [section("New second")]}, about)
    assert (tmp_path / "benchmarks-about.csv").read_text() == index


def test_a_picture_is_always_the_same(tmp_path):
    curves = [
        growth.Curve(metric, axis, [10, 100], [0.1, 0.9], [0.1, 1.0], [1.0, 5.0])
        for metric in growth.METRICS
        for axis in growth.BASE
    ]
    drawn = section("Growth", figure="growth.svg", draw=lambda path: report.draw_growth(curves, path))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        report.write(tmp_path / folder, {"growth": [drawn]}, {"growth": []})
    first, second = ((tmp_path / folder / "growth.svg").read_bytes() for folder in ("a", "b"))
    assert first == second


def test_linear_growth_has_slope_one():
    assert abs(growth.slope([1000, 10_000, 100_000], [5.0, 10.0, 100.0]) - 1.0) < 1e-12
    assert abs(growth.slope([1, 2, 5, 10], [7.0, 7.0, 5.0, 10.0]) - 1.0) < 1e-12
