"""Configurations that left a race early, beside its winner: by how much each is ahead of it in a resample.

Takes the finishers' table and the predictions of a group that left together; gives leads, observed and in resamples of
samples (`Leavers`) or of folds (`FoldLeavers`). Never selects.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...containers import Array
from ...predictions import Predictions
from .memory import MemoryTable


class Leavers:
    """Configurations that left a race after the same splits, beside the winner on the same samples.

    Parameters
    ----------
    finishers, group : Predictions
    table : MemoryTable
        Of the finishers.
    reference : int
        Position of the winner among the finishers.

    Attributes
    ----------
    configurations : int array [C]
    lead : list of array [C]
        For each metric the score of each minus that of the winner; mostly negative.
    """

    def __init__(self, finishers: Predictions, group: Predictions, table: MemoryTable, reference: int) -> None:
        self.configurations, question = group.configurations, table.question
        seen = group.seen & finishers.seen
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
        self._rows = np.searchsorted(finishers.rows, both.rows)  # positions in the finishers' table
        self._share = np.sqrt(_units(both) / _units(finishers))
        self._scorers = [question.bind(both.only_seen(), metric) for metric in question.metrics]
        everybody = np.ones((1, len(self._rows)), np.uint8)
        self.lead = [_ahead(scorer.scores(everybody))[0] for scorer in self._scorers]

    def leads(self, counts: Array) -> Array:
        """Lead over the winner by the metric that selects, in resamples of all samples: counts [B, N] -> [B, C]."""
        return self._scaled(_ahead(self._scorers[0].scores(counts[:, self._rows])), self.lead[0])

    def lead_of(self, metric: int, counts: Array, winners: Array, scaled: bool = True) -> Array:
        """Lead of one configuration for each resample: counts [B, N], winners [B] -> [B]."""
        scorer, here = self._scorers[metric], counts[:, self._rows]
        reference = np.full(len(winners), len(self.configurations))
        ahead = scorer.picked(here, winners) - scorer.picked(here, reference)
        observed = self.lead[metric][winners]
        # A leaver has few samples; where those left out do not tell, nothing is known but what was observed.
        return np.where(np.isnan(ahead), observed, self._scaled(ahead, observed) if scaled else ahead)

    def _scaled(self, ahead: Array, observed: Array) -> Array:
        return observed + self._share * (ahead - observed)


class FoldLeavers:
    """The same where folds are drawn: the lead is the mean over the folds drawn that the configurations have run.

    Where none of them is drawn, nothing is known but what was observed; nor is more known of who left after one fold.

    Parameters
    ----------
    finishers, group, table, reference
        As there.

    Attributes
    ----------
    configurations : int array [C]
    lead : list of array [C]
    """

    def __init__(self, finishers: Predictions, group: Predictions, table: MemoryTable, reference: int) -> None:
        self.configurations = group.configurations
        own = MemoryTable(replace(group, seen=group.seen & finishers.seen), table.question)
        folds = np.unique(table.fold_of[:, 0])
        self._folds = np.searchsorted(folds, np.unique(own.fold_of[:, 0]))  # positions among the finishers' folds
        self._share = np.sqrt(len(self._folds) / len(folds))
        self._ahead = [
            mine - theirs[self._folds, reference, None]
            for mine, theirs in zip(own.fold_scores(), table.fold_scores(), strict=True)
        ]
        everything = np.ones((1, len(folds)), np.uint8)
        self.lead = [self._mean(k, everything, None)[0] for k in range(len(self._ahead))]

    def leads(self, counts: Array) -> Array:
        """Lead over the winner by the metric that selects, in resamples of folds: counts [B, K] -> [B, C]."""
        return self._scaled(self._mean(0, counts, self.lead[0]), self.lead[0])

    def lead_of(self, metric: int, counts: Array, winners: Array, scaled: bool = True) -> Array:
        """Lead of one configuration for each resample: counts [B, K], winners [B] -> [B]."""
        observed = self.lead[metric][winners]
        ahead = self._mean(metric, counts, self.lead[metric])[np.arange(len(winners)), winners]
        return self._scaled(ahead, observed) if scaled else ahead

    def _mean(self, metric: int, counts: Array, otherwise: Array | None) -> Array:
        """Mean over the folds present, by their counts: [B, K] -> [B, C]; folds that are undefined do not count."""
        present, ahead = counts[:, self._folds].astype(np.float64), self._ahead[metric]
        defined = ~np.isnan(ahead)
        weight = present @ defined.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (present @ np.where(defined, ahead, 0.0)) / weight
        return np.asarray(mean if otherwise is None else np.where(weight > 0, mean, otherwise))

    def _scaled(self, ahead: Array, observed: Array) -> Array:
        return np.asarray(observed + self._share * (ahead - observed))


def _ahead(scores: Array) -> Array:
    """Scores [B, C + 1], the last that of the winner -> how far the others are ahead of it [B, C]."""
    return scores[:, :-1] - scores[:, -1:]


def _units(table: Predictions) -> int:
    """What is drawn: groups where there are groups, else samples."""
    return len(table.rows) if table.groups is None else len(np.unique(table.groups[table.rows]))
