"""The seal: a key that is made whole, by one process, and mended at `fit`."""

import stat
import subprocess
import sys

import pytest

from sobercv.runs.seal import is_sealed, key_path, seal


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_seal_is_ours_and_nobody_elses(tmp_path, monkeypatch):
    signature, note = seal("abc")
    assert note is None
    assert is_sealed("abc", signature)
    assert not is_sealed("abd", signature)
    assert not is_sealed("abc", None)
    assert not is_sealed("abc", "caf\u00e9 \ud800")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    assert not is_sealed("abc", signature)


def test_only_the_user_can_read_the_key():
    seal("abc")
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    assert len(key_path().read_bytes()) == 32


@pytest.mark.parametrize("broken", [b"", b"short", bytes(33)])
def test_a_key_that_cannot_be_used_is_mended_when_a_model_is_sealed(broken):
    key_path().parent.mkdir(parents=True)
    key_path().write_bytes(broken)
    signature, note = seal("abc")
    assert note is None
    assert is_sealed("abc", signature)
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600


def test_where_no_key_can_be_kept_the_user_hears_it_at_once(home, monkeypatch):
    home.write_text("a file where a folder should be")
    signature, note = seal("abc")
    assert signature is None
    assert note.code == "W831"
    assert "--trust" in note.text
    assert not is_sealed("abc", "x")
    home.unlink()
    key_path().mkdir(parents=True)
    assert seal("abc")[1].code == "W831"
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    monkeypatch.delenv("XDG_STATE_HOME")
    assert "no home folder" in seal("abc")[1].text


def test_processes_that_seal_at_a_time_share_one_key():
    code = "from sobercv.runs.seal import seal; print(seal('abc')[0])"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = {process.communicate()[0].strip() for process in running}
    assert len(said) == 1
    assert is_sealed("abc", said.pop())
