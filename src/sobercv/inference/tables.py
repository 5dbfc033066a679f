"""Tables: predictions with a question bound to them, in three kinds that answer the same two verbs.

`scores(counts)` gives the score of every configuration on what is present, `picked(counts, winners)` that of one
configuration per resample, by each metric. `MemoryTable` holds predictions, `FoldTable` fold scores (BBC-F), and
`RacedTable` a race whose dropped configurations take part with the predictions that they have. A table never draws
conclusions: the loop that does is the same for all, see `inference.bootstrap`. More is better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, warn
from ..metrics import Scorer, blocks
from ..predictions import Predictions
from ..threads import one_blas_thread
from . import notes
from .question import Question
from .selection import SelectionRule, apply
from .units import Units, checked_counts

MIN_UNITS = 3  # samples or groups: with fewer, a resample hardly ever leaves one out
TRAINED = 0.9  # share of the samples that models are trained on where no folds are known
ERRORS = 128  # resamples for the standard errors that some rules ask for
MOST_UNITS = 1000  # whose influence on a score is looked at one by one; of more, no few can rule it
_FINISHED = -1  # the home of the finishers in a race


@dataclass(frozen=True, eq=False)
class Inputs:
    """The arrays of one call, as given; `sobercv.bbc` documents them."""

    predictions: Any
    y: Any = None
    groups: Any = None
    folds: Any = None
    sample_weight: Any = None
    pos_label: Any = None
    counts: Any = None


class Table(ABC):
    """Predictions with a question bound to them.

    Parameters
    ----------
    question : Question
        With its metrics settled for the target.
    predictions : Predictions
        The samples that have predictions; of a race, those of its finishers.
    memory : MemoryTable or None
        The table of predictions behind this one, where there is one.

    Attributes
    ----------
    configurations : int array [C]
        Id of each configuration.
    observed : Units
        The samples or groups, whatever is resampled.
    units : Units
        What is resampled.
    n_resamples : int
        Resamples that the question asks for, or that were handed in.
    n_folds : float
        Folds of a partition; more where only some of them have been predicted. 0 where not known.
    """

    units: Units
    n_resamples: int

    def __init__(self, question: Question, predictions: Predictions, memory: MemoryTable | None) -> None:
        self.question, self.predictions, self._memory = question, predictions, memory
        self.target, self.groups, self.fold_of = predictions.target, predictions.groups, predictions.fold_of
        self.configurations, self.n_left_out = predictions.configurations, predictions.n_left_out
        self.n_samples, self.n_repeats = predictions.n_samples, predictions.n_repeats
        self.observed = units = Units(self.n_samples, question.seed, groups=self.groups)
        self.n_groups = None if self.groups is None else units.n
        n_folds = len(np.unique(self.fold_of[:, 0]))
        self.n_folds = float(n_folds) if n_folds > 1 else 0.0
        if units.n < MIN_UNITS:
            raise SoberError(
                "E106",
                f"A bootstrap needs at least {MIN_UNITS} {units.names} with predictions; got {units.n}. Collect more "
                "data.",
            )

    # ---- the verbs -----------------------------------------------------------------------------------------------
    @abstractmethod
    def scores(self, counts: Array) -> Array:
        """Score of every configuration, by the metric that selects, on what is present [B, C]."""

    @abstractmethod
    def picked(self, counts: Array, winners: Array) -> list[Array]:
        """For each metric the score of configuration `winners[b]` on what is present [B]; NaN for winner -1."""

    @abstractmethod
    def present_of(self, counts: Array, winner: int) -> list[Array]:
        """For each metric but the first the score of one configuration on what is present [B]."""

    @abstractmethod
    def whole(self) -> list[Array]:
        """For each metric the score of every configuration on all samples [C]."""

    @abstractmethod
    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What a reader should know about these predictions, the winner, and the winners of the resamples [B]."""

    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold [F, C]; asked only of tables with folds."""
        raise NotImplementedError

    @one_blas_thread()
    def standard_errors(self) -> Array:
        """Bootstrap standard error of every configuration, by the metric that selects [C]."""
        return spread(self.scores(self.error_counts()))

    def error_counts(self) -> Array:
        """Draws for standard errors: others than those that select."""
        return replace(self.observed, purpose="standard error").counts(0, ERRORS)

    def absent(self, counts: Array) -> Array:
        """What judges a decision on these resamples: what is absent from them."""
        return (counts == 0).view(np.uint8)

    def cut(self) -> list[tuple[int, int]]:
        """Which resamples to ask for together: all, unless it pays to have them one block at a time."""
        return [(0, self.n_resamples)]

    def kurtoses(self, winner: int) -> list[float]:
        """For each metric the kurtosis of what a unit adds to the winner's score; 3 where it is not known."""
        return [3.0] * len(self.question.metrics)

    def complaint(self, metric: int) -> str:
        """What a function that scores said when it refused, as a sentence to add to ours; "" where it said nothing."""
        return "" if self._memory is None else self._memory.complaint(metric)

    @property
    def trained_share(self) -> float:
        """Share of the samples that each model was trained on, by the folds; that of ten folds where none are known."""
        return 1.0 - 1.0 / self.n_folds if self.n_folds > 1 else TRAINED

    # ---- selecting -----------------------------------------------------------------------------------------------
    def asking(self, question: Question) -> Self:
        """Ask the same predictions and the same draws for another selection; the metrics stay."""
        other = copy(self)
        other.__dict__.pop("rule", None)
        other.__dict__.pop("_errors", None)
        other.question = question
        return other

    @cached_property
    def rule(self) -> SelectionRule:
        """The selection rule, told of the configurations of this table."""
        return self.question.rule_for(self.configurations)

    @cached_property
    def _errors(self) -> Array | None:
        return self.standard_errors() if self.question.needs_standard_errors else None

    def select(self, scores: Array) -> Array:
        """Run the rule: scores [B, C] -> positions of the winners [B], -1 where no score is defined."""
        return apply(self.rule, scores, self.question.first.unit, self._errors)

    def winner(self, whole: Array) -> int:
        """Select on the whole table."""
        winner = int(self.select(whole[None])[0])
        if winner < 0:
            raise SoberError(
                "E109",
                f"{self.question.first.name} is undefined on these samples, so nothing can be selected. Check `y`."
                f"{self.complaint(0)}",
            )
        return winner


