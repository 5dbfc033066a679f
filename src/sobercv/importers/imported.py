"""ImportedPredictions: predictions of another tool, in sober's axes.

Takes arrays, gives a record; never computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..containers import Array
from ..errors import Note


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
