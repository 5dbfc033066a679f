"""The options of all commands, each written once, and which command takes which.

Takes names of options, gives typer the signature of a command; never reads a value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .exit_code import Ended

DATA, MODEL, RUN, SCREEN = "What to predict", "How to tune", "The run", "The screen"
#: Options that few need; shown last.
ADVANCED = "Advanced"


#: Names that the shell completes; every scoring name of scikit-learn works.
METRICS = (
    "roc_auc", "average_precision", "accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc_ovr", "neg_log_loss",
    "neg_brier_score", "matthews_corrcoef", "r2", "neg_mean_absolute_error", "neg_mean_squared_error",
    "neg_root_mean_squared_error", "concordance_index",
)  # fmt: skip


def _option(kind: Any, panel: str, help: str, *names: str, words: Sequence[str] = (), **more: Any) -> Any:
    """An option of a kind, called after its parameter by default; `words` are those that the shell completes."""
    if words:
        more["autocompletion"] = lambda: list(words)
    return Annotated[kind, Option(*names, help=help, rich_help_panel=panel, **more)]


def _argument(kind: Any, help: str) -> Any:
    return Annotated[kind, Argument(help=help, show_default=False)]


_text, _number, _path = (partial(_option, kind) for kind in (str | None, int | None, Path | None))
_switch, _list = partial(_option, bool), partial(_option, list[str] | None, metavar="<str>")

#: Every option and argument; a switch is False by default, and named, because typer would add its negation.
OPTIONS: dict[str, Any] = {
    "data": _argument(str | None, "CSV, TSV, Excel, Parquet or Arrow file; - is standard input."),
    "folder": _argument(Path, "The folder that sober fit wrote."),
    "new_data": _argument(str, "New rows; - is standard input."),
    "predictions": _argument(str, "Out-of-fold predictions of another tool, or the folder of a run."),
    "example_name": _argument(str, "breast_cancer, clinic or oof."),
    # ---- what to predict
    "target": _text(DATA, "The column to predict.", "--target", "-t"),
    "time": _text(DATA, "Survival: the column with the time."),
    "event": _text(DATA, "Survival: the column with the event, 1 seen, 0 not."),
    "event_value": _text(ADVANCED, "Survival: what the event column holds if seen (1)."),
    "positive": _text(DATA, "The positive class, where a metric depends on it."),
    "sheet": _text(DATA, "Excel: the sheet with the table."),
    "decimal": _text(ADVANCED, "The decimal mark, . or , where numbers are ambiguous."),
    "header": _option(
        bool | None, ADVANCED, "Whether the first row has names.", "--header/--no-header", show_default=False
    ),
    "limits": _text(
        ADVANCED, "What limits such as <0.5 count as: value, half or missing.", words=("value", "half", "missing")
    ),
    "limit_flags": _switch(ADVANCED, "Add a column that marks limits such as <0.5.", "--limit-flags"),
    "id": _text(DATA, "Identifies samples; rows that share it stay together."),
    "group": _text(DATA, "Rows that share it (a patient) stay together."),
    "weight": _text(ADVANCED, "How much each row counts, in fits and in scores."),
    "ignore": _list(DATA, "A column that models must not see; can be repeated."),
    "task": _text(
        DATA, "binary, multiclass, regression or survival; default: inferred from the target.",
        words=("binary", "multiclass", "regression", "survival"),
    ),
    # ---- how to tune
    "metric": _list(
        MODEL, "As in scikit-learn; several with commas, the first selects. Default: "
        "roc_auc, balanced_accuracy, r2 or concordance_index.", "--metric", "-m", words=METRICS,
    ),
    "preset": _text(
        MODEL, "quick, standard (default), thorough or paper.", "--preset", "-p",
        words=("quick", "standard", "thorough", "paper"),
    ),
    "configurations": _number(ADVANCED, "Try this many of the preset (default: all)."),
    "cv": _text(
        MODEL, "Number of folds (default: 10), or groups: hold out one group at a time, as is done by itself "
        "where there are fewer groups than folds.",
    ),
    "no_drop": _switch(ADVANCED, "Run every configuration on every fold, hopeless ones too.", "--no-drop"),
    "by": _list(MODEL, "Columns whose values are scored apart, such as sex,site."),
    "repeats": _number(MODEL, "Number of CV repeats (default: 1)."),
    "all_repeats": Annotated[int, Option("--repeats", help="Number of CV repeats in all.", show_default=False)],
    "aggregate": _text(
        ADVANCED, "Select by the score of all predictions together (pooled, default) or by the mean over folds "
        "(fold).", words=("pooled", "fold"),
    ),
    "stratify": _switch(ADVANCED, "Resample within classes or events, where some are rare.", "--stratify"),
    "interval": _text(
        ADVANCED, "How the interval is made: calibrated (default) or percentile.", words=("percentile", "calibrated")
    ),
    "fixed_models": _switch(
        ADVANCED, "The models were trained on other rows than these, so nothing was cross-validated.",
        "--fixed-models",
    ),
    "within_folds": _switch(ADVANCED, "Metrics that rank compare only rows of the same fold.", "--within-folds"),
    "tune_threshold": _switch(
        MODEL, "Two classes: tune the decision threshold, for f1, balanced_accuracy and the like.", "--tune-threshold"
    ),
    "learning_curve": _switch(
        MODEL, "Draw how the winner's score grows with the number of training rows.", "--learning-curve"
    ),
    # ---- the run
    "seed": _number(RUN, "The same number gives the same result (default: 0)."),
    "jobs": _number(RUN, "Workers (default: all cores). Changes no result.", "--jobs", "-j"),
    "max_time": _text(RUN, "End the whole command after 90s, 10m or 2h, with what is there."),
    "output": _path(RUN, "Where to write.", "--output", "-o"),
    "format": _text(RUN, "Only the tables: md, tex or csv; default: to standard output.", words=("md", "tex", "csv")),
    "overwrite": _switch(RUN, "Overwrite an earlier run.", "--overwrite"),
    "replace": _switch(RUN, "Write over a file that is there.", "--overwrite"),
    "fast": _switch(RUN, "A report without charts and without the importance of columns.", "--fast"),
    "no_report": _switch(RUN, "No report at all.", "--no-report"),
    "settings": _path(ADVANCED, "A file like sober.toml; default: ./sober.toml."),
    "at": _option(
        list[float] | None, RUN, "Survival: a time at which its probability is wanted; can be repeated.",
        metavar="<float>",
    ),
    "threshold": _option(float | None, RUN, "Two classes: predict the positive one from this probability on."),
    "moved_data": _path(RUN, "The table, if it has moved."),
    "force": _switch(ADVANCED, "Continue although the answer could mislead.", "--force"),
    "protocols": _text(
        RUN, "Any of naive, tt, ncv, bbc, bbc-f, 632+, wmc, wmcs, ipl, bced, bbc-repeated "
        "(default: naive,tt,ncv,bbc,bced).",
    ),
    # ---- the screen
    "json": _switch(SCREEN, "Print JSON and nothing else.", "--json"),
    "quiet": _switch(SCREEN, "Print only the result.", "--quiet", "-q"),
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


def takes(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command its options, keys of `OPTIONS` in the order of its help page; it is called with all by name."""

    def decorated(command: Callable[..., int]) -> Callable[..., int]:
        parameters = []
        for name in sorted(names, key=lambda n: getattr(OPTIONS[n].__metadata__[0], "rich_help_panel", "") == ADVANCED):
            inner = OPTIONS[name].__origin__
            is_optional = type(None) in getattr(inner, "__args__", ())
            default = False if inner is bool else None if is_optional else inspect.Parameter.empty
            called = _CALLED.get(name, name)
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(inspect.Parameter(called, kind, annotation=OPTIONS[name], default=default))

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
