"""Tables: predictions with a question bound to them. More is better.

A table holds the units that are resampled and a scorer per metric with two verbs: `scores(counts)` is the score of
every configuration on what is present, `picked(counts, winners)` that of one configuration per resample. The scorers of
a `Table` are metrics bound to its predictions; those of a `FoldTable`, which resamples folds (BBC-F), are `FoldMeans`;
those of a `RacedTable`, in which the dropped configurations of a race take part, are `RaceScores`. A table draws no
conclusions: the loop that does is the same for all, see `inference.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, warn
from ..metrics import Metric, blocks
from ..predictions import Predictions
from ..threads import computed_once, one_blas_thread
from . import notes
from .question import Question
from .selection import SelectionRule, apply
from .units import Units, checked_counts

MIN_UNITS = 3  # samples or groups: with fewer, a resample hardly ever leaves one out
TRAINED = 0.9  # share of the samples that models are trained on where no folds are known
ERRORS = 128  # resamples for the standard errors that some rules ask for
MOST_UNITS = 1000  # whose influence on a score is looked at one by one; of more, no few can rule it
_FINISHED = -1  # the home of the finishers in a race


class Scores(Protocol):
    """Scores of all configurations by one metric, on any resamples: a bound metric, `FoldMeans` or `RaceScores`."""

    @property
    def metric(self) -> Metric:
        """Which metric."""

    def scores(self, counts: Array) -> Array:
        """Score of every configuration on what is present [B, C]."""

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score of configuration `winners[b]` on what is present in resample b [B]; NaN for winner -1."""


