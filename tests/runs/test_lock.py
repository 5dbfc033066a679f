"""The lock of a folder: one run at a time, and a dead process keeps no other out."""

import os
import signal
import subprocess
import sys

import pytest

from sobercv.errors import SoberError
from sobercv.runs.folder import LOCK, RunFolder

HOLD = (
    "import sys; from pathlib import Path; from sobercv.runs.folder import RunFolder\n"
    "with RunFolder(Path(sys.argv[1])).locked(): print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def other(tmp_path):
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_another_process_keeps_us_out(tmp_path, other):
    with pytest.raises(SoberError, match="is writing to") as caught, RunFolder(tmp_path).locked():
        pass
    assert caught.value.code == "E501"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_dead_process_keeps_no_other_out(tmp_path, other, number):
    os.kill(other.pid, number)
    other.wait()
    with RunFolder(tmp_path).locked():
        pass


def test_a_lock_in_this_process_counts_too_and_is_given_back(tmp_path):
    with RunFolder(tmp_path).locked(), pytest.raises(SoberError, match="is writing to"), RunFolder(tmp_path).locked():
        pass
    with RunFolder(tmp_path).locked():
        pass


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "outside").write_text("precious")
    (tmp_path / LOCK).symlink_to(tmp_path / "outside")
    with pytest.raises(SoberError, match="is a link"), RunFolder(tmp_path).locked():
        pass
    assert (tmp_path / "outside").read_text() == "precious"


def test_without_locks_the_run_goes_on(tmp_path, monkeypatch):
    def no_locks(self, *given, **named):
        raise NotImplementedError

    monkeypatch.setattr("filelock.BaseFileLock.acquire", no_locks)
    with RunFolder(tmp_path).locked():
        pass
