"""Settings of a run: checked values with the names of the command's options.

Takes mappings (from options, from sober.toml, from a run's own folder), gives one frozen record; refuses unknown names
and values of the wrong kind in one sentence.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..errors import SoberError

#: Names of sober.toml that concern the screen and the folder, not the run.
OUTWARD = ("output", "json", "quiet")
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(frozen=True)
class Settings:
    """What a run is a run of; names are those of the long options.

    Attributes
    ----------
    data, target, time, event, event_value, id, group, sheet, decimal : str, optional
    header : bool, optional
    ignore : tuple of str
    task : str, optional
    metric : tuple of str
        The first selects.
    preset : str
    configurations : int, optional
    folds, repeats, seed, jobs : int
    max_time : float, optional
        Seconds.
    """

    data: str | None = None
    target: str | None = None
    time: str | None = None
    event: str | None = None
    event_value: str | None = None
    id: str | None = None
    group: str | None = None
    ignore: tuple[str, ...] = ()
    task: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    header: bool | None = None
    metric: tuple[str, ...] = ()
    preset: str = "standard"
    configurations: int | None = None
    folds: int = 10
    repeats: int = 1
    seed: int = 0
    jobs: int = -1
    max_time: float | None = None

    @classmethod
    def of(cls, *layers: Mapping[str, Any]) -> Settings:
        """Put layers together; what a later one leaves open (None) comes from an earlier one.

        Parameters
        ----------
        *layers : mappings
            The most general first.
        """
        given: dict[str, Any] = {}
        for layer in layers:
            given.update({name: _checked(name, v) for name, v in layer.items() if v not in (None, (), [])})
        return cls(**given)

    def with_(self, **changes: Any) -> Settings:
        """Give a copy with other values."""
        return replace(self, **{name: _checked(name, value) for name, value in changes.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def command(self, verb: str = "fit") -> str:
        """Write the command that repeats the run."""
        import shlex

        words = ["sober", verb, self.data or "-"]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("data", "jobs", "max_time") or value == field.default or value is None:
                continue
            if isinstance(value, bool):
                words.append(f"--{field.name}" if value else f"--no-{field.name}")
                continue
            for one in value if field.name == "ignore" else [",".join(value)] if field.name == "metric" else [value]:
                words += [f"--{field.name.replace('_', '-')}", str(one)]
        return shlex.join(words)


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
    except tomllib.TOMLDecodeError as error:
        raise SoberError("E807", f'{path} is not valid TOML: {error}. Write lines like: target = "y"') from None
    known = [f.name for f in fields(Settings)] + list(OUTWARD)
    settings = {}
    for name, value in found.items():
        plain = name.replace("-", "_")
        if plain not in known:
            close = difflib.get_close_matches(plain, known, 1)
            hint = f"Did you mean {close[0].replace('_', '-')!r}?" if close else "Names are those of the long options."
            raise SoberError("E807", f"{path.name} has a setting {name[:60]!r} that sober does not know. {hint}")
        settings[plain] = value if plain in OUTWARD else _checked(plain, value, path.name)
    for name, kind in (("output", str), ("json", bool), ("quiet", bool)):
        if name in settings and not isinstance(settings[name], kind):
            raise SoberError("E807", f"{path.name}: {name} must be {_said(kind)}; got {settings[name]!r}.")
    return settings


_LEAST = {"folds": 2, "repeats": 1, "seed": 0, "configurations": 2}
_MOST = {"seed": 2**32 - 1, "repeats": 1000}


def _checked(name: str, value: Any, where: str = "") -> Any:
    """Give a value in the type of its setting, or say what is wrong with it."""
    label = f"{where}: {name.replace('_', '-')}" if where else f"--{name.replace('_', '-')}"
    if value is None:
        return None
    if name in ("ignore", "metric"):
        parts = [value] if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
            raise SoberError("E807", f"{label} must be a name or a list of names; got {value!r}.")
        if name == "metric":
            parts = [p.strip() for part in parts for p in part.split(",") if p.strip()]
        return tuple(dict.fromkeys(parts))
    if name == "max_time":
        return seconds_of(value, label)
    if name in ("configurations", "folds", "repeats", "seed", "jobs"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise SoberError("E807", f"{label} must be a whole number; got {value!r}.")
        least, most = _LEAST.get(name), _MOST.get(name)
        if least is not None and value < least:
            raise SoberError("E807", f"{label} must be {least} or more; got {value}.")
        if most is not None and value > most:
            raise SoberError("E807", f"{label} must be {most} or less; got {value}.")
        if name == "jobs" and value == 0:
            raise SoberError("E807", f"{label} must not be 0. Write -1 for all cores, or a number of workers.")
        return value
    if name == "header":
        if not isinstance(value, bool):
            raise SoberError("E807", f"{label} must be true or false; got {value!r}.")
        return value
    if name == "event_value" and isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise SoberError("E807", f"{label} must be text in quotes; got {value!r}.")
    return value


def _said(kind: type) -> str:
    return "true or false" if kind is bool else "text in quotes"


def seconds_of(value: Any, label: str = "--max-time") -> float:
    """Read a duration: seconds, or a number with s, m or h behind it.

    Parameters
    ----------
    value : int, float or str
    label : str
        How the setting is called in messages.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|)\s*", str(value), re.I)
    if isinstance(value, bool) or match is None or float(match[1]) == 0:
        raise SoberError("E807", f"{label} must be a duration such as 90, 90s, 10m or 2h; got {value!r}.")
    return float(match[1]) * _UNITS[match[2].lower()]
