"""predictions.parquet: out-of-sample predictions as a long table, one row each, written and read again.

The names of columns are those that tidymodels users know. Read again, samples, folds, groups and configurations are as
the run had them; labels are text. Predictions of new rows have the same names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..predictions import Predictions
from ..responses import time_of
from ..targets import SURVIVAL, Target, TaskName
from .folder import RunFolder

FILE = "predictions.parquet"

#: How columns of predictions and of decision values begin, and what the columns of groups and weights are called.
PREDICTED, DECISION, GROUP, WEIGHT = ".pred", ".decision", ".group", ".weight"


def long_table(table: Predictions, rows: Array) -> Any:
    """Write every seen prediction as a row; those of configurations that left the race early come last.

    `rows` [N]: where each sample stood in the file, counted from 0. Returns: `.row` (from 1), `.config`, `id` (repeat),
    `id2` (fold), `.group` and `.weight` where there are some, `.pred_class`, `.pred_<class>`, `.pred`,
    `.pred_survival_at(<time>)`, `truth`.
    """
    import pyarrow as pa

    finished = _rows_of(table, rows)
    left = (_rows_of(group, rows) for group in table.dropped)
    # What finishers do not have in common is not in the file; what a dropped configuration lacks is empty.
    cut = [part.select([name for name in finished.column_names if name in part.column_names]) for part in left]
    return pa.concat_tables([finished, *cut], promote_options="default").unify_dictionaries()


def _rows_of(table: Predictions, rows: Array) -> Any:
    """Write the seen predictions of a table's own configurations."""
    import pyarrow as pa

    sample, repeat = np.nonzero(table.seen)  # [M], the same for every configuration
    c, m = len(table.configurations), len(sample)
    folds = table.fold_of[sample, repeat]
    n_folds = int(folds.max()) + 1
    labels = [] if table.classes is None else [str(label) for label in table.classes.tolist()]
    columns: dict[str, Any] = {
        ".row": pa.array(np.tile(rows[sample] + 1, c)),
        ".config": _coded(np.repeat(np.arange(c), m), [f"Configuration{i:03d}" for i in table.configurations]),
        "id": _coded(np.tile(repeat, c), [f"Repeat{r + 1}" for r in range(table.n_repeats)]),
        "id2": _coded(np.tile(folds, c), [f"Fold{k + 1:0{len(str(n_folds))}d}" for k in range(n_folds)]),
    }
    if table.groups is not None:
        columns[GROUP] = pa.array(np.tile(table.groups[sample], c))
    if table.sample_weight is not None:
        columns[WEIGHT] = pa.array(np.tile(table.sample_weight[sample], c))
    for name, values in table.responses.items():
        picked = np.moveaxis(values[sample, :, repeat], 1, 0)  # [C, M(, K)]
        start = DECISION if name == "decision_function" and "predict_proba" in table.responses else PREDICTED
        columns |= _response(name, picked.reshape(c * m, *picked.shape[2:]), labels, start)
    truth = table.y[np.tile(sample, c)]
    if table.task == "survival":
        columns |= {"truth_time": truth["time"], "truth_event": truth["event"]}
    else:
        columns["truth"] = _coded(truth, labels) if labels else truth
    return pa.table(columns)


def _coded(codes: Array, names: list[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def _response(name: str, values: Array, labels: list[str], start: str) -> dict[str, Any]:
    """Return the columns of one response [M] or [M, K]; `start` is how those of single classes begin."""
    if time_of(name) is not None:
        return {f"{PREDICTED}_{name}": values}
    if values.ndim == 1 and (not labels or name == "decision_function"):
        return {PREDICTED: values}
    if name == "predict":
        return {f"{PREDICTED}_class": _coded(values, labels)}
    if values.ndim == 1:  # two classes: the probability of the second
        values = np.stack([1 - values, values], axis=1)
    return {f"{start}_{label}": values[:, k] for k, label in enumerate(labels)}


def stored_predictions(folder: RunFolder, task: TaskName) -> Predictions:
    """Read the out-of-sample predictions of a run: of finished configurations, and of the dropped ones."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(folder / FILE)
        return _predictions(table, task)
    except (pa.ArrowException, OSError, KeyError, ValueError, IndexError) as error:
        raise folder.damaged(FILE, f"it cannot be read, {type(error).__name__}") from error


def _predictions(table: Any, task: TaskName) -> Predictions:
    rows, sample = np.unique(table[".row"].to_numpy(), return_inverse=True)
    sample = sample.reshape(-1)
    names, configuration = _codes(table[".config"])
    repeats, repeat = _codes(table["id"])
    n, c, r = len(rows), len(names), len(repeats)
    at = sample, configuration, repeat
    present = _spread(np.ones(len(sample), bool), at, (n, c, r))
    has, target = set(table.column_names), _target(table, sample, n, task)
    whole = Predictions(
        target=target,
        responses={name: _spread(values, at, (n, c, r)) for name, values in _responses(table, target).items()},
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
    finished = max(range(len(parts)), key=lambda k: int(parts[k].seen.sum()))
    return replace(parts[finished], dropped=tuple(part for k, part in enumerate(parts) if k != finished))


def _spread(values: Array, at: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """Lay values [M] or [M, K] out as an array of a shape, such as [N, C, R(, K)]; zero where there is none."""
    out = np.zeros((*shape, *values.shape[1:]), values.dtype)
    out[at] = values
    return out


def _responses(table: Any, target: Target) -> dict[str, Array]:
    """Give the responses of a long table, [M] or [M, K]."""
    columns = set(table.column_names)
    labels = [] if target.classes is None else target.classes.tolist()
    found = {
        name.removeprefix(PREDICTED + "_"): table[name].to_numpy()
        for name in columns
        if name.startswith(f"{PREDICTED}_survival_at(")
    }
    if PREDICTED in columns:
        found["decision_function" if labels else "predict"] = table[PREDICTED].to_numpy()
    if f"{PREDICTED}_class" in columns:
        found["predict"] = _codes(table[f"{PREDICTED}_class"])[1].astype(np.int8 if len(labels) < 128 else np.int32)
    for start, name in ((PREDICTED, "predict_proba"), (DECISION, "decision_function")):
        if labels and {f"{start}_{label}" for label in labels} <= columns:
            values = np.stack([table[f"{start}_{label}"].to_numpy() for label in labels], axis=1)
            found[name] = values[:, 1] if len(labels) == 2 else values
    return found


def _target(table: Any, sample: Array, n: int, task: TaskName) -> Target:
    if task == "survival":
        y = np.zeros(n, SURVIVAL)
        y["time"][sample], y["event"][sample] = table["truth_time"].to_numpy(), table["truth_event"].to_numpy()
        return Target(task, y)
    if task == "regression":
        return Target(task, _spread(table["truth"].to_numpy().astype(np.float64), (sample,), (n,)))
    labels, truth = _codes(table["truth"])
    positive = 1 if len(labels) == 2 and labels[1] == "1" else None
    return Target(task, _spread(truth, (sample,), (n,)), np.array(labels, dtype=object), positive)


def _codes(column: Any) -> tuple[list[str], Array]:
    """Give the names of a column in the order of its dictionary, and their codes [M]."""
    whole = column.combine_chunks()
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    return coded.dictionary.to_pylist(), np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)
