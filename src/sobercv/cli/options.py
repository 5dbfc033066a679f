"""What commands take: the options of `Settings` and `Output`, and the few of single commands; and what was typed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from typer import Argument, Option

from ..errors import SoberError
from ..runs.settings import ADVANCED, RUN, Output, Settings, from_toml, names_of

Command = Callable[..., int]


def argument(kind: Any, help: str) -> Any:
    """Describe a word of a command that is no option."""
    return Annotated[kind, Argument(help=help, show_default=False)]


def option(kind: Any, panel: str, help: str, *names: str, words: tuple[str, ...] = (), **more: Any) -> Any:
    """Describe an option, called after its parameter by default; `words` are those that the shell completes."""
    if words:
        more["autocompletion"] = lambda: list(words)
    return Annotated[kind, Option(*names, help=help, rich_help_panel=panel, show_default=False, **more)]


def _of(kind: type[Settings | Output]) -> dict[str, Any]:
    """Describe the options of the one table for typer, which reads plain types; `Settings` checks the values."""
    found, hints = {}, get_type_hints(kind)
    for each in (each for each in fields(kind) if each.metadata):
        about, parts = each.metadata, get_args(hints[each.name]) or (hints[each.name],)
        words = (*about["words"], *(w for part in parts for w in (get_args(part) or (part,)) if isinstance(w, str)))
        name, plain = f"--{each.name.replace('_', '-')}", set(parts) - {type(None)}
        more: dict[str, Any] = {}
        as_typed: Any = str | None
        if isinstance(each.default, tuple):
            as_typed, more = list[str] | None, {"metavar": "<str>"}
        elif each.name == "output":
            as_typed = Path | None
        elif plain <= {int}:
            as_typed = int | None
        elif plain <= {bool}:
            as_typed = bool if each.default is False else bool | None
            name += f"/--no-{each.name}" if each.default is None else ""
        found[each.name] = option(as_typed, about["panel"], about["help"], name, *about["short"], words=words, **more)
    return found


#: Every option and argument that more than one command takes, by the name of its parameter.
OPTIONS: dict[str, Any] = {
    **_of(Settings),
    **_of(Output),
    "data": argument(str | None, "CSV, TSV, Excel, Parquet or Arrow file; - is standard input."),
    "folder": argument(Path, "The folder that sober fit wrote."),
    "overwrite": option(bool, RUN, "Write over a file that is there.", "--overwrite"),
    "settings": option(Path | None, ADVANCED, "A file like sober.toml; default: ./sober.toml."),
}


def takes(*names: str, **own: Any) -> Callable[[Command], Command]:
    """Give a command its options, keys of `OPTIONS` and its own; it is called with all by name."""

    def decorated(command: Command) -> Command:
        described = {**{name: OPTIONS[name] for name in names}, **own}
        parameters = []
        for name, kind in sorted(
            described.items(), key=lambda each: getattr(each[1].__metadata__[0], "rich_help_panel", "") == ADVANCED
        ):
            inner = kind.__origin__
            is_optional = type(None) in get_args(inner)
            default = False if inner is bool else None if is_optional else inspect.Parameter.empty
            place = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, place, annotation=kind, default=default))
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorated


def typed(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Return the options of `Settings` or `Output` that were typed; --no-header was, other switches were not."""
    found = {name: given.get(name) for name in names_of(kind)}
    return {
        name: _decoded(value) if name not in ("data", "output") else str(value)
        for name, value in found.items()
        if (value is not None and value is not False and value != []) or (name == "header" and value is False)
    }


def _decoded(value: Any) -> Any:
    """Read a name as UTF-8 where the system's own language has no such letters (the C locale)."""
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    try:
        return os.fsencode(value).decode("utf-8") if isinstance(value, str) else value
    except UnicodeError:
        return value


def asked(given: dict[str, Any]) -> tuple[Settings, Output]:
    """Put what was typed and the settings file together; the command line counts more.

    What costs nothing is checked here, before anything slow is even imported.
    """
    from ..presets.levels import check_name
    from ..tables.source_bytes import check_source

    path = given["settings"] or Path("sober.toml")
    if given["settings"] is not None and not path.is_file():
        raise SoberError("E808", f"There is no settings file {str(path)!r}. Check the path.")
    file, line = from_toml(path) if path.is_file() else {}, typed(given, Settings)
    # Naming one kind of target on the command line puts away the other kind from the file.
    unwanted = ("time", "event") if "target" in line else ("target",) if {"time", "event"} & line.keys() else ()
    settings = Settings.of({k: v for k, v in file.items() if k in names_of(Settings) and k not in unwanted}, line)
    check_source(settings.data)
    check_name(settings.preset)
    return settings, Output(**{k: v for k, v in file.items() if k in names_of(Output)} | typed(given, Output))


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
