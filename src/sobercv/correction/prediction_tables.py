"""recognise: what a table of another tool holds: fold scores, or predictions in a long or a wide table.

A long table has one row per prediction: R's tools are known by their columns, any other by its shape. A wide one has
one row per sample and one column per configuration, as AutoGluon keeps them. Where a part is lacking, the table is
refused with the columns that are needed: read in another way it would give a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..tables import Roles
from ..tables.naming import listed
from ..tables.roles import check_target, find, survival_target
from .fold_scores import FoldScores
from .fold_tables import (
    CONFIGURATION,
    FOLD,
    LABEL,
    NUMBER,
    PLACE,
    REPEAT,
    SAMPLE,
    SUBJECT,
    TRUTH,
    holds_fold_scores,
    joined,
    named,
    plain_name,
    read_frame,
    without_row_names,
)
from .tool_predictions import ToolPredictions

WANTED = (
    "A long table needs: sample (which row of the data), model (which configuration), y_true, and prob_<class>, score "
    "or y_pred; fold and repeat where there are any."
)
SCALES_APART = 1000  # times the least spread
_CHANCE = re.compile(r"(?i)(?:y_?)?(?:prob|proba|probability|p|pred|score)[_. ](.+)")
_TRIAL = re.compile(r"(?i)trial[_ ]?\d+|.*_trial\d+")


def recognise(
    frame: Any, roles: Roles | None = None, metric: str | None = None, **given: Any
) -> FoldScores | ToolPredictions:
    """Read a table of fold scores or of predictions.

    `roles`: the column with the truth (long tables of known tools tell it themselves), or time and event in wide tables
    of risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    `metric`: the measure that selected, in a table of fold scores. `**given`: names of `Roles`, instead of it.
    """
    roles = roles or Roles(**given)
    frame = without_row_names(frame)
    if not roles.target_names and holds_fold_scores(frame):
        return read_frame(frame.drop(columns=list(roles.ignore), errors="ignore"), metric)
    if roles.target_names:
        check_target(roles, frame.columns)
    for name in [*roles.target_names, *filter(None, [roles.group])]:
        find(frame, name)
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object and any(isinstance(v, (list, tuple, dict, set, np.ndarray)) for v in column):
            raise SoberError(
                "E812", f"Column {str(name)[:40]!r} holds lists. Leave it out, or give one label or number per row."
            )
    reader = known_reader(frame) or (_by_shape if _sample(frame, roles) is not None else None)
    if reader is None:
        return _read_wide(frame, roles)
    if roles.time is not None:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column per configuration.")
    return arrays_of(reader(frame, roles), roles)


def read_known(frame: Any) -> ToolPredictions | None:
    """Read the long table of a tool that is known by its columns; None for any other table."""
    reader, roles = known_reader(frame), Roles()
    return None if reader is None else arrays_of(reader(frame, roles), roles)


# ---- long tables: which column plays which part ----------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Parts:
    """Columns of a long table by the part that they play; None where a tool does not have it."""

    tool: str
    sample: Any
    configuration: Any
    truth: Any
    repeat: Any = None
    fold: Any = None
    group: Any = None
    label: Any = None
    number: Any = None
    chances: Mapping[str, Any] = field(default_factory=dict)
    is_adaptive: bool = False


def _text(frame: Any, name: str) -> Any:
    return frame[name].astype(str) if name in frame.columns else None


def _said(predicted: Any, is_number: bool) -> dict[str, Any]:
    """Predictions as numbers or as labels."""
    return {"number" if is_number else "label": predicted}


def _chances(frame: Any, prefix: str = "prob.") -> dict[str, Any]:
    return {c.removeprefix(prefix): frame[c] for c in frame.columns if c.startswith(prefix)}


def _only_truth(candidates: list[str]) -> str:
    """Return the only candidate for the truth, or ask."""
    if len(candidates) == 1:
        return candidates[0]
    found = "none of the columns is" if not candidates else f"{', '.join(map(repr, candidates[:4]))} could be"
    raise SoberError("E808", f"Which column holds the truth? It seems that {found} it. Write --target COLUMN.")


def _tidymodels(frame: Any, roles: Roles) -> Parts:
    """Read collect_predictions() of a tuned workflow, or sober's own predictions.parquet, which has its names."""
    predicted = [c for c in frame.columns if c.startswith(".pred")]
    if not predicted:
        raise SoberError("E812", "The table has .row and .config but no .pred column. Tune with save_pred = TRUE.")
    group = roles.group or ".group"
    taken = {".row", ".config", ".iter", "id", "id2", *predicted, group}
    others = [c for c in frame.columns if c not in taken and not c.startswith(".decision_")]
    truth = roles.target or _only_truth([c for c in others if frame.groupby(".row")[c].nunique().max() == 1])
    resample, split = _text(frame, "id"), _text(frame, "id2")
    if split is None:
        # One level of resampling: Fold01 is a fold of the only repeat; Bootstrap01 is a hold-out of its own.
        split = resample
        resample = None if resample is None or resample.str.match(r"(?i)fold").all() else resample
    return Parts(
        "tidymodels", frame[".row"], frame[".config"].astype(str), frame[truth], resample, split, frame.get(group),
        label=frame.get(".pred_class"), number=frame.get(".pred"),
        chances={name: column for name, column in _chances(frame, ".pred_").items() if name != "class"},
        is_adaptive=".iter" in frame.columns and frame[".iter"].nunique() > 1,
    )  # fmt: skip


