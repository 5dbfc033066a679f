"""The columns of numbers of a frame as one matrix: a look at each of twenty thousand takes no loop over the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """Numbers of a frame.

    Attributes
    ----------
    positions : int array [P]
        Where they stand in the frame.
    values : float array [N, P]
        NaN where missing.
    """

    names: list[str]
    positions: Array
    values: Array

    @classmethod
    def of(cls, X: Any) -> NumericColumns:
        """Take whole numbers and fractions out of a frame."""
        held = [i for i, dtype in enumerate(X.dtypes) if dtype.kind in "iuf"]
        values = X.iloc[:, held].to_numpy(dtype=np.float64, na_value=np.nan)
        names = X.columns.tolist()
        return cls([names[i] for i in held], np.array(held, dtype=int), values)

    @property
    def whole(self) -> Array:
        """Which of them hold whole numbers only, gaps aside: bool [P]."""
        with np.errstate(invalid="ignore"):
            return np.asarray(((self.values % 1 == 0) | np.isnan(self.values)).all(axis=0))

    @property
    def largest(self) -> Array:
        """The largest finite size of a number in each: [P], 0 where there is none."""
        return np.where(np.isfinite(self.values), np.abs(self.values), 0.0).max(axis=0, initial=0.0)


def not_fractions(X: Any) -> list[str]:
    """Name the columns that are no measurements with fractions: whole numbers, text, dates, flags."""
    numbers = NumericColumns.of(X)
    fractions = set(numbers.positions[~numbers.whole].tolist())
    return [name for i, name in enumerate(X.columns) if i not in fractions]
