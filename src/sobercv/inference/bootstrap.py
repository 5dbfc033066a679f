"""The loop: draw counts, decide on what is present, judge the decision on what is absent (paper, algorithm 5).

Takes a table, gives one `Estimate` per metric. A decision is a column (`Columns`), or what a selection procedure tunes
beside it (`Tuned`: a threshold, a mix); the loop is the same, and so is its record, `Draws`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite
from typing import Protocol

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..metrics import Metric, Scorer, blocks
from ..metrics.contract import as_counts
from ..predictions import Predictions
from ..threads import one_blas_thread
from . import notes
from .estimate import Estimate
from .intervals import CROSS_VALIDATED, DOUBT, STEADIER, Calibrated, Evidence, Percentile, holding
from .procedures import Decision, Decisions, SelectionProcedure
from .tables import MemoryTable, Table

#: A decision that is reported was tuned on N samples, those that are judged on the 0.63 N of a resample, and are a
#: little worse. So far back towards the naive score; chosen and judged on different data (docs/evidence/tuned.md).
BACK = 0.1
_CELLS = 1 << 25  # predictions of decisions that are held at a time


@dataclass(frozen=True, eq=False)
class Draws:
    """What some resamples came to.

    Attributes
    ----------
    winners : int array [B]
        Position of the configuration selected on each resample; -1 for none.
    scores : list of array [B]
        For each metric the score of the decision on what is absent.
    own : list of array [B]
        For each metric the score of the final decision on what is absent; empty where no interval needs it.
    inside : list of array [B]
        For each metric but the first the score of the final decision on what is present.
    sums : array [U, 3, C]
        For the metric that selects, in units of 64 resamples: how many scores on what is present are defined, and the
        sum and the sum of squares of how much they differ from those of the whole table. Unit by unit, so that threads
        and blocks cannot change a bit.
    labels : int array [K, N]
        How often each absent sample was given each label, where a decision makes labels.
    decisions : tuple of Decisions
        What was decided, where it is more than a column.
    """

    winners: Array
    scores: list[Array]
    own: list[Array]
    inside: list[Array]
    sums: Array
    labels: Array
    decisions: tuple[Decisions, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence[Draws]) -> Draws:
        """Put blocks of resamples together."""

        def by_metric(lists: Sequence[list[Array]]) -> list[Array]:
            return [np.concatenate(of_metric) for of_metric in zip(*lists, strict=True)]

        return cls(
            winners=np.concatenate([part.winners for part in parts]),
            scores=by_metric([part.scores for part in parts]),
            own=by_metric([part.own for part in parts]),
            inside=by_metric([part.inside for part in parts]),
            sums=np.concatenate([part.sums for part in parts]),
            labels=np.sum([part.labels for part in parts], axis=0),
            decisions=tuple(decisions for part in parts for decisions in part.decisions),
        )

    @cached_property
    def variances(self) -> Array:
        """Variance of every configuration's score on what is present, by the metric that selects [C]."""
        n, total, squares = self.sums.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.where(n > 1, np.maximum(squares - total**2 / n, 0.0) / (n - 1), np.nan)


class Selector(Protocol):
    """What decides: bound to a table, with its final decision, made on all samples.

    Attributes
    ----------
    winner : int
        Position of the configuration that the final decision is for.
    wholes : list of array [C]
        For each metric the score of every configuration on all samples, and of the final decision in its place.
    """

    winner: int
    wholes: list[Array]

    def cut(self) -> list[tuple[int, int]]:
        """Which resamples to decide on together."""

    def draw(self, counts: Array, spread: bool) -> Draws:
        """Decide on what is present and judge on what is absent; with what an interval needs if `spread`."""


@one_blas_thread()
def corrected(table: Table) -> dict[str, Estimate]:
    """Select on the whole table, draw, select and judge anew in every resample: an estimate for each metric."""
    procedure = table.question.procedure
    if procedure is None:
        columns = Columns(table)
        return estimates(table, columns, run(table, columns))
    tuned = Tuned(table, procedure)
    found = tuned.estimates(run(table, tuned))
    if not procedure.stands_beside:
        return found
    alone = corrected(table.asking(replace(table.question, procedure=None)))
    return {name: replace(estimate, single=alone[name]) for name, estimate in found.items()}


