"""The tables of a report as Markdown, LaTeX and CSV: the same cells, escaped for each form."""

import csv
import io
import re
from dataclasses import replace

import pytest

from sobercv.errors import SoberError
from sobercv.report.checklist import checklist
from sobercv.report.html import to_html
from sobercv.report.model_charts import Bar
from sobercv.report.tables import FORMATS, tables_of, to_format

from . import cases


def test_every_form_holds_every_table_and_the_honest_number():
    summary = cases.summary("binary")
    names = [table.name for table in tables_of(summary)]
    assert names[:2] == ["scores", "thresholds"]
    assert {"confusion", "importance", "configurations", "data", "tripod_ai"} <= set(names)
    score = summary.scores[0]
    for form in FORMATS:
        text = to_format(summary, form)
        assert f"{score.value:.{score.digits}f}" in text
        for table in tables_of(summary):
            assert (table.name if form != "md" else table.title) in text


def test_csv_is_read_again():
    rows = list(csv.reader(io.StringIO(to_format(cases.summary("survival"), "csv"))))
    at_risk = [row for row in rows if row[0] == "survival"]
    assert at_risk[0][1] == "at risk"
    assert [row[1] for row in at_risk[1:]] == ["low risk", "middle risk", "high risk"]


def test_hostile_names_stay_cells():
    summary = cases.summary("hostile")
    markdown = to_format(summary, "md")
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
    tex = to_format(summary, "tex")
    assert r"$\frac" not in tex
    assert r"\$\textbackslash{}frac" in tex
    for row in csv.reader(io.StringIO(to_format(summary, "csv"))):
        assert all(not cell.startswith(("=", "@")) for cell in row)


def test_an_unknown_form_is_refused():
    with pytest.raises(SoberError, match="md, tex, csv"):
        to_format(cases.summary("binary"), "docx")


def test_the_checklist_is_filled_in_where_the_run_knows():
    items = {number: answer for number, _, answer in checklist(cases.summary("binary")).rows[1:]}
    assert "ROC AUC" in items["23a"]
    assert "interval" in items["23a"]
    assert items["17"] == "", "ethical approval is the authors' to tell"
    assert len(items) == 36


def test_numbers_in_csv_are_plain_ascii():
    summary = cases.by_hand()
    score = replace(summary.scores[1], value=-12345.6, interval=(-23456.7, -1234.5), naive=-9876.5, digits=1)
    summary = cases.with_importance(summary, Bar("lactate", -0.01, 0.02))
    text = to_format(replace(summary, scores=(summary.scores[0], score)), "csv")
    assert "\u2212" not in text
    rows = list(csv.reader(io.StringIO(text)))
    head = rows[0][1:]
    assert head == ["Metric", "Honest", "95 % interval, low", "95 % interval, high", "Plain CV", "Plain CV is off by"]
    assert [float(cell) for cell in rows[2][2:7]] == [-12345.6, -23456.7, -1234.5, -9876.5, 2469.1]
    bar = next(row for row in rows if row[:2] == ["importance", "lactate"])
    assert bar[2:4] == ["-0.0100", "0.0200"]
    failed = next(row for row in rows if row[:2] == ["configurations", "12"])
    assert failed[5:8] == ["", "", ""], "what is missing is an empty cell"


@pytest.mark.parametrize("name", ["regression", "survival"])
def test_every_output_writes_a_minus_alike(name):
    summary = cases.summary(name)
    for text in (to_html(summary), *(to_format(summary, form) for form in FORMATS)):
        assert "\u2212" not in text


def test_every_output_is_off_by_the_same():
    summary = cases.by_hand()
    scores = (replace(summary.scores[0], value=0.8124, naive=0.8616, optimism=0.0492), summary.scores[1])
    summary = replace(summary, scores=scores)  # as written: 0.862 - 0.812 = 0.050, and 0.0492 would be 0.049
    page = to_html(summary)
    assert '<td class="n">+0.050</td>' in page
    assert "+0.049" not in page
    for form in FORMATS:
        assert "+0.050" in to_format(summary, form)


def test_markdown_shows_labels_as_they_are():
    markdown = to_format(cases.summary("hostile"), "md")
    assert re.search(r"(?<!\\)<", markdown) is None, "no HTML"
    assert "\x1b" not in markdown
    assert "\\<script\\>alert(1)\\</script\\>" in markdown
    assert "max_depth=3" in to_format(with_params("max_depth=3"), "md")
    assert "\\*bold\\* \\`code\\` \\_it\\_" in to_format(with_params("*bold* `code` _it_"), "md")


def with_params(words):
    summary = cases.by_hand()
    first, *others = summary.configurations
    return replace(summary, configurations=(replace(first, params=words), *others))
