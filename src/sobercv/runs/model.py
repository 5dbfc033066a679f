"""The final model of a run: written as a file of skops, read without executing code, and asked for predictions.

Unlike a pickle, such a file holds nothing that runs when it is read. New rows are read as the table of the run was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import msgspec
import numpy as np
import pandas as pd

from ..errors import Note, SoberError
from ..tables import Settings, read
from ..tables.naming import closest, some
from .folder import RunFolder, read_file
from .predictions_file import FILE, column_of
from .record import ModelFacts, RunRecord

MODEL = "model.skops"
#: What pipelines of the presets are made of beside the types that skops trusts itself. Private names change with
#: versions, so that modules are named; none of them executes text, opens files or calls functions that it is given.
TRUSTED = re.compile(
    r"numpy\.dtype|scipy\.optimize\._optimize\.OptimizeResult"
    r"|sobercv\.(presets|forests|feature_selection)(\.\w+)+|sksurv(\.\w+)+"
    r"|sklearn\.(tree|ensemble|neighbors|calibration|frozen|_loss)(\.\w+)+"
    r"|sklearn\.(model_selection\._classification_threshold|metrics\._dist_metrics)\.\w+"
    r"|skrub\.(?!_data_ops|_reporting)(_\w+|selectors)(\.\w+)+"
)


def packed(model: Any) -> bytes:
    """Return the contents of the file of a model."""
    from skops.io import dumps

    return bytes(dumps(model, compression=ZIP_DEFLATED))


def load(folder: RunFolder) -> Any:
    """Read the model of a run; E809 where it is missing or damaged, E810 where it holds types of no pipeline."""
    from skops.io import get_untrusted_types, loads

    path = folder / MODEL
    raw = read_file(path)
    if raw is None:
        raise SoberError("E809", f"{path} is missing. Run: sober resume {folder.path}")
    try:
        asked = get_untrusted_types(data=raw)
    except Exception as error:  # no archive, or one whose contents no skops has written
        raise folder.damaged(MODEL, type(error).__name__) from None
    unknown = [name for name in asked if TRUSTED.fullmatch(name) is None]
    if unknown:
        raise SoberError(
            "E810", f"{path} contains {', '.join(unknown[:3])}, which no model of sober uses, so it was not loaded: "
            "loading it might execute code. Recreate the model with sober resume.",
        )  # fmt: skip
    try:
        return loads(raw, trusted=asked)
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        name, extra = ("scikit-survival", "'sobercv[survival]'") if name == "sksurv" else (name, name)
        text = f"The model of this run needs {name}, which is not installed: pip install {extra}."
        raise SoberError("E403", text) from error
    except Exception as error:
        raise SoberError(
            "E810", f"{path} cannot be loaded with the versions installed here ({type(error).__name__}). Compare them "
            "with those in results.json.",
        ) from error  # fmt: skip


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
    facts, task = record.model, record.data["task"]
    if facts is None:
        raise SoberError("E809", f"The run has no final model. Run: sober resume {folder.path}")
    if threshold is not None and (facts.positive is None or not 0 < threshold < 1):
        raise SoberError(
            "E808", "--threshold is a probability between 0 and 1, for models of two classes; got "
            f"{threshold:g} for a {task} target.",
        )  # fmt: skip
    last = 0.0 if facts.survival is None else facts.survival.times[-1]
    if wrong := [time for time in times if not 0 < time <= last]:
        most = f"above 0 and at most {last:g}, the longest in training" if last else f"not for a {task} target"
        raise SoberError("E808", f"--at is for survival times, {most}; got {wrong[0]:g}.")
    model, columns = load(folder), list(facts.columns)
    copied = [name for name, column in record.schema.columns.items() if column.role in ("id", "group")]
    known = {name: column for name, column in record.schema.columns.items() if name in {*columns, *copied}}
    table = read(source, Settings(sheet=sheet), schema=msgspec.structs.replace(record.schema, columns=known))
    frame = table.frame
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        text = f"The new rows lack {len(missing)} of {len(columns)} columns: {some(missing)}."
        others = [name for name in frame.attrs["not_read"] if name not in record.schema.columns]
        meant = next(((close[0], name) for name in missing if (close := closest(name, others))), None)
        hint = "Add them." if meant is None else f"Did you mean {meant[0]!r}? Then rename it to {meant[1]!r}."
        raise SoberError("E804", f"{text} {hint}")
    try:
        if facts.classes:
            found, meaning = _classes(model, frame[columns], facts, threshold)
        else:
            found, meaning = _numbers(model, frame[columns], facts, times)
    except SoberError:
        raise
    except Exception as error:  # any model may raise anything
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise SoberError(
            "E804", f"The model failed on the new rows ({type(error).__name__}: {said}). Pass rows like those of "
            "training.",
        ) from error  # fmt: skip
    found.insert(0, ".row", np.arange(1, len(found) + 1))
    for name in reversed([name for name in copied if name in frame.columns]):
        if name in found.columns:
            hint = "Rename it in the new rows, or leave it out."
            raise SoberError("E804", f"{name!r} is the name of a prediction column. {hint}")
        found.insert(0, name, frame[name].to_numpy())
    notes = table.notes
    if table.sha256 == record.data["sha256"]:
        text = (
            f"{table.name} is the table that the model was trained on, so these predictions look better than those of "
            f"new rows will be. Predictions by models that had not seen the row are in {folder / FILE}."
        )
        notes = (Note("W301", text), *notes)
    if not record.is_complete:
        rows = f"{record.n_judged:,} of {record.data['rows']:,} rows"
        text = f"The run was stopped early: its model was chosen on {rows}. Continue with: sober resume {folder.path}"
        notes = (*notes, Note("W601", text))
    return Predicted(found, meaning, notes)


def _numbers(model: Any, X: Any, facts: ModelFacts, times: Sequence[float]) -> tuple[Any, str]:
    """Return `.pred` and, at times of survival, `.pred_survival_<time>`; and what they mean."""
    found = pd.DataFrame({".pred": model.predict(X)})
    if facts.survival is None:
        return found, ""
    for time in times:
        found[f".pred_survival_{time:g}"] = facts.survival.survival(found[".pred"], time)
    given = f"; .pred_survival_{times[0]:g} is the probability of no event until {times[0]:g}" if times else ""
    return found, f"a higher .pred (the risk) means an earlier event{given}"


def _classes(model: Any, X: Any, facts: ModelFacts, threshold: float | None) -> tuple[Any, str]:
    """Return `.pred_class`, and `.pred_<class>` or `.score` where the model has them; and how the class was decided."""
    found = pd.DataFrame({".pred_class": model.predict(X)})
    rule, positive = "the most likely class, by the model's own rule", facts.positive
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        found = found.assign(**{column_of(label): chances[:, k] for k, label in enumerate(model.classes_)})
        if positive is None:
            return found, rule
        if threshold is not None:
            (other,) = (label for label in facts.classes if label != positive)
            found[".pred_class"] = np.where(found[column_of(positive)].to_numpy() >= threshold, positive, other)
        limit = facts.threshold if threshold is None else threshold
        if limit is None and positive == model.classes_[1]:  # models predict the first in a tie
            return found, f'"{positive}" where its probability is above 0.5'
        return found, f'"{positive}" where its probability is {0.5 if limit is None else limit:g} or more'
    remedy = "a run with neg_log_loss among its metrics would"
    if threshold is not None:
        text = f"--threshold needs probabilities, and the model of this run predicts none; {remedy}. Leave it out."
        raise SoberError("E808", text)
    rule += f"; it predicts no probabilities, but {remedy}"
    if len(facts.classes) == 2 and hasattr(model, "decision_function"):
        is_turned = positive == model.classes_[0]  # models score the second of their two classes
        found[".score"] = (-1 if is_turned else 1) * model.decision_function(X)
        rule += f'; a higher .score means more like "{model.classes_[0 if is_turned else 1]}"'
    return found, rule
