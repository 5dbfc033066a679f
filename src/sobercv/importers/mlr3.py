"""mlr3: as.data.table() of predictions, bound together with a column that tells configurations apart.

Takes a data frame, gives `ImportedPredictions`; never scores.
"""

from __future__ import annotations

from typing import Any

from ..errors import SoberError
from ..tables import Roles
from .imported import ImportedPredictions
from .importer import Importer, has_columns, joined
from .long_arrays import Parts, arrays_of

_CONFIGURATION = ("uhash", "nr", "config", "learner_id", "batch_nr")


def _read(frame: Any, roles: Roles) -> ImportedPredictions:
    truth = roles.target or "truth"
    named = next((c for c in _CONFIGURATION if c in frame.columns), None)
    chances = {c.removeprefix("prob."): frame[c] for c in frame.columns if c.startswith("prob.")}
    response = frame["response"] if "response" in frame.columns else None
    if response is None and not chances:
        raise SoberError("E812", "The table has row_ids and truth but neither response nor prob. columns.")
    is_number = frame[truth].dtype.kind in "iuf" and not chances and response is not None and response.dtype.kind == "f"
    parts = Parts(
        sample=frame["row_ids"],
        configuration=joined(frame, [named] if named else []),
        repeat=frame["repeat"].astype(str) if "repeat" in frame.columns else None,
        fold=frame["iteration"].astype(str) if "iteration" in frame.columns else None,
        truth=frame[truth],
        group=None if roles.group is None else frame[roles.group],
        label=None if is_number else response,
        number=response if is_number else None,
        chances=chances,
    )
    return arrays_of("mlr3", parts, roles.ignore, is_adaptive=named == "batch_nr" and frame[named].nunique() > 1)


IMPORTER = Importer("mlr3", has_columns("row_ids", "truth"), _read)
