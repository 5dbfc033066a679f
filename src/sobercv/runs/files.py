"""The one writer of files: whole or not at all, and never through a link.

A file is made under a fresh name beside its place and then renamed, so that a reader sees the old file or the new one.
Only ordinary files are read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from ..errors import SoberError

#: How names of files begin and end that are being written; a killed process leaves them behind.
PART = (".sober-", ".part")
#: The disk's fault, not that of the path.
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


def write_file(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write a file, all or nothing.

    `path`: what is there is replaced if it is an ordinary file; a link, a folder or a device is refused. `content`:
    text is written as UTF-8, with a question mark for what cannot be encoded. A callable writes into the open file.
    """
    beside = None
    try:
        is_ordinary(path)
        place, name = mkstemp(dir=path.parent, prefix=PART[0], suffix=PART[1])
        beside = Path(name)
        with os.fdopen(place, "wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.umask(mask := os.umask(0))
        beside.chmod(0o666 & ~mask)
        os.replace(beside, path)
    except (OSError, ValueError) as error:
        raise error if isinstance(error, SoberError) else not_written(path, error) from None
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def read_file(path: Path) -> bytes | None:
    """Read an ordinary file; None where there is none. A link, a folder or a device is refused."""
    try:
        return path.read_bytes() if is_ordinary(path) else None
    except (OSError, ValueError) as error:
        if isinstance(error, SoberError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise SoberError("E809", f"{str(path)!r} cannot be read: {reason}. Check its permissions.") from None


def is_ordinary(path: Path) -> bool:
    """Whether a file is there; what is there and is no ordinary file is refused."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(kind):
        what = "a link" if stat.S_ISLNK(kind) else "a folder" if stat.S_ISDIR(kind) else "no ordinary file"
        raise SoberError(
            "E809", f"{str(path)!r} is {what}, and sober reads and writes ordinary files only. Move it away."
        )
    return True


def not_written(path: Path, error: OSError | ValueError) -> SoberError:
    """Say which file could not be written, and why."""
    reason = getattr(error, "strerror", None) or str(error)
    if getattr(error, "errno", None) in DISK:
        return SoberError("E506", f"{str(path)!r} cannot be written: {reason}. Free some space and write it again.")
    return SoberError("E809", f"{str(path)!r} cannot be written: {reason}. Name another place with -o.")


def is_part(name: str) -> bool:
    """Whether a file is one that was being written."""
    return name.startswith(PART[0]) and name.endswith(PART[1])
