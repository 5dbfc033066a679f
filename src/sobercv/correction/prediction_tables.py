"""Tables of out-of-fold predictions: long ones, with one row per prediction, and wide ones, with one row per sample.

Where a part is lacking, the table is refused: read in another way it would give a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Note, SoberError
from ..tables import Settings
from ..tables import tool_columns as parts
from ..tables.facts import numbers_rows
from ..tables.naming import listed, plain, quoted, some
from ..tables.roles import assign
from ..targets import guess_task
from .judging import ToolPredictions

WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat if there are any."
)


# ---- long tables ---------------------------------------------------------------------------------------------------
def sample_of(frame: Any, roles: Settings) -> Any:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    tool = parts.tool_of(frame.columns)
    if tool.marks:
        return tool.marks[0]
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    has_models = parts.named(frame, parts.CONFIGURATION, roles.ignore)
    words = (*parts.SAMPLE, *parts.SUBJECT) if has_models else parts.SAMPLE
    names = parts.named(frame, words, {*roles.roles(), roles.group})
    return next((name for name in names if frame[name].nunique() > 1 and frame[name].duplicated().any()), None)


def holds_long_predictions(frame: Any) -> bool:
    """Whether a table is a long one of predictions by its names: of a known tool, or with the documented parts."""
    has_parts = all(parts.named(frame, words) for words in (parts.CONFIGURATION, parts.TRUTH))
    is_long = bool(parts.tool_of(frame.columns).marks) or (has_parts and sample_of(frame, Settings()) is not None)
    return is_long and not parts.holds_fold_scores(frame.columns)


def read_long(frame: Any, roles: Settings) -> ToolPredictions:
    """Bring the columns of a long table into arrays [N, C, R(, K)], without the configurations to be ignored.

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.
    """
    parts.one_resampling(frame)
    tool, notes = parts.tool_of(frame.columns), list[Note]()
    if tool.name:
        frame = parts.without_summaries(frame, tool.fold, notes)
    sample = frame[sample_of(frame, roles)]
    own = {sample.name, *tool.marks}
    table = frame.drop(columns=[c for c in roles.ignore if c in frame and c not in own])
    fold, repeat = parts.places(table, tool.fold)
    group = frame.get(roles.group or (".group" if tool.name == "tidymodels" else None))
    if group is not None and group.name not in own:
        table = table.drop(columns=group.name, errors="ignore")
    truth = frame[roles.target or _truth(table, sample, tool)]
    table = table.drop(columns=[sample.name, truth.name], errors="ignore")
    model = _model(table, sample, truth, tool)
    keep = ~model.isin(list(roles.ignore)) & truth.notna()
    if not keep.any():
        raise SoberError("E812", "No predictions remain: the truth is missing everywhere, or all were ignored.")
    found = {"sample": sample, "model": model, "truth": truth, "fold": fold, "repeat": repeat, "group": group}
    rows = pd.DataFrame({part: parts.complete(column[keep]) for part, column in found.items() if column is not None})
    table = table[keep]
    if truth.dtype.kind == "f" and guess_task(rows["truth"]).task == "classification":
        rows["truth"] = rows["truth"].astype(np.int64)  # labels 0 and 1 became 0.0 and 1.0, because some rows had none
    if tool.name in ("tidymodels", "caret") and fold is not None and repeat is None:
        # Where rows are predicted again in other folds, these are hold-outs of their own, such as bootstraps.
        is_again = rows.duplicated(["sample", "model"]).any()
        if is_again and not rows["fold"].astype(str).str.match(r"(?i)fold").all():
            rows["repeat"] = rows["fold"]
    names = parts.in_order(rows["model"])
    spread = _spreading(rows, names)
    y = _shared(rows, "truth")
    if tool.name == "tidymodels" and fold is None:
        text = "There is no column id, so collect_predictions() may have averaged the predictions of each row. Means "
        notes.append(Note("W206", f"{text}over repeats score better than one model; write summarize = FALSE in it."))
    return ToolPredictions(
        tool.name or f"long table by {sample.name!r} and {model.name!r}",
        np.asarray(y.to_numpy(None if y.dtype.kind in "iufb" else object)),
        _responses(table, rows["truth"], tool, spread), names,
        groups=None if group is None else _shared(rows, "group").to_numpy(object).astype(str),
        folds=None if fold is None else _shared(rows, "fold", "repeat").unstack(fill_value=0).to_numpy(),
        is_adaptive=model.name == "batch_nr" or len(set(table.get(".iter", ()))) > 1,
        n_repeats=rows["repeat"].nunique(), notes=tuple(notes),
    )  # fmt: skip


def _truth(table: Any, sample: Any, tool: parts.Tool) -> Any:
    """Return the column of the truth; ask where none or several could be it."""
    found = parts.named(table, tool.truth, {sample.name})
    if not tool.truth:  # it is the same in all rows of a sample
        own = {*tool.fold, *(("wflow_id", "preproc", "model") if "wflow_id" in table else ())}
        others = [c for c in table if c[:1] != "." and c not in own]
        found = [c for c in others if table.groupby(sample)[c].nunique().max() == 1]
    if len(found) == 1:
        return found[0]
    several = f"Which column holds the truth? It could be {' or '.join(map(repr, found[:4]))}."
    said = several if found else "No column clearly holds the truth."
    raise SoberError("E808", f"{said} Write --target COLUMN.")


def _model(table: Any, sample: Any, truth: Any, tool: parts.Tool) -> Any:
    """Name each row's configuration."""
    if not tool.configuration:  # by all parameters
        others = {*tool.marks, "weights", *_spelled(set(truth.dropna().astype(str)))}
        return parts.configurations(table, [c for c in table if c not in others])
    column = parts.first_named(table, tool.configuration)
    if "wflow_id" in table and column == ".config":  # of several workflows, which number theirs alike
        return parts.configurations(table, ["wflow_id", column])
    if column is None:
        text = f"{str(sample.name)[:40]!r} repeats (up to {sample.value_counts().max()} rows per value), but no column "
        raise SoberError("E812", f"{text}names the configurations. {WANTED}")
    return parts.complete(table[column]).astype(str)


