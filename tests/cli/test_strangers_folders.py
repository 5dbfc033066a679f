"""A run folder from a stranger: what lies outside of it stays as it is, whatever links to it."""

import os

import pytest

from .conftest import SMALL

PRECIOUS = b"do not touch"


@pytest.fixture
def outside(tmp_path):
    path = tmp_path / "outside"
    path.write_bytes(PRECIOUS)
    return path


LINKED = [
    "settings.json", ".settings.json.part", "run.sqlite", "run.sqlite-journal", "run.sqlite-wal", "results.json",
    ".results.json.part", "report.html", "METHODS.md", "model.skops",
    "predictions.parquet", "refit.py", ".lock",
]  # fmt: skip


@pytest.mark.parametrize("name", LINKED)
def test_nothing_is_written_through_a_link(sober, run_folder, outside, name):
    path = run_folder / name
    if path.exists():
        path.unlink()
    path.symlink_to(outside)
    for command in (
        ("report", "run"),
        ("resume", "run"),
        ("extend", "run", "--repeats", "2"),
        ("predict", "run", "data.csv"),
        ("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--overwrite"),
    ):
        ended = sober(*command)
        assert outside.read_bytes() == PRECIOUS, command
        assert ended.code in (0, 2), ended.err
        assert ended.code == 0 or "E809" in ended.err
        assert "Traceback" not in ended.err


def test_a_pipe_in_place_of_a_file_makes_nobody_wait(sober, run_folder):
    for name in ("results.json", "settings.json", "model.skops"):
        kept = (run_folder / name).read_bytes()
        (run_folder / name).unlink()
        os.mkfifo(run_folder / name)
        for command in (("report", "run"), ("resume", "run"), ("predict", "run", "data.csv")):
            ended = sober(*command)
            assert ended.code == 2
            assert "E809" in ended.err
        (run_folder / name).unlink()
        (run_folder / name).write_bytes(kept)


def test_a_folder_that_is_a_link_is_refused(sober, run_folder, tmp_path):
    (tmp_path / "link").symlink_to(run_folder)
    for command in (("report", "link"), ("resume", "link"), ("predict", "link", "data.csv")):
        ended = sober(*command)
        assert ended.code == 2
        assert "is a link to" in ended.err


def test_outputs_are_never_written_through_links_either(sober, run_folder, outside, tmp_path):
    for name in ("p.csv", "p.parquet", "r.html"):
        (tmp_path / name).symlink_to(outside)
    for command in (
        ("predict", "run", "data.csv", "-o", "p.csv"),
        ("predict", "run", "data.csv", "-o", "p.parquet"),
        ("report", "run", "-o", "r.html"),
        ("predict", "run", "data.csv", "-o", "/dev/null"),
    ):
        ended = sober(*command)
        assert ended.code == 2, command
        assert "E809" in ended.err
    assert outside.read_bytes() == PRECIOUS