class Table:
    """Predictions in memory: every metric, repeats, incomplete cross-validation.

    Parameters
    ----------
    predictions : Predictions
        Samples without predictions are left out.
    question : Question
        Its metrics are settled for the target.
    counts : int array [B, N], optional
        Draws that were made elsewhere, for all samples of `predictions`.
    judges : bool array [N], optional
        The samples that may judge, where the others led the proposer of the configurations; all of them select.

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
    trained_share : float
        Share of the samples that each model was trained on, by the folds; that of ten folds where none are known.
    facts : dict
        What every `Estimate` of the table says about it: sizes and the seed.
    """

    def __init__(
        self, predictions: Predictions, question: Question, counts: Any = None, judges: Array | None = None
    ) -> None:
        question = question.for_target(predictions.target)
        if judges is not None:
            if question.method != "bbc":
                raise SoberError(
                    "E114",
                    f"method={question.method!r} uses the plain score, which a proposer that looks at scores has "
                    'made too good. Write method="bbc".',
                )
            # So does the calibrated interval.
            question = replace(question, interval="percentile", fixed_models=False)
        if question.needs_folds and not predictions.folds_known:
            wish = '`aggregate="fold"`' if question.aggregate == "fold" else "`within_folds=True`"
            raise SoberError("E113", f"{wish} needs to know the folds. Pass `folds=`, one entry per sample.")
        self.question = question
        self.predictions = predictions if predictions.is_complete else predictions.only_seen()
        self.configurations, self.n_samples = self.predictions.configurations, self.predictions.n_samples
        self.is_complete, self.is_replay = predictions.is_complete, counts is not None
        self.judges = None if judges is None else judges[predictions.rows]
        self.observed = Units(self.n_samples, question.seed, groups=self.predictions.groups)
        if self.observed.n < MIN_UNITS:
            raise SoberError(
                "E106",
                f"A bootstrap needs at least {MIN_UNITS} {self.observed.names} with predictions; got "
                f"{self.observed.n}. Collect more data.",
            )
        held = self.predictions
        self.facts: dict[str, Any] = {
            "n_samples": held.n_samples,
            "n_repeats": held.n_repeats,
            "n_groups": None if held.groups is None else self.observed.n,
            "n_left_out": held.n_left_out,
            "seed": question.seed,
        }
        n_folds = len(np.unique(held.fold_of[:, 0]))  # more, where only some of them have been predicted
        self.trained_share = 1.0 - self.n_samples / (n_folds * predictions.n_samples) if n_folds > 1 else TRAINED
        if question.procedure is None:
            self.scorers  # noqa: B018 - refuses what a metric cannot score
        self.units, y = self.observed, held.y
        if question.stratify:
            strata = y["event"].astype(np.int64) if held.task == "survival" else y
            self.units = replace(self.units, strata=strata)
        self.n_resamples = int(question.n_bootstraps)
        if question.first.calls_a_function:
            self.n_resamples = question.first.affordable(self.n_resamples, len(self.configurations))
        if counts is not None:
            drawn = checked_counts(counts, predictions.n_samples)[:, predictions.rows]
            self.units, self.n_resamples = replace(self.units, drawn=drawn), len(drawn)

    @computed_once
    def scorers(self) -> Sequence[Scores]:
        """One per metric; the first selects, all judge."""
        return [self.question.bind(self.predictions, metric) for metric in self.question.metrics]

    @computed_once
    def wholes(self) -> list[Array]:
        """For each metric the score of every configuration on all samples [C]."""
        once = np.ones((1, self.units.length), np.uint8)
        with one_blas_thread():
            return [scorer.scores(once)[0] for scorer in self.scorers]

    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold of every repeat [F, C]."""
        with one_blas_thread():
            return [self._by_fold(scorer) for scorer in self.scorers]

    def _by_fold(self, scorer: Scores) -> Array:
        table = self.predictions
        if table.n_repeats == 1 and not self.question.needs_folds:  # bound already: a fold is a row of counts
            folds = np.unique(table.fold_of[:, 0])
            return scorer.scores((table.fold_of[:, 0] == folds[:, None]).view(np.uint8))
        out = []
        for r in range(table.n_repeats):
            one = table if table.n_repeats == 1 else table.take_repeat(r)
            folds = np.unique(one.fold_of[one.seen[:, 0], 0])
            here = (one.fold_of[:, 0] == folds[:, None]) & one.seen[:, 0]
            out.append(scorer.metric.bind(one).scores(here.view(np.uint8)))
        return np.concatenate(out)

    # ---- resampling ----------------------------------------------------------------------------------------------
    def cut(self) -> list[tuple[int, int]]:
        """Which resamples to ask for together: blocks whose counts stay near the core, enough for all threads."""
        return blocks.ranges(self.n_resamples, self.n_samples, self.question.n_threads)

    def absent(self, counts: Array) -> Array:
        """What judges a decision on these resamples: what is absent from them, and may judge."""
        absent = counts == 0
        return (absent if self.judges is None else absent & self.judges).view(np.uint8)

    def kurtoses(self, winner: int) -> list[float]:
        """For each metric the kurtosis of what a unit adds to the winner's score; 3 where it is not known.

        One unit after the other is counted twice, to see by how much the score moves.
        """
        unit, n = self.observed.of_entry, self.observed.n
        found = [3.0] * len(self.scorers)
        for k, scorer in enumerate(self.scorers if n <= MOST_UNITS else ()):
            if scorer.metric.calls_a_function:
                continue
            scores = []
            for start, stop in blocks.cut(n + 1, blocks.UNIT):
                counts = np.ones((stop - start, self.n_samples), np.uint8)  # the first row is all samples
                counts += unit == np.arange(start - 1, stop - 1)[:, None]
                scores.append(scorer.picked(counts, np.full(len(counts), winner)))
            moved = np.concatenate(scores)
            found[k] = _kurtosis(moved[1:] - moved[0])
        return found

    def standard_errors(self) -> Array:
        """Bootstrap standard error of every configuration, by the metric that selects [C]."""
        with one_blas_thread():
            return spread(self.scorers[0].scores(self.error_counts()))

    def error_counts(self) -> Array:
        """Draws for standard errors: others than those that select."""
        return replace(self.observed, purpose="standard error").counts(0, ERRORS)

    # ---- selecting -----------------------------------------------------------------------------------------------
    def asking(self, question: Question) -> Self:
        """Ask the same predictions and the same draws for another selection; the metrics stay."""
        other = copy(self)
        other.__dict__.pop("_rule", None)
        other.question = question
        return other

    @computed_once
    def _rule(self) -> tuple[SelectionRule, Array | None]:
        """The selection rule, told of the configurations of this table, and the standard errors that it needs."""
        needed = self.question.needs_standard_errors
        return self.question.rule_for(self.configurations), self.standard_errors() if needed else None

    def select(self, scores: Array) -> Array:
        """Run the rule: scores [B, C] -> positions of the winners [B], -1 where no score is defined."""
        rule, errors = self._rule
        return apply(rule, scores, self.question.first.unit, errors)

    def winner(self) -> int:
        """Select on the whole table."""
        winner = int(self.select(self.wholes[0][None])[0])
        if winner < 0:
            raise SoberError(
                "E109",
                f"{self.question.first.name} is undefined on these samples, so nothing can be selected. Check `y`."
                f"{self.complaint(0)}",
            )
        return winner

    # ---- for people ----------------------------------------------------------------------------------------------
    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What a reader should know about these predictions, the winner, and the winners of the resamples [B]."""
        held = self.predictions
        apart = [] if self.judges is None else [notes.judged_apart(int(self.judges.sum()), self.n_samples)]
        size = notes.of_size(held.n_configurations, held.n_dropped, self.observed)
        return [*apart, *size, *notes.of_table(self, winner)]

    def complaint(self, metric: int) -> str:
        """What a function that scores said when it refused, as a sentence to add to ours; "" where it said nothing."""
        said = getattr(self.scorers[metric], "complaint", "")
        return f" It says: {said}" if said else ""


