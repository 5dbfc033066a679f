"""The tables of a report as Markdown and CSV: the same cells, escaped for each form."""

import csv
import io
import re
from dataclasses import replace

import pytest

from sobercv.report import summarize
from sobercv.report.checklist import checklist
from sobercv.report.html import to_html
from sobercv.report.model_charts import Bar
from sobercv.report.tables import configurations_table, tables_of, to_csv, to_markdown

from . import cases

FORMS = (to_markdown, to_csv)


def test_every_form_holds_every_table_and_the_honest_number():
    summary = cases.summary("binary")
    names = [table.name for table in tables_of(summary)]
    assert names[:2] == ["scores", "thresholds"]
    assert {"confusion", "importance", "configurations", "data", "tripod_ai"} <= set(names)
    score = summary.scores[0]
    for form in FORMS:
        text = form(summary)
        assert f"{score.value:.{score.digits}f}" in text
        for table in tables_of(summary):
            assert (table.title if form is to_markdown else table.name) in text


def test_csv_is_read_again():
    rows = list(csv.reader(io.StringIO(to_csv(cases.summary("survival")))))
    at_risk = [row for row in rows if row[0] == "survival"]
    assert at_risk[0][1] == "at risk"
    assert [row[1] for row in at_risk[1:]] == ["low risk", "middle risk", "high risk"]


def test_hostile_names_stay_cells():
    summary = cases.summary("hostile")
    markdown = to_markdown(summary)
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
    for row in csv.reader(io.StringIO(to_csv(summary))):
        assert all(not cell.startswith(("=", "@")) for cell in row)


def test_the_checklist_is_filled_in_where_the_run_knows():
    items = {number: answer for number, _, answer in checklist(cases.summary("binary")).rows[1:]}
    assert "ROC AUC" in items["23a"]
    assert "interval" in items["23a"]
    assert items["17"] == "", "ethical approval is the authors' to tell"
    assert items["7"] == "", "nothing is known of how a table was read"
    assert len(items) == 36
    without_charts = {number: answer for number, _, answer in checklist(summarize(cases.binary()[0])).rows[1:]}
    assert without_charts["22"].endswith("; trained on all samples.")


def test_numbers_in_csv_are_plain_ascii():
    summary = cases.by_hand()
    score = replace(summary.scores[1], value=-12345.6, interval=(-23456.7, -1234.5), naive=-9876.5, digits=1)
    summary = cases.with_importance(summary, Bar("lactate", -0.01, 0.02))
    text = to_csv(replace(summary, scores=(summary.scores[0], score)))
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
    for text in (to_html(summary), *(form(summary) for form in FORMS)):
        assert "\u2212" not in text


def test_every_output_is_off_by_the_same():
    summary = cases.by_hand()
    scores = (replace(summary.scores[0], value=0.8124, naive=0.8616, optimism=0.0492), summary.scores[1])
    summary = replace(summary, scores=scores)  # as written: 0.862 - 0.812 = 0.050, and 0.0492 would be 0.049
    page = to_html(summary)
    assert '<td class="n">+0.050</td>' in page
    assert "+0.049" not in page
    for form in FORMS:
        assert "+0.050" in form(summary)


def test_markdown_shows_labels_as_they_are():
    markdown = to_markdown(cases.summary("hostile"))
    assert re.search(r"(?<!\\)<", markdown) is None, "no HTML"
    assert "\x1b" not in markdown
    assert "\\<script\\>alert(1)\\</script\\>" in markdown
    assert "max_depth=3" in to_markdown(with_params("max_depth=3"))
    assert "\\*bold\\* \\`code\\` \\_it\\_" in to_markdown(with_params("*bold* `code` _it_"))


def with_params(words):
    summary = cases.by_hand()
    first, *others = summary.configurations
    return replace(summary, configurations=(replace(first, params=words), *others))


def test_configurations_have_their_numbers_and_no_column_that_holds_nothing():
    head, *rows = configurations_table(cases.by_hand()).rows
    assert (head[-1], [row[-1] for row in rows]) == ("No.", ["4", "7", "9"])
    unknown = tuple(replace(row, wins=None, seconds=None) for row in cases.by_hand().configurations)
    head = configurations_table(replace(cases.by_hand(), configurations=unknown)).rows[0]
    assert head == ("Rank", "Configuration", "Status", "Pooled", "Fold mean", "Fold SD", "No.")
