"""A race as a table: those who left early stay in the bootstrap, with the predictions that they have.

Takes the finishers and whoever left before them, gives the verbs of a table over all of them. To leave the others out
would be optimistic: what was dropped for its bad luck in this sample might have won in another. A leaver is compared
with the winner on the samples that it has; in a resample its lead deviates from the observed one by chance, and that
deviation is scaled to what it would be on all samples. Where folds are drawn (BBC-F), read "folds" for "samples".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...containers import Array
from ...errors import Note
from ...predictions import Predictions
from .. import notes
from ..question import Question
from .base import ERRORS, Resamples, Table, spread
from .folds import FoldResamples, FoldTable
from .leavers import FoldLeavers, Leavers
from .memory import MemoryResamples, MemoryTable

_FINISHED = -1  # the group of those who finished


class RacedTable(Table):
    """Predictions of a race.

    Parameters
    ----------
    finishers : Predictions
        Of the configurations that were in the race until its end. The winner is one of them.
    leavers : sequence of Predictions
        Of the same samples; each holds configurations that left after the same splits.
    question : Question
        That draws samples or folds.
    counts : int array [B, N] or [B, K], optional
        As in `MemoryTable` and `FoldTable`.
    """

    def __init__(
        self, finishers: Predictions, leavers: Sequence[Predictions], question: Question, counts: Any = None
    ) -> None:
        by_fold = question.by == "fold"
        memory = self._memory = MemoryTable(finishers, question, None if by_fold else counts)
        inner: MemoryTable | FoldTable = FoldTable(memory, counts) if by_fold else memory
        self._inner, self._is_scaled = inner, True
        self.question, self.target, self.groups, self.fold_of = (
            inner.question,
            inner.target,
            inner.groups,
            inner.fold_of,
        )
        self.n_samples, self.n_groups, self.n_repeats = inner.n_samples, inner.n_groups, inner.n_repeats
        self.n_left_out, self.n_resamples = inner.n_left_out, inner.n_resamples
        self._wholes = inner.whole()
        self._reference = inner.winner(self._wholes[0])
        kind = FoldLeavers if by_fold else Leavers
        self._leavers = [kind(finishers, group, memory, self._reference) for group in leavers]
        # Everybody in the order of the indices for life, so that ties end as they would without a race.
        unordered = np.concatenate([inner.configurations, *(group.configurations for group in self._leavers)])
        self._order = np.argsort(unordered)
        self.configurations = unordered[self._order]
        sizes = [len(inner.configurations), *(len(group.configurations) for group in self._leavers)]
        self._home = np.repeat(np.arange(_FINISHED, len(self._leavers)), sizes)[self._order]
        self._seat = np.concatenate([np.arange(size) for size in sizes])[self._order]

    def whole(self) -> list[Array]:
        """Score all samples; of a leaver, what the observed lead over the winner would make of its score."""
        return [
            self._ordered([scores, *(scores[self._reference] + group.lead[k] for group in self._leavers)])
            for k, scores in enumerate(self._wholes)
        ]

    def winner(self, whole: Array) -> int:
        """Select among the finishers: nobody else has a score on all samples; among leavers where none is asked for."""
        if self.question is self._inner.question:
            return int(np.flatnonzero((self._home == _FINISHED) & (self._seat == self._reference))[0])
        chosen = int(self.select(np.where(self._home == _FINISHED, whole, np.nan)[None])[0])
        return chosen if chosen >= 0 else super().winner(whole)  # a family of which nobody finished

    def standard_errors(self) -> Array:
        """Resample for it, what the table of the finishers resamples."""
        inner = (
            self._inner.resamples(0, ERRORS)
            if self._inner is not self._memory
            else self._memory.error_resamples(ERRORS)
        )
        return spread(RacedResamples(self, inner).in_bag())

    @property
    def n_units(self) -> int:
        """Give that of the finishers' table."""
        return self._inner.n_units

    @property
    def n_folds(self) -> float:
        """Give that of the finishers' table."""
        return self._inner.n_folds

    def kurtoses(self, winner: int) -> list[float]:
        """Give those of the finishers' table; nothing is known of a leaver."""
        return self._inner.kurtoses(int(self._seat[winner])) if self._home[winner] == _FINISHED else super().kurtoses(0)

    def asking(self, question: Question) -> RacedTable:
        """Ask for another selection: a family, say, which is known no better than by the samples that it has."""
        other = cast(RacedTable, super().asking(question))
        other._is_scaled = False
        return other

    def cut(self) -> list[tuple[int, int]]:
        """Cut as the finishers' table."""
        return self._inner.cut()

    def resamples(self, start: int, stop: int) -> RacedResamples:
        """Draw some resamples."""
        return RacedResamples(self, self._inner.resamples(start, stop))

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say who took part beside the finishers, and what is special about their table."""
        n, left = len(self.configurations), self._home != _FINISHED
        some = chosen[chosen >= 0]
        share = float(left[some].mean()) if len(some) else 0.0
        size = notes.on_size(n, 0, self.n_samples, self.n_groups)
        return [notes.with_leavers(int(left.sum()), n, share), *size, *self._memory.special(self._reference)]

    def complaint(self, metric: int) -> str:
        """Give that of the finishers' table."""
        return self._inner.complaint(metric)

    def _ordered(self, parts: list[Array]) -> Array:
        """Put scores of the finishers and of each group of leavers [..., C] into the order of all configurations."""
        return np.concatenate(parts, axis=-1)[..., self._order]


class RacedResamples(Resamples):
    """Resamples of the finishers' table, in which leavers take part."""

    def __init__(self, table: RacedTable, inner: MemoryResamples | FoldResamples) -> None:
        self._table, self._inner = table, inner

    def in_bag(self) -> Array:
        """Score of the finishers; of a leaver, that of the winner and the lead over it."""
        table, scores = self._table, self._inner.in_bag()
        reference = scores[:, table._reference, None]
        leads = (group.leads(self._inner.counts) for group in table._leavers)
        return table._ordered([scores, *(reference + lead for lead in leads)])

    def in_bag_of(self, winner: int) -> list[Array]:
        """Score a finisher on what is present; of a leaver, the winner and the lead over it."""
        table, seat = self._table, int(self._table._seat[winner])
        if table._home[winner] == _FINISHED:
            return self._inner.in_bag_of(seat)
        group, counts = table._leavers[table._home[winner]], self._inner.counts
        seats = np.full(len(counts), seat)
        reference = self._inner.in_bag_of(table._reference)
        return [scores + group.lead_of(k, counts, seats) for k, scores in enumerate(reference, 1)]

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Score of the finishers on what is absent; of a leaver, that of the winner and the lead over it."""
        table = self._table
        home = np.where(winners >= 0, table._home[winners], _FINISHED)
        stand_in = np.where(home == _FINISHED, table._seat[winners], table._reference)
        out = self._inner.out_of_bag(np.where(winners >= 0, stand_in, -1))
        absent = (self._inner.counts == 0).view(np.uint8)
        for g, group in enumerate(table._leavers):
            at = np.flatnonzero(home == g)
            for k, scores in enumerate(out):
                scores[at] += group.lead_of(k, absent[at], table._seat[winners[at]], table._is_scaled)
        return [np.clip(scores, *metric.range) for scores, metric in zip(out, table.question.metrics, strict=True)]