def run(table: Table, selector: Selector) -> Draws:
    """Draw all resamples."""
    spread = table.question.interval != "percentile"  # the draws are all that percentiles need

    def block(start: int, stop: int) -> Draws:
        return selector.draw(table.units.counts(start, stop), spread)

    return Draws.joined(blocks.run(block, selector.cut(), table.question.n_threads))


class Columns:
    """A selection rule: the decision is a column."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.wholes = table.whole()
        self.winner = table.winner(self.wholes[0])

    def cut(self) -> list[tuple[int, int]]:
        """Cut as the table."""
        return self.table.cut()

    def draw(self, counts: Array, spread: bool) -> Draws:
        """Select a configuration on what is present in each resample, judge it on what is absent."""
        table, absent = self.table, self.table.absent(counts)
        scores = table.scores(counts)
        winners = table.select(scores)
        judged = table.picked(absent, winners)
        if not spread:
            return Draws(winners, judged, [], [], np.zeros((0, 3, scores.shape[1])), _NO_LABELS)
        known = winners == self.winner  # judged already
        rest = table.picked(absent, np.where(known, -1, self.winner))
        own = [np.where(known, draw, other) for draw, other in zip(judged, rest, strict=True)]
        inside = table.present_of(counts, self.winner) if len(judged) > 1 else []
        return Draws(winners, judged, own, inside, sums_by_unit(scores - self.wholes[0]), _NO_LABELS)


class Tuned:
    """A procedure: it decides anew in every resample, and its decision predicts like a configuration.

    Three things differ from a column (docs/evidence/tuned.md): a sample that was drawn several times is
    decided on once, labels of all resamples are judged together, and the estimate moves a tenth of the way back to the
    naive score.

    Attributes
    ----------
    decider : Decider
        The procedure bound to the table.
    final : Decisions
        The one decision on the whole table.
    alone : list of array [C]
        For each metric the score of every configuration, decided on alone, on all samples.
    """

    def __init__(self, table: Table, procedure: SelectionProcedure) -> None:
        if not isinstance(table, MemoryTable) or table.judges is not None:
            raise SoberError(
                "E114",
                f"{procedure!r} decides on predictions that are in memory, all of the same samples, and resampled by "
                'sample. Pass them as a numpy array, write by="sample", and leave out count_dropped.',
            )
        procedure.check(table.question)
        self._table, self._procedure = table, procedure
        self.decider = decider = procedure.bind(table.predictions, table.question)
        once = np.ones((1, table.n_samples), np.uint8)
        self.final = decider.decide(once)
        self.winner = int(self.final.winners[0])
        if self.winner < 0:
            raise SoberError(
                "E109",
                f"{table.question.first.name} is undefined on these samples, or no cut keeps the floors asked for, so "
                "nothing can be selected. Check `y`, or lower the floors.",
            )
        self.alone = [scorer.scores(once)[0] for scorer in self._bound(decider.alternatives())]
        self._fixed = self._bound(self.final.predictions())
        first = np.zeros(1, np.int64)
        self.wholes = [
            np.where(np.arange(len(alone)) == self.winner, scorer.picked(once, first), alone)
            for alone, scorer in zip(self.alone, self._fixed, strict=True)
        ]

    def _bound(self, predictions: Predictions) -> list[Scorer]:
        question = self._table.question
        return [question.bind(predictions, metric) for metric in question.metrics]

    def cut(self) -> list[tuple[int, int]]:
        """Cut the blocks of the table so that the predictions of a block's decisions stay small."""
        size = max(blocks.UNIT, _CELLS // self._table.n_samples // blocks.UNIT * blocks.UNIT)
        return [(start + a, start + b) for start, stop in self._table.cut() for a, b in blocks.cut(stop - start, size)]

    def draw(self, counts: Array, spread: bool) -> Draws:
        """Decide and judge; count the labels of what is absent."""
        once = self._procedure.counts_once
        decisions = self.decider.decide((counts > 0).view(np.uint8) if once else counts)
        absent = self._table.absent(counts)
        each = np.where(decisions.winners < 0, -1, np.arange(len(counts)))
        predicted = decisions.predictions()
        judged = [scorer.picked(absent, each) for scorer in self._bound(predicted)]
        labels = self.labels(predicted, absent, each)
        if not spread:
            nothing = np.zeros((0, 3, decisions.scores.shape[1]))
            return Draws(decisions.winners, judged, [], [], nothing, labels, (decisions,))
        same = np.zeros(len(counts), np.int64)
        unknown = np.full(len(counts), np.nan)  # `together` says it of all resamples at once
        own = [unknown if self._judges_labels(s.metric) else s.picked(absent, same) for s in self._fixed]
        first, *inside = [scorer.picked(counts, same) for scorer in self._fixed]
        off = (decisions.scores - self.wholes[0]) / (STEADIER if once else 1.0)
        off[:, self.winner] = first - self.wholes[0][self.winner]
        return Draws(decisions.winners, judged, own, inside, sums_by_unit(off), labels, (decisions,))

    def estimates(self, draws: Draws) -> dict[str, Estimate]:
        """Return the estimates with the decision."""
        together = self.together(draws)
        back = BACK if self._procedure.counts_once else 0.0
        decision = self.final.decision(draws.decisions)
        found = estimates(self._table, self, draws, together, back, decision, self._procedure.notes(decision))
        return {
            name: replace(estimate, scores=alone)
            for (name, estimate), alone in zip(found.items(), self.alone, strict=True)
        }

    # ---- labels of all resamples together ------------------------------------------------------------------------
    def labels(self, predicted: Predictions, absent: Array, each: Array) -> Array:
        """How often each absent sample was given each label, int [K, N]; nothing where no labels are made."""
        if not self._procedure.makes_labels:
            return _NO_LABELS
        labels = np.moveaxis(predicted.responses["predict"], 1, 0)  # [B, N, R]
        told = ((absent > 0) & (each >= 0)[:, None])[:, :, None] & predicted.seen
        return np.stack([(told & (labels == k)).sum(axis=(0, 2)) for k in range(self._table.target.n_classes)])

    def together(self, draws: Draws) -> list[float | None]:
        """Judge the labels of all resamples together; None for metrics that judge no labels.

        A share of few samples, such as F1 of the few positives that are absent from a resample, is lower on average
        than that of many.
        """
        if not self._procedure.makes_labels:
            return [None] * len(draws.scores)
        values: list[float | None] = []
        absent, first = as_counts(draws.labels.sum(axis=0)[None]), np.zeros(1, np.int64)
        for k, (metric, scores) in enumerate(zip(self._table.question.metrics, draws.scores, strict=True)):
            by_labels = self._judges_labels(metric) and bool(np.isfinite(scores).any())
            values.append(self._score_labels(draws.labels, metric) if by_labels else None)
            if by_labels and draws.own:
                draws.own[k] = self._fixed[k].picked(absent, first)
        return values

    def _judges_labels(self, metric: Metric) -> bool:
        return self._procedure.makes_labels and "predict" in metric.responses

    def _score_labels(self, labels: Array, metric: Metric) -> float:
        """Score a table in which each sample stands once with every label, as often as it was given it."""
        k, n = labels.shape
        given = np.repeat(np.arange(k, dtype=np.int8), n)[:, None, None]
        table = self._table.predictions.take_repeat(0).take_rows(np.tile(np.arange(n), k))
        all_seen = np.ones((k * n, 1), bool)
        table = replace(table, responses={"predict": given}, seen=all_seen, configurations=np.arange(1))
        return float(self._table.question.bind(table, metric).scores(as_counts(labels.reshape(1, -1)))[0, 0])


_NO_LABELS = np.zeros((0, 0), np.int64)


def sums_by_unit(off: Array) -> Array:
    """Count, sum and sum of squares of how much scores are off [B, C], unit by unit [U, 3, C]."""
    last = len(off) // blocks.UNIT * blocks.UNIT
    units = (off[:last].reshape(-1, blocks.UNIT, off.shape[1]), off[None, last:])  # whole ones, and what is left
    return np.concatenate([_sums(some) for some in units if some.size])


def _sums(off: Array) -> Array:
    """Count, sum and sum of squares of each unit: [U, B, C] -> [U, 3, C]."""
    total, squares = off.sum(axis=1), np.einsum("ubc,ubc->uc", off, off)
    n = np.full(total.shape, float(off.shape[1]))
    if np.isnan(total).any():
        defined = ~np.isnan(off)
        off, n = np.where(defined, off, 0.0), defined.sum(axis=1).astype(np.float64)
        total, squares = off.sum(axis=1), np.einsum("ubc,ubc->uc", off, off)
    return np.stack([n, total, squares], axis=1)


# ---- from draws to estimates -----------------------------------------------------------------------------------------
def estimates(
    table: Table,
    selector: Selector,
    draws: Draws,
    together: Sequence[float | None] = (),
    back: float = 0.0,
    decision: Decision | None = None,
    about: Sequence[Note] = (),
) -> dict[str, Estimate]:
    """Return one estimate for each metric, all at the same winner.

    Parameters
    ----------
    table : Table
    selector : Selector
    draws : Draws
        Of all resamples.
    together : sequence of float or None
        For each metric the score of all samples left out of any resample, together; None where the mean of the draws
        is the estimate.
    back : float
        How far the estimate goes back towards the naive score, as a share of the way.
    decision : Decision, optional
    about : sequence of Note
        About the decision.
    """
    question, winner = table.question, selector.winner
    noted = table.notes(winner, draws.winners)
    wins = np.bincount(draws.winners[draws.winners >= 0], minlength=len(table.configurations))
    middles = [_middle(table, k, scores) for k, scores in enumerate(draws.scores)]
    values = [middle if value is None else value for middle, value in zip(middles, together or middles, strict=True)]
    calibrated = _calibrated(table, selector, values, draws)
    found: dict[str, Estimate] = {}
    for k, (metric, whole, scores, value, bounds) in enumerate(
        zip(question.metrics, selector.wholes, draws.scores, values, calibrated, strict=True)
    ):
        naive, special = float(whole[winner]), [notes.undefined(metric.name, scores)]
        if isfinite(naive):
            value = value + back * (naive - value)
        if question.interval == "calibrated" and bounds is None:
            special.append(notes.percentile_instead(metric))
        if metric is question.first and table.units.names == "groups" and table.units.n < notes.FEW and value > naive:
            special.append(notes.not_above_naive(metric.name, value))
            value = naive
        made = bounds or Percentile(np.sort(scores), range=metric.range)
        interval = holding(made.interval(question.level), value)
        special.append(notes.worse_than_guessing(metric.name, value, naive, interval))
        found[metric.name] = Estimate(
            value=value,
            naive=naive,
            winner=int(table.configurations[winner]),
            configurations=table.configurations,
            scores=whole,
            method="bbc-f" if question.by == "fold" else "bbc",
            metric=metric.name,
            positive=metric.positive_of(table.target),
            bounds=made,
            draws=scores,
            win_counts=wins,
            n_undefined=int(np.isnan(scores).sum()),
            confidence_level=question.level,
            n_samples=table.n_samples,
            n_repeats=table.n_repeats,
            n_groups=table.n_groups,
            n_left_out=table.n_left_out,
            seed=question.seed,
            notes=(*noted, *(note for note in special if note is not None), *about),
            decision=decision,
            fixed_models=question.fixed_models,
            judge_alone=partial(alone, table, k),
        )
    if question.method == "632+":
        return {name: estimate.as_632plus() for name, estimate in found.items()}
    return found


def alone(table: Table, metric: int, configuration: int) -> Estimate:
    """Judge one configuration, with nothing selected, on what is absent from each resample.

    Parameters
    ----------
    table : Table
    metric : int
        Position of the metric.
    configuration : int
        As the table numbers them.
    """
    question, member = table.question, table.configurations == configuration
    if not member.any():
        raise SoberError(
            "E122",
            f"There is no configuration {configuration!r} to compare with: it failed, was dropped or does not exist. "
            f"Name one of {table.configurations[0]} to {table.configurations[-1]}.",
        )
    if question.procedure is not None:  # what is tuned beside the column is tuned for this one, too
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoberWarning)
            found = corrected(MemoryTable(table.predictions.take_configurations(member), question))
        return list(found.values())[metric]
    blocks_ = [table.units.counts(start, stop) for start, stop in table.cut()]
    where = int(np.flatnonzero(member)[0])
    draws = np.concatenate([table.picked(table.absent(c), np.full(len(c), where))[metric] for c in blocks_])
    judge, score = question.metrics[metric], table.whole()[metric][member]
    return Estimate(
        value=_middle(table, metric, draws),
        naive=float(score[0]),
        winner=int(configuration),
        configurations=table.configurations[member],
        scores=score,
        method="bbc-f" if question.by == "fold" else "bbc",
        metric=judge.name,
        positive=judge.positive_of(table.target),
        bounds=Percentile(np.sort(draws), range=judge.range),
        draws=draws,
        n_undefined=int(np.isnan(draws).sum()),
        confidence_level=question.level,
        n_samples=table.n_samples,
        n_repeats=table.n_repeats,
        n_groups=table.n_groups,
        seed=question.seed,
        fixed_models=question.fixed_models,
    )


