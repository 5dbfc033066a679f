"""An early end of a search: when the interval is tight enough, and what may be claimed from what is complete.

Takes the limits that the user set and the log of a race; gives the test to make after each round, and the note
that marks an incomplete cross-validation. Never fits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..errors import Note, SoberError, warn
from ..inference import Estimate, Question
from ..inference.bbc import corrected
from ..inference.tables import MemoryTable
from ..predictions import Predictions
from ..signals import Terminated
from ..training import MemoryStore, RaceLog

#: As for dropping: on fewer predictions an interval can be tight by luck, for instance when all are right.
MIN_PREDICTIONS = 50

CAUSES = {
    "interrupted": "interrupted (Ctrl-C)",
    "terminated": "terminated by a signal",
    "max_seconds": "stopped by max_seconds",
    "half_width": "stopped by half_width",
}


def check_limits(**limits: Any) -> None:
    """Refuse limits that mean nothing.

    Parameters
    ----------
    **limits : float or None
    """
    for name, value in limits.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0):
            raise SoberError("E108", f"`{name}` must be a number above 0, or None; got {value!r}.")


def tight_enough(half_width: float | None, question: Question) -> Callable[[Predictions], bool] | None:
    """Make the test that is made after each round: whether half the width of the interval is small enough.

    Parameters
    ----------
    half_width : float or None
        None where no test is to be made.
    question : Question
        The same predictions give the same answer, so a resumed run stops there too.
    """
    if half_width is None:
        return None
    question = question.by_the_first()

    def enough(predictions: Predictions) -> bool:
        if len(predictions.rows) < MIN_PREDICTIONS:
            return False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is worth a warning is said once, at the end
                (estimate,) = corrected(MemoryTable(predictions, question)).values()
        except SoberError:  # undefined on so few samples
            return False
        low, high = estimate.interval or (-np.inf, np.inf)
        return bool((high - low) / 2 <= half_width)

    return enough


def caveat(log: RaceLog, store: MemoryStore) -> Note | None:
    """Say how incomplete the cross-validation is; refuse to go on when not one split is complete.

    Parameters
    ----------
    log : RaceLog
    store : MemoryStore
    """
    if log.stopped == "finished":
        return None
    cause, n_splits = CAUSES[log.stopped], store.done.shape[1]
    positions = np.flatnonzero(store.done[log.finishers].all(axis=0))
    if not len(positions):
        raise SoberError(
            "E604" if log.stopped == "max_seconds" else "E601",
            f"The search was {cause} before one split was complete ({log.n_fits} of {store.done.size} fits were made), "
            "so there is nothing to judge. Give it more time; with store= it goes on where it stopped.",
        ) from (None if log.signal is None else Terminated(log.signal))
    n_samples = int(store.plan.seen(positions).any(axis=1).sum())
    note = Note(
        "W601",
        f"The cross-validation is incomplete: {cause} after {len(positions)} of {n_splits} splits. The estimate rests "
        f"on the {n_samples} of {store.plan.n_samples} samples that every configuration in the race has predicted.",
    )
    if log.stopped != "half_width":
        warn(note.code, note.text)
    return note


def marked(estimate: Estimate, note: Note | None) -> Estimate:
    """Write a caveat into an estimate's notes, in place of what they say of the same.

    Parameters
    ----------
    estimate : Estimate
    note : Note or None
    """
    if note is None:
        return estimate
    return replace(estimate, notes=(*(known for known in estimate.notes if known.code != note.code), note))