class MemoryTable(Table):
    """Predictions: every metric, repeats, incomplete cross-validation.

    Parameters
    ----------
    predictions : Predictions
        Samples without predictions are left out.
    question : Question
    counts : int array [B, N], optional
        Draws that were made elsewhere, for all samples of `predictions`.
    judges : bool array [N], optional
        The samples that may judge, where the others led the proposer of the configurations; all of them select.
    """

    def __init__(
        self, predictions: Predictions, question: Question, counts: Any = None, judges: Array | None = None
    ) -> None:
        question = question.for_target(predictions.target)
        if judges is not None:
            if question.method != "bbc":
                raise SoberError(
                    "E114",
                    f"method={question.method!r} leans on the plain score, which a proposer that looks at scores has "
                    'made too good. Write method="bbc".',
                )
            # So does the calibrated interval.
            question = replace(question, interval="percentile", fixed_models=False)
        if question.needs_folds and not predictions.folds_known:
            wish = '`aggregate="fold"`' if question.aggregate == "fold" else "`within_folds=True`"
            raise SoberError("E113", f"{wish} needs to know the folds. Pass `folds=`, one entry per sample.")
        super().__init__(question, predictions.only_seen(), None)
        self.n_folds = self.n_folds * predictions.n_samples / self.n_samples  # only some of them may be predicted
        self._is_complete, self._is_replay = predictions.is_complete, counts is not None
        self.judges = None if judges is None else judges[predictions.rows]
        if question.procedure is None:
            self.scorers  # noqa: B018 - refuses what a metric cannot score
        self.units = replace(self.observed, strata=self._strata())
        self.n_resamples = question.first.affordable(int(question.n_bootstraps), len(self.configurations))
        if counts is not None:
            drawn = checked_counts(counts, predictions.n_samples)[:, predictions.rows]
            self.units, self.n_resamples = replace(self.units, drawn=drawn), len(drawn)

    @cached_property
    def scorers(self) -> list[Scorer]:
        """One per metric; the first selects, all judge."""
        return [self.question.bind(self.predictions, metric) for metric in self.question.metrics]

    def _strata(self) -> Array | None:
        if not self.question.stratify:
            return None
        y = self.predictions.y
        return y["event"].astype(np.int64) if self.predictions.task == "survival" else y

    def scores(self, counts: Array) -> Array:
        """Score what is present."""
        return self.scorers[0].scores(counts)

    def picked(self, counts: Array, winners: Array) -> list[Array]:
        """Score one configuration per resample."""
        return [scorer.picked(counts, winners) for scorer in self.scorers]

    def present_of(self, counts: Array, winner: int) -> list[Array]:
        """Score one configuration."""
        return [scorer.picked(counts, np.full(len(counts), winner)) for scorer in self.scorers[1:]]

    def absent(self, counts: Array) -> Array:
        """What is absent and may judge."""
        if self.judges is None:
            return super().absent(counts)
        return ((counts == 0) & self.judges).view(np.uint8)

    @one_blas_thread()
    def whole(self) -> list[Array]:
        """Score all samples once."""
        once = np.ones((1, self.n_samples), np.uint8)
        return [scorer.scores(once)[0] for scorer in self.scorers]

    def cut(self) -> list[tuple[int, int]]:
        """Blocks whose counts stay near the core, enough of them for all threads."""
        return blocks.ranges(self.n_resamples, self.n_samples, self.question.n_threads)

    @one_blas_thread()
    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold of every repeat [F, C]."""
        return [self._by_fold(scorer) for scorer in self.scorers]

    def _by_fold(self, scorer: Scorer) -> Array:
        table = self.predictions
        if table.n_repeats == 1 and not self.question.needs_folds:  # bound already: a fold is a row of counts
            folds = np.unique(self.fold_of[:, 0])
            return scorer.scores((self.fold_of[:, 0] == folds[:, None]).view(np.uint8))
        out = []
        for r in range(table.n_repeats):
            one = table if table.n_repeats == 1 else table.take_repeat(r)
            folds = np.unique(one.fold_of[one.seen[:, 0], 0])
            here = (one.fold_of[:, 0] == folds[:, None]) & one.seen[:, 0]
            out.append(scorer.metric.bind(one).scores(here.view(np.uint8)))
        return np.concatenate(out)

    def kurtoses(self, winner: int) -> list[float]:
        """Count one unit twice, and see by how much the winner's score moves."""
        unit, n = self.observed.of_entry, self.observed.n
        if n > MOST_UNITS:
            return super().kurtoses(winner)
        scored: list[list[Array]] = [[] for _ in self.scorers]
        for start, stop in blocks.cut(n + 1, blocks.UNIT):
            counts = np.ones((stop - start, self.n_samples), np.uint8)  # the first row is all samples
            counts += unit == np.arange(start - 1, stop - 1)[:, None]
            winners = np.full(len(counts), winner)
            for scores, scorer in zip(scored, self.scorers, strict=True):
                if not scorer.metric.calls_a_function:
                    scores.append(scorer.picked(counts, winners))
        moved = [np.concatenate(scores) if scores else None for scores in scored]
        return [3.0 if scores is None else _kurtosis(scores[1:] - scores[0]) for scores in moved]

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What is special about the sizes, the samples, the folds and the responses."""
        table = self.predictions
        judged = [] if self.judges is None else [notes.judged_apart(int(self.judges.sum()), self.n_samples)]
        size = notes.on_size(table.n_configurations, table.n_dropped, self.observed)
        return [*judged, *size, *self.special(winner)]

    def special(self, winner: int) -> list[Note]:
        """What is special about the samples, the folds and the responses."""
        table, question, metric = self.predictions, self.question, self.question.first
        found = []
        here = table.seen[:, 0]
        if metric.pools_scores and not question.needs_folds and table.folds_known:
            found.append(notes.scales(metric.response_of(table)[here, winner, 0], table.fold_of[here, 0]))
        if metric.pools_scores and not question.makes_labels and table.target.n_classes == 2:
            found.append(notes.labels_ranked(metric.name, metric.response_of(table)[here, winner, 0]))
        found.append(notes.left_out(table.n_left_out, table.n_configurations))
        if not question.makes_labels:
            found.append(notes.from_probabilities(question.metrics, table.responses))
        found.append(notes.incomplete(self._is_complete))
        if not self._is_replay and question.by == "sample":
            found.append(notes.few_calls(metric, self.n_resamples, question.n_bootstraps))
        return [note for note in found if note is not None]

    def complaint(self, metric: int) -> str:
        """Quote the user's function."""
        said = self.scorers[metric].complaint
        return f" It says: {said}" if said else ""