def _caret(frame: Any, roles: Roles) -> Parts:
    """Read train(...)$pred with savePredictions = "all"."""
    truth = roles.target or "obs"
    levels = set(frame[truth].astype(str))
    chances = {c: frame[c] for c in frame.columns if c in levels}
    taken = {*TOOLS[_caret], "weights", truth, *chances, roles.group}
    resample = frame["Resample"].astype(str)
    repeat = resample.str.extract(r"\.?(Rep\d+)$")[0]
    if not repeat.notna().all():
        repeat = None if resample.str.match(r"(?i)fold").all() else resample
    return Parts(
        "caret", frame["rowIndex"], joined(frame, [c for c in frame.columns if c not in taken]), frame[truth], repeat,
        resample, frame.get(roles.group), chances=chances,
        **_said(frame["pred"], frame[truth].dtype.kind in "iuf" and not chances),
    )  # fmt: skip


def _mlr3(frame: Any, roles: Roles) -> Parts:
    """Read as.data.table() of predictions, bound together with a column that tells configurations apart."""
    truth = frame[roles.target or "truth"]
    model = next((c for c in ("uhash", "nr", "config", "learner_id", "batch_nr") if c in frame.columns), "")
    chances, response = _chances(frame), frame.get("response")
    if response is None and not chances:
        raise SoberError("E812", "The table has row_ids and truth but neither response nor prob. columns.")
    return Parts(
        "mlr3", frame["row_ids"], _text(frame, model) if model else joined(frame, []), truth, _text(frame, "repeat"),
        _text(frame, "iteration"), frame.get(roles.group), chances=chances,
        **_said(response, truth.dtype.kind in "iuf" and not chances and response.dtype.kind == "f"),
        is_adaptive=model == "batch_nr" and frame[model].nunique() > 1,
    )  # fmt: skip


def _mlr(frame: Any, roles: Roles) -> Parts:
    """Read getBMRPredictions(benchmark(..., keep.pred = TRUE), as.df = TRUE); rows of set == "train" are left out.

    mlr counts through the folds of all repeats. Where samples are not predicted equally often (bootstraps, hold-outs),
    each iteration is a repeat of its own.
    """
    frame = frame[frame["set"].astype(str) == "test"] if "set" in frame.columns else frame
    truth, chances, repeat = frame[roles.target or "truth"], _chances(frame), frame["iter"]
    times = frame.groupby(["learner.id", "id"]).size()
    n_repeats, n_iterations = int(times.iloc[0]), int(repeat.nunique())
    if (times == n_repeats).all() and n_iterations % n_repeats == 0:
        counted = (repeat - 1) // (n_iterations // n_repeats)
        if not counted.to_frame("repeat").assign(a=frame["learner.id"], b=frame["id"]).duplicated().any():
            repeat = counted
    return Parts(
        "mlr", frame["id"], frame["learner.id"].astype(str), truth, repeat, frame["iter"], frame.get(roles.group),
        chances=chances, **_said(frame["response"], truth.dtype.kind in "iuf" and not chances),
    )  # fmt: skip


