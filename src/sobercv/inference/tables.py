"""Tables: predictions with a question bound to them. More is better.

A table holds the units that are resampled and a scorer per metric with two verbs: `scores(counts)` is the score of
every configuration on what is present, `picked(counts, winners)` that of one configuration per resample. Scorers are
metrics bound to predictions; where folds are resampled (BBC-F) they are `FoldMeans`, and where the dropped
configurations of a race take part `raced.RaceScores`. A table draws no conclusions: see `inference.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..containers import Array
from ..errors import SoberError, warn
from ..metrics import blocks
from ..predictions import Predictions
from ..threads import one_blas_thread
from . import notes
from .estimate import Estimate, Estimates
from .question import Question
from .selection import apply
from .units import Units, checked_counts

MIN_UNITS = 3  # samples or groups: with fewer, a resample hardly ever leaves one out
TRAINED = 0.9  # share of the samples that models are trained on where no folds are known
#: What belongs to a table and not to a question, among the options of `sobercv.bbc`.
ARRAYS = ("groups", "folds", "sample_weight", "pos_label")
ERRORS = 128  # resamples for the standard errors that some rules ask for
MOST_UNITS = 1000  # whose influence on a score is looked at one by one; of more, no few can rule it


class Scores(Protocol):
    """Scores of all configurations by one metric, on any resamples."""

    def scores(self, counts: Array) -> Array:
        """Score of every configuration on what is present [B, C]."""

    def picked(self, counts: Array, winners: Array) -> Array:
        """Score of configuration `winners[b]` on what is present in resample b [B]; NaN for winner -1."""


@dataclass(frozen=True, eq=False)
class FoldMeans:
    """Scores of folds [K, C]: a score is the mean over the folds present on which the metric is defined, by counts."""

    table: Array

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


class Table:
    """Predictions in memory: every metric, repeats, incomplete cross-validation.

    Samples without predictions are left out. `counts` [B, N] or [B, K] are draws that were made elsewhere, of all
    samples of `predictions` or of its folds; `judges`, bool [N], the samples that may judge where the others led the
    proposer of the configurations; `scores` [K, C], for each metric, what a scorer of fitted models returned by fold.
    """

    given: Predictions  # as they came, with samples that no repeat has predicted
    counts: Any  # as they came
    predictions: Predictions
    question: Question  # settled for the target
    configurations: Array  # id of each configuration [C]
    observed: Units  # the samples or groups, whatever is resampled
    units: Units  # what is resampled
    n_resamples: int  # that the question asks for, or that were handed in
    trained_share: float  # of the samples, that each model was trained on, by the folds
    judges: Array | None
    scorers: Sequence[Scores] = ()  # one per metric; the first selects, all judge; none where a procedure selects
    wholes: Sequence[Array]  # for each metric the score of every configuration on all samples [C]
    whole_scorers: Sequence[Scores] = ()  # where folds of predictions are resampled: of their samples
    members: Array | None = None  # which configurations may be selected, bool [C]; None for all
    dropped: Array | None = None  # which were dropped from a race, bool [C]; None where there was no race
    reference: int  # position of a race's winner among the finishers
    final: int | None = None  # position of the winner, where it was selected before the dropped took part
    family_scorers: Sequence[Scores] | None = None  # of a race, where another selection is asked for
    standard_errors: Array | None = None  # by the metric that selects [C], where the rule asks for them

    @one_blas_thread()
    def __init__(
        self,
        predictions: Predictions,
        question: Question,
        counts: Any = None,
        *,
        judges: Array | None = None,
        scores: list[Array] | None = None,
    ) -> None:
        question = question.for_target(predictions.target)
        if judges is not None:  # the calibrated interval uses the plain score, which the proposer has made too good
            question = replace(question, interval="percentile")
        if question.needs_folds and not predictions.folds_known:
            wish = '`by="fold"`' if question.by == "fold" else f'`aggregate="{question.aggregate}"`'
            raise SoberError("E113", f"{wish} needs to know the folds. Pass `folds=`, one entry per sample.")
        self.given, self.counts, self.question = predictions, counts, question
        self.predictions = held = predictions if predictions.is_complete else predictions.only_seen()
        self.configurations, self.n_samples = held.configurations, held.n_samples
        self.judges = None if judges is None else judges[predictions.rows]
        self.observed = self.units = Units(self.n_samples, question.seed, groups=held.groups)
        if self.observed.n < MIN_UNITS:
            raise SoberError(
                "E106",
                f"A bootstrap needs at least {MIN_UNITS} {self.observed.names} with predictions; got "
                f"{self.observed.n}. Collect more data.",
            )
        n_folds = len(np.unique(held.fold_of[:, 0]))  # more, where only some of them have been predicted
        self.trained_share = 1.0 - self.n_samples / (n_folds * predictions.n_samples) if n_folds > 1 else TRAINED
        self.n_resamples = int(question.n_bootstraps)
        if question.procedure is None and scores is None:
            self.scorers = [question.bind(held, metric) for metric in question.metrics]
        if question.by == "fold":
            check_partition(held.n_repeats, held.groups, held.fold_of)
            if scores is None:
                self.whole_scorers, scores = self.scorers, self.fold_scores()
            self.scorers = list(map(FoldMeans, scores))
            drawn = None if counts is None else checked_counts(counts, len(scores[0]))
            self.n_resamples = self.n_resamples if drawn is None else len(drawn)
            self.units = Units.of_folds(len(scores[0]), self.n_resamples, question.seed, drawn)
        elif counts is not None:
            drawn = checked_counts(counts, predictions.n_samples)[:, predictions.rows]
            self.units, self.n_resamples = replace(self.units, drawn=drawn), len(drawn)
        else:
            self.n_resamples = question.first.affordable(self.n_resamples, len(self.configurations))
            if question.stratify:
                strata = held.y["event"].astype(np.int64) if held.task == "survival" else held.y
                self.units = replace(self.units, strata=strata)
        once = np.ones((1, self.n_samples if self.whole_scorers else self.units.length), np.uint8)
        self.wholes = [scorer.scores(once)[0] for scorer in self.whole_scorers or self.scorers]

    @one_blas_thread()
    def fold_scores(self) -> list[Array]:
        """For each metric the score of every configuration on every fold of every repeat [F, C]."""
        if isinstance(self.scorers[0], FoldMeans):
            return [one.table for one in self.scorers if isinstance(one, FoldMeans)]
        if not self.predictions.folds_known:
            raise SoberError("E113", "Folds are compared, so they must be known. Pass `folds=`, one entry per sample.")
        found: list[list[Array]] = [[] for _ in self.scorers]
        for one in map(self.predictions.take_repeat, range(self.predictions.n_repeats)):
            seen, fold = one.seen[:, 0], one.fold_of[:, 0]
            alone = (seen & (fold == np.unique(fold[seen])[:, None])).view(np.uint8)
            for scores, metric in zip(found, self.question.metrics, strict=True):
                scores.append(metric.bind(one).scores(alone))
        return [np.concatenate(scores) for scores in found]

    def kurtosis(self, metric: int, winner: int) -> float:
        """Kurtosis of what each unit, counted twice, adds to the winner's score; 3 where it is not known."""
        unit, n, judge, scores = self.observed.of_entry, self.observed.n, self.question.metrics[metric], []
        if n > MOST_UNITS or judge.max_calls is not None or self.units.kind == "folds":
            return 3.0
        scorer = self.scorers[metric] if self.scorers else self.question.bind(self.predictions, judge)
        for start, stop in blocks.cut(n + 1, blocks.UNIT):
            counts = np.ones((stop - start, self.n_samples), np.uint8)  # the first row is all samples
            counts += unit == np.arange(start - 1, stop - 1)[:, None]
            scores.append(scorer.picked(counts, np.full(len(counts), winner)))
        whole, *others = np.concatenate(scores)
        moves = np.array(others) - whole
        moves = moves[~np.isnan(moves)]
        most = float(np.abs(moves).max(initial=0.0))
        if not 0.0 < most < np.inf:
            return 3.0
        squares = (moves / most) ** 2
        return float((squares**2).mean()) / float(squares.mean()) ** 2

    # ---- selecting -----------------------------------------------------------------------------------------------
    @one_blas_thread()
    def _standard_errors(self) -> Array:
        """Standard errors by the metric that selects [C]: of resampled samples, or of the mean of given folds."""
        first = self.whole_scorers[0] if self.whole_scorers and self.dropped is None else self.scorers[0]
        if isinstance(first, FoldMeans):
            with np.errstate(invalid="ignore", divide="ignore"):
                n = (~np.isnan(first.table)).sum(axis=0)
                return np.asarray(np.nanstd(first.table, axis=0, ddof=1) / np.sqrt(n))
        in_race = self.units.kind == "folds" and self.dropped is not None
        units = self.units if in_race else replace(self.observed, purpose="standard error")
        return spread(first.scores(units.counts(0, ERRORS)))

    def absent(self, counts: Array) -> Array:
        """What judges each resample: the samples (or folds) that are absent from it, as counts."""
        return (counts == 0 if self.judges is None else (counts == 0) & self.judges).view(np.uint8)

    def asking(self, question: Question, members: Array | None = None) -> Table:
        """Ask the same predictions and draws for another selection, of some of the configurations; the metrics stay."""
        other = copy(self)
        other.question, other.members, other.final = question, members, None
        if self.family_scorers is not None:
            other.scorers = self.family_scorers
        return other

    def select(self, scores: Array) -> Array:
        """Run the rule: scores [B, C] -> positions of the winners [B], -1 where no score is defined."""
        question = self.question
        if question.needs_standard_errors and self.standard_errors is None:
            self.standard_errors = self._standard_errors()
        scores = scores if self.members is None else np.where(self.members, scores, np.nan)
        return apply(question.rule_for(self.configurations), scores, question.first.unit, self.standard_errors)

    def winner(self) -> int:
        """Select on the whole table; in a race among the finishers, which alone have a score on all samples."""
        if self.final is not None:
            return self.final
        self.question.rule_for(self.configurations)  # refuses a procedure, which selects more than a column
        winner, whole = -1, self.wholes[0]
        if self.dropped is not None:
            winner = int(self.select(np.where(self.dropped, np.nan, whole)[None])[0])
        if winner < 0:  # a family without a finisher
            winner = int(self.select(whole[None])[0])
        if winner < 0:
            raise SoberError(
                "E109",
                f"{self.question.first.name} is undefined on these samples, so nothing can be selected. Check `y`."
                f"{self.complaint(0)}",
            )
        return winner

    # ---- what is said --------------------------------------------------------------------------------------------
    def estimate(self, metric: int, winner: int, **known: Any) -> Estimate:
        """Make an estimate by one metric for the configuration at this position; `known` are more of its fields."""
        judge, held, question = self.question.metrics[metric], self.predictions, self.question
        usual: dict[str, Any] = {
            "configurations": self.configurations,
            "method": "bbc-f" if question.by == "fold" else "bbc",
            "n_undefined": int(np.isnan(known.get("draws", 0.0)).sum()),
        }
        return Estimate(
            metric=judge.name,
            positive=judge.positive_of(held.target),
            confidence_level=question.level,
            winner=int(self.configurations[winner]),
            n_samples=held.n_samples,
            n_repeats=held.n_repeats,
            n_groups=None if held.groups is None else self.observed.n,
            n_left_out=held.n_left_out,
            fixed_models=question.fixed_models,
            seed=question.seed,
            **usual | known,
        )

    def complaint(self, metric: int) -> str:
        """What a function that scores said when it refused, as a sentence to add to ours; "" where it said nothing."""
        scorer = (self.whole_scorers or self.scorers)[metric]
        said = getattr(getattr(scorer, "inner", scorer), "complaint", "")  # of the finishers of a race
        return f" It says: {said}" if said else ""


