"""The folder of a run: its files, read and written as ordinary files only, and the lock that keeps a second run out.

A file is made under a fresh name beside its place and then renamed, so that a reader sees the old file or the new one;
nothing is written through a link.
"""

from __future__ import annotations

import difflib
import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from ..errors import SoberError

T = TypeVar("T")
SETTINGS, LOCK = "settings.json", ".lock"
#: What a run leaves in its folder (docs/cli.md says what each file is for); data.* came by standard input.
FILES = frozenset({
    SETTINGS, "run.sqlite", "results.json", "report.html", "METHODS.md", "model.skops", "predictions.parquet",
    "refit.py", "data.csv", "data.xlsx", "data.parquet", "data.arrow",
})  # fmt: skip
#: These names, and those that SQLite makes of its own.
OURS = re.compile(rf"{'|'.join(map(re.escape, FILES))}|run\.sqlite.*", re.S)
#: What a file is called while it is written; a killed process leaves it behind.
PART = re.compile(r"\.sober-.*\.part", re.S)
#: The layout of a run folder; another one is refused.
FORMAT = 5


def write_file(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write a file, all or nothing; a link, a folder or a device is refused. A callable writes into the open file."""
    beside = path.parent / f".sober-{uuid4().hex}.part"
    try:
        is_ordinary(path)
        with open(beside, "xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except SoberError:
        raise
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from None
    finally:
        with suppress(OSError, ValueError):
            beside.unlink()


def read_file(path: Path) -> bytes | None:
    """Read an ordinary file; None where there is none. A link, a folder or a device is refused."""
    try:
        return path.read_bytes() if is_ordinary(path) else None
    except OSError as error:
        raise SoberError("E809", f"{str(path)!r} cannot be read: {error.strerror}. Check its permissions.") from None


def is_ordinary(path: Path) -> bool:
    """Whether a file is there; what is there and is no ordinary file is refused."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(kind):
        what = "a link" if stat.S_ISLNK(kind) else "a folder" if stat.S_ISDIR(kind) else "not an ordinary file"
        text = f"{str(path)!r} is {what}; sober reads and writes only ordinary files. Move it elsewhere."
        raise SoberError("E809", text)
    return True


def _not_written(path: Path, error: OSError | ValueError) -> SoberError:
    """Say which file could not be written, and why."""
    reason, number = getattr(error, "strerror", None) or str(error), getattr(error, "errno", None)
    full = number in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)  # the disk's fault, not that of the path
    hint = "Free some space and write it again." if full else "Name another place with -o."
    return SoberError("E506" if full else "E809", f"{str(path)!r} cannot be written: {reason}. {hint}")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run."""

    path: Path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def check_free(self, overwrite: bool = False) -> None:
        """Refuse a place that holds anything, unless a run there may be written over; change nothing."""
        inside = self._inside()
        if inside and SETTINGS not in inside:
            raise SoberError("E809", f"{str(self.path)!r} is not empty and holds no run. Name another folder with -o.")
        if inside and not overwrite:
            hint = f"Continue with: sober resume {self.path}, or overwrite it with --overwrite."
            raise SoberError("E809", f"{str(self.path)!r} already holds a run. {hint}")

    def check(self) -> RunFolder:
        """Refuse what is no folder of a run."""
        if SETTINGS in self._inside():
            return self
        if self.path.is_dir():
            text = f"{str(self.path)!r} contains no sober run. Name the folder that `sober fit` wrote."
            raise SoberError("E809", text)
        hint = f"Create one with: sober fit ... -o {self.path}"
        beside = [settings.parent.name for settings in self.path.parent.glob(f"*/{SETTINGS}")]
        if alike := difflib.get_close_matches(self.path.name, beside, 1):
            hint = f"Did you mean {str(self.path.parent / alike[0])!r}?"
        raise SoberError("E809", f"There is no run folder {str(self.path)!r}. {hint}")

    def _inside(self) -> list[str]:
        """List what is in the folder, without traces of killed processes; refuse links and devices among its files."""
        if os.path.islink(self.path):
            real = os.path.realpath(self.path)
            raise SoberError("E809", f"{str(self.path)!r} is a link to {real!r}. Name that folder itself.")
        if os.path.exists(self.path) and not os.path.isdir(self.path):
            hint = "Name the folder of a run first, then the other arguments; that of a new run with -o."
            raise SoberError("E809", f"{str(self.path)!r} is a file. {hint}")
        try:
            found = os.listdir(self.path)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise _not_written(self.path, error) from None
        for name in filter(OURS.fullmatch, found):
            is_ordinary(self / name)
        return [name for name in found if name != LOCK and not PART.fullmatch(name)]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out while this one lives; the folder is made where there is none."""
        lock = FileLock(self / LOCK, timeout=0)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            is_ordinary(self / LOCK)
            lock.acquire()
        except Timeout:
            text = f"Another run is writing to {str(self.path)!r}. Wait until it ends, or name another folder."
            raise SoberError("E501", text) from None
        except NotImplementedError:  # the file system has no locks: the run goes on without
            pass
        except OSError as error:
            raise _not_written(self.path, error) from None
        try:
            yield
        finally:
            lock.release()

    def empty(self) -> None:
        """Remove the files of an earlier run, and nothing else; only where the folder is locked."""
        for name in os.listdir(self.path):
            if OURS.fullmatch(name) or (PART.fullmatch(name) and not (self / name).is_symlink()):
                (self / name).unlink(missing_ok=True)

    def write(self, name: str, content: bytes | str | Callable[[BinaryIO], object] | None) -> None:
        """Write a file, all or nothing; None removes one of an earlier result."""
        if content is None:
            (self / name).unlink(missing_ok=True)
        else:
            write_file(self / name, content)

    def write_record(self, name: str, record: Any) -> None:
        """Write a typed record as JSON."""
        try:
            raw = msgspec.json.format(msgspec.json.encode(record), indent=2)
        except UnicodeEncodeError:  # a path from a system without UTF-8 holds halves of pairs; escaped, it survives
            raw = json.dumps(msgspec.to_builtins(record), indent=2).encode("ascii")
        self.write(name, raw + b"\n")

    def read_record(self, name: str, kind: type[T]) -> T:
        """Read a typed record; refuse what is damaged, or of another layout."""
        raw = read_file(self / name)
        if raw is None:
            hint = f"Run: sober resume {self.path}"
            raise SoberError("E809", f"{str(self.path)!r} lacks {name}: the run is not finished. {hint}")
        try:
            values = json.loads(raw, parse_constant=_refuse)
            if not isinstance(values, dict) or values.get("format") == FORMAT:
                return msgspec.convert(values, kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self.damaged(name, str(error)[:200]) from None
        text = f"{str(self.path)!r} was written by another version of sober with a different file layout."
        raise SoberError("E809", f"{text} Run sober fit again.")

    def damaged(self, name: str, reason: str) -> SoberError:
        """Say that a file of the run cannot be used."""
        return SoberError(
            "E809", f"{self / name} is damaged or edited ({reason}). Start a new run, or restore the file."
        )


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not valid JSON")
