"""The writer of files: whole or not at all, never through a link, and the path is named when it fails."""

import os
import subprocess
import sys

import pytest

from sobercv.errors import SoberError
from sobercv.runs.folder import PART, RunFolder, read_file, write_file


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"raw", b"raw"),
        ("K\u00f6ln", "K\u00f6ln".encode()),
        ("half \ud800", b"half ?"),
        (lambda file: file.write(b"by hand"), b"by hand"),
    ],
)
def test_a_file_is_written_and_read_again(tmp_path, content, expected):
    write_file(tmp_path / "a", b"before")
    write_file(tmp_path / "a", content)
    assert read_file(tmp_path / "a") == expected
    assert names(tmp_path) == ["a"]


def test_what_fails_half_way_leaves_the_old_file_and_no_trace(tmp_path):
    write_file(tmp_path / "a", b"before")

    def half(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a", half)
    assert read_file(tmp_path / "a") == b"before"
    assert names(tmp_path) == ["a"]


def test_a_link_is_neither_written_nor_read_through(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    (tmp_path / "a").symlink_to(outside)
    for act in (lambda: write_file(tmp_path / "a", b"new"), lambda: read_file(tmp_path / "a")):
        with pytest.raises(SoberError, match="is a link") as caught:
            act()
        assert caught.value.code == "E809"
    assert outside.read_bytes() == b"precious"


def test_a_link_to_nowhere_is_not_made_a_file(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SoberError, match="is a link"):
        write_file(tmp_path / "a", b"new")
    assert not (tmp_path / "nowhere").exists()


def test_pipes_folders_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(SoberError, match="only ordinary files"):
            write_file(tmp_path / name, b"new")
        with pytest.raises(SoberError, match="only ordinary files"):
            read_file(tmp_path / name)


def test_nothing_is_there(tmp_path):
    assert read_file(tmp_path / "a") is None


@pytest.mark.parametrize("name", ["no/such/folder", "nul\0inside", "x" * 5000])
def test_a_path_that_cannot_be_is_named(tmp_path, name):
    with pytest.raises(SoberError, match="cannot be written") as caught:
        write_file(tmp_path / name, b"new")
    assert caught.value.code == "E809"
    assert repr(str(tmp_path / name)) in caught.value.message


def test_a_full_disk_is_named_by_the_path_of_the_file(tmp_path):
    # A limit on the size of files fails as a full disk does: in the middle of a file that is being written.
    code = (
        "import resource, signal, sys; from pathlib import Path; from sobercv.runs.folder import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_file(Path(sys.argv[1]), bytes(5000))\nexcept Exception as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "big"], capture_output=True, text=True)
    assert done.stdout.startswith(f"{str(tmp_path / 'big')!r} cannot be written: ")
    assert done.stdout.endswith("[E506]\n")
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from sobercv.runs.folder import write_file\n"
        "write_file(Path(sys.argv[1]), lambda file: os.kill(os.getpid(), 9))"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "a"], check=False)
    assert len(names(tmp_path)) == 1
    assert PART.fullmatch(names(tmp_path)[0])
    (tmp_path / ".sober-mine").write_text("")
    (tmp_path / ".sober-link.part").symlink_to(tmp_path / ".sober-mine")
    RunFolder(tmp_path).empty()
    assert names(tmp_path) == [".sober-link.part", ".sober-mine"]


def test_predictions_are_written_where_packages_of_the_command_line_are_missing():
    # As the extra "mlflow" of this package installs it.
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('filelock', 'pandas', 'rich', 'skops', 'skrub', 'typer')))\n"
        "from sobercv.runs.predictions_file import long_table"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
