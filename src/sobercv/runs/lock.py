"""FolderLock: one run at a time in a folder, for as long as that run lives.

Takes a folder, holds a file in it that the operating system locks; the lock goes with the process, however it ends, so
that the dead never keep anybody out. On NFS it holds between machines where the server offers locks (NFS 4 does);
where a file system has none, the run goes on and says so. Never waits.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ..errors import Note, SoberError
from .files import NOFOLLOW, not_written, read_file

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"


class FolderLock:
    """Keeps other runs out of a folder. Enter it around the run.

    Parameters
    ----------
    folder : Path
        There, and no link.

    Attributes
    ----------
    note : Note or None
        W830 where the file system has no locks.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.note: Note | None = None
        self._place: int | None = None

    def __enter__(self) -> FolderLock:
        while self._place is None:
            try:
                place = os.open(self.path, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o666)
            except OSError as error:
                raise not_written(self.path, error) from None
            try:
                self._place = place if self._take(place) else None
            finally:
                if self._place is None:
                    os.close(place)
        with suppress(OSError):  # only for the sentence that others get
            who = f"process {os.getpid()} on {socket.gethostname()}, since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
            os.ftruncate(self._place, 0)
            os.pwrite(self._place, who.encode("ascii", "replace"), 0)
        return self

    def _take(self, place: int) -> bool:
        """Lock the open file; False where its owner has removed it meanwhile."""
        try:
            if fcntl is None:
                raise OSError
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = (read_file(self.path) or b"").decode("ascii", "replace")[:120]
            raise SoberError(
                "E830", f"A run is going on in {str(self.path.parent)!r} ({who or 'just begun'}). Wait until it has "
                "ended, end it, or name another folder.",
            ) from None  # fmt: skip
        except OSError:
            self.note = Note(
                "W830", f"The file system of {str(self.path.parent)!r} has no locks, so nothing keeps a second run out "
                "of the folder. Begin none there until this one has ended.",
            )  # fmt: skip
            return True
        try:
            return os.stat(self.path).st_ino == os.fstat(place).st_ino
        except FileNotFoundError:
            return False

    def __exit__(self, *exception: object) -> None:
        place, self._place = self._place, None
        if place is not None:
            with suppress(OSError):
                self.path.unlink()  # while it is still ours
            os.close(place)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is between the lines of this block for the same folder, where locks exist.

    Parameters
    ----------
    folder : Path
        There.
    """
    place = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o600)
    try:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