def check_partition(n_repeats: int, groups: Array | None, fold_of: Array) -> None:
    """Refuse folds [N, R] that share samples or groups: to resample them would take the same for new."""
    if n_repeats > 1:
        raise SoberError(
            "E114",
            f'`by="fold"` resamples one partition; got {n_repeats} repeats. Use by="sample", or pass one repeat.',
        )
    if groups is None:
        return
    pairs = np.unique(np.stack([groups, fold_of[:, 0]]), axis=1)
    if pairs.shape[1] > len(np.unique(groups)):
        raise SoberError(
            "E114", '`by="fold"` needs folds that keep groups together; some group is in two. Use by="sample".'
        )


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_table(
    predictions: Any, question: Question, *, y: Any = None, counts: Any = None, race: bool = True, **arrays: Any
) -> Table:
    """Open what `sobercv.bbc` takes for a question; `race`: whether those dropped from a race take part."""
    if isinstance(predictions, Predictions):
        twice = next((name for name, value in arrays.items() if value is not None), None)
        if twice is not None:
            raise SoberError("E114", f"`{twice}` is part of a Predictions table already; leave it out here.")
        table = predictions
    else:
        settled = question.for_target(y)
        assert settled.first.task is not None  # the target settled it
        # How a bare array is read when several metrics share it: probabilities serve all, labels only some.
        ranked = (metric.responses for metric in settled.metrics if metric.responses[0] != "predict")
        wanted = () if settled.procedure is None else settled.procedure.wanted(settled.first)
        responses = wanted[0] if wanted else next(ranked, settled.first.responses)
        table = Predictions.build(y, predictions, task=settled.first.task, responses=responses, **arrays)
        if table.n_left_out:
            lacking = notes.left_out(table.n_left_out, table.n_configurations)
            warn(lacking.code, lacking.text)
    if race and table.dropped:
        from .raced import race_table

        return race_table(table, table.dropped, question, counts)
    return Table(table, question, counts)


