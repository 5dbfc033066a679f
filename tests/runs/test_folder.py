"""RunFolder: which folders it takes, and what it reads from them."""

import os
from pathlib import Path

import pytest

from sobercv.errors import SoberError
from sobercv.runs.folder import FILES, RunFolder
from sobercv.runs.record import Begun
from sobercv.tables import Settings


@pytest.fixture
def folder(tmp_path):
    held = RunFolder(tmp_path / "run")
    held.path.mkdir()
    held.write_record("settings.json", Begun(Settings(), "x", {}))
    return held


def refused(act, said):
    with pytest.raises(SoberError, match=said) as caught:
        act()
    assert caught.value.code == "E809"


def test_a_new_folder_is_made_and_an_old_run_is_kept(tmp_path, folder):
    RunFolder(tmp_path / "new").check_free()
    refused(folder.check_free, "already holds a run.*--overwrite")
    folder.check_free(overwrite=True)
    assert folder.check() is folder


def test_what_a_run_that_died_before_it_began_left_is_no_obstacle(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    (folder / ".lock").touch()
    (folder / ".sober-00.part").touch()
    folder.check_free()
    refused(folder.check, "contains no sober run")


def test_emptying_removes_the_files_of_a_run_and_nothing_else(folder):
    for name in (*FILES, "run.sqlite-wal", ".sober-00.part", "mine.txt"):
        (folder / name).write_text("x")
    folder.empty()
    assert sorted(p.name for p in folder.path.iterdir()) == ["mine.txt"]


def test_folders_that_are_none(tmp_path):
    (tmp_path / "file").write_text("x")
    refused(RunFolder(tmp_path / "file").check_free, "is a file")
    refused(RunFolder(tmp_path / "nowhere").check, "no run folder")
    refused(RunFolder(Path("nul\0inside")).check_free, "cannot be written")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    refused(RunFolder(tmp_path / "full").check_free, "not empty")


def test_a_run_of_nearly_that_name_is_named(tmp_path, folder):
    begun = tmp_path / "lauf"
    begun.mkdir()
    (begun / "settings.json").write_text("{}")
    (tmp_path / "laufff").mkdir()  # holds no run
    with pytest.raises(SoberError, match=r"Did you mean '.*/lauf'\?"):
        RunFolder(tmp_path / "lauff").check()
    with pytest.raises(SoberError, match=r"Create one with: sober fit"):
        RunFolder(tmp_path / "other").check()
    with pytest.raises(SoberError, match=r"Create one with: sober fit"):
        RunFolder(tmp_path / "nowhere" / "lauff").check()


def test_a_folder_that_is_a_link_is_refused(tmp_path, folder):
    (tmp_path / "link").symlink_to(folder.path)
    refused(RunFolder(tmp_path / "link").check, "is a link to .*run")
    refused(lambda: RunFolder(tmp_path / "link").check_free(overwrite=True), "is a link to .*run")


@pytest.mark.parametrize("name", ["report.html", "run.sqlite", "run.sqlite-wal", "results.json", "data.csv"])
def test_a_file_of_the_run_that_is_a_link_or_a_pipe_is_refused(tmp_path, folder, name):
    (tmp_path / "outside").write_text("precious")
    (folder / name).symlink_to(tmp_path / "outside")
    refused(folder.check, f"{name}' is a link")
    refused(lambda: folder.check_free(overwrite=True), f"{name}' is a link")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused(folder.check, f"{name}' is not an ordinary file")


def test_other_peoples_files_in_the_folder_may_be_links(tmp_path, folder):
    (folder / "notes").symlink_to(tmp_path)
    folder.check()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "NaN", '{"a": NaN}', '{"a": Infinity}', "[" * 100_000, '{"a": ' * 100_000, "\xff"]
)
def test_a_file_that_is_no_object_of_json_is_damaged(folder, text):
    (folder / "results.json").write_bytes(text.encode("latin-1"))
    refused(lambda: folder.read_record("results.json", Begun), "results.json is damaged")


def test_json_comes_back_also_with_names_that_no_file_could_hold(folder):
    begun = Begun(Settings(data="caf\udcc3\udca9", target="K\u00f6ln"), "x", {})
    folder.write_record("a.json", begun)
    assert folder.read_record("a.json", Begun) == begun


def test_a_file_that_is_not_there_says_what_to_do(folder):
    refused(lambda: folder.read_record("results.json", Begun), "not finished.*sober resume")