#: What reads the table of a tool, and the columns by which it is known.
TOOLS: dict[Callable[[Any, Roles], Parts], tuple[str, ...]] = {
    _tidymodels: (".row", ".config"),
    _caret: ("rowIndex", "obs", "pred", "Resample"),
    _mlr3: ("row_ids", "truth"),
    _mlr: ("learner.id", "id", "truth", "response", "iter"),
}


def known_reader(frame: Any) -> Callable[[Any, Roles], Parts] | None:
    """Return what reads the table of a tool that is known by its columns; None for any other."""
    return next((reader for reader, columns in TOOLS.items() if set(columns) <= set(frame.columns)), None)


def _sample(frame: Any, roles: Roles) -> str | None:
    """Return the column that tells samples apart, if it repeats as in long tables."""
    # A patient may have several rows in a wide table, too; only with a column of models does it name samples.
    words = (*SAMPLE, *SUBJECT) if _configuration(frame, roles) else SAMPLE
    for name in named(frame, words, {*roles.target_names, roles.group}):
        if frame[name].duplicated().any() and frame[name].nunique() > 1:
            return name
    pairs = _pairs(frame, roles)
    return pairs[0][0] if len(pairs) == 1 else None


def _configuration(frame: Any, roles: Roles) -> str | None:
    """Return the column that names configurations."""
    found = named(frame, CONFIGURATION, {*roles.target_names, roles.group, *roles.ignore})
    return found[0] if len(found) == 1 else None


def _pairs(frame: Any, roles: Roles) -> list[tuple[str, str]]:
    """Return (sample, configuration) columns by their values: every sample with each configuration once per repeat."""
    taken = {*roles.target_names, roles.group, *roles.ignore, *named(frame, (*FOLD, *REPEAT))}
    truth = roles.target or next(iter(named(frame, TRUTH)), None)
    classes = set() if truth is None else set(frame[truth].dropna().astype(str))
    open_ = [c for c in frame.columns if c not in taken and c != truth and frame[c].dtype.kind not in "fbM"]
    texts = [c for c in open_ if frame[c].dtype.kind == "O" and _names_models(frame[c], classes)]
    repeats = named(frame, REPEAT)[:1]
    return [
        (sample, model) for model in texts for sample in open_
        if sample != model and frame[sample].nunique() * frame[model].nunique() <= len(frame)
        and frame[sample].nunique() > 2 and not frame.duplicated([sample, model, *repeats]).any()
    ]  # fmt: skip


def _names_models(column: Any, classes: set[str]) -> bool:
    """Whether a text column has a few values that are no classes, each as often as every other."""
    counts = column.value_counts()
    is_even = len(counts) > 1 and counts.min() == counts.max() >= 3
    return bool(is_even and not set(counts.index.astype(str)) <= classes)


