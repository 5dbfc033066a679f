"""recognise: what a table of another tool holds: fold scores, or predictions in a long or a wide table.

A wide table of predictions has one row per sample and one column per configuration, as AutoGluon keeps them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..tables import Roles
from ..tables.roles import check_target, find, listed
from ..tables.target_column import as_events, survival_target
from .column_names import FOLD, PLACE, SUBJECT, named, plain_name
from .fold_scores import FoldScores
from .fold_tables import holds_fold_scores, read_frame, without_row_names
from .long_tables import WANTED, long_reader, looks_like_models
from .tool_predictions import ToolPredictions

SCALES_APART = 1000  # times the least spread
_TRIAL = re.compile(r"(?i)trial[_ ]?\d+|.*_trial\d+")


def recognise(
    frame: Any, roles: Roles | None = None, metric: str | None = None, **given: Any
) -> FoldScores | ToolPredictions:
    """Read a table of fold scores or of predictions.

    Parameters
    ----------
    roles : Roles, optional
        The column with the truth (long tables of known tools tell it themselves), or time and event in wide tables of
        risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    metric : str, optional
        The measure that selected, in a table of fold scores.
    **given
        Names of `Roles`, instead of it.
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
    read_long = long_reader(frame, roles)
    if read_long is None:
        return _read_wide(frame, roles)
    if roles.time is not None:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column per configuration.")
    return read_long(frame, roles)


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
    names = [c for c in frame.columns if c not in {*truth, roles.group, *roles.ignore}]
    names = [c for c in names if not _is_place(kept[c], c)]
    if not names:
        raise SoberError(
            "E812", "Beside the truth there is no column of predictions. Give one column per configuration."
        )
    values = [_column(kept[c], c, kept[truth[0]]) for c in names]
    if len({v.dtype == object for v in values}) > 1:
        raise SoberError(
            "E812", "Some columns hold labels and others numbers. Give one kind; --ignore leaves some out."
        )
    if len(truth) == 1:
        _check_no_chances(names, kept[truth[0]])
    folds = next(iter(named(kept, FOLD, {*truth, roles.group, *roles.ignore})), None)
    y, notes = _truth(kept, roles)
    return ToolPredictions(
        tool="AutoGluon" if any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names) else "wide",
        y=y,
        responses={"": np.ma.stack(values, axis=1)},
        names=names,
        groups=None if roles.group is None else kept[roles.group].astype(str).to_numpy(dtype=object).astype(str),
        folds=None if folds is None or kept[folds].isna().any() else kept[folds].factorize(sort=True)[0][:, None],
        is_adaptive=all(_TRIAL.fullmatch(c) for c in names),
        notes=(*notes, *_subjects_noted(kept, roles), *_scales_noted(values, names)),
    )


def _truth(kept: Any, roles: Roles) -> tuple[Array, tuple[Note, ...]]:
    names = roles.target_names
    if len(names) == 1:
        return _labels(kept[names[0]]), ()
    events, notes = as_events(kept[names[1]], names[1], roles.event_value)
    return survival_target(kept.assign(**{names[1]: events}), names)[0], notes


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
    return [
        Note(
            "W206",
            f"{most[:40]!r} varies {times:,.0f} times as much as {least[:40]!r}: are these predictions? "
            "To tune models on measurements write sober fit; --ignore leaves columns out.",
        )
    ]


def _spread(values: Array) -> float:
    """Standard deviation of the finite values, of whatever size: squares of large ones would overflow."""
    finite = np.ma.masked_invalid(np.ma.asarray(values, np.float64)).compressed()
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.std(finite / largest)) if largest > 0 else 0.0


def _subjects_noted(kept: Any, roles: Roles) -> list[Note]:
    """Say that rows of one patient may have to stay together."""
    if roles.group is not None:
        return []
    found = [c for c in named(kept, SUBJECT, {*roles.target_names, *roles.ignore}) if kept[c].duplicated().any()]
    text = "{0!r} repeats. If it tells patients apart, write --group {0}, so that their rows are resampled together."
    return [Note("W301", text.format(name[:40]), (name,)) for name in found[:1]]


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


def _labels(column: Any) -> Array:
    return np.asarray(column.to_numpy(dtype=None if column.dtype.kind in "iufb" else object))


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
    if strange is not None and looks_like_models(column, truth):
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} seems to name configurations, but no column tells the samples apart. {WANTED}",
        )
    if strange is not None:
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} holds {strange[:30]!r}, which is neither a number nor one of the classes. "
            f"Leave it out with --ignore {name[:40]}.",
        )
    return np.ma.masked_array(column.fillna(next(iter(known))).to_numpy(dtype=object), gaps)
