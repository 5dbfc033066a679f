"""What columns of tables of predictions are called: they tell which part a column plays."""

from __future__ import annotations

import re
from typing import Any

from ..errors import SoberError

#: What columns are called that number samples, tell patients apart, or say where a row was in the cross-validation.
#: They are never predictions of a configuration.
SAMPLE = frozenset({
    "sample", "sample_id", "sampleid", "sample_index", "sample_nr", "row", "row_id", "rowid", "row_ids", "row_index",
    "rowindex", "row_number", "index", "idx", "id", "obs_id", "observation",
})  # fmt: skip
SUBJECT = frozenset({"patient", "patient_id", "subject", "subject_id", "person", "person_id", "case", "case_id"})
FOLD = frozenset({"fold", "folds", "fold_id", "cv_fold", "outer_fold", "resample", "split"})
REPEAT = frozenset({"repeat", "repeats", "repeat_id", "repetition", "rep"})
#: What columns are called that name configurations, or hold the truth.
CONFIGURATION = frozenset({
    "model", "models", "model_id", "model_name", "config", "config_id", "configuration", "learner", "learner_id",
    "algorithm", "method", "classifier", "regressor", "estimator", "pipeline", "trial", "trial_id", "candidate",
    "setting",
})  # fmt: skip
TRUTH = frozenset(
    {"y_true", "ytrue", "truth", "true", "true_label", "y", "target", "label", "obs", "observed", "actual"}
)


def plain_name(column: str) -> str:
    """Write the name of a column in small letters with underscores, as the sets above do."""
    return re.sub(r"[\s.\-]+", "_", column.strip().casefold()).strip("_")


def named(frame: Any, words: frozenset[str], leave_out: Any = ()) -> list[str]:
    """Return the columns whose names are among words."""
    return [c for c in frame.columns if plain_name(c) in words and c not in leave_out]


def only_truth(candidates: list[str]) -> str:
    """Return the only candidate for the truth, or ask."""
    if len(candidates) == 1:
        return candidates[0]
    found = "none of the columns is" if not candidates else f"{', '.join(map(repr, candidates[:4]))} could be"
    raise SoberError("E808", f"Which column holds the truth? It seems that {found} it. Write --target COLUMN.")


def joined(frame: Any, columns: list[str]) -> Any:
    """Name a configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    parts = [f"{c}=" + frame[c].astype(str) for c in columns] if len(columns) > 1 else [frame[columns[0]].astype(str)]
    text = parts[0]
    for part in parts[1:]:
        text = text + ", " + part
    return text
