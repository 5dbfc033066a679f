"""The predictions that a run wrote down, read again.

Takes predictions.parquet, gives `Predictions` as the run had them: the same samples, folds, groups and
configurations. Labels are text. Never judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array
from ..predictions import Predictions
from ..targets import Target, TaskName
from .folder import RunFolder
from .long_table import DECISION, GROUP, PREDICTED

FILE = "predictions.parquet"


def stored_predictions(folder: RunFolder, task: TaskName) -> Predictions:
    """Read the out-of-sample predictions of a run's finishers.

    Parameters
    ----------
    folder : RunFolder
    task : {"classification", "regression", "survival"}
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(folder / FILE)
        return _predictions(table, task)
    except (pa.ArrowException, OSError, KeyError, ValueError, IndexError) as error:
        raise folder.damaged(FILE, f"it cannot be read, {type(error).__name__}") from error


def _predictions(table: Any, task: TaskName) -> Predictions:
    rows, sample = np.unique(_numbers(table[".row"]), return_inverse=True)
    names, configuration = _coded(table[".config"])
    repeats, repeat = _coded(table["id"])
    n, c, r = len(rows), len(names), len(repeats)
    sample = sample.reshape(-1)

    def spread(values: Array) -> Array:
        out = np.zeros((n, c, r), values.dtype)
        out[sample, configuration, repeat] = values
        return out

    seen, fold = np.zeros((n, r), bool), np.zeros((n, r), np.int64)
    seen[sample, repeat] = True
    fold[sample, repeat] = _coded(table["id2"])[1]
    groups = None
    if GROUP in table.column_names:
        groups = np.zeros(n, np.int64)
        groups[sample] = _numbers(table[GROUP])
    target = _target(table, sample, n, task)
    return Predictions(
        target=target,
        responses={name: spread(values) if values.ndim == 1 else np.stack([spread(v) for v in values.T], axis=3)
                   for name, values in _responses(table, target).items()},
        seen=seen,
        fold_of=fold,
        groups=groups,
        configurations=np.array([int(name.removeprefix("Configuration")) for name in names]),
    )  # fmt: skip


def _responses(table: Any, target: Target) -> dict[str, Array]:
    """Give the responses of a long table, [M] or [M, K]."""
    columns = set(table.column_names)
    labels = [] if target.classes is None else target.classes.tolist()
    found = {
        name.removeprefix(PREDICTED + "_"): _numbers(table[name])
        for name in columns
        if name.startswith(f"{PREDICTED}_survival_at(")
    }
    if PREDICTED in columns:
        found["decision_function" if labels else "predict"] = _numbers(table[PREDICTED])
    if f"{PREDICTED}_class" in columns:
        found["predict"] = _coded(table[f"{PREDICTED}_class"])[1].astype(np.int8 if len(labels) < 128 else np.int32)
    for start, name in ((PREDICTED, "predict_proba"), (DECISION, "decision_function")):
        if labels and {f"{start}_{label}" for label in labels} <= columns:
            values = np.stack([_numbers(table[f"{start}_{label}"]) for label in labels], axis=1)
            found[name] = values[:, 1] if len(labels) == 2 else values
    return found


def _target(table: Any, sample: Array, n: int, task: TaskName) -> Target:
    if task == "survival":
        y = np.zeros(n, dtype=[("event", bool), ("time", np.float64)])
        y["time"][sample], y["event"][sample] = _numbers(table["truth_time"]), table["truth_event"].to_numpy()
        return Target(task, y)
    if task == "regression":
        values = np.zeros(n)
        values[sample] = _numbers(table["truth"])
        return Target(task, values)
    labels, truth = _coded(table["truth"])
    codes = np.zeros(n, np.int64)
    codes[sample] = truth
    return Target(task, codes, np.array(labels, dtype=object), 1 if len(labels) == 2 and labels[1] == "1" else None)


def _numbers(column: Any) -> Array:
    return np.asarray(column.to_numpy())


def _coded(column: Any) -> tuple[list[str], Array]:
    """Give the names of a column in the order of its dictionary, and their codes [M]."""
    whole = column.combine_chunks()
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    return coded.dictionary.to_pylist(), np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)
