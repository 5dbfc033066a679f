"""The report in a real browser: nothing complains, nothing is fetched, every width has a picture."""

import os
import struct
from dataclasses import replace

import pytest

from sobercv.report import write
from sobercv.report.records import Chart, Line, Mark, Section, Table

from . import cases
from .browser import Browser, executable

MISSING = "no Chromium on this machine, so the report was not opened in a browser (Debian: apt-get install chromium)"


@pytest.fixture(scope="module")
def browser():
    if executable() is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    client = Browser()
    yield client
    client.close()


#: Words of charts that reach over the edge of their picture.
CUT_OFF = """[...document.querySelectorAll('svg.chart text')].filter(t => {
  const inside = t.getBoundingClientRect(), around = t.closest('svg').getBoundingClientRect();
  return inside.left < around.left - 1 || inside.right > around.right + 1;
}).map(t => t.textContent)"""


def opened(browser, tmp_path, name):
    path = write(cases.summary(name), tmp_path / f"{name}.html")
    browser.size(1280)
    browser.media()
    browser.open(path)
    return path


@pytest.mark.parametrize("name", cases.CASES)
def test_nothing_complains_nothing_is_fetched_nothing_runs(browser, tmp_path, name):
    path = opened(browser, tmp_path, name)
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]
    assert browser.value("document.scripts.length") == 1
    assert browser.value("document.images.length") == 0
    for width in (320, 390, 1280):
        browser.size(width, mobile=width < 500)
        assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(CUT_OFF) == []
    sizes = browser.value("[...document.querySelectorAll('p, figcaption')].map(e => getComputedStyle(e).fontSize)")
    assert min(float(size.removesuffix("px")) for size in sizes) >= 12


#: Tables that are wider than the room that they have: on paper nobody can scroll.
TOO_WIDE = """[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.trim().slice(0, 40))"""


@pytest.mark.parametrize("name", ["binary", "many", "survival"])
def test_tables_fit_on_paper(browser, tmp_path, name):
    summary = cases.summary(name)
    head = ("Kind of model", "Tried", "Honest ROC AUC", "Interval", "Minus best of all", "Interval of that", "Won")
    row = ("elastic-net logistic regression", "8", "0.890", "0.745 to 1.000", "+0.013", "-0.077 to 0.141", "57 %")
    kinds = Section("kinds", "Kinds", tables=(Table("wide", "Kinds", (head, row)),))
    path = write(summary.with_section(kinds), tmp_path / "p.html")
    browser.size(680)  # A4 between its margins
    browser.media("print")
    browser.open(path)
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.value(TOO_WIDE) == []


def test_a_script_that_is_not_ours_would_not_run(browser, tmp_path):
    opened(browser, tmp_path, "binary")
    add = "const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s);"
    browser.value(f"{add} undefined")
    assert browser.value("window.bad === undefined") is True
    assert any("Content Security Policy" in str(e) for e in browser.complaints())


@pytest.mark.parametrize("name", ["binary", "many", "regression", "survival"])
def test_pictures_at_every_width(browser, tmp_path, name):
    opened(browser, tmp_path, name)
    taken = {}
    for kind, width, media, scheme in [
        ("phone", 390, "", "light"),
        ("desktop", 1280, "", "light"),
        ("dark", 1280, "", "dark"),
        ("print", 794, "print", "light"),
    ]:
        browser.size(width, mobile=width < 500)
        browser.media(media, scheme)
        taken[kind] = browser.picture()
        high, wide = struct.unpack(">II", taken[kind][16:24])[::-1]
        assert wide == width
        assert high > 900
        assert len(taken[kind]) > 30_000
        (tmp_path / f"{kind}.png").write_bytes(taken[kind])
    assert len(set(taken.values())) == 4
    browser.media("", "dark")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    browser.media()
    assert browser.pdf().startswith(b"%PDF")


