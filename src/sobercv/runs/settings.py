"""Settings of a run: checked values with the names of the command's options.

Takes mappings (from options, from sober.toml, from a run's own folder), gives one frozen record; refuses unknown names
and values of the wrong kind in one sentence. Never reads a file.
"""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..errors import SoberError

AGGREGATES = ("pooled", "fold")
INTERVALS = ("percentile", "wilson")
#: A comma between two metrics, not one between the arguments of a metric.
_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_LISTS = ("ignore", "metric")
_SWITCHES = ("stratify", "within_folds", "header", "tune_threshold", "learning_curve")
#: Whole numbers and the range of each.
_WHOLE = {
    "configurations": (2, 10**9), "cv": (2, 10**9), "repeats": (1, 1000), "seed": (0, 2**32 - 1), "jobs": (-1024, 1024),
}  # fmt: skip


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
    cv : int
        Number of folds.
    repeats : int
    aggregate : {"pooled", "fold"}
    stratify, within_folds, tune_threshold, learning_curve : bool
    interval : {"percentile", "wilson"}
    seed, jobs : int
    max_time : float, optional
        Seconds that the whole command may take.
    half_width : float, optional
        Stop when half the width of the interval is within this.
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
    positive: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    header: bool | None = None
    metric: tuple[str, ...] = ()
    preset: str = "standard"
    configurations: int | None = None
    cv: int = 10
    repeats: int = 1
    aggregate: str = "pooled"
    stratify: bool = False
    within_folds: bool = False
    tune_threshold: bool = False
    learning_curve: bool = False
    interval: str = "wilson"
    seed: int = 0
    jobs: int = -1
    max_time: float | None = None
    half_width: float | None = None

    @classmethod
    def of(cls, *layers: Mapping[str, Any], where: str = "") -> Settings:
        """Put layers together; what a later one leaves open (None) comes from an earlier one.

        Parameters
        ----------
        *layers : mappings
            The most general first.
        where : str
            The file that they come from, for messages.
        """
        given: dict[str, Any] = {}
        for layer in layers:
            known(layer, [f.name for f in fields(cls)], where)
            given.update({name: checked(name, v, where) for name, v in layer.items() if v not in (None, (), [])})
        return cls(**given)

    def with_(self, **changes: Any) -> Settings:
        """Give a copy with other values."""
        return replace(self, **{name: checked(name, value) for name, value in changes.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def command(self, verb: str = "fit") -> str:
        """Write the command that repeats the run."""
        words = ["sober", verb, self.data or "-"]
        for field in fields(self):
            value, option = getattr(self, field.name), f"--{field.name.replace('_', '-')}"
            if field.name in ("data", "jobs", "max_time") or value == field.default or value is None:
                continue
            if isinstance(value, bool):
                words.append(option if value else option.replace("--", "--no-", 1))
                continue
            for one in value if field.name == "ignore" else [",".join(value)] if field.name == "metric" else [value]:
                words += [option, str(one)]
        return shlex.join(words)


def known(given: Mapping[str, Any], names: list[str], where: str = "") -> None:
    """Refuse a name that no setting has, and say which is meant.

    Parameters
    ----------
    given : mapping
        Names with underscores.
    names : list of str
    where : str
        The file that they come from.
    """
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, 1)
            hint = f"Did you mean {close[0].replace('_', '-')!r}?" if close else "Names are those of the long options."
            subject = f"{where} has a setting" if where else "There is no setting"
            raise SoberError("E807", f"{subject} {str(name)[:60]!r}{' that sober does not know' * bool(where)}. {hint}")


def checked(name: str, value: Any, where: str = "") -> Any:
    """Give a value in the type of its setting, or say what is wrong with it.

    Parameters
    ----------
    name : str
        Of a field of `Settings`.
    value : Any
        None stays None.
    where : str
        The file that it comes from; the command line unless given.
    """
    label = f"{where}: {name.replace('_', '-')}" if where else f"--{name.replace('_', '-')}"
    if value is None:
        return None
    if name in _LISTS:
        return _names(value, label, split=name == "metric")
    if name in _WHOLE:
        return _whole(value, label, *_WHOLE[name])
    if name in _SWITCHES:
        return _switch(value, label)
    if name == "max_time":
        return seconds_of(value, label)
    if name == "half_width":
        return _amount(value, label)
    if name == "event_value" and isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise _wrong(label, "text in quotes", value)
    if name == "aggregate" and value not in AGGREGATES:
        raise _wrong(label, " or ".join(AGGREGATES), value)
    if name == "interval" and value not in INTERVALS:
        raise _wrong(label, " or ".join(INTERVALS), value)
    return value


def seconds_of(value: Any, label: str = "--max-time") -> float:
    """Read a duration: seconds, or a number with s, m or h behind it.

    Parameters
    ----------
    value : int, float or str
    label : str
        How the setting is called in messages.
    """
    text = value if isinstance(value, str) else shown(value)
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]*)?)\s*(s|m|min|h|)\s*", text, re.I | re.A)
    if isinstance(value, bool) or match is None or float(match[1]) == 0:
        raise _wrong(label, "a duration such as 90, 90s, 10m or 2h", value)
    return float(match[1]) * _UNITS[match[2].lower()]


def _names(value: Any, label: str, split: bool) -> tuple[str, ...]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
        raise _wrong(label, "a name or a list of names", value)
    if split:
        parts = [p.strip() for part in parts for p in _OUTSIDE_BRACKETS.split(part) if p.strip()]
    return tuple(dict.fromkeys(parts))


def _whole(value: Any, label: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(label, "a whole number", value)
    if value < least:
        raise _wrong(label, f"{least} or more", value)
    if value > most:
        raise _wrong(label, f"{most} or less", value)
    if label.endswith("jobs") and value == 0:
        raise SoberError("E807", f"{label} must not be 0. Write -1 for all cores, or a number of workers.")
    return value


def _switch(value: Any, label: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(label, "true or false", value)
    return value


def _amount(value: Any, label: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise _wrong(label, "a number above 0", value)
    return float(value)


def _wrong(label: str, allowed: str, value: Any) -> SoberError:
    return SoberError("E807", f"{label} must be {allowed}; got {shown(value)}.")


def shown(value: Any) -> str:
    """Write a value for a message, cut where it is long.

    Parameters
    ----------
    value : Any
        Also what Python refuses to write: whole numbers of thousands of digits, lists in lists without end.
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "something huge"
    return text if len(text) <= 60 else f"{text[:57]}..."