class FoldTable(Table):
    """Fold scores: each fold is scored once; folds, not samples, are resampled (BBC-F).

    Parameters
    ----------
    predictions : Predictions
        Whose samples, folds and configurations these are; its responses are not looked at and may be missing.
    scores : list of array [K, C]
        For each metric of the question; a scorer of fitted models gave them, unless `inner` did.
    question : Question
        With `by="fold"`.
    counts : int array [B, K], optional
        Draws of folds that were made elsewhere.
    inner : MemoryTable, optional
        The table of predictions that the scores were computed of.
    """

    def __init__(
        self,
        predictions: Predictions,
        scores: list[Array],
        question: Question,
        counts: Any = None,
        inner: MemoryTable | None = None,
    ) -> None:
        super().__init__(question, predictions.only_seen(), inner)
        self._scores, self._is_complete = scores, predictions.is_complete
        self.n_folds = self.n_folds if inner is None else inner.n_folds
        check_partition(self.n_repeats, self.groups, self.fold_of)
        n_folds = len(scores[0])
        drawn = None if counts is None else checked_counts(counts, n_folds)
        self.n_resamples = int(question.n_bootstraps) if drawn is None else len(drawn)
        self.units = Units.of_folds(n_folds, self.n_resamples, question.seed, drawn)

    @classmethod
    def of(cls, inner: MemoryTable, counts: Any = None) -> FoldTable:
        """Resample the folds of a table of predictions."""
        check_partition(inner.n_repeats, inner.groups, inner.fold_of)
        return cls(inner.predictions, inner.fold_scores(), inner.question, counts, inner)

    def scores(self, counts: Array) -> Array:
        """Mean over the folds present."""
        return fold_means(self._scores[0], counts)

    def picked(self, counts: Array, winners: Array) -> list[Array]:
        """Mean of one configuration per resample over the folds present."""
        return [fold_means_of(scores, counts, winners) for scores in self._scores]

    def present_of(self, counts: Array, winner: int) -> list[Array]:
        """Mean of one configuration over the folds present."""
        return [fold_means(scores[:, [winner]], counts)[:, 0] for scores in self._scores[1:]]

    def whole(self) -> list[Array]:
        """Mean over all folds; folds on which a score is undefined do not count."""
        if self._memory is not None:
            return self._memory.whole()
        once = np.ones((1, self.units.n), np.uint8)
        return [fold_means(scores, once)[0] for scores in self._scores]

    def fold_scores(self) -> list[Array]:
        """Return the scores."""
        return self._scores

    def standard_errors(self) -> Array:
        """Resample samples for it; of given scores, the standard error of the mean over folds."""
        if self._memory is not None:
            return self._memory.standard_errors()
        defined = (~np.isnan(self._scores[0])).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nanstd(self._scores[0], axis=0, ddof=1) / np.sqrt(defined))

    def error_counts(self) -> Array:
        """Return the first of the draws of folds."""
        return self.units.counts(0, ERRORS)

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say that folds were resampled, and what is special about the samples."""
        if self._memory is not None:
            return self._memory.notes(winner, chosen)
        size = notes.on_size(len(self.configurations), self.predictions.n_dropped, self.observed)
        found = [notes.of_the_model(self.question.metrics, self.units.n), notes.incomplete(self._is_complete)]
        return [*size, *(note for note in found if note is not None)]


class RacedTable(Table):
    """A race: the dropped configurations stay in the bootstrap, with the predictions that they have.

    To leave them out would be optimistic: what was dropped for its bad luck in this sample might have won in another. A
    dropped configuration is compared with the winner on the samples that it has; in a resample its lead deviates from
    the observed one by chance, and that deviation is scaled to what it would be on all samples. Where folds are drawn,
    read "folds" for "samples".

    Parameters
    ----------
    finishers : Predictions
        Of the configurations that were in the race until its end. The winner is one of them.
    dropped : sequence of Predictions
        Of the same samples; each holds configurations that were dropped after the same splits.
    question : Question
    counts : int array [B, N] or [B, K], optional
        As in `MemoryTable` and `FoldTable`.
    """

    def __init__(
        self, finishers: Predictions, dropped: Sequence[Predictions], question: Question, counts: Any = None
    ) -> None:
        by_fold = question.by == "fold"
        memory = MemoryTable(finishers, question, None if by_fold else counts)
        super().__init__(memory.question, memory.predictions, memory)
        self._inner: MemoryTable | FoldTable = FoldTable.of(memory, counts) if by_fold else memory
        self._is_scaled, self.n_folds = True, memory.n_folds
        self.units, self.n_resamples = self._inner.units, self._inner.n_resamples
        self._wholes = self._inner.whole()
        self._reference = self._inner.winner(self._wholes[0])
        kind = FoldLeads if by_fold else Leads
        self._dropped = [kind(finishers, group, memory, self._reference) for group in dropped]
        # All configurations in the order of their ids, so that ties end as they would without a race.
        unordered = np.concatenate([self._inner.configurations, *(group.configurations for group in self._dropped)])
        self._order = np.argsort(unordered)
        self.configurations = unordered[self._order]
        sizes = [len(self._inner.configurations), *(len(group.configurations) for group in self._dropped)]
        self._home = np.repeat(np.arange(_FINISHED, len(self._dropped)), sizes)[self._order]
        self._seat = np.concatenate([np.arange(size) for size in sizes])[self._order]

    def scores(self, counts: Array) -> Array:
        """Score of the finishers; of a dropped configuration, that of the winner and the lead over it."""
        scores = self._inner.scores(counts)
        reference = scores[:, self._reference, None]
        return self._ordered([scores, *(reference + group.leads(counts) for group in self._dropped)])

    def picked(self, counts: Array, winners: Array) -> list[Array]:
        """Score of the finishers; of a dropped configuration, that of the winner and the lead over it."""
        home = np.where(winners >= 0, self._home[winners], _FINISHED)
        stand_in = np.where(home == _FINISHED, self._seat[winners], self._reference)
        out = self._inner.picked(counts, np.where(winners >= 0, stand_in, -1))
        for g, group in enumerate(self._dropped):
            at = np.flatnonzero(home == g)
            for k, scores in enumerate(out):
                scores[at] += group.lead_of(k, counts[at], self._seat[winners[at]], self._is_scaled)
        return [np.clip(scores, *metric.range) for scores, metric in zip(out, self.question.metrics, strict=True)]

    def present_of(self, counts: Array, winner: int) -> list[Array]:
        """Score one configuration, a finisher or a dropped one."""
        if self._home[winner] == _FINISHED:
            return self._inner.present_of(counts, int(self._seat[winner]))
        return self.picked(counts, np.full(len(counts), winner))[1:]

    def whole(self) -> list[Array]:
        """Score all samples; of a dropped one, what the observed lead over the winner would make of its score."""
        return [
            self._ordered([scores, *(scores[self._reference] + group.lead[k] for group in self._dropped)])
            for k, scores in enumerate(self._wholes)
        ]

    def winner(self, whole: Array) -> int:
        """Select among the finishers, which alone have a score on all samples, unless none of them is asked for."""
        if self.question is self._inner.question:
            return int(np.flatnonzero((self._home == _FINISHED) & (self._seat == self._reference))[0])
        chosen = int(self.select(np.where(self._home == _FINISHED, whole, np.nan)[None])[0])
        return chosen if chosen >= 0 else super().winner(whole)  # a family without a finisher

    def error_counts(self) -> Array:
        """Draw what the table of the finishers draws."""
        return self._inner.error_counts()

    def kurtoses(self, winner: int) -> list[float]:
        """Return those of the finishers' table; nothing is known of a dropped configuration."""
        return self._inner.kurtoses(int(self._seat[winner])) if self._home[winner] == _FINISHED else super().kurtoses(0)

    def asking(self, question: Question) -> Self:
        """Ask for another selection: a family, say, which is known no better than by the samples that it has."""
        other = super().asking(question)
        other._is_scaled = False
        return other

    def cut(self) -> list[tuple[int, int]]:
        """Cut as the finishers' table."""
        return self._inner.cut()

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say what took part beside the finishers, and what is special about their table."""
        assert self._memory is not None
        n, dropped, memory = len(self.configurations), self._home != _FINISHED, self._memory
        some = chosen[chosen >= 0]
        share = float(dropped[some].mean()) if len(some) else 0.0
        size = notes.on_size(n, 0, self.observed)
        return [notes.with_dropped(int(dropped.sum()), n, share), *size, *memory.special(self._reference)]

    def _ordered(self, parts: list[Array]) -> Array:
        """Put scores of the finishers and of each dropped group [..., C] into the order of all configurations."""
        return np.concatenate(parts, axis=-1)[..., self._order]


class Leads:
    """Configurations that were dropped after the same splits: by how much each is ahead of the winner.

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
        beside = finishers.take_configurations(np.array([reference])).responses
        both = replace(
            group,
            responses={  # what is kept besides what is scored, not all models have
                name: np.concatenate([group.responses[name], beside[name]], axis=1)
                for name in beside
                if name in group.responses
            },
            configurations=np.append(group.configurations, finishers.configurations[reference]),
            seen=group.seen & finishers.seen,
        )
        self._rows = np.searchsorted(finishers.rows, both.rows)  # positions in the finishers' table
        own = both.only_seen()
        self._share = np.sqrt(Units(own.n_samples, 0, groups=own.groups).n / table.observed.n)
        self._scorers = [question.bind(own, metric) for metric in question.metrics]
        once = np.ones((1, len(self._rows)), np.uint8)
        self.lead = [_ahead(scorer.scores(once))[0] for scorer in self._scorers]

    def leads(self, counts: Array) -> Array:
        """Lead over the winner by the metric that selects, in resamples of all samples: counts [B, N] -> [B, C]."""
        ahead = _ahead(self._scorers[0].scores(counts[:, self._rows]))
        # Where none of the samples it has was drawn, nothing is known but what was observed.
        return np.where(np.isnan(ahead), self.lead[0], self._scaled(ahead, self.lead[0]))

    def lead_of(self, metric: int, counts: Array, winners: Array, scaled: bool = True) -> Array:
        """Lead of one configuration for each resample: counts [B, N], winners [B] -> [B]."""
        scorer, here = self._scorers[metric], counts[:, self._rows]
        reference = np.full(len(winners), len(self.configurations))
        ahead = scorer.picked(here, winners) - scorer.picked(here, reference)
        observed = self.lead[metric][winners]
        return np.where(np.isnan(ahead), observed, self._scaled(ahead, observed) if scaled else ahead)

    def _scaled(self, ahead: Array, observed: Array) -> Array:
        return np.asarray(observed + self._share * (ahead - observed))


