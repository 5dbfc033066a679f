"""The tables of a report as Markdown, LaTeX and CSV: the same cells, escaped for each form."""

import csv
import io

import pytest

from sobercv.errors import SoberError
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
    items = {item.number: item.answer for item in cases.summary("binary").checklist}
    assert "ROC AUC" in items["23a"]
    assert "interval" in items["23a"]
    assert items["17"] == "", "ethical approval is the authors' to tell"
    assert len(items) == 36
