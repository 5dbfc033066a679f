"""RunFolder: the files of a run, by name.

Takes a path; makes, finds and refuses folders. Never computes what it writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..errors import SoberError

SETTINGS = "settings.json"


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

    def make(self, overwrite: bool = False) -> RunFolder:
        """Make a new folder; refuse one that holds anything, unless a run there may be written over."""
        if self.path.exists() and not self.path.is_dir():
            raise SoberError("E809", f"{self._name} is a file. Name a folder with -o.")
        try:
            inside = sorted(p.name for p in self.path.iterdir()) if self.path.exists() else []
            if inside and SETTINGS not in inside:
                raise SoberError("E809", f"{self._name} is not empty and holds no run. Name another folder with -o.")
            if inside and not overwrite:
                hint = f"Go on with: sober resume {self.path}, or write over it with --overwrite."
                raise SoberError("E809", f"{self._name} already holds a run. {hint}")
            for name in inside:
                if name in FILES or name.startswith("run.sqlite"):
                    (self.path / name).unlink()
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise SoberError(
                "E809", f"{self._name} cannot be written: {reason}. Name another folder with -o."
            ) from None
        return self

    def check(self) -> RunFolder:
        """Refuse what is no folder of a run."""
        if not self.path.is_dir():
            raise SoberError(
                "E809", f"There is no run folder {self._name}. Make one with: sober fit ... -o {self.path}"
            )
        if not (self.path / SETTINGS).is_file():
            raise SoberError("E809", f"{self._name} holds no run of sober. Name the folder that `sober fit` wrote.")
        return self

    def write_json(self, name: str, values: Any) -> None:
        """Write plain data, all or nothing: a reader never sees half a file."""
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
        self.write_text(name, text + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write text, all or nothing."""
        beside = self.path / f".{name}.part"
        # Half of a pair (a lone surrogate) fits in no file.
        beside.write_text(text.encode("utf-8", "replace").decode("utf-8"), encoding="utf-8")
        os.replace(beside, self.path / name)

    def read_json(self, name: str) -> dict[str, Any]:
        """Read plain data that `write_json` wrote."""
        path = self.path / name
        if not path.is_file():
            raise SoberError(
                "E809", f"{self._name} lacks {name}: the run is not finished. Write: sober resume {self.path}"
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            values = None
        if not isinstance(values, dict):
            raise SoberError("E809", f"{path} is damaged. Begin a new run, or restore the file.")
        return values

    @property
    def _name(self) -> str:
        return repr(str(self.path))


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
    "predictions.parquet": "out-of-sample predictions of every finisher, one row each",
    "refit.py": "trains the winner again without sober",
    "data.csv": "the data, where they came by standard input",
    "data.xlsx": "the data, where they came by standard input",
    "data.parquet": "the data, where they came by standard input",
    "data.arrow": "the data, where they came by standard input",
}
