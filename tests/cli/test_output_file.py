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


@pytest.mark.parametrize("command", [("predict", "data.csv"), ("report",), ("report", "--format", "md")], ids=str)
def test_other_files_are_written_over_when_asked(sober, run_folder, tmp_path, command):
    name, *rest = command
    (tmp_path / "mine").write_text("mine")
    ended = sober(name, run_folder, *rest, "-o", "mine")
    assert ended.code == 2
    assert "--overwrite" in ended.err
    assert (tmp_path / "mine").read_text() == "mine"
    assert sober(name, run_folder, *rest, "-o", "mine", "--overwrite").code == 0
    assert (tmp_path / "mine").read_text() != "mine"
