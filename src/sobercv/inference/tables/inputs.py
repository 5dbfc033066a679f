"""What users hand in beside their question: predictions, and what goes with the samples; as given, nothing checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Inputs:
    """The arrays of one call; `sobercv.bbc` documents them."""

    predictions: Any
    y: Any = None
    groups: Any = None
    folds: Any = None
    sample_weight: Any = None
    seen: Any = None
    pos_label: Any = None
    counts: Any = None
    approximate: bool | int = False