# ---- folds -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class FoldMeans:
    """Scores of folds [K, C] by one metric: a score is the mean over the folds present, by their counts.

    Folds on which the metric is undefined do not count.
    """

    table: Array
    metric: Any = None
    complaint: str = ""

    def scores(self, counts: Array) -> Array:
        """Mean of every configuration: counts [B, K] -> [B, C]."""
        present, defined = counts.astype(np.float64), ~np.isnan(self.table)
        with np.errstate(invalid="ignore", divide="ignore"):
            if defined.all():
                return np.asarray((present / present.sum(axis=1, keepdims=True)) @ self.table)
            return np.asarray((present @ np.where(defined, self.table, 0.0)) / (present @ defined.astype(np.float64)))

    def picked(self, counts: Array, winners: Array) -> Array:
        """Mean of configuration winners[b] alone: counts [B, K], winners [B] -> [B]; NaN for winner -1."""
        judged = self.table.T[winners]  # [B, K]
        weight = np.where(np.isnan(judged), 0, counts)
        with np.errstate(invalid="ignore"):
            mean = np.where(weight > 0, weight * judged, 0.0).sum(axis=1) / weight.sum(axis=1)
        return np.where(winners < 0, np.nan, mean)


class FoldTable(Table):
    """Folds are resampled, and each is scored once (BBC-F).

    Parameters
    ----------
    predictions : Predictions
        Whose samples, folds and configurations these are; its responses are not looked at and may be missing.
    scores : list of array [K, C]
        For each metric of the question; a scorer of fitted models gave them, unless `memory` did.
    question : Question
        With `by="fold"`.
    counts : int array [B, K], optional
        Draws of folds that were made elsewhere.
    memory : Table, optional
        The table of predictions that the scores were computed of.
    """

    def __init__(
        self,
        predictions: Predictions,
        scores: list[Array],
        question: Question,
        counts: Any = None,
        memory: Table | None = None,
    ) -> None:
        said = [""] * len(scores) if memory is None else [getattr(one, "complaint", "") for one in memory.scorers]
        self.scorers = [FoldMeans(*each) for each in zip(scores, question.metrics, said, strict=True)]
        super().__init__(predictions, question)
        check_partition(self.predictions.n_repeats, self.predictions.groups, self.predictions.fold_of)
        drawn = None if counts is None else checked_counts(counts, len(scores[0]))
        self.n_resamples = int(question.n_bootstraps) if drawn is None else len(drawn)
        self.units = Units.of_folds(len(scores[0]), self.n_resamples, question.seed, drawn)
        self._memory = memory
        if memory is not None:
            self.wholes, self.trained_share = memory.wholes, memory.trained_share

    @classmethod
    def of(cls, memory: Table, counts: Any = None) -> FoldTable:
        """Resample the folds of a table of predictions."""
        table = memory.predictions
        check_partition(table.n_repeats, table.groups, table.fold_of)
        return cls(table, memory.fold_scores(), memory.question, counts, memory)

    def fold_scores(self) -> list[Array]:
        """Return the scores."""
        return [scorer.table for scorer in self.scorers if isinstance(scorer, FoldMeans)]

    def cut(self) -> list[tuple[int, int]]:
        """Ask for all resamples together."""
        return [(0, self.n_resamples)]

    def kurtoses(self, winner: int) -> list[float]:
        """Nothing is known of what a unit adds."""
        return [3.0] * len(self.scorers)

    def standard_errors(self) -> Array:
        """Resample samples for it; of given scores, the standard error of the mean over folds."""
        if self._memory is not None:
            return self._memory.standard_errors()
        table = self.fold_scores()[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nanstd(table, axis=0, ddof=1) / np.sqrt((~np.isnan(table)).sum(axis=0)))

    def error_counts(self) -> Array:
        """Return the first of the draws of folds."""
        return self.units.counts(0, ERRORS)

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say that folds were resampled, and what is special about the samples."""
        if self._memory is not None:
            return self._memory.notes(winner, chosen)
        size = notes.of_size(len(self.configurations), self.predictions.n_dropped, self.observed)
        incomplete = [] if self.is_complete else [notes.INCOMPLETE]
        return [*size, notes.of_the_model(self.question.metrics, self.units.n), *incomplete]


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


# ---- a race ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class DroppedGroup:
    """Configurations that were dropped after the same splits: by how much each is ahead of the winner, by one metric.

    Attributes
    ----------
    configurations : int array [C]
    scorer : Scores
        Of these configurations and, last, of the winner.
    entries : int array
        The entries of a row of counts (samples or folds) that they have predicted.
    share : float
        What a deviation of their lead is scaled by: the root of the share of the units that they have.
    """

    configurations: Array
    scorer: Scores
    entries: Array
    share: float

    @computed_once
    def lead(self) -> Array:
        """Score of each minus that of the winner, on all that they have; mostly negative [C]."""
        return self._ahead(np.ones((1, len(self.entries)), np.uint8))[0]

    def _ahead(self, present: Array) -> Array:
        scores = self.scorer.scores(present)
        return scores[:, :-1] - scores[:, -1:]

    def leads(self, counts: Array, winners: Array | None, is_scaled: bool) -> Array:
        """Lead of every configuration in every resample [B, C], or of configuration winners[b] in resample b [B].

        It deviates from the observed lead by chance; `is_scaled` makes of that what it would be on all samples. Where
        nothing that it has was drawn, nothing is known but what was observed.
        """
        present, observed = counts[:, self.entries], self.lead
        if winners is None:
            ahead = self._ahead(present)
        else:
            last, observed = np.full(len(winners), len(self.lead)), self.lead[winners]
            ahead = self.scorer.picked(present, winners) - self.scorer.picked(present, last)
        scaled = observed + self.share * (ahead - observed) if is_scaled else ahead
        return np.where(np.isnan(ahead), observed, scaled)


class RaceScores:
    """Scores of a race by one metric: of a dropped configuration, that of the winner and the lead over it.

    Parameters
    ----------
    inner : Scores
        Of the finishers.
    finishers : int array
        Their ids.
    reference : int
        Position of the winner among them.
    dropped : list of DroppedGroup

    Attributes
    ----------
    order, home, seat : int array [C]
        All configurations in the order of their ids, so that ties end as they would without a race: position in the
        list of finishers and groups, the group (-1 for finishers), and the position there.
    """

    def __init__(self, inner: Scores, finishers: Array, reference: int, dropped: list[DroppedGroup]) -> None:
        self.metric, self.inner, self.reference, self.dropped = inner.metric, inner, reference, dropped
        self.complaint, self.is_scaled = getattr(inner, "complaint", ""), True
        parts = [finishers, *(group.configurations for group in dropped)]
        self.order = np.argsort(np.concatenate(parts))
        self.home = np.repeat(np.arange(_FINISHED, len(dropped)), [len(part) for part in parts])[self.order]
        self.seat = np.concatenate([np.arange(len(part)) for part in parts])[self.order]

    def scores(self, counts: Array) -> Array:
        """Score every configuration on what is present [B, C]."""
        scores = self.inner.scores(counts)
        reference = scores[:, self.reference, None]
        return self.ordered([scores, *(reference + group.leads(counts, None, True) for group in self.dropped)])

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score one configuration per resample [B], within the range of the metric."""
        home = np.where(winners >= 0, self.home[winners], _FINISHED)
        stand_in = np.where(home == _FINISHED, self.seat[winners], self.reference)
        out = self.inner.picked(counts, np.where(winners >= 0, stand_in, -1))
        for g, group in enumerate(self.dropped):
            at = np.flatnonzero(home == g)
            out[at] += group.leads(counts[at], self.seat[winners[at]], self.is_scaled)
        return np.clip(out, *self.metric.range)

    def ordered(self, parts: list[Array]) -> Array:
        """Put scores of the finishers and of each dropped group [..., C] into the order of all configurations."""
        return np.concatenate(parts, axis=-1)[..., self.order]

    def unscaled(self) -> RaceScores:
        """The same, for a selection that is known no better than by the samples that it has."""
        other = copy(self)
        other.is_scaled = False
        return other


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
        As in `Table` and `FoldTable`.
    """

    scorers: list[RaceScores]

    def __init__(
        self, finishers: Predictions, dropped: Sequence[Predictions], question: Question, counts: Any = None
    ) -> None:
        by_fold = question.by == "fold"
        memory = Table(finishers, question, None if by_fold else counts)
        inner = FoldTable.of(memory, counts) if by_fold else memory
        reference = inner.winner()
        self.__dict__.update(inner.__dict__)  # the table of the finishers, with other scorers
        self.__dict__.pop("_rule", None)
        self._inner, self._race = inner, memory
        make = _fold_group if by_fold else _sample_group
        groups = [make(finishers, group, memory, reference) for group in dropped]
        self.scorers = [
            RaceScores(scorer, inner.configurations, reference, [group[k] for group in groups])
            for k, scorer in enumerate(inner.scorers)
        ]
        self.wholes = [
            race.ordered([scores, *(scores[reference] + group.lead for group in race.dropped)])
            for race, scores in zip(self.scorers, inner.wholes, strict=True)
        ]
        everything = [inner.configurations, *(group.configurations for group in dropped)]
        self.configurations = np.concatenate(everything)[self.scorers[0].order]

    def winner(self) -> int:
        """Select among the finishers, which alone have a score on all samples, unless none of them is asked for."""
        race = self.scorers[0]
        if self.question is self._inner.question:
            return int(np.flatnonzero((race.home == _FINISHED) & (race.seat == race.reference))[0])
        chosen = int(self.select(np.where(race.home == _FINISHED, self.wholes[0], np.nan)[None])[0])
        return chosen if chosen >= 0 else super().winner()  # a family without a finisher

    def error_counts(self) -> Array:
        """Draw what the table of the finishers draws."""
        return self._inner.error_counts()

    def standard_errors(self) -> Array:
        """Resample what the table of the finishers resamples."""
        return Table.standard_errors(self)

    def kurtoses(self, winner: int) -> list[float]:
        """Return those of the finishers' table; nothing is known of a dropped configuration."""
        race = self.scorers[0]
        finished = race.home[winner] == _FINISHED
        return self._inner.kurtoses(int(race.seat[winner])) if finished else [3.0] * len(self.scorers)

    def asking(self, question: Question) -> Self:
        """Ask for another selection: a family, say, which is known no better than by the samples that it has."""
        other = super().asking(question)
        other.scorers = [race.unscaled() for race in self.scorers]
        return other

    def cut(self) -> list[tuple[int, int]]:
        """Cut as the finishers' table."""
        return self._inner.cut()

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """Say what took part beside the finishers, and what is special about their table."""
        race, some = self.scorers[0], chosen[chosen >= 0]
        dropped = race.home != _FINISHED
        share = float(dropped[some].mean()) if len(some) else 0.0
        took_part = notes.with_dropped(int(dropped.sum()), len(dropped), share)
        size = notes.of_size(len(dropped), 0, self.observed)
        return [took_part, *size, *notes.of_table(self._race, race.reference)]


