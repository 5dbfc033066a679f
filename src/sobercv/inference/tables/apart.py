"""A table in which only some samples judge: those that the proposer of the configurations has not seen.

Takes predictions and a mask of samples, gives the verbs of a table in memory. All samples select, in the table and in
every resample; a resample's winner is scored on those of the absent samples that may judge. A proposer that looks at
scores (TPE, Bayesian optimisation) makes columns that suit the noise of the samples it looked at; what it has not seen
owes it nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...containers import Array
from ...errors import Note, SoberError
from ...metrics import Scorer
from ...predictions import Predictions
from .. import notes
from ..question import Question
from .memory import MemoryResamples, MemoryTable


class ApartTable(MemoryTable):
    """Predictions of which only some samples judge.

    Parameters
    ----------
    predictions : Predictions
    judges : bool array [N]
        The samples that may judge.
    question : Question
        That draws samples. The interval is the percentile one: Wilson's leans on the plain score of the winner, which
        the proposer has made too good.
    """

    def __init__(self, predictions: Predictions, judges: Array, question: Question) -> None:
        if question.method != "bbc":
            raise SoberError(
                "E114",
                f"method={question.method!r} leans on the plain score, which a proposer that looks at scores has made "
                'too good. Write method="bbc".',
            )
        super().__init__(predictions, replace(question, interval="percentile", fixed_models=False))
        self._judges = judges[predictions.rows]

    def resamples(self, start: int, stop: int) -> ApartResamples:
        """Draw some resamples."""
        return ApartResamples(self.scorers, self._draws.counts(start, stop), self._judges)

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say who judged, and what is special about the table."""
        judged = notes.judged_apart(int(self._judges.sum()), self.n_samples)
        return [judged, *super().notes(winner, chosen)]


class ApartResamples(MemoryResamples):
    """Counts [B, N] of some resamples, in which some of the absent samples judge."""

    def __init__(self, scorers: list[Scorer], counts: Array, judges: Array) -> None:
        super().__init__(scorers, counts)
        self._judges = judges

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Score the winners on what is absent and may judge."""
        absent = ((self.counts == 0) & self._judges).view(np.uint8)
        return [scorer.picked(absent, winners) for scorer in self._scorers]
