"""The commands: what each takes, and what is checked before anything slow is imported.

The options are those of `tables/settings` and a few more; each command is a function of its name in a module here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature
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
#: Options that name one column: a second value must not replace the first in silence.
ONE_COLUMN = ("target", "time", "event", "id", "group", "weight")
app = typer.Typer(
    name="sober",
    help="Tune by cross-validation, and report honestly how good the winner is.",
    epilog="First: sober check data.csv --target y.  Then: sober fit data.csv --target y -o run.  No table at hand: "
    "sober example breast_cancer",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)


def argument(name: str, kind: Any, help: str, default: Any = Parameter.empty) -> Parameter:
    """Describe a word of a command that is no option; it is required where there is no default."""
    about = Annotated[kind, typer.Argument(help=help, show_default=False)]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=about, default=default)


def option(name: str, kind: Any, panel: str, help: str, *names: str, default: Any = None, **more: Any) -> Parameter:
    """Describe an option in a panel of the help page; by default it is called after its parameter."""
    about = Annotated[kind, typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=about, default=default)


def _of_the_table(each: Any, hint: Any) -> Parameter:
    """Describe an option of the one table for typer, which reads plain types; `checked` looks at the values."""
    about, kinds = each.metadata, {*(get_args(hint) or [hint])} - {type(None)}
    kind = kinds.pop() if kinds in ({int}, {bool}) else Path if each.name == "output" else str
    name, more = f"--{each.name.replace('_', '-')}", dict[str, Any]()
    if isinstance(each.default, tuple) or each.name in ONE_COLUMN:
        kind, more = list[str], {"metavar": "<str>"}
    if kind is bool and each.default is None:
        name += f"/--no-{each.name}"
    if words := [*about["words"], *choices(each.name)]:  # that the shell completes
        more["autocompletion"] = lambda: words
    return option(each.name, kind | None, about["panel"], about["help"], name, *about["short"], **more)


HINTS = {**get_type_hints(Settings), **get_type_hints(Output)}
#: Every option and argument that more than one command takes, by its name.
OPTIONS = {
    **{e.name: _of_the_table(e, HINTS[e.name]) for kind in (Settings, Output) for e in fields(kind) if e.metadata},
    "data": argument("data", str | None, "CSV, TSV, Excel, Parquet or Arrow file; - is standard input.", None),
    "folder": argument("folder", Path, "The folder that sober fit wrote."),
    "overwrite": option("overwrite", bool | None, RUN, "Overwrite an existing file.", "--overwrite"),
    "settings": option("settings", Path | None, ADVANCED, "A file like sober.toml; default: ./sober.toml."),
    "moved": option("data", Path | None, RUN, "The table, if it has moved."),
}


def _check_output(output: Path, run: Path, overwrite: bool, data: str | None) -> None:
    """Refuse a place that holds anything else than what may be written over: no file of the run, nor its table."""
    if not os.path.lexists(output):
        return
    name = repr(str(output))
    if output.is_dir():
        raise SoberError("E809", f"{name} is a folder. Name a file, such as {str(output / 'table.csv')!r}.")
    for place, what in ((data, "is the input table"), (run, "belongs to the run")):
        is_same = place is not None and output.exists() and os.path.exists(place) and output.samefile(place)
        if is_same or (place is not None and output.resolve().is_relative_to(Path(place).resolve())):
            raise SoberError("E809", f"{name} {what}. Name another file with -o.")
    if not overwrite:
        raise SoberError("E809", f"{name} already exists. Name another file with -o, or add --overwrite.")


def _call(function: str, module: str, /, **given: Any) -> Any:
    """Check what was typed, then import the command and run it with its options, `asked` (settings), and `folder`.

    Returns the exit code; None where the command is done.
    """
    typed = {name: given[name] for name in TYPES if given.get(name) not in (None, [])}
    for name in [name for name in ONE_COLUMN if name in typed]:
        if len(columns := typed[name]) > 1:
            text = f"--{name} was given {len(columns)} times ({', '.join(map(repr, columns))}). Name one column."
            raise SoberError("E808", text)
        typed[name] = columns[0]
    found = checked({name: str(value) if isinstance(value, Path) else value for name, value in typed.items()})
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
    given = {**given, **found, "asked": {name: value for name, value in found.items() if name in SETTINGS}}
    data, output = given.get("data"), given.get("output")
    if "folder" in given:
        given["folder"] = RunFolder(given["folder"]).check()
        if data is not None:
            check_source(data)
        if "overwrite" in given and output is not None:
            _check_output(Path(output), given["folder"].path, given["overwrite"], data)
    elif function == "fit":
        name = "stdin" if data == "-" else Path(str(data)).name.partition(".")[0]
        given["folder"] = RunFolder(Path(output or f"{name or 'table'}-run"))
        given["folder"].check_free(given["overwrite"])
    elif function == "correct" and not os.path.isdir(given["predictions"]):  # a folder is that of a run
        check_source(given["predictions"])
    return getattr(import_module(f".{module}", __package__), function)(given)


def _add(function: str, module: str, help: str, *takes: str | Parameter) -> None:
    """Add a command, a function of a module of this package, with what it takes: keys of `OPTIONS`, and its own."""
    call: Any = partial(_call, function, module)
    parameters = [each if isinstance(each, Parameter) else OPTIONS[each] for each in takes]
    parameters.sort(key=lambda each: each.annotation.__metadata__[0].rich_help_panel == ADVANCED)
    call.__signature__, call.__annotations__ = Signature(parameters), {}  # typer asks for both
    app.command(function, help=help)(call)


SETTINGS, SHOWN = [each.name for each in fields(Settings)], ("json", "quiet")
_COMPARED = [n for n in SETTINGS if n not in ("no_drop", "by", "tune_threshold", "repeats", "max_time")]
_CORRECTED = [n for n in _COMPARED if n not in ("data", "id", "weight", "task", "preset", "configurations", "cv")]
_GO_ON = ("folder", "jobs", "max_time", "fast", "no_report", *SHOWN, "moved")
_add(
    "check", "checking",
    "Check a table: what it contains, what would run, how long it takes. Trains nothing large.",
    *(name for name in SETTINGS if name not in ("tune_threshold", "max_time")), "settings", *SHOWN,
)  # fmt: skip
_add(
    "fit", "fitting", "Tune, judge honestly, train the final model, and write a folder with a report.",
    *SETTINGS, *(each.name for each in fields(Output)), "settings",
    option("overwrite", bool | None, RUN, "Overwrite an earlier run.", "--overwrite"),
)  # fmt: skip
_add("resume", "fitting", "Continue a run that was interrupted or ran out of time.", *_GO_ON)
_add(
    "extend", "fitting", "Add repeats to a run; existing models are not trained again.",
    *_GO_ON, option("repeats", int, RUN, "Total number of CV repeats.", default=Parameter.empty),
)  # fmt: skip
_add(
    "report", "fitting", "Show the result of a run and write its report again; its tables with -o tables.csv or .md.",
    "folder", "output", "overwrite", *SHOWN,
)  # fmt: skip
_add(
    "predict", "predicting", "Predict new rows with the model of a run; default: CSV to standard output.",
    "folder", argument("data", str, "New rows; - is standard input."), "sheet", "output", "overwrite", "quiet",
    option("threshold", float | None, RUN, "Two classes: predict the positive class at or above this probability."),
    option(
        "at", list[float] | None, RUN, "Survival: also predict the probability of no event by this time; can be "
        "repeated.", metavar="<float>",
    ),
)  # fmt: skip
_add(
    "correct", "correcting",
    "Correct what another tool left (tidymodels, caret, mlr3, ...): out-of-fold predictions, fold scores, or "
    "scikit-learn's cv_results_ saved as CSV. Or judge a run by other metrics.",
    argument("predictions", str, "Out-of-fold predictions or fold scores of another tool, or the folder of a run."),
    *_CORRECTED, *SHOWN,
    option("repeats", int | None, RUN, "Fold scores: number of CV repeats, where no column tells them apart."),
    option("force", bool | None, ADVANCED, "Continue even if the answer may mislead.", "--force"),
)  # fmt: skip
_add(
    "compare", "comparing",
    "Compare protocols side by side: what each claims, how many models it trains, how long it takes.",
    *_COMPARED, "settings", *SHOWN,
    option(
        "protocols", str | None, RUN, "Any of naive, tt, ncv, bbc, bbc-f, 632+, wmc, wmcs, ipl, bced, bbc-repeated "
        "(default: naive,tt,ncv,bbc,bced).",
    ),
)  # fmt: skip
_add(
    "example", "examples", "Write a small table to try the commands on: breast_cancer, clinic or oof.",
    argument("name", str, "breast_cancer, clinic or oof."), "output",
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
