"""Numbers so great that arithmetic with them overflows.

Takes a `Dataset`, gives notes; never trains.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import Note
from ..tables import Dataset
from ..targets import LARGEST
from .naming import some
from .numeric_columns import NumericColumns


def huge_numbers(data: Dataset) -> Iterator[Note]:
    """Find columns with finite numbers that no model can use."""
    numbers = NumericColumns.of(data.X)
    for i in np.flatnonzero(numbers.largest > LARGEST):
        name = numbers.names[i]
        text = f"Column {some([name])} holds numbers beyond {LARGEST:g}, with which no model can work. Mend them, "
        yield Note("E817", text + "or leave the cells empty for missing.", (name,))
