"""What columns of other tools' tables are called: the name says which part a column plays."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from ..errors import SoberError

#: Columns that number samples, tell patients apart, or say where a row was in the cross-validation. They are never
#: predictions of a configuration. Where several are present, the first in the list plays the part.
SAMPLE = (
    "sample", "sample_id", "sampleid", "sample_index", "sample_nr", "row", "row_id", "rowid", "row_ids", "row_index",
    "rowindex", "row_number", "index", "idx", "id", "obs_id", "observation",
)  # fmt: skip
SUBJECT = ("patient", "patient_id", "subject", "subject_id", "person", "person_id", "case", "case_id")
FOLD = ("resample", "fold", "folds", "fold_id", "foldid", "cv_fold", "outer_fold", "split")
REPEAT = ("repeat", "repeats", "repeat_id", "repetition", "rep")
PLACE = frozenset((*SAMPLE, *SUBJECT, *FOLD, *REPEAT))
#: Columns that name configurations, or hold the truth, a predicted class, a predicted number, or a score.
CONFIGURATION = (
    "config", "model", "models", "model_id", "model_name", "config_id", "configuration", "learner_id", "learner",
    "algorithm", "method", "classifier", "regressor", "estimator", "pipeline", "trial", "trial_id", "candidate",
    "setting",
)  # fmt: skip
TRUTH = ("y_true", "ytrue", "truth", "true", "true_label", "y", "target", "label", "obs", "observed", "actual")
LABEL = ("y_pred", "ypred", "pred", "pred_class", "predicted", "prediction", "predicted_class", "yhat", "y_hat")
NUMBER = (
    "prob", "proba", "probability", "score", "y_prob", "y_proba", "y_score", "decision", "risk", "pred", "prediction",
    "predicted", "y_pred", "ypred", "yhat", "y_hat",
)  # fmt: skip
SCORE = ("estimate", "score", "test_score", "value")


def plain_name(column: Any) -> str:
    """Write the name of a column in small letters with underscores, as the lists above do."""
    return re.sub(r"[\s.\-]+", "_", str(column).strip().casefold()).strip("_")


def named(frame: Any, words: Collection[str], leave_out: Collection[Any] = ()) -> list[str]:
    """Return the columns whose names are among words, in the order of the table."""
    return [c for c in frame.columns if plain_name(c) in words and c not in leave_out]


def first_named(frame: Any, words: Iterable[str]) -> Any:
    """Return the column that has the first of the words as its name; None if there is none."""
    names = {plain_name(column): column for column in reversed(list(frame.columns))}
    return next((names[word] for word in words if word in names), None)


def only_truth(candidates: list[str]) -> str:
    """Return the only candidate for the truth, or ask."""
    if len(candidates) == 1:
        return candidates[0]
    found = "none of the columns is" if not candidates else f"{', '.join(map(repr, candidates[:4]))} could be"
    raise SoberError("E808", f"Which column holds the truth? It seems that {found} it. Write --target COLUMN.")


def joined(frame: Any, columns: list[str]) -> Any:
    """Name each row's configuration by the columns that tell configurations apart."""
    if not columns:
        return frame.iloc[:, 0].map(lambda _: "the only one")
    if len(columns) == 1 and plain_name(columns[0]) in CONFIGURATION:
        return frame[columns[0]].astype(str)
    text = f"{columns[0]}=" + frame[columns[0]].astype(str)
    for column in columns[1:]:
        text = text + f", {column}=" + frame[column].astype(str)
    return text
