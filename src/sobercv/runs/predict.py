"""predict: new rows through the model of a run.

Takes a run folder and a table, gives predictions, what they mean, and notes; the table is read as the table of the run
was read, column by column, whatever its own values look like. Refuses rows that lack what the model needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Note, SoberError
from ..tables import ReadingOptions, ReadingRecord, read
from .folder import RunFolder
from .long_table import predict_table
from .model import MANIFEST, Manifest, load
from .new_rows import strangers_noted


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of new rows.

    Attributes
    ----------
    frame : pandas.DataFrame
        See `predict_table`; where the run has an id column, that comes first. Survival has `.pred`, the risk, and
        `.pred_survival_<time>` for each time that was asked for.
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

    def check(self, manifest: Manifest) -> None:
        """Refuse what the model of this run cannot be asked."""
        if self.threshold is not None and (manifest.positive is None or not 0 < self.threshold < 1):
            raise SoberError(
                "E807", "--threshold is a probability between 0 and 1, for models of two classes; got "
                f"{self.threshold:g} for a {manifest.task} target.",
            )  # fmt: skip
        if self.times and manifest.survival is None:
            raise SoberError("E807", f"--at is for survival times; this run predicts a {manifest.task} target.")
        for time in self.times:
            if manifest.survival is not None and not 0 < time <= manifest.survival.last:
                raise SoberError(
                    "E807", f"--at must lie above 0 and be no more than {manifest.survival.last:g}, the longest time "
                    f"in training; got {time:g}.",
                )  # fmt: skip


def predict(
    folder: RunFolder, source: str | Path, trust: bool = False, sheet: str | None = None, asked: Asked | None = None
) -> Predicted:
    """Predict new rows.

    Parameters
    ----------
    folder : RunFolder
    source : path or "-"
    trust : bool
        Load a model that was made elsewhere.
    sheet : str, optional
        Of a workbook.
    asked : Asked, optional
    """
    asked = asked or Asked()
    model, manifest, reading = load(folder, trust)
    asked.check(manifest)
    columns = list(manifest.columns)
    record = ReadingRecord.from_dict(reading, str(folder / MANIFEST))
    needed = columns if manifest.id is None else [*columns, manifest.id]
    wanted = {name: record.columns[name] for name in needed if name in record.columns}
    table = read(source, ReadingOptions(sheet=sheet), ReadingRecord(wanted, record.has_header))
    frame = table.frame
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        some = ", ".join(repr(n[:40]) for n in missing[:3]) + (" and more" if len(missing) > 3 else "")
        raise SoberError("E816", f"The new rows lack {len(missing)} of {len(columns)} columns: {some}. Add them.")
    found = predict_table(model, frame[columns], manifest.task, list(manifest.classes))
    if manifest.task == "survival":
        meaning = _survival(found, manifest, asked)
    else:
        meaning = _label(found, getattr(model, "classes_", [None])[0], manifest, asked)
    if manifest.id in frame.columns:
        found.insert(0, manifest.id, frame[manifest.id].to_numpy())
    return Predicted(found, meaning, (*table.notes, *strangers_noted(frame[columns], manifest.levels)))


def _survival(found: Any, manifest: Manifest, asked: Asked) -> str:
    """Add the probabilities of survival, and say which risk is the greater."""
    for time in asked.times:
        if manifest.survival is not None:
            found[f".pred_survival_{time:g}"] = manifest.survival.survival(found[".pred"], time)
    given = "; .pred_survival_ is the probability of no event until then" if asked.times else ""
    return f"the greater .pred (the risk), the earlier the event{given}"


def _label(found: Any, first: Any, manifest: Manifest, asked: Asked) -> str:
    """Decide by the threshold where one is given, and say how it was decided."""
    if ".pred_class" not in found.columns:
        return ""
    chance = f".pred_{manifest.positive}"
    if manifest.positive is None or chance not in found.columns:
        if asked.threshold is not None:
            raise SoberError(
                "E807", "The model of this run gives no probabilities, so leave --threshold out. A run with "
                "neg_log_loss among its metrics has them.",
            )  # fmt: skip
        rule = "the likeliest class, by the model's own rule"
        if ".score" not in found.columns:
            return rule
        if manifest.positive == first:
            found[".score"] = -found[".score"]  # models score the second of their two classes
        side = next(label for label in manifest.classes if (label == first) is (manifest.positive == first))
        return f'{rule}; the greater .score, the more like "{side}"'
    if asked.threshold is not None:
        others = [label for label in manifest.classes if label != manifest.positive]
        is_positive = found[chance].to_numpy() >= asked.threshold
        found[".pred_class"] = np.where(is_positive, manifest.positive, others[0])
    tuned = 0.5 if manifest.threshold is None else manifest.threshold
    limit = tuned if asked.threshold is None else asked.threshold
    return f'"{manifest.positive}" where its probability is {limit:g} or more'
