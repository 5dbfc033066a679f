"""Files that cannot be used and disks that are full: a sentence, and what was saved stays."""

import os
import resource
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from sobercv.errors import SoberError
from sobercv.training.keep.cache import APPLICATION, FORMAT

from . import runs


def refused(path, code, *words, **options):
    with pytest.raises(SoberError) as error:
        runs.search(path, **options)
    assert error.value.code == code, error.value
    for word in (str(path), *words):
        assert word in str(error.value)


def test_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("the minutes of the meeting " * 100)
    before = path.read_bytes()
    refused(path, "E801", "not a store")
    assert path.read_bytes() == before


def test_the_database_of_somebody_else(tmp_path):
    path = tmp_path / "photos.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
    db.close()
    before = path.read_bytes()
    refused(path, "E801", "not a store of sober")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["photos.db"]


def test_a_store_of_a_later_release(tmp_path):
    path = tmp_path / "run.sqlite"
    runs.search(path)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    refused(path, "E801", f"format {FORMAT + 1}", "use the version that made it")


def test_folders(tmp_path):
    refused(tmp_path, "E123", "is a folder")
    refused(tmp_path / "nowhere" / "run.sqlite", "E809", "folder exists")
    with pytest.raises(SoberError) as error:
        runs.search(True)
    assert error.value.code == "E123"


def test_an_empty_file_is_a_new_store(tmp_path):
    path = tmp_path / "run.sqlite"
    path.touch()
    truth = runs.bits(runs.search(None))
    assert runs.bits(runs.search(path)) == truth
    assert path.stat().st_size > 0


def test_a_second_search_is_kept_out(zygote, tmp_path):
    path, heard = tmp_path / "run.sqlite", []

    def meanwhile(predictions, question, index):
        if index == 2:
            heard.append(zygote.run(tmp_path))  # in another process
            refused(path, "E501", "in use")  # and in this one

    found = runs.search(path, drop=meanwhile)
    assert heard[0]["code"] == "E501"
    assert "wait until it ends" in heard[0]["message"]
    assert found.race_.finishers.all()
    assert runs.bits(runs.search(path)) == zygote.truth  # free again, and another rule may judge the same fits


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only(zygote, what):
    # A folder of our own: those of pytest are closed to others, and root may write everywhere.
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "run.sqlite"
        zygote.run(folder, log=os.devnull)
        before = path.read_bytes()
        folder.chmod(0o555 if what == "folder" else 0o755)
        path.chmod(0o444 if what == "file" else 0o644)
        answer = zygote.run(folder, nobody=os.geteuid() == 0, log=os.devnull, options={"n_repeats": 3})
        assert answer.get("code") == "E809", answer
        assert str(path) in answer["message"]
        assert path.read_bytes() == before
        assert os.listdir(folder) == ["run.sqlite"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk_keeps_what_was_saved(zygote, tmp_path):
    stopped = zygote.run(tmp_path, limit=100_000)  # no file may grow beyond
    assert stopped["code"] == "E506"
    assert "repeat the call" in stopped["message"]
    before = runs.fits(tmp_path / "fits.log")
    assert len(before) > 10
    assert zygote.run(tmp_path)["bits"] == zygote.truth
    after = runs.fits(tmp_path / "fits.log")
    assert len(after) == len(set(after)) + 1  # the one that could not be written


def test_a_disk_that_is_full_from_the_beginning(zygote, tmp_path):
    stopped = zygote.run(tmp_path, limit=1_000)
    assert stopped["code"] == "E506"
    assert zygote.run(tmp_path)["bits"] == zygote.truth


def test_limits_were_those_of_the_children():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
