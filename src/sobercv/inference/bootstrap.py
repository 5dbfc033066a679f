"""The loop: draw counts, decide on what is present, judge the decision on what is absent (paper, algorithm 5).

`corrected` turns a table into one `Estimate` per metric. A decision is a column (`Columns`), or what a selection
procedure tunes beside it (`Tuned`: a threshold, a mix); the loop is the same, and so is its record, `Draws`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..metrics import blocks
from ..metrics.contract import as_counts
from ..predictions import Predictions
from ..threads import one_blas_thread
from . import notes
from .estimate import Estimate
from .intervals import CROSS_VALIDATED, DOUBT, DOUBT_TUNED, INTERVALS, STEADIER, Evidence, Percentile
from .procedures import Decisions, SelectionProcedure
from .tables import Scores, Table

#: A decision that is reported was tuned on N samples, those that are judged on the 0.63 N of a resample, and are a
#: little worse. So far back towards the naive score; chosen and judged on different data (docs/evidence/tuned.md).
BACK = 0.1


@dataclass(frozen=True, eq=False)
class Draws:
    """What some resamples came to; `own`, `inside` and `sums` are there with `Interval.needs_spread` alone."""

    winners: Array  # position of the configuration selected on each resample [B]; -1 for none
    scores: Array  # of the decision on what is absent, by each metric [B, M]
    tuned: Any = None  # what was tuned beside the column [B, ...]
    labels: Array | None = None  # how often each absent sample was given each label [1, K, N]
    own: Array | None = None  # score of the final decision on what is absent, by each metric [B, M]
    inside: Array | None = None  # score of the final decision on what is present, by each metric but the first [B, M-1]
    #: For the metric that selects, in units of 64 resamples [U, 3, C]: how many scores on what is present are defined,
    #: and the sum and the sum of squares of how much they differ from those of the whole table. Unit by unit, so that
    #: threads and blocks cannot change a bit.
    sums: Array | None = None


@one_blas_thread()
def corrected(table: Table) -> dict[str, Estimate]:
    """Select on the whole table, draw, select and judge anew in every resample: an estimate for each metric."""
    question = table.question
    selector = Columns(table) if question.procedure is None else Tuned(table, question.procedure)
    if table.units.kind == "folds":
        cut = [(0, table.n_resamples)]
    else:
        cut = blocks.ranges(table.n_resamples, table.n_samples, question.n_threads)
    parts = [vars(part) for part in blocks.run(partial(draw, selector), cut, question.n_threads)]
    known = [name for name, values in parts[0].items() if values is not None]
    found = estimates(selector, Draws(**{name: np.concatenate([part[name] for part in parts]) for name in known}))
    if question.procedure is None or not question.procedure.stands_beside:
        return found
    alone = corrected(Table(table.given, replace(question, procedure=None), table.counts))
    return {name: replace(estimate, single=alone[name]) for name, estimate in found.items()}


def draw(selector: Columns, start: int, stop: int) -> Draws:
    """Decide on what is present in resamples start to stop - 1, and judge on what is absent."""
    table, (fixed, place) = selector.table, selector.fixed
    counts = table.units.counts(start, stop)
    absent = table.absent(counts)
    decisions, scorers, at, labels = selector.decide(counts, absent)
    judged = np.array([scorer.picked(absent, at) for scorer in scorers]).T
    found = Draws(decisions.winners, judged, decisions.tuned, labels)
    if not INTERVALS[table.question.interval].needs_spread:
        return found
    whole, final, is_column = selector.wholes[0], np.full(len(counts), place), scorers is fixed
    known = (at == place) & is_column  # judged already
    rest = np.array([scorer.picked(absent, np.where(known, -1, place)) for scorer in fixed]).T
    off = decisions.scores - whole
    if not is_column:
        off /= selector.steadier
        off[:, selector.winner] = fixed[0].picked(counts, final) - whole[selector.winner]
    inside = np.array([scorer.picked(counts, final) for scorer in fixed[1:]]).T
    sums, last = [], len(off) // blocks.UNIT * blocks.UNIT
    for some in (off[:last].reshape(-1, blocks.UNIT, off.shape[1]), off[None, last:]):  # whole units, and what is left
        total = some.sum(axis=1)
        n = np.full(total.shape, float(some.shape[1]))
        if np.isnan(total).any():
            n = (~np.isnan(some)).sum(axis=1).astype(np.float64)
            some = np.where(np.isnan(some), 0.0, some)
            total = some.sum(axis=1)
        sums.append(np.stack([n, total, np.einsum("ubc,ubc->uc", some, some)], axis=1))
    return replace(found, own=np.where(known[:, None], judged, rest), inside=inside, sums=np.concatenate(sums))


#: Decisions, scorers of what can be decided, at which of their configurations each decision is [B], and how often each
#: absent sample was given each label [1, K, N], where decisions make labels.
Decided = tuple[Decisions, Sequence[Scores], Array, Array | None]


class Columns:
    """A selection rule bound to a table: the decision is a column."""

    table: Table
    winner: int  # position of the configuration that the final decision, on all samples, is for
    alone: Sequence[Array]  # for each metric the score on all samples of every configuration
    wholes: Sequence[Array]  # the same, of the winner that of the final decision
    fixed: tuple[Sequence[Scores], int]  # scorers, and at which of their configurations the final decision is
    back = 0.0  # how far the estimate goes back towards the naive score, as a share of the way
    steadier = 1.0  # how much less scores on what is present vary than those of draws with replacement
    doubt = DOUBT

    def __init__(self, table: Table) -> None:
        self.table, self.winner = table, table.winner()
        self.alone = self.wholes = table.wholes
        self.fixed = table.scorers, self.winner

    def decide(self, counts: Array, absent: Array) -> Decided:
        """Decide on what is present in each resample."""
        scores = self.table.scorers[0].scores(counts)
        winners = self.table.select(scores)
        return Decisions(winners, scores), self.table.scorers, winners, None


class Tuned(Columns):
    """A procedure bound to a table: it decides anew in every resample, and its decision predicts like a configuration.

    Three things differ from a column (docs/evidence/tuned.md): a sample that was drawn several times is
    decided on once, labels of all resamples are judged together, and the estimate moves a tenth of the way back to the
    naive score. `procedure` is bound to the predictions, `final` is its decision on all of them.
    """

    def __init__(self, table: Table, procedure: SelectionProcedure) -> None:
        if table.units.kind == "folds" or table.dropped is not None or table.judges is not None:
            raise SoberError(
                "E114",
                f"{procedure!r} needs predictions that are in memory, all for the same samples, and resampled by "
                'sample. Pass them as a numpy array, write by="sample", and leave out count_dropped.',
            )
        self.table, self.procedure = table, procedure.bind(table.predictions, table.question)
        if procedure.counts_once:
            self.back, self.steadier, self.doubt = BACK, STEADIER, DOUBT_TUNED
        once = np.ones((1, table.n_samples), np.uint8)
        self.final = self.procedure.decide(once)
        self.winner = int(self.final.winners[0])
        if self.winner < 0:
            raise SoberError(
                "E109",
                f"{table.question.first.name} is undefined on these samples, or no threshold meets the constraints, so "
                "nothing can be selected. Check `y`, or relax the constraints.",
            )
        self.alone = [scorer.scores(once)[0] for scorer in self._bound(self.procedure.alternatives())]
        self.fixed = self._bound(self.procedure.predictions(self.final)), 0
        self.wholes = [scores.copy() for scores in self.alone]
        for scores, scorer in zip(self.wholes, self.fixed[0], strict=True):
            scores[self.winner] = scorer.picked(once, np.zeros(1, np.int64))[0]

    def _bound(self, predictions: Predictions) -> list[Scores]:
        question = self.table.question
        return [question.bind(predictions, metric) for metric in question.metrics]

    def decide(self, counts: Array, absent: Array) -> Decided:
        """Decide, bind what the decisions predict, and count the labels of what is absent."""
        decisions = self.procedure.decide((counts > 0).view(np.uint8) if self.procedure.counts_once else counts)
        predicted = self.procedure.predictions(decisions)
        at, labels = np.where(decisions.winners < 0, -1, np.arange(len(counts))), None
        if self.procedure.makes_labels:
            given = np.moveaxis(predicted.responses["predict"], 1, 0)  # [B, N, R]
            told = ((absent > 0) & (at >= 0)[:, None])[:, :, None] & predicted.seen
            labels = np.stack([(told & (given == k)).sum(axis=(0, 2)) for k in range(predicted.n_classes)])[None]
        return decisions, self._bound(predicted), at, labels

    def together(self, k: int, draws: Draws) -> float | None:
        """Judge the labels of all resamples together by metric k; None where it judges no labels.

        A share of few samples, such as F1 of the few positives that are absent from a resample, is lower on average
        than that of many. Each sample stands once with every label, as often as it was given it.
        """
        metric, question = self.table.question.metrics[k], self.table.question
        if draws.labels is None or "predict" not in metric.responses:
            return None
        labels = draws.labels.sum(axis=0)  # [K, N]
        if draws.own is not None:
            draws.own[:, k] = self.fixed[0][k].picked(as_counts(labels.sum(axis=0)[None]), np.zeros(1, np.int64))
        n_classes, n = labels.shape
        given = np.repeat(np.arange(n_classes, dtype=np.int8), n)[:, None, None]
        table = self.table.predictions.take_repeat(0).take_rows(np.tile(np.arange(n), n_classes))
        all_seen = np.ones((n_classes * n, 1), bool)
        table = replace(table, responses={"predict": given}, seen=all_seen, configurations=np.arange(1))
        return float(question.bind(table, metric).scores(as_counts(labels.reshape(1, -1)))[0, 0])


# ---- from draws to estimates -----------------------------------------------------------------------------------------
def estimates(selector: Columns, draws: Draws) -> dict[str, Estimate]:
    """Return one estimate for each metric, all at the same winner."""
    table, winner, question = selector.table, selector.winner, selector.table.question
    noted = list(notes.of_table(table, winner, float(selector.wholes[0][winner]), draws.winners))
    wins = np.bincount(draws.winners[draws.winners >= 0], minlength=len(table.configurations))
    means = [_mean(table, k, scores) for k, scores in enumerate(draws.scores.T)]
    decision, about = None, tuple[Note, ...]()
    if isinstance(selector, Tuned):
        decision = selector.procedure.decision(selector.final, draws.winners, draws.tuned)
        about = selector.procedure.notes(decision)
    n_groups = table.units.n if table.units.names == "groups" else None
    found: dict[str, Estimate] = {}
    for k, metric in enumerate(question.metrics):
        joint = selector.together(k, draws) if isinstance(selector, Tuned) else None
        value, scores, special = means[k] if joint is None else joint, draws.scores[:, k].copy(), list[Note]()
        seen = _evidence(selector, draws, k, value)
        naive = float(selector.wholes[k][winner])
        if isfinite(naive):
            value = value + selector.back * (naive - value)
        if k == 0 and n_groups is not None and n_groups < notes.FEW and value > naive:
            text = (
                f"With so few groups the bootstrap gave {value:.4f} for {metric.name}, more than plain "
                "cross-validation (the groups left out of a resample are pooled with fewer others); the smaller of the "
                "two is reported."
            )
            special, value = [Note("W205", text)], naive
        # Medians are taken of what is best in the middle, and only percentiles know them.
        bounds = (INTERVALS[question.interval].of(seen) if metric.selects else None) or Percentile.of(seen)
        highest = max(naive, value, bounds.bounds((1.0 + question.level) / 2.0)[1])
        is_other = not isinstance(bounds, INTERVALS[question.interval])
        of_metric = notes.of_scores(table, k, scores, selector.alone[k], value, highest, is_other)
        found[metric.name] = table.estimate(
            k,
            winner,
            scores=selector.alone[k],
            win_counts=wins,
            decision=decision,
            value=value,
            naive=naive,
            bounds=bounds,
            draws=scores,
            notes=(*noted, *special, *of_metric, *about),
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
            judged = corrected(Table(table.given.take_configurations(member), question, table.counts))
            return judged[question.metrics[metric].name]
    scorer, where = table.scorers[metric], int(np.flatnonzero(member)[0])
    cut = blocks.ranges(table.n_resamples, table.n_samples, 1)
    draws = np.concatenate(
        [scorer.picked(table.absent(table.units.counts(a, b)), np.full(b - a, where)) for a, b in cut]
    )
    score = table.wholes[metric][member]
    return table.estimate(
        metric,
        where,
        scores=score,
        configurations=table.configurations[member],
        value=_mean(table, metric, draws),
        naive=float(score[0]),
        bounds=Percentile(draws, range=question.metrics[metric].range),
        draws=draws,
    )


def _mean(table: Table, metric: int, draws: Array) -> float:
    """Return the mean of the draws that are defined; refuse where there are none, and what is too large for one.

    What is best in the middle (a slope of calibration) is without bounds and far off on some resamples, so that few of
    them would make the mean: there it is the median.
    """
    judge = table.question.metrics[metric]
    if np.isnan(draws).all():
        raise SoberError(
            "E109",
            f"{judge.name} is undefined on all {len(draws)} draws: the samples left out never contain what it "
            f"compares. Use stratify=True, collect more data, or choose another metric.{table.complaint(metric)}",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float((np.nanmean if judge.selects else np.nanmedian)(draws))
    if not np.isfinite(mean):
        raise SoberError("E117", f"The mean of {judge.name} is beyond 1e308. Scale `y` and predictions down.")
    return mean


def _evidence(selector: Columns, draws: Draws, k: int, value: float) -> Evidence:
    """What the bootstrap has seen by metric k; without variances where the interval does not look at them."""
    table, winner, scores = selector.table, selector.winner, selector.wholes[k]
    question, target, metric = table.question, table.predictions.target, table.question.metrics[k]
    own, variances, kurtosis = scores[winner : winner + 1], np.full(len(scores), np.nan), 3.0
    if draws.own is not None and draws.inside is not None and draws.sums is not None:
        own = draws.own[:, k][~np.isnan(draws.own[:, k])]
        if k == 0:
            n, total, squares = draws.sums.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                variances = np.where(n > 1, np.maximum(squares - total**2 / n, 0.0) / (n - 1), np.nan)
        else:  # other metrics are computed of no other configuration in bag
            inside = draws.inside[:, k - 1][~np.isnan(draws.inside[:, k - 1])]
            variances[winner] = inside.var(ddof=1) if len(inside) > 1 else np.nan
        if not all(map(isfinite, metric.range)):
            kurtosis = table.kurtosis(k, winner)
    # The size to assume where no score varies: classes and events count by the rarer kind, unless rows do.
    assumed = float(table.observed.n)
    if target.task == "survival":
        assumed = min(assumed, float(max(target.values["event"].sum(), 1)))
    elif target.classes is not None and not metric.linear:
        sizes = np.unique(target.values, return_counts=True)[1]
        assumed = min(assumed, len(sizes) ** 2 / float((1.0 / sizes).sum()))
    return Evidence(
        draws=draws.scores[:, k],
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
        doubt=selector.doubt,
    )
