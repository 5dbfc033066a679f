"""tidymodels: collect_predictions() of a tuned workflow; and sober's own predictions.parquet, which has its names.

Takes a data frame, gives `ImportedPredictions`; never scores.
"""

from __future__ import annotations

from typing import Any

from ..errors import SoberError
from ..tables import Roles
from .imported import ImportedPredictions
from .importer import Importer, has_columns, only_truth
from .long_arrays import Parts, arrays_of


def _read(frame: Any, roles: Roles) -> ImportedPredictions:
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    group = roles.group or (".group" if ".group" in frame.columns else None)
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, group}
    others = [c for c in frame.columns if c not in taken and not c.startswith(".decision_")]
    truth = roles.target or only_truth([c for c in others if frame.groupby(".row")[c].nunique().max() == 1])
    resample = frame["id"].astype(str) if "id" in frame.columns else None
    split = frame["id2"].astype(str) if "id2" in frame.columns else resample
    # One level of resampling: Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
    if "id2" not in frame.columns and resample is not None and resample.str.match(r"(?i)fold").all():
        resample = None
    parts = Parts(
        sample=frame[".row"],
        configuration=frame[".config"].astype(str),
        repeat=resample,
        fold=split,
        truth=frame[truth],
        group=None if group is None else frame[group],
        label=frame[".pred_class"] if ".pred_class" in frame.columns else None,
        number=frame[".pred"] if ".pred" in frame.columns else None,
        chances={c.removeprefix(".pred_"): frame[c] for c in predicted if c not in (".pred", ".pred_class")},
    )
    is_adaptive = ".iter" in frame.columns and frame[".iter"].nunique() > 1
    return arrays_of("tidymodels", parts, roles.ignore, is_adaptive)


IMPORTER = Importer("tidymodels", has_columns(".row", ".config"), _read)
