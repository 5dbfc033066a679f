"""The commands and their options; each hands over to a module of its own, imported only then.

Takes arguments, gives an exit code: 0 done, 1 failed, 2 bad usage or data, 130 interrupted but saved.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from . import options as o
from .ending import ending

app = typer.Typer(
    name="sober",
    help="Tune by cross-validation, and say honestly how good the winner is.",
    epilog="First: sober check data.csv --target y.  Then: sober fit data.csv --target y -o run",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every way in which it can end becomes an exit code and at most one sentence."""
    # Workers inherit this; what matters is told with a code by this process.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    with ending(debug="--debug" in given) as end:
        command = typer.main.get_command(app)
        end.code = (
            command.main(args=[a for a in given if a != "--debug"], prog_name="sober", standalone_mode=False) or 0
        )
    return end.code


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


@app.command()
def check(
    ctx: typer.Context, data: o.Data = None, target: o.Target = None, time: o.Time = None, event: o.Event = None,
    event_value: o.EventValue = None, sheet: o.Sheet = None, decimal: o.Decimal = None, header: o.Header = None,
    id: o.Id = None, group: o.Group = None, ignore: o.Ignore = None, task: o.Task = None, metric: o.Metric = None,
    preset: o.Preset = None, configurations: o.Configurations = None, folds: o.Folds = None, repeats: o.Repeats = None,
    seed: o.Seed = None, jobs: o.Jobs = None, settings: o.SettingsFile = None, json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Look at a table: what is in it, what would be run, how long it takes. Trains nothing big."""
    from .checking import check as go

    return go(_request(ctx))


@app.command()
def fit(
    ctx: typer.Context, data: o.Data = None, target: o.Target = None, time: o.Time = None, event: o.Event = None,
    event_value: o.EventValue = None, sheet: o.Sheet = None, decimal: o.Decimal = None, header: o.Header = None,
    id: o.Id = None, group: o.Group = None, ignore: o.Ignore = None, task: o.Task = None, metric: o.Metric = None,
    preset: o.Preset = None, configurations: o.Configurations = None, folds: o.Folds = None, repeats: o.Repeats = None,
    seed: o.Seed = None, jobs: o.Jobs = None, max_time: o.MaxTime = None, output: o.Output = None,
    overwrite: o.Overwrite = False, settings: o.SettingsFile = None, json: o.Json = False, quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Tune, judge honestly, train the final model, and write a folder with a report."""
    from .fitting import fit as go

    return go(_request(ctx), overwrite)


@app.command()
def resume(
    ctx: typer.Context, folder: o.Folder, data: o.MovedData = None, jobs: o.Jobs = None, max_time: o.MaxTime = None,
    json: o.Json = False, quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Go on with a run that was interrupted or ran out of time."""
    from .fitting import go_on

    return go_on(folder, _given(ctx), json=json, quiet=quiet)


@app.command()
def extend(
    ctx: typer.Context, folder: o.Folder,
    repeats: Annotated[int, typer.Option("--repeats", help="How many partitions in all.", show_default=False)],
    data: o.MovedData = None, jobs: o.Jobs = None, max_time: o.MaxTime = None, json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Add repeats to a run; what is there is not trained again."""
    from .fitting import go_on

    return go_on(folder, _given(ctx), json=json, quiet=quiet)


@app.command()
def report(folder: o.Folder, output: o.Output = None, json: o.Json = False, quiet: o.Quiet = False) -> int:
    """Show the result of a run, and write its report again."""
    from .reporting import report as go

    return go(folder, output, json=json, quiet=quiet)


@app.command()
def predict(
    folder: o.Folder, data: Annotated[str, typer.Argument(help="New rows; - is standard input.", show_default=False)],
    sheet: o.Sheet = None, output: o.Output = None,
    trust: Annotated[bool, typer.Option("--trust", help="Load a model from elsewhere; it can run code.")] = False,
) -> int:  # fmt: skip
    """Predict new rows with the model of a run; CSV to standard output unless -o is given."""
    from .predicting import predict as go

    return go(folder, data, output, trust, sheet)


@app.command()
def correct(
    predictions: Annotated[str, typer.Argument(help="Out-of-fold predictions of another tool.", show_default=False)],
    target: o.Target = None, time: o.Time = None, event: o.Event = None, event_value: o.EventValue = None,
    sheet: o.Sheet = None, decimal: o.Decimal = None, header: o.Header = None, group: o.Group = None,
    ignore: o.Ignore = None, metric: o.Metric = None, seed: o.Seed = None, jobs: o.Jobs = None,
    force: Annotated[bool, typer.Option("--force", help="Go on where the answer could mislead.")] = False,
    json: o.Json = False, quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Correct what another tool predicted: tidymodels, caret, mlr3, AutoGluon, or one column a configuration."""
    from .correcting import correct as go

    given = {
        "data": predictions, "target": target, "time": time, "event": event, "event_value": event_value,
        "group": group, "ignore": ignore, "sheet": sheet, "decimal": decimal, "header": header, "metric": metric,
        "seed": seed, "jobs": jobs,
    }  # fmt: skip
    return go(given, force=force, json=json, quiet=quiet)


@app.command()
def compare(
    ctx: typer.Context, data: o.Data = None, target: o.Target = None, time: o.Time = None, event: o.Event = None,
    event_value: o.EventValue = None, sheet: o.Sheet = None, decimal: o.Decimal = None, header: o.Header = None,
    id: o.Id = None, group: o.Group = None, ignore: o.Ignore = None, task: o.Task = None, metric: o.Metric = None,
    preset: o.Preset = None, configurations: o.Configurations = None, folds: o.Folds = None, seed: o.Seed = None,
    jobs: o.Jobs = None, protocols: Annotated[
        str, typer.Option("--protocols", help="Any of cvt, tt, ncv, bbc, bbc-f, 632+, bced, bbc-repeated.")
    ] = "cvt,tt,ncv,bbc,bced",
    settings: o.SettingsFile = None, json: o.Json = False, quiet: o.Quiet = False,
) -> int:  # fmt: skip
    """Compare protocols side by side: what each claims, how many models it trains, how long it takes."""
    from .comparing import compare as go

    return go(_request(ctx), protocols)


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="simulation or real.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in minutes.")] = False,
    output: o.Output = None,
) -> int:
    """Make the tables and figures of the paper again."""
    from .studying import study as go

    return go(name, quick, output)


def _given(ctx: typer.Context) -> dict[str, Any]:
    """Give what was asked for by name, without the folder and the switches of the screen."""
    return {k: v for k, v in ctx.params.items() if k not in ("folder", "json", "quiet", "overwrite")}


def _request(ctx: typer.Context) -> Any:
    from .request import Request

    return Request.of(dict(ctx.params))
