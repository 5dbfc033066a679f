"""The commands; each checks what costs nothing, then hands over to a module of its own, imported only then.

Takes arguments, gives an exit code: 0 done, 1 failed, 2 bad usage or data, 129, 130 and 143 ended by a signal.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core

from ..signals import last_raised
from .exit_code import exit_code_of
from .options import READING, ROLES, SHOWN, TUNING, takes


class _PlainHelp:
    """Writes switches without typer's <bool> behind them, as if a value were wanted."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options, switches without the name of a type."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return found


class _Command(_PlainHelp, typer.core.TyperCommand):
    pass


class _Group(_PlainHelp, typer.core.TyperGroup):
    pass


app = typer.Typer(
    name="sober",
    cls=_Group,
    help="Tune by cross-validation, and say honestly how good the winner is.",
    epilog="First: sober check data.csv --target y.  Then: sober fit data.csv --target y -o run.  No table at hand: "
    "sober example breast_cancer",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every way in which it can end becomes an exit code and at most one sentence."""
    # Workers inherit this; what matters is told with a code by this process.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    given = list(sys.argv[1:] if arguments is None else arguments)
    plain = [a for a in given if a != "--debug"] or ["--help"]
    command = typer.main.get_command(app)

    def call() -> int:
        code = command.main(args=plain, prog_name="sober", standalone_mode=False) or 0
        # typer makes this of every interrupt that comes while it reads the arguments.
        return 128 + last_raised() if code == 128 + signal.SIGINT else code

    return exit_code_of(call, debug="--debug" in given)


def _module(name: str) -> Any:
    """Import the module of a command, which takes seconds: after the checks that cost nothing."""
    return import_module(f".{name}", __package__)


def _check_run(folder: Any, data: Any = None) -> None:
    """Refuse paths that lead nowhere."""
    from ..runs.folder import RunFolder
    from ..tables.source_bytes import check_source

    RunFolder(folder).check()
    if data is not None:
        check_source(data)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"sober {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command(cls=_Command)
@takes("data", *ROLES, *READING, *TUNING, "no_drop", "by", "repeats", "seed", "jobs", "settings", *SHOWN)
def check(**given: Any) -> int:
    """Look at a table: what is in it, what would be run, how long it takes. Trains nothing large."""
    asked = _module("arguments").Arguments.of(given)
    return int(_module("checking").check(asked))


@app.command(cls=_Command)
@takes(
    "data", *ROLES, *READING, *TUNING, "no_drop", "by", "tune_threshold", "learning_curve", "repeats", "seed",
    "jobs", "max_time", "output", "overwrite", "fast", "no_report", "settings", *SHOWN,
)  # fmt: skip
def fit(**given: Any) -> int:
    """Tune, judge honestly, train the final model, and write a folder with a report."""
    asked = _module("arguments").Arguments.of(given)
    asked.folder.check_free(given["overwrite"])
    return int(_module("fitting").fit(asked, given["overwrite"]))


@app.command(cls=_Command)
@takes("folder", "moved_data", "jobs", "max_time", "fast", "no_report", *SHOWN)
def resume(**given: Any) -> int:
    """Continue a run that was interrupted or ran out of time."""
    _check_run(given["folder"], given["data"])
    return int(_module("fitting").go_on(given))


@app.command(cls=_Command)
@takes("folder", "all_repeats", "moved_data", "jobs", "max_time", "fast", "no_report", *SHOWN)
def extend(**given: Any) -> int:
    """Add repeats to a run; what is there is not trained again."""
    _check_run(given["folder"], given["data"])
    return int(_module("fitting").go_on(given))


@app.command(cls=_Command)
@takes("folder", "output", "replace", "format", *SHOWN)
def report(**given: Any) -> int:
    """Show the result of a run and write its report again, or its tables (--format)."""
    _check_run(given["folder"])
    return int(_module("reporting").report(**given))


@app.command(cls=_Command)
@takes("folder", "new_data", "sheet", "threshold", "at", "output", "replace", "quiet")
def predict(**given: Any) -> int:
    """Predict new rows with the model of a run; default: CSV to standard output."""
    _check_run(given["folder"], given["data"])
    return int(_module("predicting").predict(given))


@app.command(cls=_Command)
@takes(
    "predictions", "target", "positive", "time", "event", "event_value", "group", "ignore", *READING, "metric",
    "aggregate", "stratify", "within_folds", "interval", "fixed_models",
    "seed", "jobs", "force", *SHOWN,
)  # fmt: skip
def correct(**given: Any) -> int:
    """Correct what another tool predicted (tidymodels, caret, mlr3, ...), or judge a run by other metrics."""
    from ..tables.source_bytes import check_source

    if not os.path.isdir(given["predictions"]):  # a run
        check_source(given["predictions"])
    return int(_module("correcting").correct(given))


@app.command(cls=_Command)
@takes("data", *ROLES, *READING, *TUNING, "seed", "jobs", "protocols", "settings", *SHOWN)
def compare(**given: Any) -> int:
    """Compare protocols side by side: what each claims, how many models it trains, how long it takes."""
    asked = _module("arguments").Arguments.of(given)
    return int(_module("comparing").compare(asked, given["protocols"]))


@app.command(cls=_Command)
@takes("example_name", "output")
def example(**given: Any) -> int:
    """Write a small table to try the commands on: breast_cancer, clinic or oof."""
    return int(_module("examples").example(**given))
