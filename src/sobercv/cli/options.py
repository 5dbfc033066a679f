"""The options of all commands, each written once, and which command takes which.

Takes names of options, gives typer the signature of a command; never reads a value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .exit_code import Ended

DATA, MODEL, RUN, SCREEN = "What to predict", "How to tune", "The run", "The screen"
#: Options that few need; shown last.
ADVANCED = "Advanced"


def presets() -> list[str]:
    """Names that the shell completes."""
    return ["quick", "standard", "thorough", "paper"]


def metrics() -> list[str]:
    """Names that the shell completes; every scoring name of scikit-learn works."""
    return [
        "roc_auc", "average_precision", "accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc_ovr",
        "neg_log_loss", "neg_brier_score", "matthews_corrcoef", "r2", "neg_mean_absolute_error",
        "neg_mean_squared_error", "neg_root_mean_squared_error", "concordance_index",
    ]  # fmt: skip


def tasks() -> list[str]:
    """Names that the shell completes."""
    return ["binary", "multiclass", "regression", "survival"]


def aggregates() -> list[str]:
    """Names that the shell completes."""
    return ["pooled", "fold"]


def formats() -> list[str]:
    """Names that the shell completes."""
    return ["md", "tex", "csv"]


def intervals() -> list[str]:
    """Names that the shell completes."""
    return ["percentile", "calibrated"]


def limits() -> list[str]:
    """Names that the shell completes."""
    return ["value", "half", "missing"]


def _option(kind: Any, *names: str, help: str, panel: str, **more: Any) -> Any:
    return Annotated[kind, Option(*names, help=help, rich_help_panel=panel, **more)]


def _text(*names: str, help: str, panel: str, **more: Any) -> Any:
    return _option(str | None, *names, help=help, panel=panel, **more)


def _number(*names: str, help: str, panel: str) -> Any:
    return _option(int | None, *names, help=help, panel=panel)


def _switch(*names: str, help: str, panel: str) -> Any:
    return _option(bool, *names, help=help, panel=panel)


#: Every option and argument; those that are True or False unless given are switches.
OPTIONS: dict[str, Any] = {
    "data": Annotated[
        str | None, Argument(help="CSV, TSV, Excel, Parquet or Arrow file; - is standard input.", show_default=False)
    ],
    "folder": Annotated[Path, Argument(help="The folder that sober fit wrote.", show_default=False)],
    "new_data": Annotated[str, Argument(help="New rows; - is standard input.", show_default=False)],
    "predictions": Annotated[
        str, Argument(help="Out-of-fold predictions of another tool, or the folder of a run.", show_default=False)
    ],
    "example_name": Annotated[str, Argument(help="breast_cancer, clinic or oof.", show_default=False)],
    # ---- what to predict
    "target": _text("--target", "-t", help="The column to predict.", panel=DATA),
    "time": _text("--time", help="Survival: the column with the time.", panel=DATA),
    "event": _text("--event", help="Survival: the column with the event, 1 seen, 0 not.", panel=DATA),
    "event_value": _text("--event-value", help="Survival: what the event column holds if seen (1).", panel=ADVANCED),
    "positive": _text("--positive", help="The positive class, where a metric depends on it.", panel=DATA),
    "sheet": _text("--sheet", help="Excel: the sheet with the table.", panel=DATA),
    "decimal": _text("--decimal", help="The decimal mark, . or , where numbers are ambiguous.", panel=ADVANCED),
    "header": _option(
        bool | None, "--header/--no-header", help="Whether the first row has names.", panel=ADVANCED,
        show_default=False,
    ),
    "limits": _text(
        "--limits", help="What limits such as <0.5 count as: value, half or missing.", panel=ADVANCED,
        autocompletion=limits,
    ),
    "limit_flags": _switch("--limit-flags", help="Add a column that marks limits such as <0.5.", panel=ADVANCED),
    "id": _text("--id", help="Identifies samples; rows that share it stay together.", panel=DATA),
    "group": _text("--group", help="Rows that share it (a patient) stay together.", panel=DATA),
    "weight": _text("--weight", help="How much each row counts, in fits and in scores.", panel=ADVANCED),
    "ignore": _option(
        list[str] | None, "--ignore", metavar="<str>", help="A column that models must not see; can be repeated.",
        panel=DATA,
    ),
    "task": _text(
        "--task", help="binary, multiclass, regression or survival; default: inferred from the target.", panel=DATA,
        autocompletion=tasks,
    ),
    # ---- how to tune
    "metric": _option(
        list[str] | None, "--metric", "-m", metavar="<str>",
        help="As in scikit-learn; several with commas, the first selects. Default: "
        "roc_auc, balanced_accuracy, r2 or concordance_index.", panel=MODEL, autocompletion=metrics,
    ),
    "preset": _text(
        "--preset", "-p", help="quick, standard (default), thorough or paper.", panel=MODEL, autocompletion=presets
    ),
    "configurations": _number("--configurations", help="Try this many of the preset (default: all).", panel=ADVANCED),
    "cv": _text(
        "--cv", help="Number of folds (default: 10), or groups: hold out one group at a time, as is done by itself "
        "where there are fewer groups than folds.", panel=MODEL,
    ),
    "no_drop": _switch("--no-drop", help="Run every configuration on every fold, hopeless ones too.", panel=ADVANCED),
    "by": _option(
        list[str] | None, "--by", metavar="<str>", help="Columns whose values are scored apart, such as sex,site.",
        panel=MODEL,
    ),
    "repeats": _number("--repeats", help="Number of CV repeats (default: 1).", panel=MODEL),
    "all_repeats": Annotated[int, Option("--repeats", help="Number of CV repeats in all.", show_default=False)],
    "aggregate": _text(
        "--aggregate", help="Select by the score of all predictions together (pooled, default) or by the mean over "
        "folds (fold).", panel=ADVANCED, autocompletion=aggregates,
    ),
    "stratify": _switch("--stratify", help="Resample within classes or events, where some are rare.", panel=ADVANCED),
    "interval": _text(
        "--interval", help="How the interval is made: calibrated (default) or percentile.", panel=ADVANCED,
        autocompletion=intervals,
    ),
    "fixed_models": _switch(
        "--fixed-models", help="The models were trained on other rows than these, so nothing was cross-validated.",
        panel=ADVANCED,
    ),
    "within_folds": _switch(
        "--within-folds", help="Metrics that rank compare only rows of the same fold.", panel=ADVANCED
    ),
    "tune_threshold": _switch(
        "--tune-threshold", help="Two classes: tune the decision threshold, "
        "for f1, balanced_accuracy and the like.", panel=MODEL,
    ),
    "learning_curve": _switch(
        "--learning-curve", help="Draw how the winner's score grows with the number of training rows.",
        panel=MODEL,
    ),
    "half_width": _option(
        float | None, "--half-width", help="Stop when half the width of the interval is within this.", panel=ADVANCED
    ),
    # ---- the run
    "seed": _number("--seed", help="The same number gives the same result (default: 0).", panel=RUN),
    "jobs": _number("--jobs", "-j", help="Workers (default: all cores). Changes no result.", panel=RUN),
    "max_time": _text("--max-time", help="End the whole command after 90s, 10m or 2h, with what is there.", panel=RUN),
    "output": _option(Path | None, "--output", "-o", help="Where to write.", panel=RUN),
    "format": _text(
        "--format", help="Only the tables: md, tex or csv; default: to standard output.", panel=RUN,
        autocompletion=formats,
    ),
    "overwrite": _switch("--overwrite", help="Overwrite an earlier run.", panel=RUN),
    "replace": _switch("--overwrite", help="Write over a file that is there.", panel=RUN),
    "fast": _switch("--fast", help="A report without charts and without the importance of columns.", panel=RUN),
    "no_report": _switch("--no-report", help="No report at all.", panel=RUN),
    "settings": _option(
        Path | None, "--settings", help="A file like sober.toml; default: ./sober.toml.", panel=ADVANCED
    ),
    "at": _option(
        list[float] | None, "--at", metavar="<float>",
        help="Survival: a time at which its probability is wanted; can be repeated.",
        panel=RUN,
    ),
    "threshold": _option(
        float | None, "--threshold", help="Two classes: predict the positive one from this probability on.",
        panel=RUN,
    ),
    "moved_data": _option(Path | None, "--data", help="The table, if it has moved.", panel=RUN),
    "force": _switch("--force", help="Continue although the answer could mislead.", panel=ADVANCED),
    "protocols": _text(
        "--protocols", help="Any of naive, tt, ncv, bbc, bbc-f, 632+, wmc, wmcs, wmcs-raw, ipl, bced, bbc-repeated "
        "(default: naive,tt,ncv,bbc,bced).", panel=RUN,
    ),
    # ---- the screen
    "json": _switch("--json", help="Print JSON and nothing else.", panel=SCREEN),
    "quiet": _switch("--quiet", "-q", help="Print only the result.", panel=SCREEN),
}  # fmt: skip
#: Names of parameters where two commands use one word for different options.
_CALLED = {
    "new_data": "data",
    "moved_data": "data",
    "all_repeats": "repeats",
    "example_name": "name",
    "replace": "overwrite",
}

ROLES = ("target", "positive", "time", "event", "event_value", "id", "group", "weight", "ignore", "task")
READING = ("sheet", "decimal", "header", "limits", "limit_flags")
TUNING = ("metric", "preset", "configurations", "cv", "aggregate", "stratify", "within_folds", "interval")
SHOWN = ("json", "quiet")


def _is_advanced(name: str) -> bool:
    return getattr(OPTIONS[name].__metadata__[0], "rich_help_panel", None) == ADVANCED


def takes(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command its options; it is called with all of them by name.

    Parameters
    ----------
    *names : str
        Keys of `OPTIONS`, in the order of the help page.
    """

    def decorated(command: Callable[..., int]) -> Callable[..., int]:
        parameters = []
        for name in sorted(names, key=_is_advanced):
            kind = OPTIONS[name]
            inner = kind.__origin__
            default = False if inner is bool else None if type(None) in getattr(inner, "__args__", ()) else ...
            parameters.append(
                inspect.Parameter(
                    _CALLED.get(name, name), inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind,
                    default=inspect.Parameter.empty if default is ... else default,
                )
            )  # fmt: skip

        @wraps(command)
        def interruptible(**given: Any) -> int:
            try:
                return command(**given)
            except KeyboardInterrupt as interrupt:
                raise Ended(interrupt) from interrupt

        interruptible.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        interruptible.__annotations__ = {p.name: p.annotation for p in parameters}
        return interruptible

    return decorated