def _by_shape(frame: Any, roles: Roles) -> Parts:
    """Read a long table of no known tool."""
    sample = str(_sample(frame, roles))
    kept = frame.drop(columns=[c for c in roles.ignore if c in frame.columns])
    truth = roles.target or _only_truth(named(kept, TRUTH, {sample}))
    fold, repeat = next(iter(named(kept, FOLD)), None), next(iter(named(kept, REPEAT)), None)
    model = _configuration(kept, roles) or next((m for s, m in _pairs(kept, roles) if s == sample), None)
    taken = {sample, truth, model, fold, repeat, roles.group}
    if model is None and repeat is not None and not kept.duplicated([sample, repeat]).any():
        # One column per configuration and one row per repeat.
        numbers = [c for c in kept.columns if c not in taken and kept[c].dtype.kind in "iuf"]
        kept = kept[[c for c in kept.columns if c in taken or c in numbers]]
        kept = kept.melt([c for c in kept.columns if c in taken], numbers, var_name="model", value_name="score")
        model = "model"
        taken |= {model}
    if model is None:
        times = int(kept[sample].value_counts().max())
        raise SoberError(
            "E812",
            f"{sample[:40]!r} repeats (up to {times} rows per value), but no column names the configurations. {WANTED}",
        )
    labels = {str(v) for v in kept[truth].dropna().unique()}
    rest = [c for c in kept.columns if c not in taken]
    chances = {m[1]: kept[c] for c in rest if (m := _CHANCE.fullmatch(c)) and m[1] in labels}
    label = next((c for c in named(kept[rest], LABEL) if _are_labels(kept[c], kept[truth], labels)), None)
    number = next((c for c in named(kept[rest], NUMBER) if c != label and kept[c].dtype.kind in "iuf"), None)
    if not chances and label is None and number is None:
        raise SoberError("E812", f"No column of this long table holds predictions. {WANTED}")
    return Parts(
        f"long table by {sample!r} and {model!r}", kept[sample], kept[model].astype(str), kept[truth],
        kept.get(repeat), kept.get(fold), kept.get(roles.group), kept.get(label), kept.get(number), chances=chances,
    )  # fmt: skip


def _are_labels(column: Any, truth: Any, labels: set[str]) -> bool:
    """Whether predictions are classes: text, or whole numbers that all occur in the truth, of few classes."""
    if column.dtype.kind == "f" or truth.dtype.kind == "f":
        return False
    return len(labels) <= 20 and {str(v) for v in column.dropna().unique()} <= labels


# ---- long tables: columns to arrays ----------------------------------------------------------------------------------
def arrays_of(parts: Parts, roles: Roles) -> ToolPredictions:
    """Bring the columns of a long table into arrays [N, C, R(, K)], without the configurations to be ignored.

    Rows that were predicted twice in the same place are refused: then these are not out-of-fold predictions of one
    cross-validation.
    """
    keep = ~parts.configuration.isin(list(roles.ignore)).to_numpy() & parts.truth.notna().to_numpy()
    if not keep.any():
        raise SoberError("E812", "No prediction is left: the truth is missing everywhere, or all were ignored.")
    rows, samples = _codes(parts.sample, keep)
    models, names = _codes(parts.configuration, keep)
    places, repeats = (np.zeros(len(rows), int), [0]) if parts.repeat is None else _codes(parts.repeat, keep)
    n, c, r = len(samples), len(names), len(repeats)
    flat = (rows * c + models) * r + places
    _check_once(flat, rows, models, samples, names)
    present = np.zeros(n * c * r, bool)
    present[flat] = True
    gaps = ~present.reshape(n, c, r)

    def spread(column: Any, empty: Any) -> Any:
        values = column[keep].to_numpy()
        kind = object if values.dtype.kind not in "iufb" else np.result_type(values, 0.0)
        out = np.full(n * c * r, empty, dtype=kind)
        out[flat] = values
        return np.ma.masked_array(out.reshape(n, c, r), gaps)

    y = _own(rows, n, parts.truth[keep], "truth")
    folds = None
    if parts.fold is not None:
        folds = np.zeros((n, r), int)
        folds[rows, places] = _codes(parts.fold, keep)[0]
    groups = None if parts.group is None else _own(rows, n, parts.group[keep], "group").astype(str)
    return ToolPredictions(
        parts.tool, y, _responses(parts, spread, y), [str(name) for name in names], groups=groups, folds=folds,
        is_adaptive=parts.is_adaptive, n_repeats=r,
    )  # fmt: skip


def _codes(column: Any, keep: Array) -> tuple[Array, list[Any]]:
    if column[keep].isna().any():
        raise SoberError("E812", f"The column {column.name!r} has gaps. Every prediction needs one.")
    codes, values = column[keep].factorize(sort=True)
    return np.asarray(codes), list(values)


