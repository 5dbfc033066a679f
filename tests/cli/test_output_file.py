"""-o: what is read, and what a run has written, is never written over; other files only when asked."""

import pytest


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["plain", "overwrite"])
@pytest.mark.parametrize(
    ("place", "said"),
    [("data.csv", "input table"), ("run/model.skops", "belongs to the run"), ("run", "folder")],
)
def test_precious_files_stay_whatever_is_asked(sober, run_folder, tmp_path, place, said, overwrite):
    path = tmp_path / place
    before = path.read_bytes() if path.is_file() else sorted(path.iterdir())
    ended = sober("predict", run_folder, tmp_path / "data.csv", "-o", path, *overwrite)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "[E809]" in ended.err
    assert (path.read_bytes() if path.is_file() else sorted(path.iterdir())) == before


def test_a_link_to_the_table_is_the_table(sober, run_folder, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "data.csv")
    assert "input table" in sober("predict", run_folder, "data.csv", "-o", "link.csv").err
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "data.csv")
    assert "input table" in sober("predict", run_folder, "data.csv", "-o", "hard.csv", "--overwrite").err


@pytest.mark.parametrize("command", [("predict", "data.csv"), ("report",)], ids=str)
def test_other_files_are_written_over_when_asked(sober, run_folder, tmp_path, command):
    name, *rest = command
    (tmp_path / "mine.html").write_text("mine")
    ended = sober(name, run_folder, *rest, "-o", "mine.html")
    assert ended.code == 2
    assert "--overwrite" in ended.err
    assert (tmp_path / "mine.html").read_text() == "mine"
    assert sober(name, run_folder, *rest, "-o", "mine.html", "--overwrite").code == 0
    assert (tmp_path / "mine.html").read_text() != "mine"


@pytest.mark.parametrize(
    ("name", "hint"), [("r.pdf", "print it to PDF in the browser"), ("r.docx", "Write report.html.")]
)
def test_a_report_is_not_written_under_the_name_of_another_kind(sober, run_folder, tmp_path, name, hint):
    ended = sober("report", run_folder, "-o", name)
    assert (ended.code, ended.out) == (2, "")
    assert hint in ended.err
    assert "[E122]" in ended.err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(("name", "start"), [("r.html", "<!doctype html>"), ("r.md", "## Scores"), ("r.json", "{")])
def test_the_ending_says_what_is_written(sober, run_folder, tmp_path, name, start):
    assert sober("report", run_folder, "-o", name).code == 0
    assert (tmp_path / name).read_text().startswith(start)


def test_predictions_are_not_written_as_text_into_a_file_of_another_format(sober, run_folder, tmp_path):
    for name in ("p.xlsx", "P.XLSX", "p.csv.gz"):
        ended = sober("predict", run_folder, "data.csv", "-o", name)
        assert (ended.code, "written as .csv, .tsv or .parquet" in ended.err) == (2, True)
        assert not (tmp_path / name).exists()
    assert sober("predict", run_folder, "data.csv", "-o", "p.TSV").code == 0
    assert "\t" in (tmp_path / "p.TSV").read_text().splitlines()[0]
