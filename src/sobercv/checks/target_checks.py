"""Checks of the target and of the size of the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import Note
from ..tables import Dataset
from ..tables.naming import some

LEAST_ROWS = 20


def size(data: Dataset, cv: int) -> Iterator[Note]:
    """Too few rows or groups for folds, or for trust."""
    n, what, least = data.n_rows, "rows", 6
    if data.groups is not None:
        n, what, least = data.n_groups, "groups", 3
    if n < least:
        yield Note("E106", f"There are {n} {what} with a target; {least} are the least. Collect more data.")
    elif what == "groups" and n == cv:
        text = f"Each of the {n} groups is held out once: the score is that of a group which the model has not seen."
        few = f" {n} groups say little about how much the next one differs, so expect a wide interval."
        yield Note("W205", text + few) if n < LEAST_ROWS else Note("S801", text)
    elif n < cv:
        yield Note("E106", f"There are {n} {what} with a target, too few for {cv} folds. Write --cv {n}.")
    elif n < LEAST_ROWS:
        yield Note("W205", f"With {n} {what} every estimate is uncertain; expect a wide interval.")
    elif n < 200 and data.task != "survival":
        text = f"{n} {what} are few: --repeats 5 makes the choice steadier and the interval narrower."
        yield Note("S802", text)


def classes(data: Dataset, cv: int) -> Iterator[Note]:
    """Classes that are too rare for the folds, or rare at all."""
    if data.task not in ("binary", "multiclass"):
        return
    labels, counts = np.unique(data.y, return_counts=True)
    rare = [(str(label), int(n)) for label, n in zip(labels, counts, strict=True) if n < cv]
    if rare:
        label, n = min(rare, key=lambda pair: pair[1])
        text = f"Class {some([label])} has {n} {'row' if n == 1 else 'rows'}, fewer than the {cv} folds. "
        if n >= 2:
            text += f"Use --cv {n}, join it with another class, or leave it out."
        else:
            text += "Join it with another class, or leave it out."
        yield Note("E106", text)
        return
    least = int(counts.min())
    if least < 30:
        label = str(labels[int(counts.argmin())])
        yield Note("W804", f"Class {some([label])} has only {least} rows, so scores depend on few of them.")


def events(data: Dataset, cv: int) -> Iterator[Note]:
    """Too few events for the folds, or for trust."""
    if data.task != "survival":
        return
    n = int(data.y["event"].sum())
    if n < cv:
        yield Note("E106", f"The event was seen {n} times, fewer than the {cv} folds. Use --cv {max(2, n)}.")
    elif n < 50:
        yield Note("W804", f"The event was seen only {n} times, so scores depend on few rows.")


def missing(data: Dataset) -> Iterator[Note]:
    """Rows that were left out because their target is missing."""
    n = data.n_without_target
    if n:
        rows = "One row has" if n == 1 else f"{n} rows have"
        yield Note(
            "W813", f"{rows} no target and were left out.".replace("has no target and were", "has no target and was")
        )


def task(data: Dataset) -> Iterator[Note]:
    """A target that could be read in two ways."""
    if not data.is_guess:
        return
    n = len(np.unique(data.y))
    read, other = ("classes", "regression") if data.task == "multiclass" else ("numbers", "multiclass")
    yield Note("S801", f"The target has {n} different whole numbers and is read as {read}. If not so: --task {other}.")
