"""assign: which column is the target, which tells patients apart, what is left to learn from.

Takes a frame and names of columns, gives a `Dataset`: X, y, groups and the task. Refuses in one sentence what no model
could learn; what is only doubtful is for `checks`.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TABLE_TASKS
from .target_column import plain_target, survival_target


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table whose columns have their roles.

    Attributes
    ----------
    X : pandas.DataFrame [N, P]
        What models may see.
    y : array [N]
        Labels, numbers, or records of (event, time).
    groups : array [N] or None
        Rows of one patient share a value.
    task : {"binary", "multiclass", "regression", "survival"}
    target : tuple of str
        The name of the target, or of time and event.
    rows : int array [N]
        Which rows of the table were kept, counted from 0.
    n_without_target : int
        Rows left out because their target is missing.
    is_guess : bool
        Whether the task was told from the values of the target and could be another one.
    roles : mapping of str to str
        Columns that are not in X, and why.
    """

    X: Any
    y: Array
    groups: Array | None
    task: str
    target: tuple[str, ...]
    rows: Array
    n_without_target: int
    is_guess: bool
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows, N."""
        return len(self.rows)

    @property
    def classes(self) -> list[Any]:
        """The sorted labels, where the target holds classes."""
        return np.unique(self.y).tolist() if self.task in ("binary", "multiclass") else []


def assign(
    frame: Any,
    *,
    target: str | None = None,
    time: str | None = None,
    event: str | None = None,
    id: str | None = None,
    group: str | None = None,
    ignore: Sequence[str] = (),
    task: str | None = None,
) -> Dataset:
    """Give the columns of a table their roles.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str, optional
        The column to predict.
    time, event : str, optional
        For survival, instead of `target`: how long, and whether the event was seen (1) or not (0).
    id : str, optional
        Tells samples apart. Models never see it; where values occur more than once, those rows stay together.
    group : str, optional
        Rows with the same value stay together. Models never see it.
    ignore : sequence of str
        Columns that models must not see.
    task : {"binary", "multiclass", "regression", "survival"}, optional
        Told from the target unless given.
    """
    names = target_names(target, time, event, task)
    given = _roles(names, id, group, ignore)
    for name in given:
        find(frame, name)
    keep = ~frame[names].isna().any(axis=1).to_numpy()
    if not keep.any():
        raise SoberError("E805", f"The target {_said(names)} is missing in every row. Name another column.")
    kept = frame.loc[keep]
    if len(names) == 2:
        y, found, is_guess = survival_target(kept, names)
    else:
        y, found, is_guess = plain_target(kept[names[0]], names[0], task)
    X = kept.drop(columns=list(given)).reset_index(drop=True)
    if not len(X.columns):
        raise SoberError("E818", "No column is left to learn from. The table needs columns beside the target.")
    rows = np.flatnonzero(keep)
    return Dataset(X, y, _groups(kept, id, group), found, tuple(names), rows, int((~keep).sum()), is_guess, given)


def find(frame: Any, name: str, what: str = "column") -> None:
    """Refuse a name that is no column of the frame, and say which is meant.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
    what : str
    """
    columns = list(frame.columns)
    if name in columns:
        if name in frame.attrs.get("named_twice", ()):
            raise SoberError("E804", f"Several columns are called {name!r}. Rename all but one.")
        return
    folded = {c.strip().casefold(): c for c in reversed(columns)}
    close = [folded[name.strip().casefold()]] if name.strip().casefold() in folded else []
    close = close or difflib.get_close_matches(name, columns, 1, cutoff=0.6)
    if close:
        raise SoberError("E804", f"There is no {what} {name!r}. Did you mean {close[0]!r}?")
    some = ", ".join(repr(c[:30]) for c in columns[:6]) + (" and more" if len(columns) > 6 else "")
    raise SoberError("E804", f"There is no {what} {name!r}. The columns are {some}.")


def target_names(target: str | None, time: str | None, event: str | None, task: str | None) -> list[str]:
    """Give [target] or [time, event]; refuse what does not go together."""
    if task is not None and task not in TABLE_TASKS:
        raise SoberError("E402", f"There is no task {task!r}; choose one of {', '.join(TABLE_TASKS)}.")
    if target is not None and (time is not None or event is not None):
        raise SoberError("E808", "Give --target, or --time and --event for survival, but not both.")
    if target is not None:
        if task == "survival":
            raise SoberError("E808", "Survival needs --time and --event instead of --target.")
        return [target]
    if time is None and event is None:
        raise SoberError("E808", "Say what to predict: --target COLUMN, or --time COLUMN and --event COLUMN.")
    if time is None or event is None:
        raise SoberError("E808", f"Survival needs both: --{'event' if event is None else 'time'} COLUMN is missing.")
    if time == event:
        raise SoberError("E808", f"--time and --event name the same column, {time!r}. Name two.")
    if task not in (None, "survival"):
        raise SoberError("E808", f"--time and --event are for survival; got --task {task}. Leave one out.")
    return [time, event]


def _roles(names: list[str], id: str | None, group: str | None, ignore: Sequence[str]) -> dict[str, str]:
    """Give every column that models must not see its role; the target can have no other."""
    roles = dict.fromkeys(names, "target")
    for name, role in [(id, "id"), (group, "group"), *((n, "ignored") for n in ignore)]:
        if name is None:
            continue
        if roles.get(name) == "target":
            raise SoberError("E808", f"{name!r} cannot be both the target and {role}. Name another column.")
        roles.setdefault(name, role)
    return roles


def _said(names: Sequence[str]) -> str:
    return " and ".join(repr(n[:60]) for n in names)


def _groups(kept: Any, id: str | None, group: str | None) -> Array | None:
    """Number the groups: by --group, else by an id that occurs more than once."""
    name = group or id
    if name is None:
        return None
    column = kept[name]
    if column.isna().any():
        n = int(column.isna().sum())
        rows = "row" if n == 1 else "rows"
        raise SoberError("E805", f"{name!r} is missing in {n} {rows}. Give every row one, or leave those rows out.")
    codes = column.astype(str).factorize()[0]
    if group is None and codes.max() + 1 == len(codes):
        return None
    if codes.max() < 2:
        raise SoberError("E805", f"{name!r} has only {codes.max() + 1} different values; folds need at least 3 groups.")
    return np.asarray(codes)
