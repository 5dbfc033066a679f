import base64
import hashlib
import re
import sys
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from sobercv.errors import Note, SoberError
from sobercv.report import html, summarize, svg, to_html
from sobercv.report.charts import draws_chart
from sobercv.report.model_charts import Bar
from sobercv.report.records import Box, Chart, Line, Mark, Section, Whisker
from sobercv.report.words import clean

from . import cases


def page(name):
    return to_html(cases.summary(name))


@pytest.mark.parametrize("name", cases.CASES)
def test_one_file_that_asks_for_nothing(name):
    text = page(name)
    links = re.findall(
        r'(?:src|href|action|data|poster|srcset)\s*=\s*["\']?([^"\'\s>]+)', re.sub(r">[^<]*<", "><", text)
    )
    assert [link for link in links if not link.startswith(("data:", "#"))] == []
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert " style=" not in re.sub(r">[^<]*<", "><", text)


@pytest.mark.parametrize("name", cases.CASES)
def test_drawings_are_well_formed_and_names_are_unique(name):
    text = page(name)
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(drawings) > 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in re.sub(r"<(title|text).*?</\1>", "", drawing)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    pictures = [d for d in drawings if 'role="img"' in d]
    assert all("<title>" in d for d in pictures)


def test_the_policy_allows_this_style_and_this_script_only():
    text = page("binary")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, element in (("style-src", "style"), ("script-src", "script")):
        (inside,) = re.findall(rf"<{element}>(.*?)</{element}>", text, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_hostile_names_are_only_text():
    search, X, y = cases.hostile()
    command = "sober fit '</script><script>alert(6)</script>' & \"x\""
    text = to_html(summarize(search, X, y, title=f"{cases.HOSTILE[0]}\ud800", command=command, n_permutations=1))
    assert text.count("<script") == 1
    assert text.count("</script") == 1
    assert "<img" not in text
    assert "onerror=" not in re.sub(r">[^<]*<", "><", re.sub(r'"[^"]*"', '""', text))
    assert "49" not in re.findall(r"<title>([^<]*)</title>", text)[0]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "{{ 7 * 7 }}" in text
    text.encode("utf-8")


def test_honest_and_naive_stand_on_the_first_screen():
    text = to_html(cases.by_hand())
    top = text[: text.index("</section>")]
    for words in ("0.812", "0.701 to 0.893", "0.861", "0.049 too good", "part of its 0.861 is luck"):
        assert words in top, words


def test_charts_of_one_name_are_all_drawn():
    """Columns that differ in capitals only name their charts alike."""
    summary = cases.by_hand()
    (roc,) = [chart for chart in summary.charts if chart.name == "roc"]
    twice = summary.with_section(Section("more", "More", (replace(roc, title="Another of that name"),)))
    page = to_html(twice)
    assert page.count("<h3>ROC</h3>") == page.count("<h3>Another of that name</h3>") == 1


def test_long_tables_are_cut_and_say_so():
    summary = cases.by_hand()
    rows = tuple(replace(summary.configurations[1], index=i) for i in range(1500))
    text = to_html(replace(summary, configurations=rows))
    assert text.count('<tr class="dropped">') == html.MOST_ROWS
    assert "The first 1,000 of 1,500 are shown." in text
    assert "On paper, the first 30 rows." in text
    assert "On paper" not in to_html(summary), "all of them are"


def test_without_jinja_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(SoberError) as caught:
        to_html(cases.by_hand())
    assert "sobercv[report]" in caught.value.message


def test_draws_that_are_all_equal_are_one_bar_around_them():
    score = replace(cases.by_hand().scores[0], value=1.0, naive=1.0, interval=(1.0, 1.0))
    (chart,) = draws_chart(replace(cases.regression()[0].estimate_, draws=np.ones(1000)), score)
    heights = [box.y1 for box in chart.boxes]
    assert len(heights) % 2 == 1
    assert heights[len(heights) // 2] == sum(heights) == 1000
    drawn = svg.draw(chart)
    assert drawn.count('class="bar s1"') == 1
    assert 's1"' not in drawn.replace('class="bar s1"', ""), "a line of their colour cannot be seen on bars"
    assert [drawn.count(f'class="stroke ink {dash}"') for dash in ("d1", "d3")] == [1, 1]


def test_numbers_stay_with_what_they_belong_to():
    page = to_html(replace(cases.by_hand(), why="Ridge (C 0.1), SES (alpha 0.05, k 2), in 95 % of a b 3."))
    assert "Ridge (C\u00a00.1), SES (alpha\u00a00.05, k\u00a02), in 95\u00a0% of a b 3." in page


def test_an_option_is_never_broken_after_its_first_hyphen():
    note = Note("S802", "Few rows: --repeats 5 helps <b>, and --by does.")
    page = to_html(replace(cases.by_hand(), notes=(note,)))
    repeats, by = (f'<span class="nowrap">--{name}</span>' for name in ("repeats", "by"))
    assert f"Few rows: {repeats} 5 helps &lt;b&gt;, and {by} does." in page


def test_columns_that_change_nothing_have_no_bar():
    unused = Bar("age", 0.0, 0.0)
    page = to_html(cases.with_importance(cases.by_hand(), Bar("lactate", 0.2, 0.01), unused))
    assert "No bar: one column which the model does not use." in page
    assert "age: 0" not in page
    assert "age: 0" in to_html(cases.with_importance(cases.by_hand(), unused)), "an empty chart says nothing"


@pytest.mark.parametrize("hostile", cases.HOSTILE)
def test_hostile_words_of_charts_are_only_text(hostile):
    """Columns name the charts of subgroups."""
    line = Line(hostile, (0.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0), hostile)
    axes = ((0.0, 1.0), (0.0, 1.0))
    chart = Chart(
        hostile, hostile, hostile, hostile, *axes, (line,), hostile, marks=(Mark(0.5, 0.5, hostile),), series=(hostile,),
        boxes=(Box(0.0, 0.0, 1.0, 1.0, hint=hostile),), whiskers=(Whisker(0.0, 0.0, 1.0, hint=hostile),),
    )  # fmt: skip
    cell = Box(-0.5, -0.5, 0.5, 0.5, 0, hostile, 0.5, (hostile, hostile))
    cells = Chart("cells", hostile, hostile, hostile, (-0.5, 1.5), (1.5, -0.5), boxes=(cell,), x_names=(hostile,) * 2)
    named = Chart("named", hostile, hostile, "", *axes, y_names=(hostile,))
    plain = clean(hostile, 1000)
    for one in (chart, cells, named):
        drawn = svg.draw(replace(one, name=plain, title=plain, x_label=plain))
        ElementTree.fromstring(drawn.replace("\x00", "").replace("\x1b", ""))
        assert not re.findall(r"<(?!/?(svg|g|rect|path|circle|text|title|clipPath)\b)", drawn)
        assert not re.findall(r"\son\w+=", re.sub(r'"[^"]*"|>[^<]*<', "", drawn))


def test_failures_stand_at_the_left_like_their_heads():
    """The cells of long texts began at the left, under heads at the right."""
    (table,) = re.findall(r'<table[^>]*id="table-failures".*?</table>', to_html(cases.by_hand()), flags=re.S)
    assert '<th scope="col">Cause</th>' in table
    assert 'class="n"' not in table
