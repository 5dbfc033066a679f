"""Arguments: the command line and sober.toml, put together.

Takes parsed options, gives settings, where to write and what to show; the command line counts more than the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..presets.levels import check_name
from ..runs.folder import RunFolder
from ..runs.settings import OUTWARD, Settings, from_toml
from ..tables.source_bytes import check_source

#: Parameters of commands that are no settings.
_OWN = ("settings", "overwrite", "protocols", "folder", *OUTWARD)
#: Options that name what is in the table.
_NAMES = ("target", "time", "event", "event_value", "id", "group", "weight", "ignore", "sheet")


@dataclass(frozen=True)
class Arguments:
    """What was asked for."""

    settings: Settings
    output: Path | None
    report: str
    json: bool
    quiet: bool

    @classmethod
    def of(cls, given: dict[str, Any]) -> Arguments:
        """Put options by name (None where not given) and the settings file together."""
        file = _file(given.get("settings"))
        options = settings_of(given)
        plain = {k: v for k, v in file.items() if k not in OUTWARD}
        # Naming one kind of target on the command line puts away the other kind from the file.
        if options.get("target"):
            plain = {k: v for k, v in plain.items() if k not in ("time", "event")}
        elif options.get("time") or options.get("event"):
            plain.pop("target", None)
        settings = Settings.of(plain, options)
        # What costs nothing is checked before anything slow is even imported.
        check_source(settings.data)
        check_name(settings.preset)
        outward = {**file, **{name: given[name] for name in OUTWARD if given.get(name)}}
        return cls(
            settings,
            None if outward.get("output") is None else Path(outward["output"]),
            report_of(outward),
            bool(outward.get("json")),
            bool(outward.get("quiet")),
        )

    @property
    def folder(self) -> RunFolder:
        """The folder of the run: as named, else called after the table."""
        data = self.settings.data
        name = "stdin" if data in (None, "-") else Path(str(data)).name.partition(".")[0]
        return RunFolder(self.output or f"{name or 'table'}-run")


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """Give the options that are settings of a run, with a switch that was not thrown left open (--no-header was)."""
    options = {k: None if v is False and k != "header" else v for k, v in given.items() if k not in _OWN}
    for name in _NAMES:
        value = options.get(name)
        options[name] = [_decoded(v) for v in value] if isinstance(value, list) else _decoded(value)
    return options


def report_of(given: dict[str, Any]) -> str:
    """Give how much of a report is wanted."""
    return "none" if given.get("no_report") else "fast" if given.get("fast") else "full"


def _decoded(name: str | None) -> str | None:
    """Read a name as UTF-8 where the system's own language has no such letters (the C locale)."""
    try:
        return None if name is None else os.fsencode(name).decode("utf-8")
    except UnicodeError:
        return name


def _file(path: Path | None) -> dict[str, Any]:
    if path is None:
        here = Path("sober.toml")
        return from_toml(here) if here.is_file() else {}
    if not path.is_file():
        raise SoberError("E808", f"There is no settings file {str(path)!r}. Check the path.")
    return from_toml(path)


def check_output(output: Path, run: Path, overwrite: bool, data: object = None) -> None:
    """Refuse a place that holds anything else than what may be written over.

    `run`: the folder of the run; none of its files is written over. `overwrite`: whether another file that is there may
    be. `data`: the table that was read; it stays.
    """
    name = repr(str(output))
    if output.is_dir():
        raise SoberError("E809", f"{name} is a folder. Name a file, such as {str(output / 'table.csv')!r}.")
    if not os.path.lexists(output):
        return
    if data is not None and os.path.exists(str(data)) and output.exists() and os.path.samefile(output, str(data)):
        raise SoberError("E809", f"{name} is the table that is read. Name another file with -o.")
    if output.resolve().is_relative_to(run.resolve()):
        raise SoberError("E809", f"{name} belongs to the run. Name a file outside of {str(run)!r} with -o.")
    if not overwrite:
        raise SoberError("E809", f"{name} already exists. Name another file with -o, or add --overwrite.")
