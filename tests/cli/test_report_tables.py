"""sober report -o: the tables of a finished run in a file."""

import csv
import io
import json


def test_tables_of_a_run(sober, run_folder, tmp_path):
    score = json.loads((run_folder / "results.json").read_text())["score"]
    honest = f"{score['value']:.{score['digits']}f}"
    for name in ("tables.md", "tables.csv"):
        ended = sober("report", run_folder, "-o", name)
        assert (ended.code, f"Written: {name}" in ended.err + ended.out) == (0, True)
    markdown = (tmp_path / "tables.md").read_text()
    assert markdown.startswith("## Scores of the winner\n")
    assert honest in markdown
    assert "| good | feature | number |" in markdown, "how each column was read"
    rows = list(csv.reader(io.StringIO((tmp_path / "tables.csv").read_text())))
    assert ["scores", "ROC AUC", honest] == rows[1][:3]
    refused = sober("report", run_folder, "-o", "tables.docx")
    assert (refused.code, "E122" in refused.err) == (2, True)


def test_a_run_that_is_complete_shows_no_rounds_and_no_time_of_a_race_that_was_not_run(sober, run_folder):
    first = json.loads((run_folder / "results.json").read_text())
    assert "Time of the race" in first["summary"]["timing"]
    ended = sober("resume", run_folder)
    assert ended.code == 0, ended.err
    assert "The run is complete; writing the report again." in ended.err
    assert "round 1" not in ended.err
    again = json.loads((run_folder / "results.json").read_text())
    assert again["score"] == first["score"]
    assert "Time of the race" not in again["summary"]["timing"]
    more = sober("extend", run_folder, "--repeats", "2")
    assert "is complete" not in more.err
    assert "round 2" in more.err
    (run_folder / "run.sqlite").unlink()
    assert "is complete" not in sober("resume", run_folder).err


def test_what_a_run_noted_stands_on_the_screen_in_the_report_and_in_methods(run_folder):
    results = json.loads((run_folder / "results.json").read_text())
    noted = [n for n in results["summary"]["notes"] if n["code"] in ("W203", "W702", "W711")]
    told = [note["text"] for note in results["warnings"]]
    methods = (run_folder / "METHODS.md").read_text()
    for note in noted:
        assert note["text"] in told
        assert note["text"] in methods
    assert results["winner"] == results["summary"]["winner"], "the report names it as the screen does"
