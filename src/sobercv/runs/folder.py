"""RunFolder: the files of a run, by name, and the lock that keeps a second run out.

Makes, finds and refuses folders, and reads and writes what is in them, as ordinary files only.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from filelock import FileLock, Timeout

from ..errors import Note, SoberError
from .files import is_ordinary, is_part, not_written, read_file, write_file

T = TypeVar("T")
SETTINGS, LOCK = "settings.json", ".lock"
#: What a run leaves in its folder (docs/cli.md says what each file is for); data.* came by standard input.
FILES = frozenset({
    SETTINGS, "run.sqlite", "results.json", "report.html", "METHODS.md", "model.skops", "predictions.parquet",
    "refit.py", "data.csv", "data.xlsx", "data.parquet", "data.arrow",
})  # fmt: skip
#: The layout of a run folder; another one is refused.
FORMAT = 3


class _Layout(msgspec.Struct):
    format: int = 1


class RunFolder:
    """The folder of a run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def store(self) -> Path:
        """The file that keeps every fit."""
        return self.path / "run.sqlite"

    # ---- the folder as a whole -------------------------------------------------------------------------------------
    def check_free(self, overwrite: bool = False) -> None:
        """Refuse a place that holds anything, unless a run there may be written over; change nothing."""
        inside = self._inside()
        if inside and SETTINGS not in inside:
            raise SoberError("E809", f"{self._name} is not empty and holds no run. Name another folder with -o.")
        if inside and not overwrite:
            hint = f"Go on with: sober resume {self.path}, or write over it with --overwrite."
            raise SoberError("E809", f"{self._name} already holds a run. {hint}")

    def make(self) -> None:
        """Make the folder, unless it is there."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise not_written(self.path, error) from None

    @contextmanager
    def locked(self) -> Iterator[Note | None]:
        """Keep other runs out while this one lives; yields a note (W830) where the file system has no locks."""
        is_ordinary(self / LOCK)
        lock, note = FileLock(self / LOCK, timeout=0), None
        try:
            lock.acquire()
        except Timeout:
            raise SoberError(
                "E501", f"Another run is writing to {self._name}. Wait until it ends, or name another folder."
            ) from None
        except NotImplementedError:
            note = Note(
                "W830", f"The file system of {self._name} has no locks, so nothing keeps a second run out of the "
                "folder. Start no other run there until this one has ended.",
            )  # fmt: skip
        except OSError as error:
            raise not_written(self / LOCK, error) from None
        try:
            yield note
        finally:
            lock.release()

    def empty(self) -> None:
        """Remove the files of an earlier run, and nothing else; only where the folder is locked."""
        for name in os.listdir(self.path):
            if name in FILES or name.startswith("run.sqlite") or (is_part(name) and not (self / name).is_symlink()):
                (self / name).unlink(missing_ok=True)

    def check(self) -> RunFolder:
        """Refuse what is no folder of a run."""
        if not self._inside() and not self.path.is_dir():
            raise SoberError(
                "E809", f"There is no run folder {self._name}. Make one with: sober fit ... -o {self.path}"
            )
        if SETTINGS not in self._inside():
            raise SoberError("E809", f"{self._name} holds no run of sober. Name the folder that `sober fit` wrote.")
        return self

    def _inside(self) -> list[str]:
        """List what is in the folder, without traces of killed processes; refuse links and devices among its files."""
        try:
            kind = os.lstat(self.path).st_mode
            if stat.S_ISLNK(kind):
                real = os.path.realpath(self.path)
                raise SoberError("E809", f"{self._name} is a link to {real!r}. Name that folder itself.")
            if not stat.S_ISDIR(kind):
                raise SoberError("E809", f"{self._name} is a file. Name a folder with -o.")
            found = sorted(os.listdir(self.path))
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise error if isinstance(error, SoberError) else not_written(self.path, error) from None
        for name in found:
            if name in FILES or name.startswith("run.sqlite"):
                is_ordinary(self / name)
        return [name for name in found if name != LOCK and not is_part(name)]

    # ---- one file --------------------------------------------------------------------------------------------------
    def write(self, name: str, content: bytes | str | Callable[[BinaryIO], object]) -> None:
        """Write a file, all or nothing; see `write_file`."""
        write_file(self.path / name, content)

    def write_record(self, name: str, record: Any) -> None:
        """Write a typed record as JSON."""
        try:
            raw = msgspec.json.format(msgspec.json.encode(record), indent=2)
        except UnicodeEncodeError:  # a path from a system without UTF-8 holds halves of pairs; escaped, it survives
            raw = json.dumps(msgspec.to_builtins(record), indent=2).encode("ascii")
        self.write(name, raw + b"\n")

    def read_record(self, name: str, kind: type[T]) -> T:
        """Read a typed record; refuse what is damaged, or of another layout."""
        raw = read_file(self.path / name)
        if raw is None:
            raise SoberError(
                "E809", f"{self._name} lacks {name}: the run is not finished. Write: sober resume {self.path}"
            )
        try:
            values = json.loads(raw, parse_constant=_refuse)
            if msgspec.convert(values, _Layout).format != FORMAT:
                raise SoberError(
                    "E809", f"{self._name} was written by another release of sober, which lays its files out "
                    "differently. Run sober fit again.",
                )  # fmt: skip
            return msgspec.convert(values, kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise error if isinstance(error, SoberError) else self.damaged(name, str(error)[:200]) from None

    def damaged(self, name: str, reason: str) -> SoberError:
        """Say that a file of the run cannot be used."""
        return SoberError(
            "E809", f"{self.path / name} is damaged or edited ({reason}). Begin a new run, or restore the file."
        )

    @property
    def _name(self) -> str:
        return repr(str(self.path))


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
