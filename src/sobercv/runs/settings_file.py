"""Files with settings: sober.toml, which a user writes, and settings.json, which a run writes about itself.

Takes paths, gives checked values; refuses what is no settings file in one sentence.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SoberError
from .folder import SETTINGS, RunFolder
from .settings import Settings, checked, known, shown
from .versions import versions

if TYPE_CHECKING:  # what a table needs takes seconds to import, and a wrong name must be heard of at once
    from .prepared import Prepared

#: Names of sober.toml that concern the screen and the folder, not the run; what each must be.
OUTWARD: dict[str, type] = {"output": str, "json": bool, "quiet": bool, "fast": bool, "no_report": bool}


def from_toml(path: Path) -> dict[str, Any]:
    """Read a settings file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        With underscores for dashes; names of `Settings` and of `OUTWARD`.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SoberError("E807", f"{path} cannot be read ({error}). Write the settings as UTF-8 text.") from None
    except (ValueError, RecursionError) as error:  # no TOML, or numbers and brackets without end
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]
        raise SoberError("E807", f'{path} is not valid TOML: {reason}. Write lines like: target = "y"') from None
    named = {name.replace("-", "_"): value for name, value in found.items()}
    known(named, [f.name for f in fields(Settings)] + list(OUTWARD), path.name)
    return {n: _outward(n, v, path.name) if n in OUTWARD else checked(n, v, path.name) for n, v in named.items()}


def _outward(name: str, value: Any, where: str) -> Any:
    if not isinstance(value, OUTWARD[name]):
        allowed = "true or false" if OUTWARD[name] is bool else "text in quotes"
        raise SoberError("E807", f"{where}: {name.replace('_', '-')} must be {allowed}; got {shown(value)}.")
    return value


@dataclass(frozen=True)
class Begun:
    """What a run is a run of.

    Attributes
    ----------
    settings : Settings
        With the path of the data.
    sha256 : str
        Fingerprint of the data.
    """

    settings: Settings
    sha256: str


def begin(folder: RunFolder, prepared: Prepared) -> Settings:
    """Write down what is going to be run, before it runs, so that it can be resumed.

    Parameters
    ----------
    folder : RunFolder
    prepared : Prepared

    Returns
    -------
    Settings
        With the path of the data made absolute; what came by standard input is kept in the folder.
    """
    table = prepared.table
    path = table.path
    if path is None:
        path = folder / f"data.{'csv' if table.format in ('csv', 'tsv') else table.format}"
        folder.write(path.name, table.raw)
    settings = prepared.settings.with_(data=str(path.resolve()))
    folder.write_json(
        SETTINGS, {"settings": settings.to_dict(), "sha256": table.sha256, "versions": versions(), "format": 1}
    )
    return settings


def begun(folder: RunFolder) -> Begun:
    """Read what a run is a run of.

    Parameters
    ----------
    folder : RunFolder
    """
    held = folder.check().read_json(SETTINGS)
    settings, sha256 = held.get("settings"), held.get("sha256")
    if not isinstance(settings, dict) or not isinstance(sha256, str):
        raise folder.damaged(SETTINGS, "it lacks the settings or the fingerprint of the data")
    return Begun(Settings.of(settings, where=SETTINGS), sha256)
