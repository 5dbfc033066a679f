"""The bytes of a table: from a file, a pipe or standard input, unpacked where they were packed with gzip.

Takes a path or None, gives bytes; what has no size beforehand (a pipe, a device, a packed file) is read up to a limit
and, beside standard input, for a limited time. Never looks at what the bytes mean.
"""

from __future__ import annotations

import difflib
import gzip
import io
import os
import select
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from ..errors import SoberError

#: Bytes that a pipe may give, or a packed file may grow to.
MOST_BYTES = 2 * 1024**3
#: Seconds for which a pipe or device may be silent.
MOST_SILENCE = 20.0
_CHUNK = 1 << 20


def check_source(source: str | Path | None) -> None:
    """Refuse what is no table for sure, before anything slow begins: no name, no file, a folder.

    Parameters
    ----------
    source : path, "-" or None
    """
    if source is None:
        raise SoberError("E808", "Name the file with the table, or - for standard input.")
    if str(source) == "-":
        return
    path = Path(source)
    try:
        is_there, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError):  # a name that no file can have; reading it will say so
        return
    if is_folder:
        raise _is_folder(path)
    if not is_there:
        raise _not_there(path)


def _is_folder(path: Path) -> SoberError:
    return SoberError("E801", f"{str(path)!r} is a folder. Name the file with the table in it.")


def _not_there(path: Path) -> SoberError:
    return SoberError("E801", f"There is no file {str(path)!r}.{_closest(path)}")


def source_bytes(path: Path | None) -> bytes:
    """Read a file, or standard input where there is no path; unpack gzip.

    Parameters
    ----------
    path : Path or None
    """
    name = "Standard input" if path is None else path.name
    packed = _standard_input() if path is None else _file(path)
    return _unpacked(packed, name) if packed.startswith(b"\x1f\x8b") else packed


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise SoberError("E801", "Nothing comes by standard input. Write: cat data.csv | sober check - --target y")
    return _limited(iter(lambda: sys.stdin.buffer.read(_CHUNK), b""), "Standard input")


def _file(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            return _limited(_piped(path), repr(str(path)))
        return path.read_bytes()
    except FileNotFoundError:
        raise _not_there(path) from None
    except IsADirectoryError:
        raise _is_folder(path) from None
    except SoberError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SoberError("E801", f"{str(path)!r} cannot be opened: {reason}. Name a file that you may read.") from None


def _closest(path: Path) -> str:
    try:
        near = [p.name for p in path.parent.iterdir() if p.is_file()]
    except OSError:
        return f" Nor is there a folder {str(path.parent)!r}. Look at the path."
    # By the stem: all tables of a folder end alike.
    stems = {Path(name).stem.casefold(): name for name in sorted(near)}
    close = difflib.get_close_matches(path.stem.casefold(), stems, 1)
    return f" Did you mean {str(path.with_name(stems[close[0]]))!r}?" if close else " Look at the path."


def _limited(chunks: Iterator[bytes], name: str) -> bytes:
    parts, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        if size > MOST_BYTES:
            raise SoberError("E801", f"{name} gives more than {said(MOST_BYTES)}. Write the table to a file first.")
        parts.append(chunk)
    return b"".join(parts)


def _piped(path: Path) -> Iterator[bytes]:
    """Read a pipe or a device that may stay silent, or never end."""
    if stat.S_ISSOCK(path.stat().st_mode):
        raise SoberError("E801", f"{str(path)!r} is a socket. Name a file with a table.")
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe that nobody writes to would wait for ever
    try:
        heard = monotonic()
        while True:
            ready, _, _ = select.select([handle], [], [], 0.2)
            chunk = _chunk(handle) if ready else None
            if chunk:
                heard = monotonic()
                yield chunk
            elif chunk == b"" and not _awaits_writer(handle):
                return
            elif monotonic() - heard > MOST_SILENCE:
                raise SoberError(
                    "E801", f"Nothing came from {str(path)!r} for {MOST_SILENCE:g} seconds. Name a file with a table."
                )
    finally:
        os.close(handle)


def _chunk(handle: int) -> bytes | None:
    try:
        return os.read(handle, _CHUNK)
    except BlockingIOError:
        return None


def _awaits_writer(handle: int) -> bool:
    """Whether a pipe has ended only because nobody has begun to write: Linux tells no hang-up then."""
    if not stat.S_ISFIFO(os.fstat(handle).st_mode):
        return False
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return not poll.poll(0)


def _unpacked(packed: bytes, name: str) -> bytes:
    """Unpack gzip piece by piece, and stop before it fills the memory."""
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            while part := file.read(_CHUNK):
                size += len(part)
                if size > MOST_BYTES:
                    raise SoberError(
                        "E801", f"{name} grows beyond {said(MOST_BYTES)} when unpacked. If that is right, unpack it "
                        "first and give the file.",
                    )  # fmt: skip
                parts.append(part)
    except (OSError, EOFError, zlib.error) as error:
        reason = str(error).rpartition(": ")[2].rstrip(".")
        raise SoberError("E801", f"{name} is a damaged gzip file ({reason}). Pack it again.") from None
    return b"".join(parts)


def said(size: int) -> str:
    """Write a size for people."""
    return f"{size / 1024**3:g} GiB" if size >= 1024**3 else f"{size / 1024**2:g} MiB"
