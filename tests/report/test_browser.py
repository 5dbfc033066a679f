"""The report in a real browser: nothing complains, nothing is fetched, the table works, every width has a picture."""

import os
import struct

import pytest

from sobercv.report import write

from . import cases
from .browser import Browser, executable

MISSING = "no Chromium on this machine, so the report was not opened in a browser (Debian: apt-get install chromium)"
ROWS = "[...document.querySelectorAll('#configurations tbody tr')]"


@pytest.fixture(scope="module")
def browser():
    if executable() is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    client = Browser()
    yield client
    client.close()


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
    assert browser.value("document.scripts.length") == 2
    assert browser.value("document.images.length") == 0
    for width in (320, 390, 1280):
        browser.size(width, mobile=width < 500)
        assert browser.value("document.documentElement.scrollWidth") <= width
    sizes = browser.value("[...document.querySelectorAll('p, figcaption')].map(e => getComputedStyle(e).fontSize)")
    assert min(float(size.removesuffix("px")) for size in sizes) >= 12


def test_a_script_that_is_not_ours_would_not_run(browser, tmp_path):
    opened(browser, tmp_path, "binary")
    add = "const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s);"
    browser.value(f"{add} undefined")
    assert browser.value("window.bad === undefined") is True
    assert any("Content Security Policy" in str(e) for e in browser.complaints())


def test_the_table_sorts_and_filters(browser, tmp_path):
    opened(browser, tmp_path, "binary")
    column = "{}.filter(r => !r.hidden).map(r => r.cells[{}].textContent.trim())".format

    def click(i):
        browser.value(f"document.querySelectorAll('#configurations th button')[{i}].click()")
        return browser.value(column(ROWS, i))

    def sort_of(i):
        return browser.value(f"document.querySelectorAll('#configurations th')[{i}].getAttribute('aria-sort')")

    numbers = [int(n) for n in click(8)]
    assert numbers == sorted(numbers)
    assert [int(n) for n in click(8)] == sorted(numbers, reverse=True)
    assert (sort_of(8), sort_of(0)) == ("descending", None)
    scores = click(4)
    assert scores[-1] == "\u2013"  # the failed one stays last
    known = [float(s) for s in scores[:-1]]
    assert known == sorted(known)
    assert click(4)[-1] == "\u2013"

    def find(words):
        browser.value(f"document.getElementById('find').value = {words!r}")
        browser.value("document.getElementById('find').dispatchEvent(new Event('input'))")
        return browser.value(column(ROWS, 1)), browser.value("document.getElementById('shown').textContent")

    assert find("nonsense FAILED") == (["C=1, solver='nonsense'"], "1 of 5")
    assert find("no such thing") == ([], "0 of 5")
    assert len(find("")[0]) == 5


@pytest.mark.parametrize("name", ["binary", "several", "regression", "survival"])
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
