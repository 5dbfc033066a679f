"""The commands: each checks what costs nothing, then imports what it needs, which takes seconds.

Exit codes: 0 done, 1 failed, 2 bad usage or data, 129, 130 and 143 ended by a signal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from ..runs.settings import ADVANCED, RUN, Output, Settings, names_of
from .exit_code import exit_code_of
from .options import argument, asked, check_output, option, takes, typed


class _PlainHelp:
    """Writes switches without typer's <bool> behind them, as if a value were wanted."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options, switches without the name of a type."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            each.metavar = "" if getattr(each, "is_flag", False) else each.metavar
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
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
SETTINGS, SHOWN = names_of(Settings), ("json", "quiet")
_COMPARED = [n for n in SETTINGS if n not in ("no_drop", "by", "tune_threshold", "repeats", "max_time")]
_CORRECTED = [n for n in _COMPARED if n not in ("data", "id", "weight", "task", "preset", "configurations", "cv")]
_MOVED = option(Path | None, RUN, "The table, if it has moved.")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every way in which it can end becomes an exit code and at most one sentence."""
    # Workers inherit this; what matters is told with a code by this process.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = typer.main.get_command(app)

    def call() -> int:
        if "_SOBER_COMPLETE" in os.environ:  # the shell asks
            return int(command.main(prog_name="sober") or 0)
        # Not `main`, which makes 130 of every signal.
        with command.make_context("sober", [a for a in given if a != "--debug"] or ["--help"]) as context:
            return int(command.invoke(context) or 0)

    return exit_code_of(call, debug="--debug" in given)


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
@takes(*(name for name in SETTINGS if name not in ("tune_threshold", "max_time")), "settings", *SHOWN)
def check(**given: Any) -> int:
    """Look at a table: what is in it, what would be run, how long it takes. Trains nothing large."""
    settings, output = asked(given)
    from .checking import check

    return check(settings, output)


@app.command(cls=_Command)
@takes(
    *SETTINGS, *names_of(Output), "settings", overwrite=option(bool, RUN, "Overwrite an earlier run.", "--overwrite")
)
def fit(**given: Any) -> int:
    """Tune, judge honestly, train the final model, and write a folder with a report."""
    settings, output = asked(given)
    from ..runs.folder import RunFolder

    name = "stdin" if settings.data in (None, "-") else Path(str(settings.data)).name.partition(".")[0]
    folder = RunFolder(output.output or f"{name or 'table'}-run")
    folder.check_free(given["overwrite"])
    from .fitting import fit

    return fit(settings, output, folder, given["overwrite"])


def _go_on(given: dict[str, Any]) -> int:
    from ..runs.folder import RunFolder
    from ..tables.source_bytes import check_source

    folder = RunFolder(given["folder"]).check()
    if given["data"] is not None:
        check_source(given["data"])
    from .fitting import go_on

    return go_on(folder, typed(given, Settings), Output(**typed(given, Output)))


@app.command(cls=_Command)
@takes("folder", "jobs", "max_time", "fast", "no_report", *SHOWN, data=_MOVED)
def resume(**given: Any) -> int:
    """Continue a run that was interrupted or ran out of time."""
    return _go_on(given)


@app.command(cls=_Command)
@takes(
    "folder", "jobs", "max_time", "fast", "no_report", *SHOWN, data=_MOVED,
    repeats=option(int, RUN, "Number of CV repeats in all."),
)  # fmt: skip
def extend(**given: Any) -> int:
    """Add repeats to a run; what is there is not trained again."""
    return _go_on(given)


@app.command(cls=_Command)
@takes(
    "folder", "output", "overwrite", *SHOWN,
    format=option(
        str | None, RUN, "Only the tables: md, tex or csv; default: to standard output.", words=("md", "tex", "csv")
    ),
)  # fmt: skip
def report(**given: Any) -> int:
    """Show the result of a run and write its report again, or its tables (--format)."""
    from ..runs.folder import RunFolder

    RunFolder(given["folder"]).check()
    if given["output"] is not None:
        check_output(given["output"], given["folder"], given["overwrite"])
    from .fitting import report

    return report(given["folder"], given["output"], given["format"], Output(**typed(given, Output)))


@app.command(cls=_Command)
@takes(
    "folder", "sheet", "output", "overwrite", "quiet",
    data=argument(str, "New rows; - is standard input."),
    threshold=option(float | None, RUN, "Two classes: predict the positive one from this probability on."),
    at=option(
        list[float] | None, RUN, "Survival: a time at which its probability is wanted; can be repeated.",
        metavar="<float>",
    ),
)  # fmt: skip
def predict(**given: Any) -> int:
    """Predict new rows with the model of a run; default: CSV to standard output."""
    from ..runs.folder import RunFolder
    from ..tables.source_bytes import check_source

    RunFolder(given["folder"]).check()
    check_source(given["data"])
    if given["output"] is not None:
        check_output(given["output"], given["folder"], given["overwrite"], given["data"])
    from .predicting import predict

    return predict(given)


@app.command(cls=_Command)
@takes(
    *_CORRECTED, *SHOWN,
    predictions=argument(str, "Out-of-fold predictions of another tool, or the folder of a run."),
    fixed_models=option(
        bool, ADVANCED, "The models were trained on other rows than these, so nothing was cross-validated.",
        "--fixed-models",
    ),
    force=option(bool, ADVANCED, "Continue although the answer could mislead.", "--force"),
)  # fmt: skip
def correct(**given: Any) -> int:
    """Correct what another tool predicted (tidymodels, caret, mlr3, ...), or judge a run by other metrics."""
    from ..tables.source_bytes import check_source

    if not os.path.isdir(given["predictions"]):  # a run
        check_source(given["predictions"])
    from .correcting import correct

    return correct(given)


@app.command(cls=_Command)
@takes(
    *_COMPARED, "settings", *SHOWN,
    protocols=option(
        str | None, RUN, "Any of naive, tt, ncv, bbc, bbc-f, 632+, wmc, wmcs, ipl, bced, bbc-repeated "
        "(default: naive,tt,ncv,bbc,bced).",
    ),
)  # fmt: skip
def compare(**given: Any) -> int:
    """Compare protocols side by side: what each claims, how many models it trains, how long it takes."""
    settings, output = asked(given)
    from .comparing import compare

    return compare(settings, output, given["protocols"])


@app.command(cls=_Command)
@takes("output", name=argument(str, "breast_cancer, clinic or oof."))
def example(**given: Any) -> int:
    """Write a small table to try the commands on: breast_cancer, clinic or oof."""
    from .examples import example

    return example(**given)