def _spreading(rows: Any, names: list[str]) -> Callable[..., Any]:
    """Number sample, model, fold and repeat of the rows, and return what makes masked arrays [N, C, R] of columns.

    Rows that are predicted twice in one repeat are refused.
    """
    rows["model"] = pd.Index(names).get_indexer(rows["model"])
    rows["repeat"] = rows.get("repeat", 0)
    values = {}
    for part in rows.columns.intersection(["sample", "fold", "repeat"]):
        rows[part], values[part] = rows[part].factorize(sort=True)
    place = ["sample", "model", "repeat"]
    times = rows.groupby(place).size()
    if (most := times.max()) > 1:
        (row, which, _), is_alone = times.idxmax(), len(names) == 1
        text = "Only one configuration can be identified: in" if is_alone else "In"
        text += f" one repeat, row {values['sample'][row]} of configuration {names[which][:50]!r} was predicted "
        text += f"{most} times, so these are not out-of-fold predictions of one cross-validation. Keep the columns "
        text += "that identify configurations and repeats, and save the hold-out predictions only."
        raise SoberError("E813" if is_alone else "E814", text)

    def spread(column: Any, empty: Any = 0.0) -> Any:
        values = column.to_numpy()
        kind = object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        out = np.ma.masked_array(np.full(rows[place].max() + 1, empty, kind), True)
        out[tuple(rows[place].to_numpy().T)] = values
        return out

    return spread


def _shared(rows: Any, part: str, *by: str) -> Any:
    """Return what all rows of a sample share, or all of its rows of a repeat; refuse rows that differ."""
    found = rows[part].groupby([rows[name] for name in ("sample", *by)])
    if (found.nunique() > 1).any():
        raise SoberError("E812", f"The {part} differs between rows of one sample. Every sample needs one {part}.")
    return found.first()