def _sample_group(finishers: Predictions, group: Predictions, table: Table, reference: int) -> list[DroppedGroup]:
    """A dropped group by each metric, where samples are resampled."""
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
    rows, own = np.searchsorted(finishers.rows, both.rows), both.only_seen()
    share = float(np.sqrt(Units(own.n_samples, 0, groups=own.groups).n / table.observed.n))
    scorers = (table.question.bind(own, metric) for metric in table.question.metrics)
    return [DroppedGroup(group.configurations, scorer, rows, share) for scorer in scorers]


def _fold_group(finishers: Predictions, group: Predictions, table: Table, reference: int) -> list[DroppedGroup]:
    """A dropped group by each metric, where folds are resampled."""
    own = Table(replace(group, seen=group.seen & finishers.seen), table.question)
    folds = np.unique(table.predictions.fold_of[:, 0])
    entries = np.searchsorted(folds, np.unique(own.predictions.fold_of[:, 0]))
    share = float(np.sqrt(len(entries) / len(folds)))
    found = []
    for metric, mine, theirs in zip(table.question.metrics, own.fold_scores(), table.fold_scores(), strict=True):
        both = FoldMeans(np.column_stack([mine, theirs[entries, reference]]), metric)
        found.append(DroppedGroup(group.configurations, both, entries, share))
    return found


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_table(predictions: Any, question: Question, *, counts: Any = None, **arrays: Any) -> Table:
    """Open predictions for a question that resamples them; `arrays` as for `predictions_of`."""
    table = predictions_of(predictions, question, **arrays)
    if table.dropped:
        return RacedTable(table, table.dropped, question, counts)
    if question.by == "fold":
        return FoldTable.of(Table(table, question), counts)
    return Table(table, question, counts)


