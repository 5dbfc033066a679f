"""ImportedPredictions: predictions of another tool in sober's axes, and long tables brought into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError


@dataclass(frozen=True, eq=False)
class ImportedPredictions:
    """Predictions of another tool.

    Attributes
    ----------
    tool : str
    y : array [N]
    responses : mapping of str to masked array [N, C, R] or [N, C, R, K]
        By "predict" or "predict_proba", or "" where a bare column can be either.
    names : list of str
        Of the configurations.
    groups : array [N] or None
    folds : int array [N, R] or None
    is_adaptive : bool
        Whether later configurations were chosen by the scores of earlier ones.
    n_repeats : int
    notes : tuple of Note
        What the reader should know about how the table was understood.
    """

    tool: str
    y: Array
    responses: Mapping[str, Any]
    names: list[str]
    groups: Array | None = None
    folds: Array | None = None
    is_adaptive: bool = False
    n_repeats: int = 1
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class Parts:
    """Columns of a long table by the part that they play; None where a tool does not have it."""

    sample: Any
    configuration: Any
    truth: Any
    repeat: Any = None
    fold: Any = None
    group: Any = None
    label: Any = None
    number: Any = None
    chances: Mapping[str, Any] = field(default_factory=dict)


def arrays_of(tool: str, parts: Parts, ignore: Sequence[str] = (), is_adaptive: bool = False) -> ImportedPredictions:
    """Bring a long table, one row per prediction, into arrays [N, C, R(, K)].

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.

    Parameters
    ----------
    tool : str
    parts : Parts
    ignore : sequence of str
        Configurations to leave out.
    is_adaptive : bool
        Whether later configurations were chosen by the scores of earlier ones.
    """
    keep = ~parts.configuration.isin(list(ignore)).to_numpy() & parts.truth.notna().to_numpy()
    if not keep.any():
        raise SoberError("E812", "No prediction is left: the truth is missing everywhere, or all were ignored.")
    sample, samples = _codes(parts.sample, keep)
    configuration, names = _codes(parts.configuration, keep)
    repeat, repeats = (np.zeros(len(sample), int), [0]) if parts.repeat is None else _codes(parts.repeat, keep)
    n, c, r = len(samples), len(names), len(repeats)
    flat = (sample * c + configuration) * r + repeat
    _check_once(flat, sample, configuration, samples, names)
    present = np.zeros(n * c * r, bool)
    present[flat] = True
    gaps = ~present.reshape(n, c, r)

    def spread(column: Any, empty: Any) -> Any:
        values = column[keep].to_numpy()
        out = np.full(
            n * c * r, empty, dtype=object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        )
        out[flat] = values
        return np.ma.masked_array(out.reshape(n, c, r), gaps)

    truth = _first(sample, n, parts.truth[keep], "truth")
    folds = None
    if parts.fold is not None:
        folds = np.zeros((n, r), int)
        folds[sample, repeat] = _codes(parts.fold, keep)[0]
    return ImportedPredictions(
        tool=tool,
        y=truth,
        responses=_responses(parts, spread, truth),
        names=[str(name) for name in names],
        groups=None if parts.group is None else _first(sample, n, parts.group[keep], "group").astype(str),
        folds=folds,
        is_adaptive=is_adaptive,
        n_repeats=r,
    )


def _codes(column: Any, keep: Array) -> tuple[Array, list[Any]]:
    if column[keep].isna().any():
        raise SoberError("E812", f"The column {column.name!r} has gaps. Every prediction needs one.")
    codes, values = column[keep].factorize(sort=True)
    return np.asarray(codes), list(values)


def _check_once(flat: Array, sample: Array, configuration: Array, samples: list[Any], names: list[Any]) -> None:
    _, first, times = np.unique(flat, return_index=True, return_counts=True)
    if times.max() == 1:
        return
    worst = first[times.argmax()]
    where = f"row {samples[sample[worst]]} of configuration {str(names[configuration[worst]])[:60]!r}"
    if len(names) == 1:
        raise SoberError(
            "E813",
            f"Only one configuration can be told apart, and {where} was predicted {times.max()} times. Keep the column "
            "that tells configurations apart.",
        )
    raise SoberError(
        "E814",
        f"In one repeat {where} was predicted {times.max()} times, so these are not out-of-fold predictions of one "
        "cross-validation. Keep the column of the repeat, or save the hold-out predictions only.",
    )


def _first(sample: Array, n: int, column: Any, what: str) -> Array:
    """Give each sample's own value, the same in all its rows."""
    codes, values = column.factorize()
    own = np.full(n, -1)
    own[sample] = codes
    if (own[sample] != codes).any():
        raise SoberError("E812", f"The {what} differs between rows of the same sample. One sample has one {what}.")
    chosen = values.take(own)
    return np.asarray(chosen.to_numpy() if chosen.dtype.kind in "iufb" else np.asarray(chosen, dtype=object))


def _responses(parts: Parts, spread: Any, truth: Array) -> dict[str, Any]:
    found = {}
    labels = sorted(set(truth.tolist()))
    named = {str(label): label for label in labels}
    if parts.number is not None:
        found["predict" if not parts.chances and truth.dtype.kind == "f" else ""] = spread(parts.number, 0.0)
    if parts.label is not None:
        labelled = parts.label.astype(str).map(named) if truth.dtype == object else parts.label
        if labelled.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        found["predict"] = spread(labelled, labels[0])
    if parts.chances and set(parts.chances) >= set(named):
        columns = [spread(parts.chances[str(label)], 0.0) for label in labels]
        found["predict_proba"] = columns[1] if len(columns) == 2 else np.ma.stack(columns, axis=3)
    elif len(parts.chances) == 1 and len(labels) == 2 and set(parts.chances) <= set(named):
        name, column = next(iter(parts.chances.items()))
        found["predict_proba"] = spread(column if named[name] == labels[1] else 1 - column, 0.0)
    if not found:
        raise SoberError("E812", "No column holds predictions for the classes of the truth. Look at their names.")
    return found