def answer(judge: Callable[[Table], dict[str, Estimate]], y: Any, predictions: Any, metric: Any, **options: Any) -> Any:
    """Judge predictions by these options of `sobercv.bbc`: one estimate, or one by each of several metrics."""
    if hasattr(y, "cv_results_") or hasattr(y, "best_trials"):
        text = f"`y` is the truth of every sample; got a {type(y).__name__}. Correct a finished search with "
        raise SoberError("E123", f"{text}sobercv.correct(search).")
    opened = {name: options.pop(name) for name in (*ARRAYS, "counts", "race") if name in options}
    question = Question.ask(metric, **options)
    found = judge(open_table(predictions, question, y=y, **opened))
    columns = getattr(predictions, "columns", None)
    if columns is not None and not callable(columns) and hasattr(predictions, "shape"):
        names = [str(name) for name in columns]
        found = {
            metric: replace(one, winner_name=names[one.winner], decision=one.decision and one.decision.named(names))
            for metric, one in found.items()
        }
    return Estimates(found) if question.several else next(iter(found.values()))


# ---- arithmetic ------------------------------------------------------------------------------------------------------
def spread(scores: Array) -> Array:
    """Standard deviation of each configuration's defined scores over resamples: [B, C] -> [C]."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nanstd(scores, axis=0, ddof=1))
