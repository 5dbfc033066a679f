"""predict: new rows through the model of a run.

The table is read as the table of the run was read, column by column, whatever its own values look like. Rows that lack
what the model needs are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Note, SoberError
from ..tables import ReadingOptions, read
from .folder import RunFolder
from .model import load
from .predictions_file import predict_table
from .record import ModelFacts, RunRecord


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of new rows.

    Attributes
    ----------
    frame : pandas.DataFrame
        See `predict_table`; the columns of --id and --group come first, where the new rows have them. Survival has
        `.pred`, the risk, and `.pred_survival_<time>` for each time that was asked for.
    meaning : str
        One sentence: which label is given when, or which risk is the greater.
    notes : tuple of Note
        What in the new rows did not fit the rows of training.
    """

    frame: Any
    meaning: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Asked:
    """What is asked of a model.

    Attributes
    ----------
    threshold : float, optional
        The positive one of two classes is predicted where its probability is at least this; unless given, from the
        threshold on that the run tuned, or the likeliest class.
    times : sequence of float
        When the probability of survival is wanted.
    """

    threshold: float | None = None
    times: Sequence[float] = ()

    def check(self, record: RunRecord) -> None:
        """Refuse what the model of this run cannot be asked."""
        task, facts = record.data["task"], record.model
        positive, survival = (None, None) if facts is None else (facts.positive, facts.survival)
        if self.threshold is not None and (positive is None or not 0 < self.threshold < 1):
            raise SoberError(
                "E808", "--threshold is a probability between 0 and 1, for models of two classes; got "
                f"{self.threshold:g} for a {task} target.",
            )  # fmt: skip
        if self.times and survival is None:
            raise SoberError("E808", f"--at is for survival times; this run predicts a {task} target.")
        for time in self.times:
            if survival is not None and not 0 < time <= survival.last:
                raise SoberError(
                    "E808", f"--at must lie above 0 and be no more than {survival.last:g}, the longest time "
                    f"in training; got {time:g}.",
                )  # fmt: skip


def predict(folder: RunFolder, source: str | Path, sheet: str | None = None, asked: Asked | None = None) -> Predicted:
    """Predict new rows.

    Parameters
    ----------
    sheet : str, optional
        Of a workbook.
    """
    asked, record = asked or Asked(), RunRecord.read(folder)
    facts = record.model
    if facts is None:
        raise SoberError("E809", f"The run has no final model. Write: sober resume {folder.path}")
    asked.check(record)
    model, columns = load(folder), list(facts.columns)
    copied = [name for name, column in record.schema.columns.items() if column.role in ("id", "group")]
    table = read(source, ReadingOptions(sheet=sheet), schema=record.schema.only([*columns, *copied]))
    frame = table.frame
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        some = ", ".join(repr(n[:40]) for n in missing[:3]) + (" and more" if len(missing) > 3 else "")
        raise SoberError("E804", f"The new rows lack {len(missing)} of {len(columns)} columns: {some}. Add them.")
    task = str(record.data["task"])
    found = predict_table(model, frame[columns], task, list(facts.classes))
    if task == "survival":
        meaning = _survival(found, facts, asked)
    else:
        meaning = _label(found, getattr(model, "classes_", [None])[0], facts, asked)
    for name in reversed([name for name in copied if name in frame.columns]):
        found.insert(0, name, frame[name].to_numpy())
    return Predicted(found, meaning, table.notes)


def _survival(found: Any, facts: ModelFacts, asked: Asked) -> str:
    """Add the probabilities of survival, and say which risk is the greater."""
    for time in asked.times:
        if facts.survival is not None:
            found[f".pred_survival_{time:g}"] = facts.survival.survival(found[".pred"], time)
    given = "; .pred_survival_ is the probability of no event until then" if asked.times else ""
    return f"the greater .pred (the risk), the earlier the event{given}"


def _label(found: Any, first: Any, facts: ModelFacts, asked: Asked) -> str:
    """Decide by the threshold where one is given, and say how it was decided."""
    if ".pred_class" not in found.columns:
        return ""
    chance = f".pred_{facts.positive}"
    if facts.positive is None or chance not in found.columns:
        if asked.threshold is not None:
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
    if asked.threshold is not None:
        others = [label for label in facts.classes if label != facts.positive]
        is_positive = found[chance].to_numpy() >= asked.threshold
        found[".pred_class"] = np.where(is_positive, facts.positive, others[0])
    tuned = 0.5 if facts.threshold is None else facts.threshold
    limit = tuned if asked.threshold is None else asked.threshold
    return f'"{facts.positive}" where its probability is {limit:g} or more'
