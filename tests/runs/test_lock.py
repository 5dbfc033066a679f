"""FolderLock: one run at a time, and the dead keep nobody out."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from sobercv.errors import SoberError
from sobercv.runs.lock import NAME, FolderLock, alone

HOLD = (
    "import sys; from pathlib import Path; from sobercv.runs.lock import FolderLock\n"
    "with FolderLock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
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


def test_another_process_keeps_us_out_and_says_who_it_is(tmp_path, other):
    with pytest.raises(SoberError, match=f"process {other.pid} on ") as caught:
        FolderLock(tmp_path).__enter__()
    assert caught.value.code == "E830"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_dead_process_keeps_nobody_out(tmp_path, other, number):
    os.kill(other.pid, number)
    other.wait()
    with FolderLock(tmp_path) as lock:
        assert lock.note is None
        assert (tmp_path / NAME).exists()
    assert not (tmp_path / NAME).exists()


def test_a_lock_in_this_process_counts_too_and_is_given_back(tmp_path):
    with FolderLock(tmp_path), pytest.raises(SoberError, match="going on"):
        FolderLock(tmp_path).__enter__()
    with FolderLock(tmp_path):
        pass


def test_who_waits_with_an_old_file_in_hand_does_not_hold_a_lock_that_nobody_sees(tmp_path):
    first = FolderLock(tmp_path).__enter__()
    place = os.open(tmp_path / NAME, os.O_RDWR)  # a second one has opened the file; the first removes it and leaves
    first.__exit__()
    assert not FolderLock(tmp_path)._take(place)
    os.close(place)


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "outside").write_text("precious")
    (tmp_path / NAME).symlink_to(tmp_path / "outside")
    with pytest.raises(SoberError, match="cannot be written"):
        FolderLock(tmp_path).__enter__()
    assert (tmp_path / "outside").read_text() == "precious"


def test_without_locks_the_run_goes_on_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sobercv.runs.lock.fcntl", None)
    with FolderLock(tmp_path) as lock:
        assert lock.note is not None
        assert lock.note.code == "W830"


def test_blocks_for_one_folder_come_one_after_the_other(tmp_path):
    inside, most = [], []

    def work():
        with alone(tmp_path):
            inside.append(1)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20
