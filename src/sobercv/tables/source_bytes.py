"""The bytes of a table: from a file, a pipe or standard input, unpacked where they were packed with gzip.

What has no size beforehand (a pipe, a device, a packed file) is read up to a limit.
"""

from __future__ import annotations

import difflib
import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import Any

from ..errors import SoberError

#: Bytes that a pipe may give, or a packed file may grow to.
MOST_BYTES = 2 * 1024**3
_CHUNK = 1 << 20


def check_source(source: str | Path | None) -> None:
    """Refuse what is no table for sure, before anything slow begins: no name, no file, a folder."""
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
        raise SoberError("E801", f"{str(path)!r} is a folder. Name the file with the table in it.")
    if not is_there:
        raise SoberError("E801", f"There is no file {str(path)!r}.{_closest(path)}")


def source_bytes(path: Path | None) -> bytes:
    """Read a file, or standard input where there is no path; unpack gzip."""
    name = "Standard input" if path is None else path.name
    if path is not None:
        packed = _file(path)
    elif sys.stdin is None or sys.stdin.isatty():
        raise SoberError("E801", "Standard input is empty. Write: cat data.csv | sober check - --target y")
    else:
        packed = _limited(sys.stdin.buffer, "Standard input gives more than {}. Write the table to a file first.")
    if not packed.startswith(b"\x1f\x8b"):
        return packed
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            return _limited(file, f"{name} grows beyond {{}} when unpacked. If that is right, unpack it first.")
    except (OSError, EOFError, zlib.error) as error:
        reason = str(error).rpartition(": ")[2].rstrip(".")
        raise SoberError("E801", f"{name} is a damaged gzip file ({reason}). Pack it again.") from None


def _file(path: Path) -> bytes:
    check_source(path)
    try:
        if path.is_file():
            return path.read_bytes()
        with path.open("rb") as stream:
            return _limited(stream, f"{str(path)!r} gives more than {{}}. Write the table to a file first.")
    except (OSError, ValueError) as error:
        if isinstance(error, SoberError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise SoberError("E801", f"{str(path)!r} cannot be opened: {reason}. Name a file that you may read.") from None


def _closest(path: Path) -> str:
    try:
        near = [p.name for p in path.parent.iterdir() if p.is_file()]
    except OSError:
        return f" Nor is there a folder {str(path.parent)!r}. Check the path."
    # By the stem: all tables of a folder end alike.
    stems = {Path(name).stem.casefold(): name for name in sorted(near)}
    close = difflib.get_close_matches(path.stem.casefold(), stems, 1)
    return f" Did you mean {str(path.with_name(stems[close[0]]))!r}?" if close else " Check the path."


def _limited(stream: Any, too_much: str) -> bytes:
    """Read a stream piece by piece, and stop before it fills the memory."""
    parts, size = [], 0
    while part := stream.read(_CHUNK):
        size += len(part)
        if size > MOST_BYTES:
            raise SoberError("E801", too_much.format(said(MOST_BYTES)))
        parts.append(part)
    return b"".join(parts)


def said(size: int) -> str:
    """Write a size for people."""
    return f"{size / 1024**3:g} GiB" if size >= 1024**3 else f"{size / 1024**2:g} MiB"
