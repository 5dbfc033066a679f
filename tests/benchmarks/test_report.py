"""The page of benchmarks: parts that were not measured again stay, and the same numbers draw the same picture."""

from benchmarks import figure, growth, report


def section(title, **options):
    return report.Section(title, ["what", "ms"], [["a", "1"]], [report.Goal("fast", 1.0, 2.0, True, "x")], **options)


def test_a_part_measured_again_replaces_only_itself(tmp_path):
    page = tmp_path / "page.md"
    order, about = ("first", "second"), {"first": ["quiet"], "second": ["busy"]}
    report.write(page, {"second": [section("Old second")]}, about, order)
    report.write(page, {"first": [section("First")]}, about, order)
    report.write(page, {"second": [section("New second")]}, about, order)
    text = page.read_text()
    assert "Old second" not in text
    assert text.index("## First") < text.index("- quiet") < text.index("## New second") < text.index("- busy")
    report.write(page, {"second": [section("New second")]}, about, order)
    assert page.read_text() == text


def test_a_picture_is_drawn_beside_the_page_and_is_always_the_same(tmp_path):
    curves = [
        growth.Curve(metric, axis, [10, 100], [0.1, 0.9], [0.1, 1.0], [1.0, 5.0])
        for metric in growth.METRICS
        for axis in growth.BASE
    ]
    drawn = section("Growth", figure="figures/growth.svg", draw=lambda path: figure.growth(curves, path))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        report.write(tmp_path / folder / "page.md", {"growth": [drawn]}, {"growth": []}, ["growth"])
    first, second = ((tmp_path / folder / "figures" / "growth.svg").read_bytes() for folder in ("a", "b"))
    assert first == second
    assert "![Growth](figures/growth.svg)" in (tmp_path / "a" / "page.md").read_text()


def test_linear_growth_has_slope_one():
    assert abs(growth.slope([1000, 10_000, 100_000], [5.0, 10.0, 100.0]) - 1.0) < 1e-12
    assert abs(growth.slope([1, 2, 5, 10], [7.0, 7.0, 5.0, 10.0]) - 1.0) < 1e-12
