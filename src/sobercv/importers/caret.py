"""caret: train(...)$pred with savePredictions = "all".

Takes a data frame, gives `ImportedPredictions`; never scores.
"""

from __future__ import annotations

from typing import Any

from ..tables import Roles
from .imported import ImportedPredictions
from .importer import Importer, has_columns, joined
from .long_arrays import Parts, arrays_of

_REPEAT = r"\.?(Rep\d+)$"


def _read(frame: Any, roles: Roles) -> ImportedPredictions:
    truth = roles.target or "obs"
    levels = set(frame[truth].astype(str))
    chances = {c: frame[c] for c in frame.columns if c in levels}
    taken = {"rowIndex", "obs", "pred", "Resample", "weights", truth, *chances, roles.group}
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(_REPEAT)[0]
    is_number = frame[truth].dtype.kind in "iuf" and not chances
    parts = Parts(
        sample=frame["rowIndex"],
        configuration=joined(frame, [c for c in frame.columns if c not in taken]),
        repeat=repeat if repeat.notna().all() else None if resample.str.match(r"(?i)fold").all() else resample,
        fold=resample,
        truth=frame[truth],
        group=None if roles.group is None else frame[roles.group],
        label=None if is_number else frame["pred"],
        number=frame["pred"] if is_number else None,
        chances=chances,
    )
    return arrays_of("caret", parts, roles.ignore)


IMPORTER = Importer("caret", has_columns("rowIndex", "obs", "pred", "Resample"), _read)
