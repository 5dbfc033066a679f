"""recognise: whose table of predictions is it.

Tools that are known by their columns come first, then tables of any tool by their shape; what is left is a wide table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import SoberError
from ..tables import Roles
from ..tables.roles import check_target, find
from .imported import ImportedPredictions
from .known_tools import COLUMNS, READERS
from .long_table_shape import is_long_table, read_long_table
from .wide import read_wide


def recognise(frame: Any, roles: Roles | None = None, **given: Any) -> ImportedPredictions:
    """Read a table of predictions.

    Parameters
    ----------
    frame : pandas.DataFrame
    roles : Roles, optional
        The column with the truth (long tables of known tools tell it themselves), or time and event in wide tables of
        risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    **given
        Names of `Roles`, instead of it.
    """
    roles = roles or Roles(**given)
    if roles.target_names:
        check_target(roles, frame.columns)
    for name in [*roles.target_names, *filter(None, [roles.group])]:
        find(frame, name)
    _check_values(frame)
    tool = next((name for name, columns in COLUMNS.items() if set(columns) <= set(frame.columns)), None)
    is_long = tool is not None or is_long_table(frame, roles)
    if roles.time is not None and is_long:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column per configuration.")
    if tool is not None:
        return READERS[tool](frame, roles)
    return read_long_table(frame, roles) if is_long else read_wide(frame, roles)


def _check_values(frame: Any) -> None:
    """Refuse columns of lists: nothing can be told by them."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object and any(isinstance(v, (list, tuple, dict, set, np.ndarray)) for v in column):
            raise SoberError(
                "E812", f"Column {str(name)[:40]!r} holds lists. Leave it out, or give one label or number a row."
            )