def predictions_of(predictions: Any, question: Question, **arrays: Any) -> Predictions:
    """Read the arrays of one call as the question needs them; a finished table passes.

    Parameters
    ----------
    predictions : array-like or Predictions
    question : Question
    **arrays
        `y`, `groups`, `folds`, `sample_weight` and `pos_label`, as for `sobercv.bbc`.
    """
    if isinstance(predictions, Predictions):
        twice = next((name for name, value in arrays.items() if value is not None and name != "y"), None)
        if twice is not None:
            raise SoberError("E114", f"`{twice}` is part of a Predictions table already; leave it out here.")
        return predictions
    y = arrays.pop("y", None)
    question = question.for_target(y)
    table = Predictions.build(y, predictions, task=question.first.task, responses=question.responses, **arrays)
    if table.n_left_out:
        lacking = notes.left_out(table.n_left_out, table.n_configurations)
        warn(lacking.code, lacking.text)
    return table


# ---- arithmetic ------------------------------------------------------------------------------------------------------
def spread(scores: Array) -> Array:
    """Standard deviation of each configuration's defined scores over resamples: [B, C] -> [C]."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nanstd(scores, axis=0, ddof=1))


def _kurtosis(moves: Array) -> float:
    moves = moves[~np.isnan(moves)]
    most = float(np.abs(moves).max(initial=0.0))
    if not 0.0 < most < np.inf:
        return 3.0
    squares = (moves / most) ** 2
    return float((squares**2).mean()) / float(squares.mean()) ** 2
