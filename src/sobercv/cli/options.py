"""Options that several commands share, each written once.

Takes nothing, gives annotated types for typer; never reads a value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

DATA, MODEL, RUN, SCREEN = "What to predict", "How to tune", "The run", "The screen"


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


Data = Annotated[
    str | None, Argument(help="CSV, TSV, Excel, Parquet or Arrow file; - is standard input.", show_default=False)
]
Folder = Annotated[Path, Argument(help="The folder that sober fit wrote.", show_default=False)]
Target = Annotated[str | None, Option("--target", "-t", help="The column to predict.", rich_help_panel=DATA)]
Time = Annotated[str | None, Option("--time", help="Survival: the column with the time.", rich_help_panel=DATA)]
Event = Annotated[
    str | None, Option("--event", help="Survival: the column with the event, 1 seen, 0 not.", rich_help_panel=DATA)
]
EventValue = Annotated[
    str | None,
    Option("--event-value", help="Survival: what the event column holds if seen, if not 1.", rich_help_panel=DATA),
]
Sheet = Annotated[str | None, Option("--sheet", help="Excel: the sheet with the table.", rich_help_panel=DATA)]
Decimal = Annotated[
    str | None,
    Option("--decimal", help="The decimal mark, . or , where numbers can be read in two ways.", rich_help_panel=DATA),
]
Header = Annotated[
    bool | None,
    Option("--header/--no-header", help="Whether the first row holds names.", rich_help_panel=DATA, show_default=False),
]
Id = Annotated[
    str | None,
    Option("--id", help="Tells samples apart; rows that share it stay together.", rich_help_panel=DATA),
]
Group = Annotated[
    str | None, Option("--group", help="Rows that share it (a patient) stay together.", rich_help_panel=DATA)
]
Ignore = Annotated[
    list[str] | None,
    Option("--ignore", help="A column that models must not see; can be repeated.", rich_help_panel=DATA),
]
Task = Annotated[
    str | None,
    Option(
        "--task",
        help="binary, multiclass, regression or survival; told from the target unless given.",
        autocompletion=tasks,
        rich_help_panel=DATA,
    ),
]
Metric = Annotated[
    list[str] | None,
    Option(
        "--metric",
        "-m",
        help="As in scikit-learn; several with commas, the first selects. "
        "Default: roc_auc, balanced_accuracy, r2 or concordance_index.",
        autocompletion=metrics,
        rich_help_panel=MODEL,
    ),
]
Preset = Annotated[
    str | None,
    Option(
        "--preset",
        "-p",
        help="quick, standard (default), thorough or paper.",
        autocompletion=presets,
        rich_help_panel=MODEL,
    ),
]
Configurations = Annotated[
    int | None,
    Option("--configurations", help="Draw so many of the preset's instead of all.", rich_help_panel=MODEL),
]
Folds = Annotated[int | None, Option("--folds", help="Folds; 10 unless given.", rich_help_panel=MODEL)]
Repeats = Annotated[
    int | None, Option("--repeats", help="Partitions into folds; 1 unless given.", rich_help_panel=MODEL)
]
Seed = Annotated[
    int | None, Option("--seed", help="The same number gives the same result; 0 unless given.", rich_help_panel=RUN)
]
Jobs = Annotated[
    int | None,
    Option("--jobs", "-j", help="Workers; all cores unless given. Changes no result.", rich_help_panel=RUN),
]
MaxTime = Annotated[
    str | None,
    Option("--max-time", help="Stop after 90s, 10m or 2h, and judge what is there.", rich_help_panel=RUN),
]
Output = Annotated[Path | None, Option("--output", "-o", help="Where to write.", rich_help_panel=RUN)]
Overwrite = Annotated[bool, Option("--overwrite", help="Write over an earlier run.", rich_help_panel=RUN)]
SettingsFile = Annotated[
    Path | None,
    Option("--settings", help="A file like sober.toml; ./sober.toml is read unless given.", rich_help_panel=RUN),
]
MovedData = Annotated[Path | None, Option("--data", help="The table, if it has moved.", rich_help_panel=RUN)]
Json = Annotated[bool, Option("--json", help="Print JSON and nothing else.", rich_help_panel=SCREEN)]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print only the result.", rich_help_panel=SCREEN)]