def _responses(table: Any, truth: Any, tool: parts.Tool, spread: Callable[..., Any]) -> dict[str, Any]:
    """Return the predictions: probabilities of classes, labels and numbers, all that there are."""
    labels = {str(one): one for one in sorted(truth.unique())}
    spelled, responses = _spelled(labels), dict[str, Any]()
    if tool.configuration:
        chances = {spelled[m[1]]: c for c in table if (m := parts.CHANCE.fullmatch(str(c))) and m[1] in spelled}
    else:
        chances = {spelled[c]: c for c in table if c in spelled}
    label = next((c for c in parts.named(table, parts.LABEL) if _are_labels(table[c], truth, labels)), None)
    number = next((c for c in parts.named(table, parts.NUMBER) if c != label and table[c].dtype.kind in "iuf"), None)
    if number is not None:
        responses["predict" if not chances and truth.dtype.kind == "f" else ""] = spread(table[number])
    if label is not None:
        predicted = table[label].astype(str).map(labels)
        if predicted.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        responses["predict"] = spread(predicted, next(iter(labels.values())))
    if chances and len(labels) == 2:
        less, greater = labels
        told = greater in chances
        responses["predict_proba"] = spread(table[chances[greater]]) if told else 1 - spread(table[chances[less]])
    elif set(chances) == set(labels):
        responses["predict_proba"] = np.ma.stack([spread(table[chances[name]]) for name in labels], axis=3)
    if not responses:
        text = "No column of this long table holds predictions, or their names are not those of the truth's classes."
        raise SoberError("E812", f"{text} {tool.hint or WANTED}")
    return responses


def _are_labels(column: Any, truth: Any, labels: Collection[str]) -> bool:
    """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
    if "f" in (column.dtype.kind, truth.dtype.kind):
        return False
    return column.dtype.kind not in "iub" or (len(labels) <= 20 and {*column.dropna().astype(str)} <= {*labels})


def _spelled(labels: Collection[str]) -> dict[str, str]:
    """Map spellings to labels: R's data.frame() writes points for the spaces and signs of names; each is of one."""
    points = {label: re.sub(r"[^\w.]", ".", label) for label in labels}
    unique = {name: label for label, name in points.items() if [*points.values()].count(name) == 1}
    return {**unique, **{label: label for label in labels}}


# ---- wide tables ---------------------------------------------------------------------------------------------------
def read_wide(frame: Any, roles: Settings) -> ToolPredictions:
    """Read a wide table; any table that is not long is read as one, or refused."""
    if not roles.target_names:
        text = f"Say which column holds the truth: --target COLUMN. {listed(frame.columns)} {WANTED}"
        if parts.could_be_scores(frame):
            text += " If each row holds the scores of one fold, add a column fold that numbers the rows."
        raise SoberError("E808", text)
    names = [c for c in frame.columns if c not in roles.roles() and plain(c) not in parts.PLACE]
    if not names:
        text = "There is no column of predictions beside the truth. Pass one column per configuration."
        raise SoberError("E812", text)
    data = assign(frame, roles)
    labels = {str(label) for label in data.classes}
    values = [_column(data.X[name], labels if data.y.dtype.kind in "OU" else {}) for name in names]
    if len({v.dtype == object for v in values}) > 1:
        text = "Some columns hold labels and others numbers. Pass one kind; --ignore leaves some out."
        raise SoberError("E812", text)
    _check_no_classes(names, labels, data.X)
    if numbers := [c for c in names if numbers_rows(data.X[c].dropna()) or numbers_rows(data.X[c].dropna()[::-1])]:
        text = f"Column {some(numbers[:1])} numbers the rows and predicts nothing. Write --ignore {quoted(numbers[0])}."
        raise SoberError("E812", text)
    notes = data.notes if roles.time is not None else ()  # others are about --task
    fold, repeat = parts.places(data.X, parts.FOLD)
    if repeat is not None and repeat.nunique() > 1:
        text = "The table names repeats, so a sample has several rows; in a wide table every row is a sample. Pass the "
        raise SoberError("E812", f"{text}repeats as a long table. {WANTED}")
    subject = next((c for c in parts.named(data.X, parts.SUBJECT) if data.X[c].duplicated().any()), "")
    if subject and roles.group is None:
        text = f"{subject[:40]!r} repeats. If it identifies patients, write --group {quoted(subject)}, so that "
        notes += (Note("W301", f"{text}their rows are resampled together.", (subject,)),)
    others = [name for name, column in zip(names, values, strict=True) if not _are_chances(column)]
    if data.classes and 0 < 2 * len(others) < len(names):
        text = f"Most columns hold probabilities, but not {some(others)}: all are compared as configurations. If that "
        notes += (Note("W206", f"{text}is wrong, write --ignore {quoted(others[0])}.", tuple(others)),)
    groups = None if roles.group is None else frame[roles.group].iloc[data.rows].to_numpy(object).astype(str)
    return ToolPredictions(
        "AutoGluon" if any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names) else "wide", data.y,
        {"": np.ma.stack(values, axis=1)}, names, groups=groups,
        folds=None if fold is None or fold.isna().any() else fold.factorize(sort=True)[0][:, None],
        is_adaptive=all(re.fullmatch(r"(?i)trial[_ ]?\d+|.*_trial\d+", c) for c in names), notes=notes,
    )  # fmt: skip


