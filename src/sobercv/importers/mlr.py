"""mlr, the elder of mlr3: getBMRPredictions(benchmark(..., keep.pred = TRUE), as.df = TRUE).

Takes a data frame, gives `ImportedPredictions`; never scores. Rows of `set == "train"` are left out.
"""

from __future__ import annotations

from typing import Any

from ..tables import Roles
from .imported import ImportedPredictions
from .importer import Importer, has_columns
from .long_arrays import Parts, arrays_of


def _read(frame: Any, roles: Roles) -> ImportedPredictions:
    frame = frame[frame["set"].astype(str) == "test"] if "set" in frame.columns else frame
    truth = roles.target or "truth"
    chances = {c.removeprefix("prob."): frame[c] for c in frame.columns if c.startswith("prob.")}
    is_number = frame[truth].dtype.kind in "iuf" and not chances
    parts = Parts(
        sample=frame["id"],
        configuration=frame["learner.id"].astype(str),
        repeat=_repeat(frame),
        fold=frame["iter"],
        truth=frame[truth],
        group=None if roles.group is None else frame[roles.group],
        label=None if is_number else frame["response"],
        number=frame["response"] if is_number else None,
        chances=chances,
    )
    return arrays_of("mlr", parts, roles.ignore)


def _repeat(frame: Any) -> Any:
    """Tell repeats by the number of the iteration: mlr counts through the folds of all repeats.

    Where samples are not predicted equally often (bootstraps, hold-outs), each iteration is a repeat of its own.
    """
    times = frame.groupby(["learner.id", "id"]).size()
    n_repeats, n_iterations = int(times.iloc[0]), int(frame["iter"].nunique())
    if (times == n_repeats).all() and n_iterations % n_repeats == 0:
        repeat = (frame["iter"] - 1) // (n_iterations // n_repeats)
        if not repeat.to_frame("repeat").assign(a=frame["learner.id"], b=frame["id"]).duplicated().any():
            return repeat
    return frame["iter"]


IMPORTER = Importer("mlr", has_columns("learner.id", "id", "truth", "response", "iter"), _read)