class FoldLeads(Leads):
    """The same where folds are drawn: the lead is the mean over the folds drawn that the configurations have run.

    Where none of them is drawn, nothing is known but what was observed; nor is more known of one fold.
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
        once = np.ones((1, len(folds)), np.uint8)
        self.lead = [self._mean(k, once, None)[0] for k in range(len(self._ahead))]

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


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_table(inputs: Inputs, question: Question) -> Table:
    """Open the predictions for a question that resamples them."""
    if isinstance(inputs.predictions, Predictions) and inputs.predictions.dropped:
        _refuse_twice(inputs)
        return open_predictions(inputs.predictions, question, inputs.counts)
    table = open_memory(inputs, question)
    return FoldTable.of(table, inputs.counts) if question.by == "fold" else table


def open_predictions(table: Predictions, question: Question, counts: Any = None) -> Table:
    """Open a finished table; what was dropped before the end of its race takes part."""
    if table.dropped:
        return RacedTable(table, table.dropped, question, counts)
    return MemoryTable(table, question, counts)


def open_memory(inputs: Inputs, question: Question) -> MemoryTable:
    """Open predictions as all protocols but the bootstrap need them."""
    counts = inputs.counts if question.by == "sample" else None
    if isinstance(inputs.predictions, Predictions):
        _refuse_twice(inputs)
        return MemoryTable(inputs.predictions, question, counts)
    question = question.for_target(inputs.y)
    table = Predictions.build(
        inputs.y,
        inputs.predictions,
        task=question.first.task,
        responses=question.responses,
        folds=inputs.folds,
        groups=inputs.groups,
        sample_weight=inputs.sample_weight,
        pos_label=inputs.pos_label,
    )
    lacking = notes.left_out(table.n_left_out, table.n_configurations)
    if lacking is not None:
        warn(lacking.code, lacking.text)
    return MemoryTable(table, question, counts)


def _refuse_twice(inputs: Inputs) -> None:
    """Refuse what a table of predictions holds already."""
    for name in ("groups", "folds", "sample_weight", "pos_label"):
        if getattr(inputs, name) is not None:
            raise SoberError("E114", f"`{name}` is part of a Predictions table already; leave it out here.")


def check_partition(n_repeats: int, groups: Array | None, fold_of: Array) -> None:
    """Refuse folds that share samples or groups: to resample them would take the same for new.

    Parameters
    ----------
    n_repeats : int
    groups : int array [N] or None
    fold_of : int array [N, R]
    """
    if n_repeats > 1:
        raise SoberError(
            "E114",
            f'`by="fold"` resamples the folds of one partition; got {n_repeats} repeats, whose folds share '
            'samples. Use by="sample", or pass one repeat.',
        )
    if groups is None:
        return
    pairs = np.unique(np.stack([groups, fold_of[:, 0]]), axis=1)
    if pairs.shape[1] > len(np.unique(groups)):
        raise SoberError(
            "E114", '`by="fold"` needs folds that keep groups together; some group is in two. Use by="sample".'
        )


# ---- arithmetic ------------------------------------------------------------------------------------------------------
def spread(scores: Array) -> Array:
    """Standard deviation of each configuration's defined scores over resamples: [B, C] -> [C]."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nanstd(scores, axis=0, ddof=1))


