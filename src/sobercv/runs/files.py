"""The one writer of files: whole or not at all, and never through a link.

Takes a path and what belongs there, gives nothing; a file is made under a fresh name beside its place and then renamed,
so that a reader sees the old file or the new one. Reads, too, only what is an ordinary file. Never decides what is
written.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..errors import SoberError

#: Names of files that are being written; what a killed process leaves behind begins and ends so.
PART = (".sober-", ".part")
#: The disk's fault, not that of the path.
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})
#: Windows knows none of these; there, links need a privilege to be made.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def write_file(path: Path, content: bytes | str | Callable[[BinaryIO], object], mode: int = 0o666) -> None:
    """Write a file, all or nothing.

    Parameters
    ----------
    path : Path
        What is there is replaced, if it is an ordinary file; a link, a folder or a device is refused.
    content : bytes, str or callable
        Text is written as UTF-8; half of a pair of surrogates, which fits in no file, becomes a question mark. A
        callable writes into the open file that it is given.
    mode : int
        Permissions, less what the user's mask takes away.
    """
    try:
        _check_place(path)
        beside = path.parent / f"{PART[0]}{secrets.token_hex(8)}{PART[1]}"
        place = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, mode)
        try:
            with os.fdopen(place, "wb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise not_written(path, error) from None


def not_written(path: Path, error: OSError | ValueError) -> SoberError:
    """Say which file could not be written, and whose fault it is.

    Parameters
    ----------
    path : Path
    error : OSError or ValueError
        The latter for paths that no system takes.
    """
    reason = getattr(error, "strerror", None) or str(error)
    if getattr(error, "errno", None) in DISK:
        return SoberError("E506", f"{str(path)!r} cannot be written: {reason}. Make room, and write it again.")
    return SoberError("E809", f"{str(path)!r} cannot be written: {reason}. Name another place with -o.")


def read_file(path: Path) -> bytes | None:
    """Read an ordinary file; None where there is none.

    Parameters
    ----------
    path : Path
        A link, a folder or a device is refused: a file of a run is none of these.
    """
    try:
        # Not blocking: to open a pipe would otherwise wait for somebody who writes into it.
        place = os.open(path, os.O_RDONLY | NOFOLLOW | _NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            raise _unusual(path, stat.S_IFLNK) from None
        raise SoberError(
            "E809", f"{str(path)!r} cannot be read: {getattr(error, 'strerror', error)}. Look at its permissions."
        ) from None
    kind = os.fstat(place).st_mode
    if not stat.S_ISREG(kind):
        os.close(place)
        raise _unusual(path, kind)
    with os.fdopen(place, "rb") as file:
        return file.read()


def is_ordinary(path: Path) -> bool:
    """Whether something is there, and is a file and no link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_part(name: str) -> bool:
    """Whether a file is one that was being written."""
    return name.startswith(PART[0]) and name.endswith(PART[1])


def remove_parts(folder: Path) -> None:
    """Remove what a killed process had half written; only where nobody writes, see `FolderLock`.

    Parameters
    ----------
    folder : Path
    """
    for path in folder.iterdir():
        if is_part(path.name) and is_ordinary(path):
            path.unlink(missing_ok=True)


def _check_place(path: Path) -> None:
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except ValueError as error:
        raise not_written(path, error) from None
    if not stat.S_ISREG(kind):
        raise _unusual(path, kind)


def _unusual(path: Path, kind: int) -> SoberError:
    what = "a link" if stat.S_ISLNK(kind) else "a folder" if stat.S_ISDIR(kind) else "no ordinary file"
    return SoberError("E809", f"{str(path)!r} is {what}, and sober reads and writes ordinary files only. Move it away.")
