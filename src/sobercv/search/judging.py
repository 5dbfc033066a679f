"""From the log and the store of a race to honest estimates, and what their reader must know of an early end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from ..containers import Array
from ..errors import Note, SoberError, SoberWarning, warn
from ..inference import Estimate, Question
from ..inference.estimate import shown
from ..inference.procedures import Threshold
from ..inference.tables import Table, open_table
from ..predictions import Predictions
from ..signals import Terminated
from ..training import Configuration, MemoryStore, RaceLog
from ..training.race import UNREACHED
from .results import split_scores

CAUSES = {
    "interrupted": "interrupted (Ctrl-C)",
    "terminated": "terminated by a signal",
    "max_seconds": "stopped by max_seconds",
}


class FailedConfigurations(SoberWarning, FitFailedWarning):  # type: ignore[misc]
    """Some configurations failed: a warning of sober, and scikit-learn's `FitFailedWarning`."""


def dropped_predictions(store: MemoryStore, dropped: Array) -> tuple[Predictions, ...]:
    """Predictions of dropped configurations, bool [C]; one table for those that ran the same splits."""
    patterns = np.unique(store.done[dropped], axis=0)
    return tuple(store.predictions(dropped & (store.done == pattern).all(axis=1)) for pattern in patterns)


def winner_predictions(store: MemoryStore, predictions: Predictions, winner: int, decision: Any) -> Predictions:
    """Predictions of one configuration with all that was kept of it, on the rows that the finishers are judged on.

    Its labels are those of its threshold, where it has one.
    """
    if winner in store.failures:  # a callable `refit` may train what failed in a fold
        return replace(predictions, responses={})
    own = store.predictions(np.arange(len(store.done)) == winner)
    own = replace(own, seen=predictions.seen & own.seen)
    if not isinstance(decision, Threshold) or own.classes is None or decision.response not in own.responses:
        return own
    k, values = own.classes.tolist().index(decision.positive), own.responses[decision.response]
    if k == 0:  # scores are those of the second class
        values = 1.0 - values if decision.response == "predict_proba" else -values
    labels = np.where(values >= decision.value, k, 1 - k).astype(np.int8)
    return replace(own, responses={**own.responses, "predict": labels})


def table_of(store: MemoryStore, log: RaceLog, question: Question, count_dropped: bool) -> tuple[Predictions, Table]:
    """Return predictions of the finishers, and what they are judged by.

    That is these predictions, with those that dropped configurations made; or scores on the splits that all have.
    """
    predictions = store.predictions(log.finishers)
    if question.by == "sample":
        dropped = dropped_predictions(store, log.status == "dropped") if count_dropped else ()
        predictions = replace(predictions, dropped=dropped)
        return predictions, open_table(predictions, question)
    complete = store.done[log.finishers].all(axis=0)
    each = (split_scores(store, log, metric, question)[0] for metric in question.metrics)
    scores = [scores[log.finishers][:, complete].T for scores in each]
    return predictions, Table(predictions, question, scores=scores)


def incomplete(log: RaceLog, store: MemoryStore) -> Note | None:
    """Say how incomplete the cross-validation is; refuse to go on when no split is complete."""
    if log.stopped == "finished":
        return None
    cause, n_splits = CAUSES[log.stopped], store.done.shape[1]
    positions = np.flatnonzero(store.done[log.finishers].all(axis=0))
    if not len(positions):
        raise SoberError(
            "E604" if log.stopped == "max_seconds" else "E601",
            f"The search was {cause} before one split was complete ({log.n_fits} of {store.done.size} fits were made), "
            "so there is nothing to judge. Give it more time; with store= it continues where it stopped.",
        ) from (None if log.signal is None else Terminated(log.signal))
    n_samples = int(store.plan.seen(positions).any(axis=1).sum())
    note = Note(
        "W601",
        f"The cross-validation is incomplete: {cause} after {len(positions)} of {n_splits} splits. The estimate rests "
        f"on the {n_samples} of {store.plan.n_samples} samples that every configuration in the race has predicted.",
    )
    warn(note.code, note.text)
    return note


def with_notes(estimate: Estimate, notes: Sequence[Note | None], params: Mapping[str, Any]) -> Estimate:
    """Add the parameters of the winner to an estimate, and notes, each in place of one of the same code."""
    told = [note for note in notes if note is not None]
    known = [note for note in estimate.notes if note.code not in {new.code for new in told}]
    return replace(estimate.with_winner(winner_params=dict(params)), notes=(*known, *told))


def unreached(n: int, total: int) -> str:
    """Say that configurations were set aside only because there was no time for them."""
    return (
        f"{n:,} of {total:,} configurations were not reached before the time was over and are set aside: for their "
        "place, not for their score."
    )


def report_failures(log: RaceLog, configurations: Sequence[Configuration]) -> None:
    """Warn once, with the first cause, where configurations failed."""
    if not log.failures:
        return
    if all(cause.message == UNREACHED for cause in log.failures.values()):
        warn("W204", unreached(len(log.failures), len(log.status)), FailedConfigurations)
        return
    first, cause = next(iter(log.failures.items()))
    params = configurations[first].params
    which = f"configuration {first} ({shown(params)})" if params else f"configuration {first}"
    warn(
        "W204",
        f"{len(log.failures)} of {len(log.status)} configurations failed and were set aside; the first is "
        f"{which}, {str(cause).rstrip('.')}. See race_.failures.",
        FailedConfigurations,
    )
