"""RunFolder: the files of a run, by name.

Takes a path; makes, finds and refuses folders, and reads and writes what is in them, as ordinary files only. Never
computes what it writes.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import SoberError
from .files import is_part, not_written, read_file, remove_parts, write_file
from .lock import NAME as LOCK
from .lock import FolderLock

SETTINGS = "settings.json"
#: Under this name every file of plain data holds its own fingerprint.
FINGERPRINT = "fingerprint"


class RunFolder:
    """The folder of a run.

    Parameters
    ----------
    path : path
    """

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

    def locked(self) -> FolderLock:
        """Keep other runs out for as long as this one lives: ``with folder.locked():``."""
        return FolderLock(self.path)

    def empty(self) -> None:
        """Remove the files of an earlier run, and nothing else; only where the folder is locked."""
        remove_parts(self.path)
        for name in self._inside():
            if name in FILES or name.startswith("run.sqlite"):
                (self.path / name).unlink(missing_ok=True)

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
        """List what is in the folder, without traces of the dead; refuse links, pipes and devices among its files."""
        try:
            kind = os.lstat(self.path).st_mode
            if stat.S_ISLNK(kind):
                real = os.path.realpath(self.path)
                raise SoberError("E809", f"{self._name} is a link to {real!r}. Name that folder itself.")
            if not stat.S_ISDIR(kind):
                raise SoberError("E809", f"{self._name} is a file. Name a folder with -o.")
            for entry in (found := list(os.scandir(self.path))):
                ours = entry.name in FILES or entry.name.startswith("run.sqlite")
                if ours and not entry.is_file(follow_symlinks=False):
                    what = "a link" if entry.is_symlink() else "no ordinary file"
                    raise SoberError(
                        "E809", f"{entry.path!r} is {what}, and sober writes through none. Is the folder a stranger's? "
                        "Move it away.",
                    )  # fmt: skip
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            if isinstance(error, SoberError):
                raise
            raise not_written(self.path, error) from None
        return sorted(entry.name for entry in found if entry.name != LOCK and not is_part(entry.name))

    # ---- one file --------------------------------------------------------------------------------------------------
    def write(self, name: str, content: bytes | str | Callable[[BinaryIO], object]) -> None:
        """Write a file, all or nothing; see `write_file`."""
        write_file(self.path / name, content)

    def write_json(self, name: str, values: dict[str, Any]) -> None:
        """Write plain data with its fingerprint."""
        whole = {**values, FINGERPRINT: fingerprint(values)}
        text = json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            raw = text.encode("utf-8")
        except UnicodeEncodeError:  # a path from a system without UTF-8 holds halves of pairs; escaped, it survives
            raw = (json.dumps(whole, indent=2, allow_nan=False) + "\n").encode("ascii")
        self.write(name, raw)

    def read_json(self, name: str) -> dict[str, Any]:
        """Read plain data that `write_json` wrote; refuse what somebody has changed since."""
        raw = read_file(self.path / name)
        if raw is None:
            raise SoberError(
                "E809", f"{self._name} lacks {name}: the run is not finished. Write: sober resume {self.path}"
            )
        try:
            values = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
            given = values.pop(FINGERPRINT, None) if isinstance(values, dict) else None
            is_ours = given is not None and given == fingerprint(values)
        except (ValueError, RecursionError):  # no JSON, no UTF-8, or brackets without end
            raise self.damaged(name) from None
        if not is_ours:
            raise self.damaged(name, "it is not as sober wrote it")
        return dict(values)

    def damaged(self, name: str, reason: str = "") -> SoberError:
        """Say that a file of the run cannot be used."""
        what = f" ({reason})" if reason else ""
        return SoberError("E809", f"{self.path / name} is damaged{what}. Begin a new run, or restore the file.")

    @property
    def _name(self) -> str:
        return repr(str(self.path))


def fingerprint(values: dict[str, Any]) -> str:
    """Give a hash of plain data, whatever the order of its names.

    Parameters
    ----------
    values : dict
        Ready for JSON.
    """
    return sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


#: What a run leaves in its folder, and what each file is for.
FILES = {
    SETTINGS: "what was asked for, and the fingerprint of the data",
    "run.sqlite": "every fit; sober resume and sober extend go on from it",
    "results.json": "every number on the screen and in the report",
    "report.html": "the report",
    "METHODS.md": "a paragraph for a paper",
    "model.joblib": "the final model",
    "model.json": "what the model is: columns, classes, versions, fingerprint",
    "model.skops": "the final model in a format that runs no code (where skops is installed)",
    "predictions.parquet": "out-of-sample predictions of every configuration, one row each",
    "refit.py": "trains the winner again without sober",
    "data.csv": "the data, where they came by standard input",
    "data.xlsx": "the data, where they came by standard input",
    "data.parquet": "the data, where they came by standard input",
    "data.arrow": "the data, where they came by standard input",
}
