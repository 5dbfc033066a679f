"""Request: options and sober.toml, put together.

Takes parsed options, gives settings and where to write; the command line counts more than the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..runs.settings import OUTWARD, Settings, from_toml

_OWN = ("settings", "overwrite", "protocols", *OUTWARD)


@dataclass(frozen=True)
class Request:
    """What was asked for.

    Attributes
    ----------
    settings : Settings
    output : Path or None
    json, quiet : bool
    """

    settings: Settings
    output: Path | None
    json: bool
    quiet: bool

    @classmethod
    def of(cls, given: dict[str, Any]) -> Request:
        """Put options and the settings file together.

        Parameters
        ----------
        given : dict
            Options by name; None where not given.
        """
        file = _file(given.get("settings"))
        options = {k: v for k, v in given.items() if k not in _OWN}
        plain = {k: v for k, v in file.items() if k not in OUTWARD}
        # Naming one kind of target on the command line puts away the other kind from the file.
        if options.get("target"):
            plain = {k: v for k, v in plain.items() if k not in ("time", "event")}
        elif options.get("time") or options.get("event"):
            plain.pop("target", None)
        output = given.get("output") or file.get("output")
        return cls(
            Settings.of(plain, options),
            None if output is None else Path(output),
            bool(given.get("json") or file.get("json")),
            bool(given.get("quiet") or file.get("quiet")),
        )


def _file(path: Path | None) -> dict[str, Any]:
    if path is None:
        here = Path("sober.toml")
        return from_toml(here) if here.is_file() else {}
    if not path.is_file():
        raise SoberError("E807", f"There is no settings file {str(path)!r}. Look at the path.")
    return from_toml(path)