def _middle(table: Table, metric: int, draws: Array) -> float:
    """Return the mean of the draws that are defined; refuse where there are none, and what is too large for one.

    What is best in the middle (a slope of calibration) is without bounds and far off on some resamples, so that few of
    them would make the mean: there it is the median.
    """
    name = table.question.metrics[metric].name
    if np.isnan(draws).all():
        raise SoberError(
            "E109",
            f"{name} is undefined on every one of the {len(draws)} draws: the samples "
            "left out never hold what it compares. Use stratify=True, collect more data, or choose another metric."
            f"{table.complaint(metric)}",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float((np.nanmean if table.question.metrics[metric].selects else np.nanmedian)(draws))
    if not np.isfinite(mean):
        raise SoberError("E117", f"{name} gives numbers whose mean is beyond 1e308. Scale `y` and predictions down.")
    return mean


def _calibrated(table: Table, selector: Selector, values: list[float], draws: Draws) -> list[Calibrated | None]:
    """For each metric the calibrated interval; None where not asked for, nothing varies, or medians are taken."""
    question, winner = table.question, selector.winner
    if not draws.own:
        return [None] * len(values)
    unbounded = any(not all(map(isfinite, metric.range)) for metric in question.metrics)
    kurtoses = table.kurtoses(winner) if unbounded else [3.0] * len(values)
    found = []
    for k, (metric, whole, value) in enumerate(zip(question.metrics, selector.wholes, values, strict=True)):
        own = draws.own[k][~np.isnan(draws.own[k])]
        evidence = Evidence(
            scores=whole,
            variances=draws.variances if k == 0 else _only(draws.inside[k - 1], winner, len(whole)),
            winner=winner,
            value=value,
            own=float(own.mean()) if len(own) else float(whole[winner]),
            range=metric.range,
            units=table.units.n,
            assumed=_assumed(table, metric),
            kurtosis=kurtoses[k],
            clustered=table.units.clustered or table.n_groups is not None,
            excess=1.0 if question.fixed_models else CROSS_VALIDATED,
            trained=1.0 if question.fixed_models else table.trained_share,
            doubt=DOUBT if question.procedure is None else question.procedure.doubt,
            folds=table.units.kind == "folds",
        )
        found.append(evidence.weigh() if metric.selects else None)
    return found


def _only(scores: Array, winner: int, c: int) -> Array:
    """Variances [C] of which only the winner's is known: other metrics are computed of no other in bag."""
    defined = scores[~np.isnan(scores)]
    found = np.full(c, np.nan)
    if len(defined) > 1:
        found[winner] = defined.var(ddof=1)
    return found


def _assumed(table: Table, metric: Metric) -> float:
    """The size to assume where no score varies: classes and events count by the rarer kind, unless rows do."""
    units, values = float(table.observed.n), table.target.values
    if table.target.task == "survival":
        return min(units, float(max(values["event"].sum(), 1)))
    if table.target.classes is None or metric.linear:
        return units
    counts = np.bincount(values)
    counts = counts[counts > 0]
    return min(units, len(counts) ** 2 / float((1.0 / counts).sum()))
