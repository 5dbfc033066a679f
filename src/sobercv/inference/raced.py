"""A race in which the dropped configurations stay in the bootstrap, with the predictions that they have.

To leave them out would be optimistic: what was dropped for its bad luck in this sample might have won in another. A
dropped configuration is compared with the winner on the samples that it has; in a resample its lead deviates from the
observed one by chance, and that deviation is scaled to what it would be on all samples. Where folds are drawn, read
"folds" for "samples".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..containers import Array
from ..metrics import Metric
from ..predictions import Predictions
from .question import Question
from .tables import FoldMeans, Scores, Table
from .units import Units


@dataclass(frozen=True, eq=False)
class DroppedGroup:
    """Configurations dropped after the same splits: by how much each is ahead of the winner, by one metric."""

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


@dataclass(frozen=True, eq=False)
class RaceScores:
    """Scores of a race by one metric, in order of ids; of a dropped configuration that of the winner and its lead."""

    inner: Scores  # of the finishers
    reference: int  # position of the winner among the finishers
    dropped: list[DroppedGroup]
    order: Array  # of the list of finishers and groups, by id [C]
    metric: Metric
    is_scaled: bool = True  # whether leads are scaled where a dropped configuration is judged

    def scores(self, counts: Array) -> Array:
        """Score every configuration on what is present [B, C]."""
        scores = self.inner.scores(counts)
        reference = scores[:, self.reference, None]
        dropped = (reference + group.leads(counts, None, True) for group in self.dropped)
        return np.concatenate([scores, *dropped], axis=1)[:, self.order]

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration per resample [B], within the range of the metric."""
        place = np.where(winners < 0, -1, self.order[winners])  # in the list of finishers and groups
        start = len(self.order) - sum(len(group.lead) for group in self.dropped)
        out = self.inner.picked(counts, np.where(place < start, place, self.reference))
        for group in self.dropped:
            at = np.flatnonzero((place >= start) & (place < start + len(group.lead)))
            out[at] += group.leads(counts[at], place[at] - start, self.is_scaled)
            start += len(group.lead)
        return np.clip(out, *self.metric.range)


def race_table(finishers: Predictions, dropped: Sequence[Predictions], question: Question, counts: Any = None) -> Table:
    """Return the table of the finishers, of which the winner is one, with scorers that know the dropped ones, too.

    Each of `dropped` holds configurations that were dropped after the same splits, on the samples of `finishers`. A
    family of configurations, which is known no better than by the samples that it has, is judged by unscaled leads.
    """
    table = Table(finishers, question, counts)
    table.reference = reference = table.winner()
    groups = [_dropped_group(finishers, group, table, reference) for group in dropped]
    ids = np.concatenate([table.configurations, *(group.configurations for group in dropped)])
    order = np.argsort(ids)
    each = enumerate(zip(table.scorers, table.question.metrics, strict=True))
    races = [RaceScores(scorer, reference, [group[k] for group in groups], order, judge) for k, (scorer, judge) in each]
    table.wholes = [
        np.concatenate([scores, *(scores[reference] + group.lead for group in race.dropped)])[order]
        for race, scores in zip(races, table.wholes, strict=True)
    ]
    table.scorers, table.family_scorers = races, [replace(race, is_scaled=False) for race in races]
    table.dropped, table.configurations = order >= len(table.configurations), ids[order]
    table.final = int(np.flatnonzero(order == reference)[0])
    table.standard_errors = None  # those were of the finishers
    return table


def _dropped_group(finishers: Predictions, group: Predictions, table: Table, reference: int) -> list[DroppedGroup]:
    """A dropped group by each metric."""
    metrics, seen = table.question.metrics, group.seen & finishers.seen
    scorers: list[Scores]
    if not table.whole_scorers:
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
        scores = zip(alone.fold_scores(), table.fold_scores(), strict=True)
        scorers = [FoldMeans(np.column_stack([mine, all_[entries, reference]])) for mine, all_ in scores]
    found = []
    for scorer in scorers:
        *mine, winner = scorer.scores(np.ones((1, len(entries)), np.uint8))[0]
        found.append(DroppedGroup(scorer, entries, float(np.sqrt(n / n_all)), np.array(mine) - winner))
    return found