def _check_once(flat: Array, sample: Array, configuration: Array, samples: list[Any], names: list[Any]) -> None:
    _, first, times = np.unique(flat, return_index=True, return_counts=True)
    if times.max() == 1:
        return
    worst = first[times.argmax()]
    where = f"row {samples[sample[worst]]} of configuration {str(names[configuration[worst]])[:60]!r}"
    if len(names) == 1:
        raise SoberError(
            "E813",
            f"Only one configuration can be told apart, and {where} was predicted {times.max()} times. Keep the column "
            "that tells configurations apart.",
        )
    raise SoberError(
        "E814",
        f"In one repeat {where} was predicted {times.max()} times, so these are not out-of-fold predictions of one "
        "cross-validation. Keep the column of the repeat, or save the hold-out predictions only.",
    )


def _own(sample: Array, n: int, column: Any, what: str) -> Array:
    """Return each sample's own value, the same in all its rows."""
    codes, values = column.factorize()
    own = np.full(n, -1)
    own[sample] = codes
    if (own[sample] != codes).any():
        raise SoberError("E812", f"The {what} differs between rows of the same sample. One sample has one {what}.")
    return _values(values.take(own))


def _values(column: Any) -> Array:
    return np.asarray(column.to_numpy() if column.dtype.kind in "iufb" else np.asarray(column, dtype=object))


def _responses(parts: Parts, spread: Any, truth: Array) -> dict[str, Any]:
    found, chances = {}, parts.chances
    labels = sorted(set(truth.tolist()))
    texts = {str(one): one for one in labels}
    if parts.number is not None:
        found["predict" if not chances and truth.dtype.kind == "f" else ""] = spread(parts.number, 0.0)
    if parts.label is not None:
        labelled = parts.label.astype(str).map(texts) if truth.dtype == object else parts.label
        if labelled.isna().any():
            raise SoberError("E110", "A predicted class does not occur in the truth. Check the labels.")
        found["predict"] = spread(labelled, labels[0])
    if chances and set(chances) >= set(texts):
        columns = [spread(chances[str(one)], 0.0) for one in labels]
        found["predict_proba"] = columns[1] if len(columns) == 2 else np.ma.stack(columns, axis=3)
    elif len(chances) == 1 and len(labels) == 2 and set(chances) <= set(texts):
        name, column = next(iter(chances.items()))
        found["predict_proba"] = spread(column if texts[name] == labels[1] else 1 - column, 0.0)
    if not found:
        raise SoberError("E812", "No column holds predictions for the classes of the truth. Check their names.")
    return found


# ---- wide tables -----------------------------------------------------------------------------------------------------
def _read_wide(frame: Any, roles: Roles) -> ToolPredictions:
    """Read a wide table; any table that is not long is read as one, or refused."""
    truth = roles.target_names
    if not truth:
        raise SoberError(
            "E808", "Say which column holds the truth: --target COLUMN. (This is no long table of a known kind.) "
            f"{listed(frame.columns)}",
        )  # fmt: skip
    for name in roles.ignore:
        find(frame, name)
    kept = frame.loc[frame[truth].notna().all(axis=1)]
    if not len(kept):
        raise SoberError("E112", f"The truth {truth[0]!r} is missing in every row. Name another column.")
    taken = {*truth, roles.group, *roles.ignore}
    names = [c for c in frame.columns if c not in taken and not _is_place(kept[c], c)]
    if not names:
        raise SoberError(
            "E812", "Beside the truth there is no column of predictions. Give one column per configuration."
        )
    values = [_column(kept[c], c, kept[truth[0]]) for c in names]
    if len({v.dtype == object for v in values}) > 1:
        raise SoberError(
            "E812", "Some columns hold labels and others numbers. Give one kind; --ignore leaves some out."
        )
    notes: list[Note] = []
    if len(truth) == 1:
        _check_no_chances(names, kept[truth[0]])
        y = _values(kept[truth[0]])
    else:
        y, about = survival_target(kept, truth, roles.event_value)
        notes += about
    subjects = [c for c in named(kept, SUBJECT, taken) if kept[c].duplicated().any()] if roles.group is None else []
    if subjects:
        text = f"{subjects[0][:40]!r} repeats. If it tells patients apart, write --group {subjects[0][:40]}, so that "
        notes.append(Note("W301", f"{text}their rows are resampled together.", (subjects[0],)))
    folds = next(iter(named(kept, FOLD, taken)), None)
    return ToolPredictions(
        tool="AutoGluon" if any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names) else "wide",
        y=y,
        responses={"": np.ma.stack(values, axis=1)},
        names=names,
        groups=None if roles.group is None else kept[roles.group].astype(str).to_numpy(dtype=object).astype(str),
        folds=None if folds is None or kept[folds].isna().any() else kept[folds].factorize(sort=True)[0][:, None],
        is_adaptive=all(_TRIAL.fullmatch(c) for c in names),
        notes=(*notes, *_scales_noted(values, names)),
    )


