"""The loop: draw counts, decide on what is present, judge the decision on what is absent (paper, algorithm 5).

`corrected` turns a table into one `Estimate` per metric. A decision is a column (`Columns`), or what a selection
procedure tunes beside it (`Tuned`: a threshold, a mix); the loop is the same, and so is its record, `Draws`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..metrics import Metric, Scorer, blocks
from ..metrics.contract import as_counts
from ..predictions import Predictions
from ..threads import one_blas_thread
from . import notes
from .estimate import Estimate
from .intervals import CROSS_VALIDATED, DOUBT, INTERVALS, STEADIER, Evidence, Percentile
from .procedures import Decision, SelectionProcedure
from .tables import Table

#: A decision that is reported was tuned on N samples, those that are judged on the 0.63 N of a resample, and are a
#: little worse. So far back towards the naive score; chosen and judged on different data (docs/evidence/tuned.md).
BACK = 0.1
_CELLS = 1 << 25  # predictions of decisions that are held at a time


@dataclass(frozen=True, eq=False)
class Draws:
    """What some resamples came to; `own`, `inside` and `sums` are there with `Interval.needs_spread` alone."""

    winners: Array  # position of the configuration selected on each resample [B]; -1 for none
    scores: Array  # for each metric the score of the decision on what is absent [M, B]
    own: Array | None = None  # for each metric the score of the final decision on what is absent [M, B]
    inside: Array | None = None  # for each metric but the first that of the final decision on what is present [M-1, B]
    #: For the metric that selects, in units of 64 resamples [U, 3, C]: how many scores on what is present are defined,
    #: and the sum and the sum of squares of how much they differ from those of the whole table. Unit by unit, so that
    #: threads and blocks cannot change a bit.
    sums: Array | None = None
    tuned: Array | None = None  # what was tuned beside the column [B, ...]
    labels: Array | None = None  # how often each absent sample was given each label [K, N], where decisions make labels


@one_blas_thread()
def corrected(table: Table) -> dict[str, Estimate]:
    """Select on the whole table, draw, select and judge anew in every resample: an estimate for each metric."""
    question = table.question
    selector: Columns | Tuned
    if question.procedure is None:
        selector = Columns(table, table.winner(), table.wholes, table.wholes)
    else:
        selector = Tuned(table, question.procedure)
    cut = table.cut() if isinstance(selector, Columns) else selector.cut()
    parts = blocks.run(selector.draw, cut, question.n_threads)
    joined: dict[str, Any] = {}
    for name, axis in {"winners": 0, "scores": 1, "own": 1, "inside": 1, "sums": 0, "tuned": 0}.items():
        if getattr(parts[0], name) is not None:
            joined[name] = np.concatenate([getattr(part, name) for part in parts], axis=axis)
    if parts[0].labels is not None:
        joined["labels"] = sum(part.labels for part in parts if part.labels is not None)
    found = estimates(table, selector, Draws(**joined))
    if question.procedure is None or not question.procedure.stands_beside:
        return found
    alone = corrected(table.asking(replace(question, procedure=None)))
    return {name: replace(estimate, single=alone[name]) for name, estimate in found.items()}


@dataclass(frozen=True, eq=False)
class Columns:
    """A selection rule: the decision is a column."""

    table: Table
    winner: int  # position of the configuration that the final decision, on all samples, is for
    wholes: list[Array]  # for each metric the score on all samples of every configuration, and of the final decision
    alone: list[Array]  # the same without the final decision
    back: float = 0.0  # how far the estimate goes back towards the naive score, as a share of the way

    def draw(self, start: int, stop: int) -> Draws:
        """Decide on what is present in resamples start to stop - 1, and judge on what is absent."""
        table, counts = self.table, self.table.units.counts(start, stop)
        absent = table.absent(counts)
        scores = table.scorers[0].scores(counts)
        winners = table.select(scores)
        judged = np.stack([scorer.picked(absent, winners) for scorer in table.scorers])
        if not INTERVALS[table.question.interval].needs_spread:
            return Draws(winners, judged)
        known = winners == self.winner  # judged already
        rest = np.stack([scorer.picked(absent, np.where(known, -1, self.winner)) for scorer in table.scorers])
        inside = judged[1:].copy()
        for k, scorer in enumerate(table.scorers[1:]):
            inside[k] = scorer.picked(counts, np.full(len(counts), self.winner))
        sums = sums_by_unit(scores - self.wholes[0])
        return Draws(winners, judged, np.where(known, judged, rest), inside, sums)


class Tuned:
    """A procedure: it decides anew in every resample, and its decision predicts like a configuration.

    Three things differ from a column (docs/evidence/tuned.md): a sample that was drawn several times is
    decided on once, labels of all resamples are judged together, and the estimate moves a tenth of the way back to the
    naive score. `decider` is the procedure bound to the table, `final` the one decision on the whole table; all else
    as of `Columns`.
    """

    def __init__(self, table: Table, procedure: SelectionProcedure) -> None:
        if type(table) is not Table or table.judges is not None:
            raise SoberError(
                "E114",
                f"{procedure!r} decides on predictions that are in memory, all of the same samples, and resampled by "
                'sample. Pass them as a numpy array, write by="sample", and leave out count_dropped.',
            )
        procedure.check(table.question)
        self.table, self.procedure = table, procedure
        self.back = BACK if procedure.counts_once else 0.0
        self.decider = procedure.bind(table.predictions, table.question)
        once = np.ones((1, table.n_samples), np.uint8)
        self.final = self.decider.decide(once)
        self.winner = int(self.final.winners[0])
        if self.winner < 0:
            raise SoberError(
                "E109",
                f"{table.question.first.name} is undefined on these samples, or no threshold meets the constraints, so "
                "nothing can be selected. Check `y`, or relax the constraints.",
            )
        self.alone = [scorer.scores(once)[0] for scorer in self._bound(self.decider.alternatives())]
        self._fixed = self._bound(self.decider.predictions(self.final))
        first = np.zeros(1, np.int64)
        self.wholes = [
            np.where(np.arange(len(alone)) == self.winner, scorer.picked(once, first), alone)
            for alone, scorer in zip(self.alone, self._fixed, strict=True)
        ]

    def _bound(self, predictions: Predictions) -> list[Scorer]:
        question = self.table.question
        return [question.bind(predictions, metric) for metric in question.metrics]

    def cut(self) -> list[tuple[int, int]]:
        """Cut the blocks of the table so that the predictions of a block's decisions stay small."""
        size = max(blocks.UNIT, _CELLS // self.table.n_samples // blocks.UNIT * blocks.UNIT)
        return [(start + a, start + b) for start, stop in self.table.cut() for a, b in blocks.cut(stop - start, size)]

    def draw(self, start: int, stop: int) -> Draws:
        """Decide and judge; count the labels of what is absent."""
        counts, once = self.table.units.counts(start, stop), self.procedure.counts_once
        decisions = self.decider.decide((counts > 0).view(np.uint8) if once else counts)
        absent = self.table.absent(counts)
        each = np.where(decisions.winners < 0, -1, np.arange(len(counts)))
        predicted = self.decider.predictions(decisions)
        judged = np.stack([scorer.picked(absent, each) for scorer in self._bound(predicted)])
        found = Draws(decisions.winners, judged, tuned=decisions.tuned, labels=self.labels(predicted, absent, each))
        if not INTERVALS[self.table.question.interval].needs_spread:
            return found
        same = np.zeros(len(counts), np.int64)
        unknown = np.full(len(counts), np.nan)  # `together` says it of all resamples at once
        own = [unknown if self._judges_labels(s.metric) else s.picked(absent, same) for s in self._fixed]
        inside = np.stack([scorer.picked(counts, same) for scorer in self._fixed])
        off = (decisions.scores - self.wholes[0]) / (STEADIER if once else 1.0)
        off[:, self.winner] = inside[0] - self.wholes[0][self.winner]
        return replace(found, own=np.stack(own), inside=inside[1:], sums=sums_by_unit(off))

    # ---- labels of all resamples together ------------------------------------------------------------------------
    def _judges_labels(self, metric: Metric) -> bool:
        return self.procedure.makes_labels and "predict" in metric.responses

    def labels(self, predicted: Predictions, absent: Array, each: Array) -> Array | None:
        """How often each absent sample was given each label, int [K, N]; None where no labels are made."""
        if not self.procedure.makes_labels:
            return None
        labels = np.moveaxis(predicted.responses["predict"], 1, 0)  # [B, N, R]
        told = ((absent > 0) & (each >= 0)[:, None])[:, :, None] & predicted.seen
        return np.stack([(told & (labels == k)).sum(axis=(0, 2)) for k in range(predicted.n_classes)])

    def together(self, draws: Draws) -> list[float | None]:
        """Judge the labels of all resamples together; None for metrics that judge no labels.

        A share of few samples, such as F1 of the few positives that are absent from a resample, is lower on average
        than that of many.
        """
        values: list[float | None] = []
        for k, (metric, scores) in enumerate(zip(self.table.question.metrics, draws.scores, strict=True)):
            if draws.labels is None or not self._judges_labels(metric) or np.isnan(scores).all():
                values.append(None)
                continue
            values.append(self._score_labels(draws.labels, metric))
            if draws.own is not None:
                absent = as_counts(draws.labels.sum(axis=0)[None])
                draws.own[k] = self._fixed[k].picked(absent, np.zeros(1, np.int64))
        return values

    def _score_labels(self, labels: Array, metric: Metric) -> float:
        """Score a table in which each sample stands once with every label, as often as it was given it."""
        k, n = labels.shape
        given = np.repeat(np.arange(k, dtype=np.int8), n)[:, None, None]
        table = self.table.predictions.take_repeat(0).take_rows(np.tile(np.arange(n), k))
        all_seen = np.ones((k * n, 1), bool)
        table = replace(table, responses={"predict": given}, seen=all_seen, configurations=np.arange(1))
        return float(self.table.question.bind(table, metric).scores(as_counts(labels.reshape(1, -1)))[0, 0])


def sums_by_unit(off: Array) -> Array:
    """Count, sum and sum of squares of how much scores are off [B, C], unit by unit [U, 3, C]."""
    last = len(off) // blocks.UNIT * blocks.UNIT
    found = []
    for some in (off[:last].reshape(-1, blocks.UNIT, off.shape[1]), off[None, last:]):  # whole ones, and what is left
        total = some.sum(axis=1)
        n = np.full(total.shape, float(some.shape[1]))
        if np.isnan(total).any():
            n = (~np.isnan(some)).sum(axis=1).astype(np.float64)
            some = np.where(np.isnan(some), 0.0, some)
            total = some.sum(axis=1)
        found.append(np.stack([n, total, np.einsum("ubc,ubc->uc", some, some)], axis=1))
    return np.concatenate(found)


# ---- from draws to estimates -----------------------------------------------------------------------------------------
def estimates(table: Table, selector: Columns | Tuned, draws: Draws) -> dict[str, Estimate]:
    """Return one estimate for each metric, all at the same winner."""
    question, winner = table.question, selector.winner
    decision: Decision | None = None
    about: tuple[Note, ...] = ()
    noted = table.notes(winner, draws.winners)
    wins = np.bincount(draws.winners[draws.winners >= 0], minlength=len(table.configurations))
    means = [_mean(table, k, scores) for k, scores in enumerate(draws.scores)]
    together: list[float | None] = [None] * len(means)
    if isinstance(selector, Tuned) and draws.tuned is not None:
        decision = selector.decider.decision(selector.final, draws.winners, draws.tuned)
        about, together = selector.procedure.notes(decision), selector.together(draws)
    unbounded = any(not all(map(isfinite, metric.range)) for metric in question.metrics)
    kurtoses = table.kurtoses(winner) if draws.own is not None and unbounded else [3.0] * len(means)
    n_groups = table.units.n if table.units.names == "groups" else None
    found: dict[str, Estimate] = {}
    for k, metric in enumerate(question.metrics):
        joint = together[k]
        value, scores, special = means[k] if joint is None else joint, draws.scores[k], list[Note]()
        seen = _evidence(table, selector, draws, k, value, kurtoses[k])
        naive = float(selector.wholes[k][winner])
        if isfinite(naive):
            value = value + selector.back * (naive - value)
        if k == 0 and n_groups is not None and n_groups < notes.FEW and value > naive:
            special.append(notes.not_above_naive(metric.name, value))
            value = naive
        # Medians are taken of what is best in the middle, and only percentiles know them.
        bounds = (INTERVALS[question.interval].of(seen) if metric.selects else None) or Percentile.of(seen)
        highest = max(naive, value) if max(naive, value) >= 0.5 else bounds.bounds((1.0 + question.level) / 2.0)[1]
        is_other = bounds.name != question.interval
        found[metric.name] = table.estimate(
            k,
            winner,
            value=value,
            naive=naive,
            scores=selector.alone[k],
            bounds=bounds,
            draws=scores,
            win_counts=wins,
            n_undefined=int(np.isnan(scores).sum()),
            confidence_level=question.level,
            notes=(*noted, *special, *notes.of_scores(metric, scores, value, highest, is_other, n_groups), *about),
            decision=decision,
            fixed_models=question.fixed_models,
            judge_alone=partial(alone, table, k),
        )
    return found


def alone(table: Table, metric: int, configuration: int) -> Estimate:
    """Judge one configuration, by its id, with nothing selected, on what is absent from each resample."""
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
            found = corrected(Table(table.predictions.take_configurations(member), question))
        return list(found.values())[metric]
    scorer, where = table.scorers[metric], int(np.flatnonzero(member)[0])
    drawn = (table.units.counts(start, stop) for start, stop in table.cut())
    draws = np.concatenate([scorer.picked(table.absent(counts), np.full(len(counts), where)) for counts in drawn])
    score = table.wholes[metric][member]
    return table.estimate(
        metric,
        where,
        value=_mean(table, metric, draws),
        naive=float(score[0]),
        configurations=table.configurations[member],
        scores=score,
        bounds=Percentile(np.sort(draws), range=question.metrics[metric].range),
        draws=draws,
        n_undefined=int(np.isnan(draws).sum()),
        confidence_level=question.level,
        fixed_models=question.fixed_models,
    )


def _mean(table: Table, metric: int, draws: Array) -> float:
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
        raise SoberError("E117", f"{name} returns numbers whose mean is beyond 1e308. Scale `y` and predictions down.")
    return mean


def _evidence(table: Table, selector: Columns | Tuned, draws: Draws, k: int, value: float, kurtosis: float) -> Evidence:
    """What the bootstrap has seen by metric k; without variances where the interval does not look at them."""
    question, target, winner, scores = table.question, table.predictions.target, selector.winner, selector.wholes[k]
    metric, own, variances = question.metrics[k], scores[winner : winner + 1], np.full(len(scores), np.nan)
    if draws.own is not None and draws.inside is not None and draws.sums is not None:
        own = draws.own[k][~np.isnan(draws.own[k])]
        if k == 0:
            n, total, squares = draws.sums.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                variances = np.where(n > 1, np.maximum(squares - total**2 / n, 0.0) / (n - 1), np.nan)
        else:  # other metrics are computed of no other configuration in bag
            inside = draws.inside[k - 1][~np.isnan(draws.inside[k - 1])]
            variances[winner] = inside.var(ddof=1) if len(inside) > 1 else np.nan
    # The size to assume where no score varies: classes and events count by the rarer kind, unless rows do.
    assumed = float(table.observed.n)
    if target.task == "survival":
        assumed = min(assumed, float(max(target.values["event"].sum(), 1)))
    elif target.classes is not None and not metric.linear:
        sizes = np.unique(target.values, return_counts=True)[1]
        assumed = min(assumed, len(sizes) ** 2 / float((1.0 / sizes).sum()))
    return Evidence(
        draws=draws.scores[k],
        value=value,
        scores=scores,
        variances=variances,
        winner=winner,
        own=float(own.mean()) if len(own) else float(scores[winner]),
        range=metric.range,
        units=table.units.n,
        assumed=assumed,
        kurtosis=kurtosis,
        clustered=table.units.clustered or table.predictions.groups is not None,
        folds=table.units.kind == "folds",
        excess=1.0 if question.fixed_models else CROSS_VALIDATED,
        trained=1.0 if question.fixed_models else table.trained_share,
        doubt=DOUBT if question.procedure is None else question.procedure.doubt,
    )
