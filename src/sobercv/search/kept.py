"""What is kept of models beside what metrics are computed from, and what is kept of the winner.

Takes the responses that metrics ask for, gives those that a report wants besides; never fits and never scores.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..predictions import Predictions
from ..targets import TaskName
from ..training import MemoryStore
from ..training.fit.response import NOTHING, Wanted

#: What charts and metrics of a later day are made of.
BESIDES = {
    "classification": ("predict", "predict_proba", "decision_function"),
    "survival": ("predict",),
    "regression": ("predict",),
}


def kept_besides(keep: str, wanted: Wanted, task: TaskName) -> Wanted:
    """Give the responses that are kept from whoever can give them.

    Parameters
    ----------
    keep : {"scored", "all"}
    wanted : tuple of tuples of str
        What metrics ask for.
    task : {"classification", "regression", "survival"}
    """
    if keep == "scored" or not wanted:
        return ()
    named = {alternatives[0] for alternatives in wanted}
    return tuple((name, NOTHING) for name in BESIDES.get(task, ()) if name not in named)


def alone(store: MemoryStore, predictions: Predictions, winner: int) -> Predictions:
    """Give the predictions of one configuration with all that it gave, on the rows that the finishers are judged on.

    Parameters
    ----------
    store : MemoryStore
    predictions : Predictions
        Of the finishers.
    winner : int
        Its index; it need not be a finisher.
    """
    if winner in store.failures:  # a callable `refit` may train what failed in a fold
        return replace(predictions, responses={})
    own = store.predictions(np.arange(len(store.done)) == winner)
    return replace(own, seen=predictions.seen & own.seen)
