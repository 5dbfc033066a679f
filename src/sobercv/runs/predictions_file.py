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
from ..targets import SURVIVAL, Target, TaskName

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

    parts = [_rows_of(part, rows) for part in (table, *table.dropped)]
    # What finishers do not have in common is not in the file; what a dropped configuration lacks is empty.
    cut = [part.select([name for name in parts[0].column_names if name in part.column_names]) for part in parts]
    return pa.concat_tables(cut, promote_options="default").unify_dictionaries()


def _rows_of(table: Predictions, rows: Array) -> Any:
    """Write the seen predictions of a table's own configurations."""
    import pyarrow as pa

    def coded(codes: Array, names: list[str]) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)

    sample, repeat = np.nonzero(table.seen)  # [M], the same for every configuration
    c, m = len(table.configurations), len(sample)
    folds = table.fold_of[sample, repeat]
    n_folds = int(folds.max()) + 1
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
            start = DECISION if name == "decision_function" and "predict_proba" in table.responses else PREDICTED
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
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    rows, sample = np.unique(table[".row"].to_numpy(), return_inverse=True)
    sample = sample.reshape(-1)
    names, configuration = _codes(table[".config"])
    repeats, repeat = _codes(table["id"])
    n, c, r = len(rows), len(names), len(repeats)
    at, has = (sample, configuration, repeat), set(table.column_names)
    present = _spread(np.ones(len(sample), bool), at, (n, c, r))
    if task == "survival":
        y = np.zeros(n, SURVIVAL)
        y["time"][sample], y["event"][sample] = table["truth_time"].to_numpy(), table["truth_event"].to_numpy()
        target = Target(task, y)
    elif task == "regression":
        target = Target(task, _spread(table["truth"].to_numpy().astype(np.float64), (sample,), (n,)))
    else:
        labels, truth = _codes(table["truth"])
        named = "1" if positive is None else str(positive)
        index = labels.index(named) if positive is not None or (len(labels) == 2 and named in labels) else None
        target = Target(task, _spread(truth, (sample,), (n,)), np.array(labels, dtype=object), index)
    whole = Predictions(
        target=target,
        responses={name: _spread(v, at, (n, c, r)) for name, v in _responses(table, target).items()},
        seen=np.asarray(present.any(axis=1)),
        fold_of=_spread(_codes(table["id2"])[1], (sample, repeat), (n, r)),
        groups=_spread(table[GROUP].to_numpy().astype(np.int64), (sample,), (n,)) if GROUP in has else None,
        sample_weight=_spread(table[WEIGHT].to_numpy(), (sample,), (n,)) if WEIGHT in has else None,
        configurations=np.array([int(name.removeprefix("Configuration")) for name in names]),
    )
    patterns, which = np.unique(np.moveaxis(present, 1, 0).reshape(c, -1), axis=0, return_inverse=True)
    parts = []
    for k, seen in enumerate(patterns.reshape(-1, n, r)):
        part = whole.take_configurations(np.flatnonzero(which == k))
        sample_at, repeat_at = np.nonzero(seen)
        common = {  # the responses that all configurations of a part have
            name: values
            for name, values in part.responses.items()
            if values.dtype.kind != "f" or not np.isnan(values[sample_at, :, repeat_at]).any()
        }
        parts.append(replace(part, responses=common, seen=seen))
    finished = max(parts, key=lambda part: int(part.seen.sum()))
    return replace(finished, dropped=tuple(part for part in parts if part is not finished))


def _responses(table: Any, target: Target) -> dict[str, Array]:
    """Return the responses of a long table, [M] or [M, K]."""
    columns = set(table.column_names)
    labels = [] if target.classes is None else target.classes.tolist()
    at_times = [name for name in columns if name.startswith(f"{PREDICTED}_survival_at(")]
    found = {name.removeprefix(PREDICTED + "_"): table[name].to_numpy() for name in at_times}
    if PREDICTED in columns:
        found["decision_function" if labels else "predict"] = table[PREDICTED].to_numpy()
    if f"{PREDICTED}_class" in columns:
        codes = _codes(table[f"{PREDICTED}_class"])[1]
        found["predict"] = codes.astype(np.int8 if len(labels) < 128 else np.int32)
    for start, response in ((PREDICTED, "predict_proba"), (DECISION, "decision_function")):
        named = [column_of(label, start) for label in labels]
        if named and columns.issuperset(named):
            values = np.stack([table[name].to_numpy() for name in named], axis=1)
            found[response] = values[:, 1] if len(labels) == 2 else values
    return found


def _spread(values: Array, at: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """Lay values [M] or [M, K] out as an array of a shape, such as [N, C, R(, K)]; zero where there is none."""
    out = np.zeros((*shape, *values.shape[1:]), values.dtype)
    out[at] = values
    return out


def _codes(column: Any) -> tuple[list[str], Array]:
    """Return the names of a column in the order of its dictionary, and their codes [M]."""
    whole = column.combine_chunks()
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    return coded.dictionary.to_pylist(), np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)