def _scales_noted(values: list[Array], names: list[str]) -> list[Note]:
    """Ask whether columns of very different scales are predictions of one target."""
    if any(v.dtype == object for v in values):
        return []
    spread = np.array([_spread(v) for v in values])
    known = np.flatnonzero(spread > 0)
    if len(known) < 2 or spread[known].max() < SCALES_APART * spread[known].min():
        return []
    least, most = (names[known[pick(spread[known])]] for pick in (np.argmin, np.argmax))
    times = float(spread[known].max()) / float(spread[known].min())
    text = f"{most[:40]!r} varies {times:,.0f} times as much as {least[:40]!r}: are these predictions? "
    return [Note("W206", f"{text}To tune models on measurements write sober fit; --ignore leaves columns out.")]


def _spread(values: Array) -> float:
    """Standard deviation of the finite values, of whatever size: squares of large ones would overflow."""
    finite = np.ma.masked_invalid(np.ma.asarray(values, np.float64)).compressed()
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.std(finite / largest)) if largest > 0 else 0.0


def _check_no_chances(names: list[str], truth: Any) -> None:
    """Refuse columns that are the probabilities of the classes: they are all of one configuration."""
    labels = set(truth.astype(str))
    ends = {re.split(r"[_. ]", name)[-1] for name in names}
    if len(names) > 1 and len(names) == len(labels) and ends == labels:
        some = ", ".join(repr(n[:30]) for n in names[:3])
        raise SoberError(
            "E813", f"The columns {some} look like probabilities of the {len(labels)} classes by one configuration. "
            f"Give one column per configuration, or a long table. {WANTED}",
        )  # fmt: skip


def _is_place(column: Any, name: str) -> bool:
    """Whether a column numbers or names the rows, or says where they were in the cross-validation."""
    if plain_name(name) in PLACE:
        return True
    if not re.fullmatch(r"(?i)unnamed: \d+|x", name) or column.dtype.kind not in "iu":
        return False
    return bool((np.diff(column.to_numpy()) == 1).all()) and len(column) > 2


def _column(column: Any, name: str, truth: Any) -> Any:
    """Return a column of predictions as a masked array: numbers, or labels as text."""
    gaps = column.isna().to_numpy()
    if column.dtype.kind in "iufb":
        return np.ma.masked_array(column.fillna(0).to_numpy(), gaps)
    if gaps.all():  # nothing tells labels from numbers
        fill = np.zeros(len(column)) if truth.dtype.kind in "iufb" else truth.to_numpy(dtype=object)
        return np.ma.masked_array(fill, gaps)
    known = set(truth.astype(str)) if truth.dtype.kind not in "iufb" else set()
    strange = next((v for v in column.dropna().astype(str) if v not in known), None)
    if strange is None:
        return np.ma.masked_array(column.fillna(next(iter(known))).to_numpy(dtype=object), gaps)
    if plain_name(name) in CONFIGURATION or _names_models(column, set(truth.dropna().astype(str))):
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} seems to name configurations, but no column tells the samples apart. {WANTED}",
        )
    raise SoberError(
        "E812",
        f"Column {name[:40]!r} holds {strange[:30]!r}, which is neither a number nor one of the classes. "
        f"Leave it out with --ignore {name[:40]}.",
    )
