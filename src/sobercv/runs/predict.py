"""predict: new rows through the model of a run, read as the table of the run was read, whatever they look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..errors import Note, SoberError
from ..tables import Settings, read
from .folder import RunFolder
from .model import load
from .record import ModelFacts, RunRecord


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of new rows."""

    frame: Any  # --id and --group, `.row`, then `.pred` and more; see `_predicted`
    meaning: str  # which label is given when, or which risk is the greater
    notes: tuple[Note, ...]  # what in the new rows did not fit the rows of training


def predict(
    folder: RunFolder,
    source: str | Path,
    sheet: str | None = None,
    threshold: float | None = None,
    times: Sequence[float] = (),
) -> Predicted:
    """Predict new rows.

    `threshold`: the positive one of two classes is predicted from this probability on (default: as the run tuned it, or
    the likeliest class). `times`: when the probability of survival is wanted.
    """
    record = RunRecord.read(folder)
    facts, task = record.model, str(record.data["task"])
    if facts is None:
        raise SoberError("E809", f"The run has no final model. Write: sober resume {folder.path}")
    if threshold is not None and (facts.positive is None or not 0 < threshold < 1):
        raise SoberError(
            "E808", "--threshold is a probability between 0 and 1, for models of two classes; got "
            f"{threshold:g} for a {task} target.",
        )  # fmt: skip
    if times and facts.survival is None:
        raise SoberError("E808", f"--at is for survival times; this run predicts a {task} target.")
    last = 0.0 if facts.survival is None else facts.survival.last
    for time in times:
        if not 0 < time <= last:
            raise SoberError(
                "E808",
                f"--at must lie above 0 and be no more than {last:g}, the longest time in training; got {time:g}.",
            )
    model, columns = load(folder), list(facts.columns)
    copied = [name for name, column in record.schema.columns.items() if column.role in ("id", "group")]
    known = {name: column for name, column in record.schema.columns.items() if name in {*columns, *copied}}
    table = read(source, Settings(sheet=sheet), schema=msgspec.structs.replace(record.schema, columns=known))
    frame = table.frame
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        some = ", ".join(repr(n[:40]) for n in missing[:3]) + (" and more" if len(missing) > 3 else "")
        raise SoberError("E804", f"The new rows lack {len(missing)} of {len(columns)} columns: {some}. Add them.")
    try:
        found = _predicted(model, frame[columns], task)
    except Exception as error:  # any model may raise anything
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise SoberError(
            "E804", f"The model cannot take the new rows ({type(error).__name__}: {said}). Give rows like those of "
            "training.",
        ) from error  # fmt: skip
    if task == "survival":
        if facts.survival is not None:
            for time in times:
                found[f".pred_survival_{time:g}"] = facts.survival.survival(found[".pred"], time)
        given = "; .pred_survival_ is the probability of no event until then" if times else ""
        meaning = f"the greater .pred (the risk), the earlier the event{given}"
    else:
        meaning = _label(found, getattr(model, "classes_", [None])[0], facts, threshold)
    for name in reversed([name for name in copied if name in frame.columns]):
        found.insert(0, name, frame[name].to_numpy())
    return Predicted(found, meaning, table.notes)


def _predicted(model: Any, X: Any, task: str) -> Any:
    """Return a frame: `.row` (from 1), then `.pred_class` and `.pred_<class>` or `.score`, or `.pred`."""
    import pandas as pd

    found = pd.DataFrame({".row": np.arange(1, len(X) + 1)})
    if task in ("regression", "survival"):
        return found.assign(**{".pred": model.predict(X)})
    found[".pred_class"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        return found.assign(**{f".pred_{label}": chances[:, k] for k, label in enumerate(model.classes_)})
    if task == "binary" and hasattr(model, "decision_function"):
        found[".score"] = model.decision_function(X)
    return found


def _label(found: Any, first: Any, facts: ModelFacts, threshold: float | None) -> str:
    """Decide by the threshold where one is given, and say how it was decided."""
    if ".pred_class" not in found.columns:
        return ""
    chance = f".pred_{facts.positive}"
    if facts.positive is None or chance not in found.columns:
        if threshold is not None:
            raise SoberError(
                "E808", "The model of this run gives no probabilities, so leave --threshold out. A run with "
                "neg_log_loss among its metrics has them.",
            )  # fmt: skip
        rule = "the likeliest class, by the model's own rule"
        if not any(f".pred_{label}" in found.columns for label in facts.classes):
            rule += "; it gives no probabilities, but a run with neg_log_loss among its metrics would"
        if ".score" not in found.columns:
            return rule
        if facts.positive == first:
            found[".score"] = -found[".score"]  # models score the second of their two classes
        side = next(label for label in facts.classes if (label == first) is (facts.positive == first))
        return f'{rule}; the greater .score, the more like "{side}"'
    if threshold is not None:
        others = [label for label in facts.classes if label != facts.positive]
        is_positive = found[chance].to_numpy() >= threshold
        found[".pred_class"] = np.where(is_positive, facts.positive, others[0])
    tuned = 0.5 if facts.threshold is None else facts.threshold
    limit = tuned if threshold is None else threshold
    return f'"{facts.positive}" where its probability is {limit:g} or more'