def fold_means(scores: Array, counts: Array) -> Array:
    """Mean of fold scores [K, C] by counts [B, K] -> [B, C]; folds on which the metric is undefined do not count."""
    present = counts.astype(np.float64)
    defined = ~np.isnan(scores)
    if defined.all():
        return np.asarray((present / present.sum(axis=1, keepdims=True)) @ scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((present @ np.where(defined, scores, 0.0)) / (present @ defined.astype(np.float64)))


def fold_means_of(scores: Array, counts: Array, winners: Array) -> Array:
    """The same of configuration winners[b] alone: [K, C], [B, K], [B] -> [B]; NaN for winner -1."""
    judged = scores.T[winners]  # [B, K]
    weight = np.where(np.isnan(judged), 0, counts)
    with np.errstate(invalid="ignore"):
        mean = np.where(weight > 0, weight * judged, 0.0).sum(axis=1) / weight.sum(axis=1)
    return np.where(winners < 0, np.nan, mean)


def _ahead(scores: Array) -> Array:
    """Scores [B, C + 1], the last that of the winner -> how far the others are ahead of it [B, C]."""
    return scores[:, :-1] - scores[:, -1:]


def _kurtosis(moves: Array) -> float:
    moves = moves[~np.isnan(moves)]
    most = float(np.abs(moves).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return 3.0
    squares = (moves / most) ** 2
    return float((squares**2).mean()) / float(squares.mean()) ** 2
