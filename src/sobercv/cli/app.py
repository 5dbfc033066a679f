"""The commands: what each takes, and what is checked before anything slow is imported.

The options are those of `tables/settings` and a few more; each command is a function of its name in a module here.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from .. import __version__
from ..errors import SoberError
from ..presets.levels import check_name
from ..runs.folder import RunFolder
from ..tables.settings import ADVANCED, RUN, TYPES, Output, Settings, checked, choices, from_toml
from ..tables.source_bytes import check_source
from .exit_code import exit_code_of

HELP = ["-h", "--help"]
app = typer.Typer(
    name="sober",
    help="Tune by cross-validation, and report honestly how good the winner is.",
    epilog="First: sober check data.csv --target y.  Then: sober fit data.csv --target y -o run.  No table at hand: "
    "sober example breast_cancer",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)


def argument(kind: Any, help: str) -> Any:
    """Describe a word of a command that is no option."""
    return Annotated[kind, typer.Argument(help=help, show_default=False)]


def option(kind: Any, panel: str, help: str, *names: str, words: Sequence[str] = (), **more: Any) -> Any:
    """Describe an option, called after its parameter by default; `words` are those that the shell completes."""
    if words:
        more["autocompletion"] = lambda: list(words)
    return Annotated[kind, typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **more)]


def _of_the_table(each: Any, hint: Any) -> Any:
    """Describe an option of the one table for typer, which reads plain types; `checked` looks at the values."""
    about, kinds = each.metadata, {*(get_args(hint) or [hint])} - {type(None)}
    name, more = f"--{each.name.replace('_', '-')}", dict[str, Any]()
    as_typed: Any = str | None
    if isinstance(each.default, tuple) or each.name in ONE_COLUMN:
        as_typed, more = list[str] | None, {"metavar": "<str>"}
    elif each.name == "output":
        as_typed = Path | None
    elif kinds == {int}:
        as_typed = int | None
    elif kinds == {bool}:
        as_typed = bool if each.default is False else bool | None
        name += f"/--no-{each.name}" if each.default is None else ""
    words = (*about["words"], *choices(each.name))
    return option(as_typed, about["panel"], about["help"], name, *about["short"], words=words, **more)


#: Options that name one column: a second value must not replace the first in silence.
ONE_COLUMN = ("target", "time", "event", "id", "group", "weight")
HINTS = {**get_type_hints(Settings), **get_type_hints(Output)}
#: Every option and argument that more than one command takes, by the name of its parameter.
OPTIONS: dict[str, Any] = {
    **{e.name: _of_the_table(e, HINTS[e.name]) for kind in (Settings, Output) for e in fields(kind) if e.metadata},
    "data": argument(str | None, "CSV, TSV, Excel, Parquet or Arrow file; - is standard input."),
    "folder": argument(Path, "The folder that sober fit wrote."),
    "overwrite": option(bool, RUN, "Overwrite an existing file.", "--overwrite"),
    "settings": option(Path | None, ADVANCED, "A file like sober.toml; default: ./sober.toml."),
}


def _check_output(output: Path, run: Path, overwrite: bool, data: str | None) -> None:
    """Refuse a place that holds anything else than what may be written over: no file of the run, nor its table."""
    name = repr(str(output))
    if output.is_dir():
        raise SoberError("E809", f"{name} is a folder. Name a file, such as {str(output / 'table.csv')!r}.")
    if not os.path.lexists(output):
        return
    if data is not None and os.path.exists(data) and output.exists() and os.path.samefile(output, data):
        raise SoberError("E809", f"{name} is the input table. Name another file with -o.")
    if output.resolve().is_relative_to(run.resolve()):
        raise SoberError("E809", f"{name} belongs to the run. Name a file outside of {str(run)!r} with -o.")
    if not overwrite:
        raise SoberError("E809", f"{name} already exists. Name another file with -o, or add --overwrite.")


def _call(function: str, module: str, /, **given: Any) -> Any:
    """Check what was typed, then import the command and run it with its options, `asked` (settings), and `folder`.

    Returns the exit code; None where the command is done.
    """
    for name in ONE_COLUMN:
        if columns := given.get(name):
            if len(columns) > 1:
                text = f"--{name} was given {len(columns)} times ({', '.join(map(repr, columns))}). Name one column."
                raise SoberError("E808", text)
            given[name] = columns[0]
    found = checked({  # --no-header was typed where it is false, other switches were not
        name: str(value) if isinstance(value, Path) else value for name, value in given.items()
        if name in TYPES and value is not None and value != [] and (value is not False or name == "header")
    })  # fmt: skip
    if "settings" in given:  # what is typed counts more than what stands in the file
        path = given["settings"] or Path("sober.toml")
        if given["settings"] is not None and not path.is_file():
            raise SoberError("E808", f"There is no settings file {str(path)!r}. Check the path.")
        file = from_toml(path) if path.is_file() else {}
        # Naming one kind of target on the command line puts away the other kind from the file.
        unwanted = ("time", "event") if "target" in found else ("target",) if {"time", "event"} & found.keys() else ()
        found = {**{name: value for name, value in file.items() if name not in unwanted}, **found}
        check_source(found.get("data"))
        check_name(found.get("preset", Settings.preset))
    given = {**given, **{name: value for name, value in found.items() if name in given}}
    given["asked"] = {name: value for name, value in found.items() if name in SETTINGS}
    data = given.get("data")
    if "folder" in given:
        given["folder"] = RunFolder(given["folder"]).check()
        if data is not None:
            check_source(data)
        if "overwrite" in given and given["output"] is not None:
            _check_output(Path(given["output"]), given["folder"].path, given["overwrite"], data)
    elif function == "fit":
        path = given["asked"]["data"]
        name = "stdin" if path == "-" else Path(path).name.partition(".")[0]
        given["folder"] = RunFolder(Path(given["output"] or f"{name or 'table'}-run"))
        given["folder"].check_free(given["overwrite"])
    elif function == "correct" and not os.path.isdir(given["predictions"]):  # a folder is that of a run
        check_source(given["predictions"])
    return getattr(import_module(f".{module}", __package__), function)(given)


def _add(function: str, module: str, help: str, *names: str, **own: Any) -> None:
    """Add a command with its options, keys of `OPTIONS` and its own: a function of a module of this package."""
    call: Any = partial(_call, function, module)
    described = {**{name: OPTIONS[name] for name in names}, **own}.items()
    parameters = []
    for name, kind in sorted(described, key=lambda each: each[1].__metadata__[0].rich_help_panel == ADVANCED):
        inner = kind.__origin__
        default = False if inner is bool else None if type(None) in get_args(inner) else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default))
    call.__signature__ = inspect.Signature(parameters)
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(function, help=help)(call)


SETTINGS, OUTPUT, SHOWN = [e.name for e in fields(Settings)], [e.name for e in fields(Output)], ("json", "quiet")
_COMPARED = [n for n in SETTINGS if n not in ("no_drop", "by", "tune_threshold", "repeats", "max_time")]
_CORRECTED = [n for n in _COMPARED if n not in ("data", "id", "weight", "task", "preset", "configurations", "cv")]
_GO_ON = ("folder", "jobs", "max_time", "fast", "no_report", *SHOWN)
_MOVED = option(Path | None, RUN, "The table, if it has moved.")
_add(
    "check", "checking",
    "Check a table: what it contains, what would run, how long it takes. Trains nothing large.",
    *(name for name in SETTINGS if name not in ("tune_threshold", "max_time")), "settings", *SHOWN,
)  # fmt: skip
_add(
    "fit", "fitting", "Tune, judge honestly, train the final model, and write a folder with a report.",
    *SETTINGS, *OUTPUT, "settings", overwrite=option(bool, RUN, "Overwrite an earlier run.", "--overwrite"),
)  # fmt: skip
_add("resume", "fitting", "Continue a run that was interrupted or ran out of time.", *_GO_ON, data=_MOVED)
_add(
    "extend", "fitting", "Add repeats to a run; existing models are not trained again.",
    *_GO_ON, data=_MOVED, repeats=option(int, RUN, "Total number of CV repeats."),
)  # fmt: skip
_add(
    "report", "fitting", "Show the result of a run and write its report again; its tables with -o tables.csv or .md.",
    "folder", "output", "overwrite", *SHOWN,
)  # fmt: skip
_add(
    "predict", "predicting", "Predict new rows with the model of a run; default: CSV to standard output.",
    "folder", "sheet", "output", "overwrite", "quiet", data=argument(str, "New rows; - is standard input."),
    threshold=option(float | None, RUN, "Two classes: predict the positive class at or above this probability."),
    at=option(
        list[float] | None, RUN, "Survival: also predict the probability of no event by this time; can be repeated.",
        metavar="<float>",
    ),
)  # fmt: skip
_add(
    "correct", "correcting",
    "Correct what another tool left (tidymodels, caret, mlr3, ...): out-of-fold predictions, fold scores, or "
    "scikit-learn's cv_results_ saved as CSV. Or judge a run by other metrics.",
    *_CORRECTED, *SHOWN,
    predictions=argument(str, "Out-of-fold predictions or fold scores of another tool, or the folder of a run."),
    repeats=option(int | None, RUN, "Fold scores: number of CV repeats, where no column tells them apart."),
    force=option(bool, ADVANCED, "Continue even if the answer may mislead.", "--force"),
)  # fmt: skip
_add(
    "compare", "comparing",
    "Compare protocols side by side: what each claims, how many models it trains, how long it takes.",
    *_COMPARED, "settings", *SHOWN,
    protocols=option(
        str | None, RUN, "Any of naive, tt, ncv, bbc, bbc-f, 632+, wmc, wmcs, ipl, bced, bbc-repeated "
        "(default: naive,tt,ncv,bbc,bced).",
    ),
)  # fmt: skip
_add(
    "example", "examples", "Write a small table to try the commands on: breast_cancer, clinic or oof.",
    "output", name=argument(str, "breast_cancer, clinic or oof."),
)  # fmt: skip


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        print(f"sober {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every way in which it can end becomes an exit code and at most one sentence."""
    # Workers inherit this; what matters is told with a code by this process.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    given = list(sys.argv[1:] if arguments is None else arguments)
    command: Any = typer.main.get_command(app)
    try:
        if "_SOBER_COMPLETE" in os.environ:  # the shell asks
            return int(command.main(prog_name="sober") or 0)
        for each in (command, *command.commands.values()):  # switches take no value, so the help shows none
            for parameter in each.get_params(typer.Context(each, help_option_names=HELP)):
                parameter.metavar = "" if getattr(parameter, "is_flag", False) else parameter.metavar
        # Not `main`, which makes 130 of every signal.
        with command.make_context("sober", [a for a in given if a != "--debug"] or ["--help"]) as context:
            code = int(command.invoke(context) or 0)
        sys.stdout.flush()  # here, and not when Python ends: a pipe may be gone
        return code
    except BaseException as problem:
        return exit_code_of(problem, debug="--debug" in given)