CHARTS = {
    "binary": ["ROC", "Precision and recall", "Calibration", "Decision curve", "Confusion"],
    "several": ["ROC: class 0", "ROC: class 1", "ROC: class 2", "Confusion"],
    "many": [
        "ROC: zero",
        "ROC: six of which much can be said",
        "Confusion",
        "Permutation importance, on training data",
    ],
    "regression": ["Predicted and true"],
    "survival": ["Survival by risk group"],
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_drawn_within_its_frame(browser, tmp_path, name):
    opened(browser, tmp_path, name)
    titles = browser.value("[...document.querySelectorAll('figure h3')].map(e => e.textContent)")
    assert set(CHARTS[name]) <= set(titles)
    boxes = "[...document.querySelectorAll('figure svg.chart')].map(e => [e.getBoundingClientRect().width, e.children.length])"
    assert all(width > 200 and parts > 3 for width, parts in browser.value(boxes))
    outside = """[...document.querySelectorAll('svg.chart > text, svg.chart > g > text')].filter(e => {
      const own = e.getBoundingClientRect(), all = e.closest('svg').getBoundingClientRect();
      return own.left < all.left - 1 || own.right > all.right + 1; }).map(e => e.textContent)"""
    assert browser.value(outside) == []


def test_the_operating_point_is_marked_and_explained(browser, tmp_path):
    opened(browser, tmp_path, "binary")
    key = browser.value("[...document.querySelectorAll('.key li')].map(e => e.textContent)")
    assert any(words.startswith("sensitivity 0.") for words in key)
    rows = browser.value("document.querySelectorAll('#table-thresholds tbody tr').length")
    assert rows == 10


def test_what_is_folded_opens_and_is_printed(browser, tmp_path):
    opened(browser, tmp_path, "binary")
    seen = "document.querySelector('#tripod').checkVisibility()"
    assert browser.value(seen) is False
    browser.value("document.querySelector('#tripod').closest('details').querySelector('summary').click()")
    assert browser.value(seen) is True
    browser.value("document.querySelector('#tripod').closest('details').querySelector('summary').click()")
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
    browser.value("window.dispatchEvent(new Event('afterprint'))")
    assert browser.value("document.querySelectorAll('details[open]').length") == 0


#: Numbers that reach over the edge of their cell.
OVER_THE_EDGE = """[...document.querySelectorAll('svg.chart rect.cell')].filter(cell => {
  const around = cell.getBoundingClientRect();
  return [...cell.parentElement.querySelectorAll('text')].some(t => {
    const own = t.getBoundingClientRect();
    return own.left < around.left || own.right > around.right;
  });
}).length"""


@pytest.mark.parametrize("name", ["binary", "many"])
def test_numbers_stay_within_their_cells(browser, tmp_path, name):
    opened(browser, tmp_path, name)
    assert browser.value("document.querySelectorAll('svg.chart rect.cell').length") in (4, 49)
    assert browser.value(OVER_THE_EDGE) == 0
    tints = browser.value(
        "[...document.querySelectorAll('rect.cell')].map(e => Number(e.getAttribute('fill-opacity')))"
    )
    assert 0 < max(tints) <= 0.5, "ink can be read on it, in both schemes"


def test_long_names_are_whole(browser, tmp_path):
    opened(browser, tmp_path, "many")
    shown = browser.value("[...document.querySelectorAll('svg.chart text')].map(t => t.textContent)")
    assert "a column with a long name, 6" in shown


def test_hundreds_of_columns_are_few_on_paper_and_it_says_so(browser, tmp_path):
    rows = tuple((f"marker {i}", "feature", "number", "", "0 to 1", "0") for i in range(300))
    head = ("Column", "Role", "Kind", "Read as", "Values", "Missing")
    columns = Table("columns", "How each column was read", (head, *rows), folded=True)
    browser.media()
    browser.open(write(replace(cases.summary("binary"), columns=columns), tmp_path / "wide.html"))
    browser.value("window.dispatchEvent(new Event('beforeprint'))")  # opens what is folded
    rows = "[...document.querySelectorAll('#columns tbody tr')].filter(e => e.offsetHeight > 0).length"
    said = "[...document.querySelectorAll('p.on-paper')].filter(e => e.offsetHeight > 0).map(e => e.textContent)"
    assert (browser.value(rows), browser.value(said)) == (300, [])
    browser.media("print")
    assert (browser.value(rows), browser.value(said)) == (40, ["On paper, the first 40 columns."])
    browser.media()


def test_charts_of_a_run_are_drawn_within_their_frames(browser, tmp_path):
    """Lines with marks, and a circle on an axis."""
    summary = cases.summary("binary")
    line = Line("mean", (50.0, 100.0, 1500.0), (0.6, 0.7, 0.8), (0.5, 0.6, 0.7), (0.7, 0.8, 0.9), marked=True)
    ranges = ((50.0, 1500.0), (0.45, 0.95))
    growth = Chart("growth", "Growth", "training rows", "ROC AUC", *ranges, (line,), "It rises.")
    threshold = Chart(
        "threshold",
        "Score by threshold",
        "threshold",
        "F1",
        *ranges,
        (line,),
        "At 100.",
        marks=(Mark(50.0, 0.6, "here"),),
    )
    browser.size(1280)
    browser.media()
    run = summary.with_section(Section("more", "More", (growth, threshold)))
    browser.open(write(run, tmp_path / "run.html"))
    titles = browser.value("[...document.querySelectorAll('figure h3')].map(e => e.textContent)")
    assert {"Growth", "Score by threshold"} <= set(titles)
    assert browser.value(CUT_OFF) == []
    # A mark on an axis is drawn whole.
    assert browser.value("document.querySelectorAll('g[clip-path] circle.hollow').length") == 0
    assert browser.value("document.querySelectorAll('svg.chart circle.hollow').length") == 2
