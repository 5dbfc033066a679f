"""recognise: whose table of predictions is it; the list of the importers that are asked, in order.

Takes a data frame and the roles of its columns, gives `ImportedPredictions`. Never scores. A new importer is one file
with an `IMPORTER` and one entry of `IMPORTERS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import SoberError
from ..tables import Roles
from ..tables.roles import check_target, find
from . import caret, long_table_shape, mlr, mlr3, tidymodels, wide
from .imported import ImportedPredictions

#: Tools that are known by their columns come first, then tables of any tool by their shape; wide takes what is left.
IMPORTERS = (
    tidymodels.IMPORTER, caret.IMPORTER, mlr3.IMPORTER, mlr.IMPORTER, long_table_shape.IMPORTER, wide.IMPORTER,
)  # fmt: skip


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
    importer = next(known for known in IMPORTERS if known.recognises(frame, roles))
    if roles.time is not None and importer is not wide.IMPORTER:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column a configuration.")
    return importer.read(frame, roles)


def _check_values(frame: Any) -> None:
    """Refuse columns of lists: nothing can be told by them."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object and any(isinstance(v, (list, tuple, dict, set, np.ndarray)) for v in column):
            raise SoberError(
                "E812", f"Column {str(name)[:40]!r} holds lists. Leave it out, or give one label or number a row."
            )
