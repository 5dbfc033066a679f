"""Settings of a run: checked values with the names of the command's options.

They come from options, from sober.toml and from the folder of a run; msgspec checks types and ranges, and unknown names
and wrong values are refused in one sentence.
"""

from __future__ import annotations

import difflib
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from ..errors import SoberError

#: A comma between two metrics, not one between the arguments of a metric.
_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_WORDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text in quotes",
    "array": "a name or a list of names",
}  # fmt: skip
_BOUNDS = {">": "above", ">=": "no less than", "<=": "no more than"}
#: Names of sober.toml that concern the screen and the folder, not the run; what each must be.
OUTWARD: dict[str, type] = {"output": str, "json": bool, "quiet": bool, "fast": bool, "no_report": bool}


@dataclass(frozen=True)
class Settings:
    """What a run is a run of; names are those of the long options.

    Attributes
    ----------
    limits : {"value", "half", "missing"}, optional
        What limits such as `<0.5` count as.
    metric : tuple of str
        The first selects.
    cv : int or "groups"
        Number of folds, or one fold per group.
    no_drop : bool
        Whether every configuration runs to the end.
    by : tuple of str
        Columns whose values are subgroups that are scored apart.
    max_time : float, optional
        Seconds that the whole command may take.
    """

    data: str | None = None
    target: str | None = None
    time: str | None = None
    event: str | None = None
    event_value: str | None = None
    id: str | None = None
    group: str | None = None
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    task: str | None = None
    positive: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    header: bool | None = None
    limits: Literal["value", "half", "missing"] | None = None
    limit_flags: bool = False
    metric: tuple[str, ...] = ()
    preset: str = "standard"
    configurations: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | None = None
    cv: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | Literal["groups"] = 10
    no_drop: bool = False
    repeats: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    aggregate: Literal["pooled", "fold"] = "pooled"
    stratify: bool = False
    within_folds: bool = False
    tune_threshold: bool = False
    learning_curve: bool = False
    by: tuple[str, ...] = ()
    interval: Literal["percentile", "calibrated"] = "calibrated"
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)] = 0
    jobs: Annotated[int, msgspec.Meta(ge=-1024, le=1024)] = -1
    max_time: Annotated[float, msgspec.Meta(gt=0)] | None = None

    @classmethod
    def of(cls, *layers: Mapping[str, Any], where: str = "") -> Settings:
        """Join layers, the most general first; None in a later one leaves a value as it is. `where` is for messages."""
        given: dict[str, Any] = {}
        for layer in layers:
            check_names(layer, [f.name for f in fields(cls)], where)
            given.update({name: value for name, value in layer.items() if value not in (None, (), [])})
        return _checked(given, where)

    def with_(self, **changes: Any) -> Settings:
        """Return a copy with other values."""
        return replace(self, **{name: getattr(_checked({name: v}), name) for name, v in changes.items()})

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
            values = value if isinstance(value, tuple) else [value]
            for one in [",".join(values)] if field.name == "metric" else values:
                words += [option, str(one)]
        return shlex.join(words)


def check_names(given: Mapping[str, Any], names: list[str], where: str = "") -> None:
    """Refuse a name that no setting has, and say which one is meant."""
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, 1)
            hint = f"Did you mean {close[0].replace('_', '-')!r}?" if close else "Names are those of the long options."
            subject = f"{where} has a setting" if where else "There is no setting"
            raise SoberError("E808", f"{subject} {str(name)[:60]!r}{' that sober does not know' * bool(where)}. {hint}")


def from_toml(path: Path) -> dict[str, Any]:
    """Read a settings file: names of `Settings` and of `OUTWARD`, with underscores for dashes."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SoberError("E808", f"{path} cannot be read ({error}). Write the settings as UTF-8 text.") from None
    except (ValueError, RecursionError) as error:  # no TOML, or numbers and brackets without end
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]
        raise SoberError("E808", f'{path} is not valid TOML: {reason}. Write lines like: target = "y"') from None
    named = {name.replace("-", "_"): value for name, value in found.items()}
    check_names(named, [f.name for f in fields(Settings)] + list(OUTWARD), path.name)
    for name in OUTWARD.keys() & named.keys():
        if not isinstance(named[name], OUTWARD[name]):
            raise _wrong(name, _WORDS[OUTWARD[name].__name__], named[name], path.name)
    checked = _checked({name: value for name, value in named.items() if name not in OUTWARD}, path.name)
    return {name: value if name in OUTWARD else getattr(checked, name) for name, value in named.items()}


def seconds_of(value: Any, where: str = "") -> float:
    """Read a duration: seconds, or a number with s, m or h behind it."""
    text = value if isinstance(value, str) else shown(value)
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]*)?)\s*(s|m|min|h|)\s*", text, re.I | re.A)
    if isinstance(value, bool) or match is None or float(match[1]) == 0:
        raise _wrong("max_time", "a duration such as 90, 90s, 10m or 2h", value, where)
    return float(match[1]) * _UNITS[match[2].lower()]


def shown(value: Any) -> str:
    """Write a value for a message, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # whole numbers of thousands of digits, lists in lists without end
        return "something huge"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _checked(given: dict[str, Any], where: str = "") -> Settings:
    """Convert plain values, or say which one is wrong and what is allowed."""
    plain = dict(given)
    if plain.get("max_time") is not None:
        plain["max_time"] = seconds_of(plain["max_time"], where)
    if isinstance(plain.get("event_value"), (int, float)):
        plain["event_value"] = str(plain["event_value"])
    if isinstance(plain.get("cv"), str) and plain["cv"].strip().isdecimal():
        plain["cv"] = int(plain["cv"])
    for name in {"ignore", "metric", "by"} & plain.keys():
        plain[name] = _names(plain[name], split=name != "ignore")
    if plain.get("jobs") == 0:
        raise _wrong("jobs", "-1 for all cores, or a number of workers", 0, where)
    try:
        return msgspec.convert(plain, Settings)
    except (msgspec.ValidationError, RecursionError) as error:
        found = re.search(r"at `\$\.(\w+)", str(error))
        name = found[1] if found else next(iter(plain))
        raise _wrong(name, _allowed(name, str(error)), given[name], where) from None


def _names(value: Any, split: bool) -> Any:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
        return value  # msgspec says what is wrong
    if split:
        parts = [p.strip() for part in parts for p in _OUTSIDE_BRACKETS.split(part) if p.strip()]
    return tuple(dict.fromkeys(parts))


def _allowed(name: str, problem: str) -> str:
    """Say in words what msgspec expected."""
    choices = get_args(get_type_hints(Settings).get(name))
    if choices and all(isinstance(choice, str) for choice in choices):
        return " or ".join(choices)
    kind = re.search(r"Expected `(\w+)", problem)
    bound = re.search(r"(>=|<=|>) ([0-9.e+-]+)", problem)
    words = _WORDS["array" if name in ("ignore", "metric", "by") else kind[1] if kind and kind[1] in _WORDS else "int"]
    words += ", or groups" if name == "cv" and not bound else ""
    return words + (f" {_BOUNDS[bound[1]]} {float(bound[2]):.10g}" if bound else "")


def _wrong(name: str, allowed: str, value: Any, where: str = "") -> SoberError:
    label = f"{where}: {name.replace('_', '-')}" if where else f"--{name.replace('_', '-')}"
    return SoberError("E808", f"{label} must be {allowed}; got {shown(value)}.")
