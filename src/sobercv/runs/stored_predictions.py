"""The predictions that a run wrote down, read again.

Takes predictions.parquet, gives `Predictions` as the run had them: the same samples, folds, groups and
configurations. Labels are text. Never judges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..predictions import Predictions
from ..targets import Target, TaskName
from .folder import RunFolder
from .long_table import DECISION, GROUP, PREDICTED

FILE = "predictions.parquet"


def stored_predictions(folder: RunFolder, task: TaskName) -> Predictions:
    """Read the out-of-sample predictions of a run: of its finishers, and of those who left its race early.

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
    at = sample.reshape(-1), configuration, repeat
    present, fold = np.zeros((n, c, r), bool), np.zeros((n, r), np.int64)
    present[at] = True
    fold[at[0], repeat] = _coded(table["id2"])[1]
    groups = None
    if GROUP in table.column_names:
        groups = np.zeros(n, np.int64)
        groups[at[0]] = _numbers(table[GROUP])
    target = _target(table, at[0], n, task)
    everybody = Predictions(
        target=target,
        responses={name: _spread(values, at, (n, c, r)) for name, values in _responses(table, target).items()},
        seen=np.asarray(present.any(axis=1)),
        fold_of=fold,
        groups=groups,
        configurations=np.array([int(name.removeprefix("Configuration")) for name in names]),
    )
    patterns, which = np.unique(np.moveaxis(present, 1, 0).reshape(c, -1), axis=0, return_inverse=True)
    parts = [
        replace(_in_common(everybody.take_configurations(np.flatnonzero(which == k)), seen), seen=seen)
        for k, seen in enumerate(patterns.reshape(-1, n, r))
    ]
    finished = max(range(len(parts)), key=lambda k: int(parts[k].seen.sum()))
    return replace(parts[finished], leavers=tuple(part for k, part in enumerate(parts) if k != finished))


def _in_common(part: Predictions, seen: Array) -> Predictions:
    """Keep the responses that all configurations of a part have."""
    at = np.nonzero(seen)
    has = {k: v for k, v in part.responses.items() if v.dtype.kind != "f" or not np.isnan(v[at[0], :, at[1]]).any()}
    return replace(part, responses=has)


def _spread(values: Array, at: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """Lay values [M] or [M, K] out as [N, C, R] or [N, C, R, K]; zero where there is none."""
    out = np.zeros((*shape, *values.shape[1:]), values.dtype)
    out[at] = values
    return out


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
