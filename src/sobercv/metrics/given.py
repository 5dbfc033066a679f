"""A score that somebody computed elsewhere, known by its name: it has a place in a question, and no predictions.

Takes a name and a task; refuses to be computed from a table of predictions.
"""

from __future__ import annotations

from typing import NoReturn

from ..errors import SoberError
from ..predictions import Predictions
from ..targets import Target, TaskName
from .base import Metric
from .part import Part


class GivenScore(Metric):
    """A score of the fitted model itself, given by fold. More is better, as with every scorer of scikit-learn.

    Parameters
    ----------
    name : str
    task : {"classification", "regression", "survival"}
    """

    responses = ()
    range = (-float("inf"), float("inf"))

    def __init__(self, name: str, task: TaskName) -> None:
        self.name, self.task = name, task

    def check_target(self, target: Target) -> None:
        """Take any target: whoever computed the score has seen it."""

    def core(self, part: Part, n_threads: int = 1) -> NoReturn:
        """Refuse: predictions do not tell what the model scores."""
        raise self._refusal()

    def response_of(self, predictions: Predictions) -> NoReturn:
        """Refuse."""
        raise self._refusal()

    def _refusal(self) -> SoberError:
        return SoberError(
            "E130",
            f"{self.name} needs the fitted model, and a table of predictions has none. Pass a function "
            "(y_true, y_pred), or the name of a metric.",
        )