def _are_chances(column: Any) -> bool:
    """Whether a column of predictions can hold probabilities: fractions between 0 and 1."""
    known = np.ma.compressed(column)
    return not len(known) or (known.dtype.kind == "f" and known.min() >= 0 and known.max() <= 1)


def _check_no_classes(names: list[Any], labels: Collection[str], table: Any) -> None:
    """Refuse columns called by configuration and class: probabilities of the classes, which a long table must hold."""
    by_stem: dict[str, list[Any]] = {}
    for name in names:
        label = max((label for label in labels if name.endswith(label)), key=len, default="")
        by_stem.setdefault(name.removesuffix(label), []).append(name)
    groups = [*by_stem.values()]
    if len(labels) < 2 or any(len(group) != len(labels) for group in groups):
        return
    are_floats = all(table[group].dtypes.eq(float).all() for group in groups)
    adds_up = are_floats and all(np.allclose(table[g].dropna().sum(axis=1), 1.0, atol=1e-3) for g in groups)
    # Numbers at the end of other names may count configurations.
    names_classes = all(map(parts.CHANCE.fullmatch, names)) or not all(map(str.isdecimal, labels))
    if adds_up or (len(groups) == 1 and names_classes):
        text = f"The columns {', '.join(repr(name[:30]) for name in groups[0][:3])} look like probabilities of the "
        text += f"{len(labels)} classes by one configuration, one for each class. A wide table has one column per "
        text += f"configuration; write probabilities of classes as a long table. {WANTED}"
        raise SoberError("E813" if len(groups) == 1 else "E812", text)


def _column(column: Any, labels: Collection[str]) -> Any:
    """Return a column of predictions as a masked array: numbers, or labels as text."""
    gaps, name = column.isna().to_numpy(), str(column.name)
    if column.dtype.kind in "iufb" or (gaps.all() and not labels):
        values = column.fillna(0).to_numpy(np.float64 if gaps.all() else None)
        were_whole = values.dtype.kind == "f" and gaps.any() and not gaps.all() and (values % 1 == 0).all()
        return np.ma.masked_array(values.astype(np.int64) if were_whole else values, gaps)
    strange = next((v for v in column.dropna().astype(str) if v not in labels), None)
    if strange is None:
        return np.ma.masked_array(column.astype(object).fillna(min(labels)).to_numpy(), gaps)
    what = f"holds {strange[:30]!r}, which is neither a number nor one of the classes. Leave it out with --ignore "
    what += f"{name[:40]}; or, if this is a long table, rename its columns."
    if plain(name) in parts.CONFIGURATION:
        what = "seems to name configurations, but no column tells the samples apart."
    raise SoberError("E812", f"Column {name[:40]!r} {what} {WANTED}")
