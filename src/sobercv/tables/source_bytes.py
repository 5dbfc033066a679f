"""The bytes of a table: from a file, a pipe or standard input, unpacked where they were packed with gzip.

What has no size beforehand (a pipe, a device, a packed file) is read up to a limit.
"""

from __future__ import annotations

import gzip
import io
import stat
import sys
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import SoberError
from .naming import closest

#: Bytes that a pipe may return, or a packed file may grow to.
MOST_BYTES = 2 * 1024**3


def check_source(source: str | Path | None) -> None:
    """Refuse what is no table for sure, before anything slow begins: no name, no file, a folder."""
    if source is None:
        raise SoberError("E808", "Name the file with the table, or - for standard input.")
    if str(source) == "-":
        return
    path = Path(source)
    try:
        if not stat.S_ISDIR(path.stat().st_mode):
            return
    except (FileNotFoundError, NotADirectoryError):
        files = sorted(path.parent.glob("*"), key=lambda p: (p.suffix.lower() == path.suffix.lower(), p))
        others = {p.stem: str(p) for p in files if p.is_file()}  # of files with one stem, the one with this suffix
        close = closest(path.stem, others)  # all tables of a folder end alike
        hint = f"Did you mean {others[close[0]]!r}?" if close else "Check the path."
        raise SoberError("E801", f"There is no file {str(path)!r}. {hint}") from None
    except (OSError, ValueError):  # a name that no file can have: reading it will say so
        return
    raise SoberError("E801", f"{str(path)!r} is a folder. Name the file with the table in it.")


def source_bytes(path: Path | None) -> bytes:
    """Read a file, or standard input where there is no path; unpack gzip."""
    name, where = ("Standard input",) * 2 if path is None else (path.name, repr(str(path)))
    if path is None and (sys.stdin is None or sys.stdin.isatty()):
        raise SoberError("E801", "Standard input is empty. Run: cat data.csv | sober check - --target y")
    check_source(path or "-")
    try:
        with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as stream:
            too_much = f"{where} returns more than {{}}. Write the table to a file first."
            packed = stream.read() if path is not None and path.is_file() else _limited(stream, too_much)
        if not packed.startswith(b"\x1f\x8b"):
            return packed
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            return _limited(file, f"{name} grows beyond {{}} when unpacked. If that is right, unpack it first.")
    except SoberError:
        raise
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        reason = str(error).rpartition(": ")[2].rstrip(".")
        raise SoberError("E801", f"{name} is a damaged gzip file ({reason}). Compress it again.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SoberError("E801", f"{where} cannot be opened: {reason}. Name a file that you may read.") from None


def _limited(stream: Any, too_much: str) -> bytes:
    """Read a stream piece by piece, and stop before it fills the memory."""
    parts, size = [], 0
    while part := stream.read(1 << 20):
        size += len(part)
        if size > MOST_BYTES:
            raise SoberError("E801", too_much.replace("{}", f"{MOST_BYTES >> 20} MiB"))
        parts.append(part)
    return b"".join(parts)
