"""How a block of a table that is read in blocks becomes checked predictions, and its truth few bytes a sample.

Takes numbers or labels as they are stored, gives `Predictions` of the block, checked as a table in memory is checked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import sources
from ...containers import Array, as_array, as_numbers, as_survival, encode_classes
from ...errors import SoberError
from ...predictions import Predictions, Task, _read


@dataclass(frozen=True, eq=False)
class Reading:
    """How numbers become labels or probabilities; small enough to travel with every block."""

    task: Task
    classes: Array | None
    responses: tuple[str, ...]
    response: str

    def table(self, values: Array, y: Array, weight: Array | None, start: int) -> Predictions:
        """Check a block as a table in memory is checked, and give it as one."""
        n = len(values)
        try:
            name, tensor = _read(self.response, values[:, :, None], None, self.task, self.classes, self.responses)[:2]
            table = Predictions(
                y=y,
                responses={name: tensor},
                task=self.task,
                seen=np.ones((n, 1), bool),
                fold_of=np.zeros((n, 1), np.int64),
                classes=self.classes,
                sample_weight=weight,
            )
            table._check_values()
        except SoberError as problem:
            raise SoberError(problem.code, f"In rows {start:,} to {start + n - 1:,}: {problem.message}") from None
        return table

    def check_kinds(self, kinds: Collection[str]) -> None:
        """Refuse blocks that were read in two ways, if that is not the same thing.

        Blocks of nothing but 0 and 1 pass for labels where others show that they are probabilities. With the classes 0
        and 1 that is the same thing; with others it is not.
        """
        both = {"predict", "predict_proba"} <= set(kinds)
        if both and not (self.classes is not None and self.classes.tolist() == [0, 1]):
            raise SoberError(
                "E110",
                "`predictions` looks like labels in some blocks and like probabilities in others. Say which it is: "
                'pass {"predict": ...} or {"predict_proba": ...}.',
            )


def encode(y: Any, task: Task) -> tuple[Array, Array | None]:
    """Check the truth block by block and give it in few bytes: class indices, numbers, or (event, time)."""
    if task == "survival":
        return as_survival(y), None
    array, present = as_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise SoberError("E112", f"`y` must have one entry a sample; got shape {array.shape}.")
    if present is not None:
        raise SoberError("E112", "`y` has missing entries. Leave those samples out of `y` and of the predictions.")
    if task == "regression":
        out = np.empty(len(array))
        for at in range(0, len(array), sources.ROWS):
            out[at : at + sources.ROWS] = as_numbers(array[at : at + sources.ROWS], "y", "E112")
        if not np.isfinite(out).all():
            raise SoberError("E112", "`y` holds missing or infinite values. Leave those samples out.")
        return out, None
    coded = [encode_classes(array[at : at + sources.ROWS]) for at in range(0, len(array), sources.ROWS)]
    coded = [(codes.astype(np.int32), classes) for codes, classes in coded]
    classes = encode_classes(np.concatenate([c for _, c in coded]))[1]
    kind = np.int8 if len(classes) < 128 else np.int32
    places = [np.searchsorted(classes, c).astype(kind) for _, c in coded]
    return np.concatenate([place[codes] for place, (codes, _) in zip(places, coded, strict=True)]), classes
