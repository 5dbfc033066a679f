"""predictions.parquet: out-of-sample predictions as a long table, one row each, written and read again.

The names of columns are those that tidymodels users know. Read again, all is as the run had it, but labels are text.
MLflow gets the table, too, so that nothing here needs the packages of the command line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..containers import Array
from ..predictions import Predictions
from ..responses import time_of
from ..targets import Target, TaskName

FILE = "predictions.parquet"

#: How columns of predictions and of decision values begin, and what the columns of groups and weights are called.
PREDICTED, DECISION, GROUP, WEIGHT = ".pred", ".decision", ".group", ".weight"


def column_of(label: Any, start: str = PREDICTED) -> str:
    """Name the column of a class; a class called "class" keeps clear of `.pred_class`, which holds the labels."""
    return f"{start}_{label}{'_' * (str(label) == 'class')}"


def long_table(table: Predictions, rows: Array) -> Any:
    """Write every seen prediction as a row; those of configurations that left the race early come last.

    `rows` [N]: where each sample stood in the file, counted from 0. Returns: `.row` (from 1), `.config`, `id` (repeat),
    `id2` (fold), `.group` and `.weight` where there are some, `.pred_class`, `.pred_<class>`, `.pred`,
    `.pred_survival_at(<time>)`, `truth`.
    """
    import pyarrow as pa

    n_folds = 1 + max(int(part.fold_of[part.seen].max()) for part in (table, *table.dropped))
    parts = [_rows_of(part, rows, n_folds) for part in (table, *table.dropped)]
    # What finishers do not have in common is not in the file; what a dropped configuration lacks is empty.
    cut = [part.select([name for name in parts[0].column_names if name in part.column_names]) for part in parts]
    return pa.concat_tables(cut, promote_options="default").unify_dictionaries()


def _rows_of(table: Predictions, rows: Array, n_folds: int) -> Any:
    """Write the seen predictions of a table's own configurations; folds are called alike in all tables of a run."""
    import pyarrow as pa

    def coded(codes: Array, names: list[str]) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)

    sample, repeat = np.nonzero(table.seen)  # [M], the same for every configuration
    c, m = len(table.configurations), len(sample)
    folds = table.fold_of[sample, repeat]
    labels = [] if table.classes is None else [str(label) for label in table.classes.tolist()]
    columns: dict[str, Any] = {
        ".row": pa.array(np.tile(rows[sample] + 1, c)),
        ".config": coded(np.repeat(np.arange(c), m), [f"Configuration{i:03d}" for i in table.configurations]),
        "id": coded(np.tile(repeat, c), [f"Repeat{r + 1}" for r in range(table.n_repeats)]),
        "id2": coded(np.tile(folds, c), [f"Fold{k + 1:0{len(str(n_folds))}d}" for k in range(n_folds)]),
    }
    for name, held in ((GROUP, table.groups), (WEIGHT, table.sample_weight)):
        if held is not None:
            columns[name] = pa.array(np.tile(held[sample], c))
    for name, response in table.responses.items():
        values = np.moveaxis(response[sample, :, repeat], 1, 0).reshape(c * m, *response.shape[3:])  # [M] or [M, K]
        if time_of(name) is not None:
            columns[f"{PREDICTED}_{name}"] = values
        elif values.ndim == 1 and (not labels or name == "decision_function"):
            columns[PREDICTED] = values
        elif name == "predict":
            columns[f"{PREDICTED}_class"] = coded(values, labels)
        else:
            start = PREDICTED if name == "predict_proba" else DECISION
            values = np.stack([1 - values, values], axis=1) if values.ndim == 1 else values  # the second of two classes
            columns |= {column_of(label, start): values[:, k] for k, label in enumerate(labels)}
    truth = table.y[np.tile(sample, c)]
    if table.task == "survival":
        columns |= {"truth_time": truth["time"], "truth_event": truth["event"]}
    else:
        columns["truth"] = coded(truth, labels) if labels else truth
    return pa.table(columns)


def stored_predictions(path: Path, task: TaskName, positive: Any = None) -> Predictions:
    """Read the out-of-sample predictions of a run, of finished configurations and dropped ones; `positive`: a class.

    What was edited raises anything.
    """
    import pandas as pd

    frame = pd.read_parquet(path).astype(dict.fromkeys((".row", ".config", "id", "id2"), "category"))
    samples = frame.drop_duplicates(".row").sort_values(".row")
    if task == "survival":
        target = Target.read(samples[["truth_event", "truth_time"]].to_numpy(float), task)
    elif task == "regression":
        target = Target.read(samples["truth"], task)
    else:
        truth = samples["truth"].astype("category").cat
        labels, named = truth.categories.tolist(), "1" if positive is None else str(positive)
        index = labels.index(named) if positive is not None or (len(labels) == 2 and named in labels) else None
        target = Target(task, truth.codes.to_numpy(np.int64), np.array(labels, dtype=object), index)
    n_rows = frame.groupby(".config", observed=True)[".row"].transform("size")  # the dropped have fewer
    *dropped, finished = (_read_rows(rows, target, samples) for _, rows in frame.groupby(n_rows))
    return replace(finished, dropped=tuple(dropped))


def _read_rows(frame: Any, target: Target, samples: Any) -> Predictions:
    """Read configurations that were predicted in the same places; the reverse of `_rows_of`."""
    import pandas as pd

    frame = frame.sort_values([".config", ".row", "id"]).dropna(axis="columns")  # responses that only some have
    names, n, r = frame[".config"].unique(), len(samples), len(frame["id"].cat.categories)
    places = np.stack([frame[name].cat.codes for name in (".row", "id", "id2")]).reshape(3, len(names), -1)
    sample, repeat, fold = places[:, 0]
    if (places != places[:, :1]).any():
        raise ValueError("configurations with as many predictions were predicted in different places")
    seen, fold_of = np.zeros((n, r), bool), np.zeros((n, r), np.int64)
    seen[sample, repeat], fold_of[sample, repeat] = True, fold
    if f"{PREDICTED}_class" in frame:
        frame[f"{PREDICTED}_class"] = pd.Categorical(frame[f"{PREDICTED}_class"], target.labels).codes
    labels = target.labels[target.n_classes == 2 :]  # of two classes, the second
    held = [
        ("decision_function" if target.labels else "predict", [PREDICTED]),
        ("predict", [f"{PREDICTED}_class"]),
        ("predict_proba", [column_of(label) for label in labels]),
        ("decision_function", [column_of(label, DECISION) for label in labels]),
        *(
            (name.removeprefix(f"{PREDICTED}_"), [name])
            for name in frame
            if name.startswith(f"{PREDICTED}_survival_at(")
        ),
    ]
    responses = {}
    for name, columns in held:
        if columns and set(columns) <= set(frame):
            values = np.zeros((n, len(names), r, len(columns)), frame[columns[0]].dtype)
            values[sample, :, repeat] = frame[columns].to_numpy().reshape(len(names), -1, len(columns)).swapaxes(0, 1)
            responses[name] = values if len(columns) > 1 else values[..., 0]
    return Predictions(
        target=target,
        responses=responses,
        seen=seen,
        fold_of=fold_of,
        groups=samples[GROUP].to_numpy() if GROUP in samples else None,
        sample_weight=samples[WEIGHT].to_numpy() if WEIGHT in samples else None,
        configurations=np.array([int(name.removeprefix("Configuration")) for name in names]),
    )
