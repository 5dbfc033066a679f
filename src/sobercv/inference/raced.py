"""A race in which the dropped configurations stay in the bootstrap, with the predictions that they have.

To leave them out would be optimistic: what was dropped for its bad luck in this sample might have won in another. A
dropped configuration is compared with the winner on the samples that it has; in a resample its lead deviates from the
observed one by chance, and that deviation is scaled to what it would be on all samples. Where folds are drawn, read
"folds" for "samples".
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..containers import Array
from ..predictions import Predictions
from .question import Question
from .tables import FoldMeans, Scores, Table
from .units import Units

_FINISHED = -1  # the home of the finishers in a race


@dataclass(frozen=True, eq=False)
class DroppedGroup:
    """Configurations dropped after the same splits: by how much each is ahead of the winner, by one metric."""

    configurations: Array  # their ids [C]
    scorer: Scores  # of these configurations and, last, of the winner
    entries: Array  # of a row of counts (samples or folds): those that they have predicted
    share: float  # what a deviation of their lead is scaled by: the root of the share of the units that they have
    lead: Array  # score of each minus that of the winner on all that they have, mostly negative [C]

    def leads(self, counts: Array, winners: Array | None, is_scaled: bool) -> Array:
        """Lead of every configuration in every resample [B, C], or of configuration winners[b] in resample b [B].

        `is_scaled` makes of a deviation what it would be on all samples. Where nothing that it has was drawn, nothing
        is known but what was observed.
        """
        present, observed = counts[:, self.entries], self.lead
        if winners is None:
            scores = self.scorer.scores(present)
            ahead = scores[:, :-1] - scores[:, -1:]
        else:
            last, observed = np.full(len(winners), len(self.lead)), self.lead[winners]
            ahead = self.scorer.picked(present, winners) - self.scorer.picked(present, last)
        scaled = observed + self.share * (ahead - observed) if is_scaled else ahead
        return np.where(np.isnan(ahead), observed, scaled)


class RaceScores:
    """Scores of a race by one metric: of a dropped configuration, that of the winner and the lead over it.

    All configurations stand in the order of their ids, so that ties end as they would without a race. `order`, `home`
    and `seat` [C] are the position in the list of finishers and groups, the group (-1 for finishers), and the position
    there; `reference` is the position of the winner among the finishers.
    """

    is_scaled = True

    def __init__(self, inner: Scores, finishers: Array, reference: int, dropped: list[DroppedGroup]) -> None:
        self.metric, self.inner, self.reference, self.dropped = inner.metric, inner, reference, dropped
        self.complaint = getattr(inner, "complaint", "")
        parts = [finishers, *(group.configurations for group in dropped)]
        self.order = np.argsort(np.concatenate(parts))
        self.home = np.repeat(np.arange(_FINISHED, len(dropped)), [len(part) for part in parts])[self.order]
        self.seat = np.concatenate([np.arange(len(part)) for part in parts])[self.order]

    def scores(self, counts: Array) -> Array:
        """Score every configuration on what is present [B, C]."""
        scores = self.inner.scores(counts)
        reference = scores[:, self.reference, None]
        dropped = (reference + group.leads(counts, None, True) for group in self.dropped)
        return np.concatenate([scores, *dropped], axis=1)[:, self.order]

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration per resample [B], within the range of the metric."""
        home = np.where(winners >= 0, self.home[winners], _FINISHED)
        stand_in = np.where(home == _FINISHED, self.seat[winners], self.reference)
        out = self.inner.picked(counts, np.where(winners >= 0, stand_in, -1))
        for g, group in enumerate(self.dropped):
            at = np.flatnonzero(home == g)
            out[at] += group.leads(counts[at], self.seat[winners[at]], self.is_scaled)
        return np.clip(out, *self.metric.range)


class RacedTable(Table):
    """The table of the finishers, of which the winner is one, with scorers that know the dropped configurations, too.

    Each of `dropped` holds configurations that were dropped after the same splits, on the samples of `finishers`.
    """

    scorers: list[RaceScores]
    dropped: Array

    def __init__(
        self, finishers: Predictions, dropped: Sequence[Predictions], question: Question, counts: Any = None
    ) -> None:
        inner = Table(finishers, question, counts)
        reference = inner.winner()
        self.__dict__.update(inner.__dict__)
        self.__dict__.pop("standard_errors", None)
        groups = [_dropped_group(finishers, group, inner, reference) for group in dropped]
        self.scorers = [
            RaceScores(scorer, inner.configurations, reference, [group[k] for group in groups])
            for k, scorer in enumerate(inner.scorers)
        ]
        order = self.scorers[0].order
        self.wholes = [
            np.concatenate([scores, *(scores[reference] + group.lead for group in race.dropped)])[order]
            for race, scores in zip(self.scorers, inner.wholes, strict=True)
        ]
        everything = [inner.configurations, *(group.configurations for group in dropped)]
        self.configurations = np.concatenate(everything)[order]
        self.dropped, self.reference = self.scorers[0].home != _FINISHED, reference
        self._own_question = inner.question

    def winner(self) -> int:
        """Select among the finishers, which alone have a score on all samples, unless none of them is asked for."""
        if self.question is self._own_question:
            race = self.scorers[0]
            return int(np.flatnonzero((race.home == _FINISHED) & (race.seat == race.reference))[0])
        chosen = int(self.select(np.where(self.dropped, np.nan, self.wholes[0])[None])[0])
        return chosen if chosen >= 0 else super().winner()  # a family without a finisher

    def asking(self, question: Question, members: Array | None = None) -> Self:
        """Ask for another selection: a family, say, which is known no better than by the samples that it has."""
        other = super().asking(question, members)
        other.scorers = [copy(race) for race in self.scorers]
        for race in other.scorers:
            race.is_scaled = False
        return other


def _dropped_group(finishers: Predictions, group: Predictions, table: Table, reference: int) -> list[DroppedGroup]:
    """A dropped group by each metric."""
    metrics, seen = table.question.metrics, group.seen & finishers.seen
    scorers: list[Scores]
    if table.samples is None:
        beside = finishers.take_configurations(np.array([reference])).responses
        both = replace(
            group,
            responses={  # what is kept besides what is scored, not all models have
                name: np.concatenate([group.responses[name], beside[name]], axis=1)
                for name in beside
                if name in group.responses
            },
            configurations=np.append(group.configurations, finishers.configurations[reference]),
            seen=seen,
        )
        entries, own = np.searchsorted(finishers.rows, both.rows), both.only_seen()
        n, n_all = Units(own.n_samples, 0, groups=own.groups).n, table.observed.n
        scorers = [table.question.bind(own, metric) for metric in metrics]
    else:  # folds are resampled
        alone = Table(replace(group, seen=seen), replace(table.question, by="sample"))  # it may have a single fold
        folds = np.unique(table.predictions.fold_of[:, 0])
        entries = np.searchsorted(folds, np.unique(alone.predictions.fold_of[:, 0]))
        n, n_all = len(entries), len(folds)
        scores = zip(alone.fold_scores(), table.fold_scores(), metrics, strict=True)
        scorers = [
            FoldMeans(np.column_stack([mine, all_[entries, reference]]), metric) for mine, all_, metric in scores
        ]
    found = []
    for scorer in scorers:
        *mine, winner = scorer.scores(np.ones((1, len(entries)), np.uint8))[0]
        lead = np.array(mine) - winner
        found.append(DroppedGroup(group.configurations, scorer, entries, float(np.sqrt(n / n_all)), lead))
    return found
